"""One channel to one member: how it is dialled, and what was learnt on it.

A member is dialled by its pod's address, with the name in its certificate as authority: gRPC looks a name up again only
every 30 s and then backs off for minutes, and a member that came back must be reached at once. There is no balancer:
an answer must come from the member that was asked.

What a channel is told, and why, is in `OPTIONS`.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from dataclasses import dataclass, field

import grpc
import grpc.aio

from etcd_operator.etcd.errors import NotReachedError
from etcd_operator.etcd.tls import Tls

MIB = 1024 * 1024

OPTIONS: tuple[tuple[str, int | str], ...] = (
    # A change is never sent twice. This also turns off the retries that gRPC calls transparent (of requests that a
    # server has provably not seen); they would be harmless, but they would be ours to explain.
    ("grpc.enable_retries", 0),
    ("grpc.use_local_subchannel_pool", 1),  # two clusters at one address, one after the other, share no connection
    ("grpc.enable_http_proxy", 0),  # pods are reached directly, whatever the environment says
    ("grpc.service_config_disable_resolution", 1),  # no TXT records
    # A frozen server keeps its connections open. It is noticed within 20 s while a call is waiting; etcd takes more
    # than one ping in 5 s, or pings without a call, as an attack. A ping that measures the bandwidth keeps the others
    # back until its own timeout, which would be a minute.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 0),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.client_idle_timeout_ms", 60_000),
    ("grpc.min_reconnect_backoff_ms", 5_000),  # the time limit of one attempt to connect
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # A snapshot comes in small pieces. Only a range or a watch can be large: callers give a limit; this one is for
    # those who forget it, so that one answer cannot take all the memory there is.
    ("grpc.max_receive_message_length", 64 * MIB),
    ("grpc.primary_user_agent", "etcd-operator"),
)


@dataclass(frozen=True)
class Login:
    """A user with a password. With a client certificate, 3.2 takes the name in that instead; later ones take this."""

    user: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class Target:
    """Whom a call is meant for. The IDs, where they are known, are compared with those in every answer."""

    address: str  # 10.1.2.3:2379 or [fd00::1]:2379
    authority: str | None = None  # the name in the member's certificate
    member_id: int | None = None
    cluster_id: int | None = None

    def __post_init__(self) -> None:
        host, _, port = self.address.rpartition(":")
        try:
            if host.startswith("[") and host.endswith("]"):
                ipaddress.IPv6Address(host[1:-1])
            else:
                ipaddress.IPv4Address(host)
            if not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 65536:
                raise ValueError
        except ValueError:
            wanted = "members are dialled without DNS, by an IP address and a port"
            raise ValueError(f"{wanted}, and this is something else: {self.address!r}") from None

    def __str__(self) -> str:
        return f"{self.address} ({self.authority})" if self.authority else self.address

    @property
    def dialled(self) -> str:
        return f"ipv6:{self.address}" if self.address.startswith("[") else f"ipv4:{self.address}"


@dataclass(frozen=True)
class LineKey:
    """Calls with the same key can share a channel."""

    dialled: str
    authority: str | None
    fingerprint: str | None


def options_for(target: Target) -> list[tuple[str, int | str]]:
    named = ("grpc.default_authority", "grpc.ssl_target_name_override")
    return [*OPTIONS, *((name, target.authority) for name in named if target.authority)]


def credentials_of(tls: Tls) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(
        root_certificates=tls.ca, private_key=tls.key, certificate_chain=tls.certificate
    )


class Line:
    """A channel with the tokens that were got on it; a token is good on one member only."""

    def __init__(self, target: Target, tls: Tls | None) -> None:
        self.users = 0
        self.tokens: dict[Login, str] = {}
        self._target = target
        options = options_for(target)
        if tls is None:
            self.channel = grpc.aio.insecure_channel(target.dialled, options=options)
        else:
            self.channel = grpc.aio.secure_channel(target.dialled, credentials_of(tls), options=options)

    @property
    def broken(self) -> bool:
        """The last try to connect failed, and gRPC waits before the next; a new channel need not."""
        return self.channel.get_state() is grpc.ChannelConnectivity.TRANSIENT_FAILURE

    async def connect(self, until: float) -> None:
        """Wait until something can be sent, or has been found impossible to send.

        Before the connection is up nothing leaves this process, so whatever runs out here has certainly not happened.
        After a failed try the call itself fails at once, and brings the words for it.
        """
        channel = self.channel
        waiting = (grpc.ChannelConnectivity.IDLE, grpc.ChannelConnectivity.CONNECTING)
        try:
            async with asyncio.timeout_at(until):
                while (state := channel.get_state(try_to_connect=True)) in waiting:
                    await channel.wait_for_state_change(state)
        except TimeoutError:
            raise NotReachedError(f"{self._target} took no connection in the time given; nothing was sent") from None
        except grpc.aio.UsageError:
            state = grpc.ChannelConnectivity.SHUTDOWN
        if state is grpc.ChannelConnectivity.SHUTDOWN:
            raise NotReachedError(f"{self._target} was not called: the pool was closed")
