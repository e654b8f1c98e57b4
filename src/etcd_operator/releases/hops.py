"""Which series may follow which, and under what conditions.

etcd is upgraded one minor version at a time. Its own checks let worse through: 3.6 starts on the disk of 3.4, and 3.7
on that of 3.5 until the first old entry is replayed. So what may follow what is written here, and nothing else is done.

A condition on versions can be judged by looking at versions; the others need a look at the running cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

from etcd_operator.releases.version import Series, Version


@dataclass(frozen=True)
class AllMembersAtLeast:
    version: Version


@dataclass(frozen=True)
class AuthenticationOff:
    """While members of both series run, users and permissions drift apart or writes are lost."""

    below: Version | None = None  # from this patch of the older series on, authentication may stay on


@dataclass(frozen=True)
class FreshRaftSnapshotOnEveryMember:
    """Each member has saved a raft snapshot since the last member of `writer` or older was gone.

    What such a member wrote into the log is replayed up to the last raft snapshot, and the newer series cannot read
    it. A cluster born on a newer series than `writer` has nothing of the kind. Nor may a member of the newer series
    join before.
    """

    writer: Series


Need = AllMembersAtLeast | AuthenticationOff | FreshRaftSnapshotOnEveryMember


@dataclass(frozen=True)
class Hop:
    origin: Series
    to: Series
    needs: tuple[Need, ...] = ()
    because: str = ""

    @property
    def floor(self) -> Version:
        """The lowest version of the older series that may take this hop."""
        floors = [need.version for need in self.needs if isinstance(need, AllMembersAtLeast)]
        return max(floors, default=Version(*self.origin))


HOPS: tuple[Hop, ...] = (
    Hop(
        Series(3, 2),
        Series(3, 3),
        needs=(AuthenticationOff(below=Version(3, 2, 31)),),
        because="with authentication on, the end of a lease is applied by some members and not by others",
    ),
    Hop(Series(3, 3), Series(3, 4)),
    Hop(
        Series(3, 4),
        Series(3, 5),
        needs=(AuthenticationOff(),),
        because="3.5 writes changes of users and roles in a form that 3.4 does not understand",
    ),
    Hop(
        Series(3, 5),
        Series(3, 6),
        needs=(AllMembersAtLeast(Version(3, 5, 26)),),
        because="before 3.5.26 the member list that 3.6 will read is not kept right: removed members come back, "
        "and promoted ones are learners again",
    ),
    Hop(
        Series(3, 6),
        Series(3, 7),
        needs=(AllMembersAtLeast(Version(3, 6, 11)), FreshRaftSnapshotOnEveryMember(writer=Series(3, 5))),
        because="3.7 cannot replay what 3.5 wrote into the log, and trusts only what 3.6.11 and newer wrote of members",
    ),
)


def hop_from(series: Series) -> Hop | None:
    return next((hop for hop in HOPS if hop.origin == series), None)
