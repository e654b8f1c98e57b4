"""How the operator gets at the members of a cluster: its certificates and its user, out of secrets.

What is missing is told with the command that would make it. The secrets that members mount are looked at, too: without
them pods would wait for ever, and only an event of the kubelet would say why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import tls
from etcd_operator.cluster.secrets import Content, Secrets
from etcd_operator.cluster.volumes import CLIENT, PEER, SERVER, Certificates
from etcd_operator.etcd.line import Login
from etcd_operator.etcd.tls import Tls, flaw_in
from etcd_operator.kube.errors import ForbiddenError
from etcd_operator.kube.store import Key
from etcd_operator.plan.refusal import Refusal


@dataclass(frozen=True)
class Access:
    tls: Tls | None = None
    login: Login | None = None
    problems: tuple[Refusal, ...] = ()
    barred: str = ""  # why no member can be asked


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A secret that a cluster names."""

    field: str
    name: str
    keys: tuple[str, ...]
    use: str
    ours: bool = False  # without it the operator cannot ask members
    literal: bool = False  # given by hand, not from files

    def command(self, namespace: str) -> str:
        parts = (f"--from-literal={key}=..." if self.literal else f"--from-file={key}" for key in self.keys)
        return f"kubectl create secret generic {self.name} -n {namespace} {' '.join(parts)}"


@dataclass(frozen=True)
class Withheld:
    """A secret that the operator may not read."""

    why: str


Found = Content | Withheld | None


async def access(cluster: EtcdCluster, secrets: Secrets) -> Access:
    found: dict[str, Found] = {}
    for wanted in wanted_by(cluster):
        try:
            found[wanted.name] = await secrets.get(Key(cluster.metadata.namespace, wanted.name))
        except ForbiddenError as error:
            found[wanted.name] = Withheld(str(error))
    return judged(cluster, found)


def wanted_by(cluster: EtcdCluster) -> list[Wanted]:
    return [*_mounted(cluster), *_operators(cluster), *_user(cluster)]


def judged(cluster: EtcdCluster, found: Mapping[str, Found]) -> Access:
    """What can be made of the secrets that are there."""
    namespace, wishes = cluster.metadata.namespace, wanted_by(cluster)
    flaws = {each.name: _flaw(each, found.get(each.name), namespace=namespace) for each in wishes}
    problems = {name: flaw for name, flaw in flaws.items() if flaw}
    usable = {name: it for name, it in found.items() if isinstance(it, Mapping) and name not in problems}
    return Access(
        tls=next((_tls(usable[each.name]) for each in _operators(cluster) if each.name in usable), None),
        login=next((_login(usable[each.name]) for each in _user(cluster) if each.name in usable), None),
        problems=tuple(problems.values()),
        barred=next((problems[each.name].sentence for each in wishes if each.ours and each.name in problems), ""),
    )


def _flaw(wanted: Wanted, found: Found, *, namespace: str) -> Refusal | None:
    if isinstance(found, Withheld):
        return Refusal("SecretForbidden", f"The operator may not read Secret {wanted.name}: {found.why}")
    lacking = [key for key in wanted.keys if key not in (found or {})]
    if lacking:
        fact = "is not there" if found is None else f"lacks {' and '.join(lacking)}"
        whence = f"{wanted.field} names it: {wanted.use}"
        sentence = f"Secret {wanted.name} {fact}, and {whence}. Create it with: {wanted.command(namespace)}"
        return Refusal("SecretMissing", sentence)
    flaw = flaw_in(_tls(found or {})) if wanted.ours and not wanted.literal else None
    if flaw:
        sentence = f"Secret {wanted.name} is of no use: {flaw}. Members cannot be asked until it is replaced."
        return Refusal("SecretUnusable", sentence)
    return None


def _mounted(cluster: EtcdCluster) -> list[Wanted]:
    static = tls(cluster).static
    member = static.member if static else None
    if member is None:
        return []
    peer = Wanted(
        field="spec.TLS.static.member.peerSecret",
        name=member.peer_secret,
        keys=_keys(PEER),
        use="members show it to each other",
    )
    server = Wanted(
        field="spec.TLS.static.member.serverSecret",
        name=member.server_secret,
        keys=_keys(SERVER),
        use="members show it to clients",
    )
    return [*([peer] if tls(cluster).peer else []), *([server] if tls(cluster).client else [])]


def _operators(cluster: EtcdCluster) -> list[Wanted]:
    static = tls(cluster).static
    if static is None or not tls(cluster).client:
        return []
    return [
        Wanted(
            field="spec.TLS.static.operatorSecret",
            name=static.operator_secret,
            keys=_keys(CLIENT),
            use="the operator shows it to members",
            ours=True,
        )
    ]


def _user(cluster: EtcdCluster) -> list[Wanted]:
    if not cluster.spec.auth_secret:
        return []
    return [
        Wanted(
            field="spec.authSecret",
            name=cluster.spec.auth_secret,
            keys=("username", "password"),
            use="the operator works as that user",
            ours=True,
            literal=True,
        )
    ]


def _keys(certificates: Certificates) -> tuple[str, ...]:
    paths = (certificates.certificate, certificates.key, certificates.ca)
    return tuple(path.rpartition("/")[2] for path in paths)


def _tls(content: Content) -> Tls:
    certificate, key, ca = _keys(CLIENT)
    return Tls(ca=content[ca], certificate=content[certificate], key=content[key])


def _login(content: Content) -> Login:
    return Login(content["username"].decode(errors="replace"), content["password"].decode(errors="replace"))
