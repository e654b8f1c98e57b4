"""From the version that runs to the one that is wanted: the stations between, and whether it can be done in one move.

Upwards only one series at a time. Downwards only within a series: its patches share one format on disk and one
protocol, and who meets a fault in a new patch must be able to leave it. Below the series there is only etcd's own
downgrade procedure, which rewrites the disk first; an older program without it refuses to start.

The stations are told to the user and not taken unasked: an image that nobody named may be in no registry that the
nodes can reach.
"""

from __future__ import annotations

from dataclasses import dataclass

from etcd_operator.releases.cautions import Severity, cautions
from etcd_operator.releases.hops import HOPS, AllMembersAtLeast, AuthenticationOff, Hop, Need, hop_from
from etcd_operator.releases.known import KNOWN, known
from etcd_operator.releases.refusal import Reason, Refusal
from etcd_operator.releases.version import Version


@dataclass(frozen=True)
class Move:
    """A change of version that may be made, once the cluster is what `needs` asks for."""

    target: Version
    hop: Hop | None = None  # None within a series
    needs: tuple[Need, ...] = ()  # what versions alone do not tell


def landing(target: Version) -> Refusal | None:
    """Why no cluster may be brought to a version, newly made or upgraded."""
    if not known(target.series):
        return Refusal(
            Reason.UNKNOWN_VERSION,
            f"etcd {target} is not known to this operator, which works with {KNOWN[0].series} to {KNOWN[-1].series}. "
            f"Set spec.version to one of these, or upgrade the operator.",
        )
    fault = next((each for each in cautions(target) if each.severity is Severity.REFUSE), None)
    if fault:
        return Refusal(
            Reason.BAD_VERSION,
            f"etcd {target} loses data: {fault.text}. "
            f"That ended with {fault.fixed_in}; set spec.version to {_newest(target)}.",
            waypoint=_newest(target),
        )
    return None


def path(current: Version, target: Version) -> tuple[Version, ...] | Refusal:
    """Every version that the members run in turn, the target last; nothing when they run it already.

    `current` is the lowest that any member runs: an upgrade that was begun can be taken back as long as one member of
    the older series is there, and after that it cannot.
    """
    if current == target:
        return ()
    refusal = landing(target) or _backwards(current, target)
    return refusal or _stations(current, target)


def move(current: Version, target: Version) -> Move | Refusal:
    """What may be done in one move; where it takes more than one, the refusal names the first."""
    stations = path(current, target)
    if isinstance(stations, Refusal):
        return stations
    if len(stations) > 1:
        return _detour(current, stations)
    hop = None if current.series == target.series else hop_from(current.series)
    return Move(target, hop, tuple(need for need in hop.needs if _open(need, current)) if hop else ())


def _newest(version: Version) -> Version:
    row = known(version.series)
    return max(row.newest, version) if row else version


def _backwards(current: Version, target: Version) -> Refusal | None:
    if not known(current.series):
        return Refusal(
            Reason.UNKNOWN_VERSION,
            f"A member runs etcd {current}, which this operator does not know: how to get from there to {target} "
            f"is not known either. The members stay as they are.",
        )
    if target.series < current.series:
        return Refusal(
            Reason.DOWNGRADE,
            f"All members run etcd {current} or newer, and {target} cannot read what {current.series} writes. "
            f"The members stay as they are; set spec.version to {current} or newer.",
            waypoint=current,
        )
    return None


def _stations(current: Version, target: Version) -> tuple[Version, ...]:
    stations: list[Version] = []
    for hop in HOPS:
        if current.series <= hop.origin < target.series:
            here = stations[-1] if stations else current
            stations += [_newest(here)] if here < hop.floor else []
            stations += [target if hop.to == target.series else _newest(Version(*hop.to))]
    return tuple(stations) or (target,)


def _detour(current: Version, stations: tuple[Version, ...]) -> Refusal:
    first, target = stations[0], stations[-1]
    hop = hop_from(current.series)
    if first.series == current.series and hop:
        reason, rule = Reason.WAYPOINT_NEEDED, f"{hop.to} takes members of {hop.floor} and newer, because {hop.because}"
    else:
        reason, rule = Reason.MINOR_SKIPPED, "etcd is upgraded one minor version at a time"
    then = f", then to {', '.join(map(str, stations[1:]))}"
    return Refusal(
        reason,
        f"The lowest version a member runs is {current}, and {target} cannot follow it: {rule}. "
        f"The members stay as they are. Set spec.version to {first} first{then}.",
        waypoint=first,
    )


def _open(need: Need, current: Version) -> bool:
    """Whether a need is still to be looked at in the cluster."""
    match need:
        case AllMembersAtLeast():
            return False
        case AuthenticationOff(below):
            return below is None or current < below
        case _:
            return True
