"""What members are told by environment variables: all that the documented command line does not say.

Not by flags, because a flag that a version does not know ends it, while a variable is only warned about. And the same
variables for every version: a member without a volume claim is upgraded by changing its pod's image, and keeps the
environment it was born with. So what 3.6 needs is already there on 3.2. Above all the limit of learners: a member
refuses to start while the cluster has more of them than it allows, so members must not differ in it.

Corruption checks are switched on by the gates of 3.6 and newer only. Older series know them by other names, and there
they compare hashes that patches of 3.4 and 3.5 compute differently; from 3.6 on that cannot happen, since no member
older than 3.5.26 is ever beside one of 3.6.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from etcd_operator.releases.capabilities import Capability, can
from etcd_operator.releases.version import Version

METRICS_PORT = 2381
LEARNERS = 7  # as many as the largest cluster has members
FEATURE_GATES = "ETCD_FEATURE_GATES"
MAX_LEARNERS = "ETCD_MAX_LEARNERS"


@dataclass(frozen=True)
class Variable:
    name: str
    value: str
    since: Version  # before, etcd warns that it does not know it
    why: str


VARIABLES: tuple[Variable, ...] = (
    Variable(
        "ETCD_LISTEN_METRICS_URLS",
        f"http://0.0.0.0:{METRICS_PORT}",
        Version(3, 3),
        "Metrics and health where no client certificate is asked for, and where a member answers without a quorum.",
    ),
    Variable("ETCD_LOGGER", "zap", Version(3, 4), "Logs as JSON. 3.4 can do it and does not by itself."),
    Variable("ETCD_LOG_OUTPUTS", "stderr", Version(3, 4), "Logs to where Kubernetes reads them; 3.4 asks for it."),
    Variable(
        "ETCD_PRE_VOTE",
        "true",
        Version(3, 4),
        "A member that was cut off does not unseat the leader when it returns. 3.4 does not do so by itself.",
    ),
    Variable(MAX_LEARNERS, str(LEARNERS), Version(3, 6), "New members may catch up side by side."),
)


@dataclass(frozen=True)
class Gate:
    """A feature that 3.6 and newer are told of by one variable and older ones by another; both at once end 3.6."""

    name: str
    older: str
    why: str


GATES: tuple[Gate, ...] = (
    Gate(
        "InitialCorruptCheck",
        "ETCD_EXPERIMENTAL_INITIAL_CORRUPT_CHECK",
        "A member that starts compares its data with that of the others before it serves. "
        "A peer that is silent delays that by 7 s.",
    ),
    Gate(
        "CompactHashCheck",
        "ETCD_EXPERIMENTAL_COMPACT_HASH_CHECK_ENABLED",
        "The leader compares what members have after each compaction.",
    ),
)

# Settings of the documented command line: from 3.4 on, etcd ends when one of them is given as a variable, too.
FLAGGED: frozenset[str] = frozenset(
    f"ETCD_{flag.upper().replace('-', '_')}"
    for flag in (
        "data-dir",
        "name",
        "initial-advertise-peer-urls",
        "listen-peer-urls",
        "listen-client-urls",
        "advertise-client-urls",
        "initial-cluster",
        "initial-cluster-state",
        "initial-cluster-token",
        "peer-client-cert-auth",
        "peer-trusted-ca-file",
        "peer-cert-file",
        "peer-key-file",
        "client-cert-auth",
        "trusted-ca-file",
        "cert-file",
        "key-file",
    )
)

HARMFUL: Mapping[str, str] = {
    "ETCD_FORCE_NEW_CLUSTER": "with it a member forgets the others at every start",
    "ETCD_CONFIG_FILE": "with it etcd ignores its whole command line",
    "ETCD_DISCOVERY": "etcd does not start with two ways to find its cluster",
    "ETCD_DISCOVERY_SRV": "etcd does not start with two ways to find its cluster",
}


def variables(chosen: Collection[str] = (), *, metrics_url: str = "") -> dict[str, str]:
    """What the operator sets, beside the variables whose names the user has chosen: those win."""
    ours = {variable.name: variable.value for variable in VARIABLES}
    if metrics_url:
        ours["ETCD_LISTEN_METRICS_URLS"] = metrics_url
    gates = [f"{gate.name}=true" for gate in GATES if gate.older not in chosen]
    if gates:
        ours[FEATURE_GATES] = ",".join(gates)
    return {name: value for name, value in ours.items() if name not in chosen}


def ignored(chosen: Collection[str]) -> dict[str, str]:
    """Which of the user's variables must not reach etcd, each with the reason."""
    flagged = "the operator sets it on the command line, and from 3.4 on etcd ends when it is told twice"
    return {name: HARMFUL.get(name, flagged) for name in chosen if name in HARMFUL or name in FLAGGED}


def learners_at_once(version: Version, environment: Mapping[str, str]) -> int:
    """How many learners a member allows in its cluster, by its version and the variables it was started with."""
    if not can(version, Capability.LEARNERS):
        return 0
    told = environment.get(MAX_LEARNERS, "")
    if not can(version, Capability.SEVERAL_LEARNERS) or not told.isdecimal():
        return 1
    return int(told)
