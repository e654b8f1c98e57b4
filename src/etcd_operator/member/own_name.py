"""Whether the member's own name leads to it, before peers have to find it by that name.

Since 3.2 etcd checks the certificate of a peer that dials it against what DNS says of the name in it: a member that
starts before its name is known is turned away. A record may also be that of the pod before this one; where the pod's
own address is known, only that one will do.

It is a first check, not the proof: the kubelet writes the name with the cluster's domain into the pod's own hosts file,
where it resolves before anybody else knows it. What proves it is the answer of a peer through mutual TLS.
"""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass

from etcd_operator.member.refusal import Reason, Refusal
from etcd_operator.member.settings import Settings
from etcd_operator.member.waiting import Journal, Questions, pause_after

LOOKUP_SECONDS = 5.0  # after which a lookup counts as silent; it goes on all the same


@dataclass(frozen=True)
class Found:
    addresses: frozenset[str]
    why: str = ""  # there are none


def lookup(host: str) -> Found:
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        return Found(frozenset(), error.strerror or str(error))
    except UnicodeError as error:
        return Found(frozenset(), f"not a name that DNS can have: {error}")
    return Found(frozenset(str(address[0]).partition("%")[0] for *_, address in entries))


def objection(found: Found | None, settings: Settings) -> str | None:
    """What is wrong with the answer; None if it leads here."""
    if found is None:
        return f"The lookup of {settings.host} gets no answer."
    if not found.addresses:
        return f"{settings.host} does not resolve ({found.why})."
    if settings.addresses and not settings.addresses & found.addresses:
        theirs, ours = (", ".join(sorted(some)) for some in (found.addresses, settings.addresses))
        return f"{settings.host} resolves to {theirs}, and this pod is {ours}."
    return None


def wait_for_own_name(settings: Settings, journal: Journal) -> Refusal | None:
    question = Questions({settings.host: lambda: lookup(settings.host)})
    began = time.monotonic()
    while True:
        left = _left(settings.dns_timeout, began)
        answers = question.ask(within=min(LOOKUP_SECONDS, left))
        wrong = objection(answers.get(settings.host), settings)
        if wrong is None:
            return None
        left = _left(settings.dns_timeout, began)
        if left <= 0:
            return Refusal(
                Reason.DNS_TIMEOUT,
                f"{wrong} Peers find {settings.member} by that name; after {settings.dns_timeout:g} s without it, "
                "the wait is given up. The headless service of the cluster and the cluster's DNS are to be looked at.",
            )
        journal.say(f"{wrong} Waiting for it.")
        time.sleep(min(left, pause_after(time.monotonic() - began)))


def _left(timeout: float | None, began: float) -> float:
    return float("inf") if timeout is None else timeout - (time.monotonic() - began)
