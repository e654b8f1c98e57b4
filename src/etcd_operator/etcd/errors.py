"""What can go wrong with a call, sorted by what the caller may believe afterwards.

A membership change whose answer got lost may still happen seconds later; whoever repeats it can cost a cluster its
quorum. So the first question about a failed change is not why but whether: `NotReachedError`, `RefusedError` and
`UnsupportedError` say certainly not, `UnknownOutcomeError` says look and do not repeat. Reads have no outcome to worry
about: where a change would be unknown, a read was just not answered.
"""

from __future__ import annotations

import enum


class Reason(enum.StrEnum):
    """Why, in words of ours: etcd's differ between versions."""

    UNREACHABLE = "unreachable"
    NO_ANSWER = "no answer"
    UNSUPPORTED = "unsupported"
    WRONG_MEMBER = "wrong member"
    CORRUPT_SNAPSHOT = "corrupt snapshot"
    OTHER = "other"

    # The cluster cannot just now
    NO_LEADER = "no leader"
    LEADER_CHANGED = "leader changed"
    NOT_LEADER = "not the leader"
    TIMED_OUT = "timed out in the server"
    STOPPED = "server stopped"
    CANCELLED = "cancelled"
    PROPOSAL_DROPPED = "proposal dropped"
    TOO_MANY_REQUESTS = "too many requests"
    NOT_CAPABLE = "not capable"
    NOT_FOR_LEARNERS = "not for learners"
    CORRUPT = "corrupt cluster"
    NO_SPACE = "no space"

    # Membership
    UNHEALTHY = "unhealthy cluster"
    NOT_ENOUGH_STARTED = "not enough started members"
    MEMBER_NOT_FOUND = "member not found"
    MEMBER_EXISTS = "member exists"
    PEER_URL_EXISTS = "peer URL exists"
    BAD_URLS = "bad URLs"
    TOO_MANY_LEARNERS = "too many learners"
    NOT_IN_SYNC = "learner not in sync"
    NOT_A_LEARNER = "not a learner"
    BAD_TRANSFEREE = "bad leader transferee"
    CLUSTER_ID_MISMATCH = "cluster ID mismatch"

    # Keys and leases
    COMPACTED = "compacted"
    FUTURE_REVISION = "future revision"
    EMPTY_KEY = "empty key"
    KEY_NOT_FOUND = "key not found"
    DUPLICATE_KEY = "duplicate key"
    TOO_MANY_OPERATIONS = "too many operations"
    REQUEST_TOO_LARGE = "request too large"
    ANSWER_TOO_LARGE = "answer too large"
    LEASE_NOT_FOUND = "lease not found"
    LEASE_EXISTS = "lease exists"
    LEASE_TTL_TOO_LARGE = "lease TTL too large"

    # Users and roles
    AUTH_FAILED = "authentication failed"
    AUTH_NOT_ENABLED = "authentication not enabled"
    INVALID_TOKEN = "invalid token"  # noqa: S105 - a reason, not a token
    OLD_AUTH_REVISION = "old auth revision"
    INVALID_AUTH_MANAGEMENT = "invalid auth management"
    PERMISSION_DENIED = "permission denied"
    PERMISSION_NOT_GIVEN = "permission not given"
    PERMISSION_NOT_GRANTED = "permission not granted"
    ROOT_USER_MISSING = "root user missing"
    ROOT_ROLE_MISSING = "root role missing"
    USER_EXISTS = "user exists"
    USER_NOT_FOUND = "user not found"
    USER_EMPTY = "user name empty"
    ROLE_EXISTS = "role exists"
    ROLE_NOT_FOUND = "role not found"
    ROLE_EMPTY = "role name empty"
    ROLE_NOT_GRANTED = "role not granted"

    # Downgrades
    BAD_DOWNGRADE_TARGET = "bad downgrade target"
    DOWNGRADE_IN_PROGRESS = "downgrade in progress"
    NO_DOWNGRADE = "no downgrade in progress"
    NO_CLUSTER_VERSION = "no cluster version yet"


class EtcdError(Exception):
    """One call to one member did not give what was asked for; the text names the call, the member and why."""

    def __init__(self, text: str, reason: Reason = Reason.OTHER) -> None:
        super().__init__(text)
        self.reason = reason


class NotReachedError(EtcdError):
    """No connection, or no word from the member before the change was due: it was not sent, so certainly not made."""

    def __init__(self, text: str) -> None:
        super().__init__(text, Reason.UNREACHABLE)


class NoAnswerError(EtcdError):
    """Sent, and no answer came, or one that says that the server did not get to the end of it."""


class UnknownOutcomeError(NoAnswerError):
    """A change was sent and may have been made, or may be made later: look at the cluster, do not repeat it."""


class RefusedError(EtcdError):
    """The member said no; a change was certainly not made."""


class CompactedError(RefusedError):
    """The revisions asked for are gone; the oldest that is left is `compact_revision`."""

    def __init__(self, text: str, compact_revision: int) -> None:
        super().__init__(text, Reason.COMPACTED)
        self.compact_revision = compact_revision


class UnsupportedError(EtcdError):
    """Our table says that the version of this server cannot do it; nothing was sent."""

    def __init__(self, text: str) -> None:
        super().__init__(text, Reason.UNSUPPORTED)


class WrongMemberError(EtcdError):
    """Another member, or one of another cluster, answers at that address.

    `done` says whether it has made the change that was meant for the right one. That is rare: each change is preceded
    by a question who is there.
    """

    def __init__(self, text: str, *, done: bool) -> None:
        super().__init__(text, Reason.WRONG_MEMBER)
        self.done = done


class CorruptSnapshotError(EtcdError):
    """The snapshot came to its end and is not what the server hashed."""

    def __init__(self, text: str) -> None:
        super().__init__(text, Reason.CORRUPT_SNAPSHOT)
