"""May etcd start on this disk? Decided from facts alone, without a look at anything.

A member that starts with an empty disk under an identity that has already voted can vote again: writes that clients
were told are safe disappear. A seed that does so while the others are down even makes an empty, healthy cluster with
the same IDs. So a disk must prove that it belongs to the member, or the member that it has never run.
"""

from __future__ import annotations

from dataclasses import dataclass

from etcd_operator.member.disk import Disk, Illegible, own_marker
from etcd_operator.member.refusal import Reason, Refusal
from etcd_operator.member.settings import Settings, State


@dataclass(frozen=True)
class Start:
    why: str


@dataclass(frozen=True)
class WaitForListing:
    """A joiner starts when its cluster lists it: etcd ends at once if its view of the members is not theirs."""


Verdict = Start | WaitForListing | Refusal


def judge(disk: Disk, settings: Settings) -> Verdict:
    return (
        unusable(disk, settings)
        or foreign(disk, settings)
        or kept(disk, settings)
        or lost(disk, settings)
        or strewn(disk, settings)
        or fresh(settings)
    )


def unusable(disk: Disk, settings: Settings) -> Refusal | None:
    if not disk.read_only:
        return None
    return Refusal(
        Reason.DISK_UNUSABLE,
        f"The volume of {settings.member} is mounted read-only, so etcd could not write to it and stays off. "
        "Where the file system failed, its node's kernel log says why.",
    )


def foreign(disk: Disk, settings: Settings) -> Refusal | None:
    """A disk with a history that is not this member's, as far as anybody can tell."""
    if disk.marker == own_marker(settings) or (disk.marker is None and not disk.has_wal):
        return None
    if disk.marker is None:
        found = f"holds etcd's write-ahead log but no {settings.marker.name}, so nobody knows whose it is"
    elif isinstance(disk.marker, Illegible):
        found = f"holds a {settings.marker.name} that names nobody ({disk.marker.beginning!r})"
    elif disk.marker.cluster == settings.cluster_uid:
        found = f"is that of {disk.marker.member}, another member of the same cluster"
    else:
        found = (
            f"is that of {disk.marker.member} of the cluster with UID {disk.marker.cluster}, not {settings.cluster_uid}"
        )
    return Refusal(
        Reason.FOREIGN_DISK,
        f"The volume of {settings.member} {found}. Nothing on it was touched, and etcd stays off: "
        "with another's history it could speak for a member that it is not.",
    )


def kept(disk: Disk, settings: Settings) -> Start | None:
    """The usual case. Nobody is asked, because after a power cut nobody answers."""
    if not disk.has_wal:
        return None
    return Start(f"{settings.member} finds its own write-ahead log.")


def lost(disk: Disk, settings: Settings) -> Refusal | None:
    if settings.identity is None:
        return None
    rest = "files, but no write-ahead log" if disk.has_files else "no data"
    who = f"member {settings.identity.member_id} of cluster {settings.identity.cluster_id}"
    return disk_lost(settings, ran=f"has run before, as {who}, and its volume holds {rest}")


def strewn(disk: Disk, settings: Settings) -> Refusal | None:
    """Files without a log are what a failed restore leaves: etcd serves them, unverified, and looks healthy."""
    if disk.marker is not None or not disk.has_files:
        return None
    return Refusal(
        Reason.FOREIGN_DISK,
        f"{settings.member} has never run, and yet {settings.data_dir} on its volume holds files, without etcd's "
        "write-ahead log. Nothing was touched, and etcd stays off: it would serve whatever they are.",
    )


def fresh(settings: Settings) -> Verdict:
    """Never run. The marker may be there: then the last start was cut off before etcd wrote anything that counts."""
    if settings.state is State.NEW:
        return Start(f"{settings.member} begins a new cluster.")
    if not settings.peers:
        return disk_lost(settings, ran="is the only member of a cluster that exists, and its volume holds no data")
    return WaitForListing()


def disk_lost(settings: Settings, *, ran: str) -> Refusal:
    return Refusal(
        Reason.DISK_LOST,
        f"{settings.member} {ran}. etcd stays off: under its old identity it could vote a second time and undo writes "
        "that clients were told are safe. It needs its old volume back, or a new member in its place.",
    )
