"""What the guard is told by its pod, as one typed value.

Everything comes through environment variables because the identity does: the kubelet reads the pod's annotation anew
each time it starts the container, so the same pod asks differently before and after its member's first answer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

InitialCluster = Mapping[str, frozenset[str]]  # peer URLs by member


class SettingsError(Exception):
    """A variable that cannot be meant as it is; the text says which, and what it should be."""


class State(StrEnum):
    """What `--initial-cluster-state` says too."""

    NEW = "new"
    EXISTING = "existing"


@dataclass(frozen=True)
class Identity:
    """Who the member has been since its first answer, as etcd writes it: in hexadecimal digits."""

    cluster_id: str
    member_id: str


@dataclass(frozen=True)
class PeerFiles:
    """What members show each other, and whom they trust."""

    ca: Path
    certificate: Path
    key: Path


@dataclass(frozen=True)
class Settings:
    member: str
    cluster_uid: str
    host: str
    addresses: frozenset[str]  # the pod's own, empty if it was not told
    dns_timeout: float | None  # None: as long as it takes
    data_dir: Path
    marker: Path
    initial_cluster: InitialCluster
    state: State
    identity: Identity | None  # None: the member has never answered
    peer_files: PeerFiles | None

    @property
    def peers(self) -> dict[str, str]:
        """The other members, by each URL that one of them can be asked at."""
        others = {name: urls for name, urls in self.initial_cluster.items() if name != self.member}
        return {url: name for name, urls in sorted(others.items()) for url in sorted(urls)}

    @property
    def own_urls(self) -> frozenset[str]:
        return self.initial_cluster[self.member]


def read(environment: Mapping[str, str]) -> Settings:
    member = _text(environment, "MEMBER_NAME")
    peer_files = _peer_files(environment)
    initial_cluster = _initial_cluster(environment, secured=peer_files is not None)
    if member not in initial_cluster:
        raise SettingsError(
            f"INITIAL_CLUSTER has no {member}, which is this member; it has {', '.join(initial_cluster)}"
        )
    return Settings(
        member=member,
        cluster_uid=_text(environment, "CLUSTER_UID"),
        host=_text(environment, "MEMBER_HOST"),
        addresses=_addresses(environment),
        dns_timeout=_seconds(environment, "DNS_TIMEOUT"),
        data_dir=Path(_text(environment, "DATA_DIR")),
        marker=Path(_text(environment, "MARKER")),
        initial_cluster=initial_cluster,
        state=_state(environment),
        identity=_identity(environment),
        peer_files=peer_files,
    )


def _text(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "").strip()
    if not value:
        raise SettingsError(f"{name} is not set")
    return value


def _seconds(environment: Mapping[str, str], name: str) -> float | None:
    text = environment.get(name, "").strip() or "0"
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not (math.isfinite(seconds) and seconds >= 0):
        raise SettingsError(f"{name} is {text!r}, which is no number of seconds (0: as long as it takes)")
    return seconds or None


def _addresses(environment: Mapping[str, str]) -> frozenset[str]:
    """`status.podIP`, or `status.podIPs` with commas between them."""
    texts = [text.strip() for text in environment.get("POD_IP", "").split(",")]
    try:
        return frozenset(str(ip_address(text)) for text in texts if text)
    except ValueError as error:
        raise SettingsError(f"POD_IP holds what is no address: {error}") from error


def _state(environment: Mapping[str, str]) -> State:
    text = _text(environment, "INITIAL_STATE")
    try:
        return State(text)
    except ValueError as error:
        raise SettingsError(f"INITIAL_STATE is {text!r}, which is neither 'new' nor 'existing'") from error


def _initial_cluster(environment: Mapping[str, str], *, secured: bool) -> InitialCluster:
    """As etcd reads its flag: a member with several URLs is named once for each."""
    found: dict[str, frozenset[str]] = {}
    for part in _text(environment, "INITIAL_CLUSTER").split(","):
        name, _, url = (piece.strip() for piece in part.partition("="))
        if not (name and _is_peer_url(url)):
            raise SettingsError(f"INITIAL_CLUSTER holds {part!r}, which is not name=http(s)://host:port")
        if url.startswith("https:") and not secured:
            raise SettingsError(f"PEER_CA, PEER_CERT and PEER_KEY are not set, and {name} is to be asked at {url}")
        found[name] = found.get(name, frozenset()) | {url}
    return found


def _is_peer_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        return url.scheme in {"http", "https"} and bool(url.hostname) and url.port is not None and not url.path
    except ValueError:
        return False


def _identity(environment: Mapping[str, str]) -> Identity | None:
    """Whatever stands there, it was written because the member had run: what cannot be read still says so."""
    text = environment.get("IDENTITY", "").strip()
    if not text:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    known = found if isinstance(found, dict) else {}
    return Identity(cluster_id=str(known.get("clusterID", "unknown")), member_id=str(known.get("memberID", "unknown")))


def _peer_files(environment: Mapping[str, str]) -> PeerFiles | None:
    names = ("PEER_CA", "PEER_CERT", "PEER_KEY")
    given = {name: environment.get(name, "").strip() for name in names}
    missing = [name for name, value in given.items() if not value]
    if len(missing) == len(names):
        return None
    if missing:
        raise SettingsError(f"{' and '.join(missing)} must be set if {names[0]}, {names[1]} or {names[2]} is")
    return PeerFiles(ca=Path(given["PEER_CA"]), certificate=Path(given["PEER_CERT"]), key=Path(given["PEER_KEY"]))
