"""`spec.TLS`: which secrets hold the certificates of a cluster.

An empty name means the same as none: the old operator treated them alike, and generators of manifests leave both
behind.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from etcd_operator.api.field import Change, Field, Limits, Rule
from etcd_operator.api.stored import Part

SECRET_NAME = Limits(max_length=253)


class MemberSecrets(Part, frozen=True):
    """The secrets that members mount."""

    peer_secret: Annotated[
        str,
        Field(
            text="Secret with the certificates that members show each other; turns peer TLS on. "
            "Its keys are peer.crt, peer.key and peer-ca.crt.",
            absent="peers talk without TLS",
            change=Change.RENAMED,
            limits=SECRET_NAME,
        ),
    ] = ""
    server_secret: Annotated[
        str,
        Field(
            text="Secret with the certificates that members show to clients; needs operatorSecret too. "
            "Its keys are server.crt, server.key and server-ca.crt.",
            absent="clients talk without TLS",
            change=Change.RENAMED,
            limits=SECRET_NAME,
        ),
    ] = ""


class StaticTls(Part, frozen=True):
    """Certificates that somebody else makes and renews."""

    RULES: ClassVar = (
        Rule(
            "self.?operatorSecret.orValue('') == '' || self.?member.?serverSecret.orValue('') != ''",
            "spec.TLS.static.operatorSecret is given, so spec.TLS.static.member.serverSecret must be given too: "
            "client TLS needs the certificates of both sides",
            field_path=".member",
        ),
        Rule(
            "self.?member.?serverSecret.orValue('') == '' || self.?operatorSecret.orValue('') != ''",
            "spec.TLS.static.member.serverSecret is given, so spec.TLS.static.operatorSecret must be given too: "
            "client TLS needs the certificates of both sides",
            field_path=".operatorSecret",
        ),
    )

    member: Annotated[
        MemberSecrets | None,
        Field(text="The secrets that members mount.", absent="members have no certificates", change=Change.INSIDE),
    ] = None
    operator_secret: Annotated[
        str,
        Field(
            text="Secret with the certificates that the operator shows to members; turns client TLS on. "
            "Its keys are etcd-client.crt, etcd-client.key and etcd-client-ca.crt; needs member.serverSecret too.",
            absent="the operator talks to members without TLS",
            change=Change.RENAMED,
            limits=SECRET_NAME,
        ),
    ] = ""


class TlsPolicy(Part, frozen=True):
    """How members, clients and the operator prove who they are."""

    static: Annotated[
        StaticTls | None,
        Field(
            text="Certificates from secrets that are made and renewed by somebody else.",
            absent="no certificates",
            change=Change.INSIDE,
        ),
    ] = None

    @property
    def client(self) -> bool:
        """Whether clients and the operator talk to members with TLS."""
        return self.static is not None and bool(self.static.operator_secret)

    @property
    def peer(self) -> bool:
        """Whether members talk to each other with TLS."""
        return self.static is not None and self.static.member is not None and bool(self.static.member.peer_secret)
