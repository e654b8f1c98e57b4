"""From a gRPC status to an error of ours: a table of what etcd says.

The code alone is not enough: UNAVAILABLE is "unhealthy cluster" (refused before anything happened), "request timed out"
(the proposal may be on its way) and a lost connection. Codes also differ between versions, and some errors come out
unmapped, with another prefix and the code UNKNOWN. So the text decides first, and the code only where no text is known.

`certain` answers for a change: was it certainly not made? What a server says before it proposes anything to raft, or
when it applies the entry and declines, is certain. These are not, each for its own reason:

- timed out, stopped, cancelled, leader changed: the proposal may be in the log.
- no leader: a promotion sent to a follower is forwarded by it over HTTP, and may be told so after a lost first try.
- no space: a member that finds the quota exceeded while it applies a write keeps the write, and answers with this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import grpc

from etcd_operator.etcd.errors import EtcdError, NoAnswerError, NotReachedError, Reason, RefusedError
from etcd_operator.etcd.errors import UnknownOutcomeError as Unknown

PREFIXES = re.compile(r"(?:(?:etcdserver|auth|mvcc|membership|lease): |rpc error: code = \w+ desc = )+")


@dataclass(frozen=True)
class Saying:
    """How a text begins, without the prefix that names a package of etcd."""

    text: str
    reason: Reason
    certain: bool = True


SAYINGS: tuple[Saying, ...] = (
    Saying("no leader", Reason.NO_LEADER, certain=False),
    Saying("leader changed", Reason.LEADER_CHANGED, certain=False),
    Saying("request timed out", Reason.TIMED_OUT, certain=False),
    Saying("context deadline exceeded", Reason.TIMED_OUT, certain=False),
    Saying("context canceled", Reason.CANCELLED, certain=False),
    Saying("server stopped", Reason.STOPPED, certain=False),
    Saying("request cancel", Reason.CANCELLED, certain=False),  # canceled up to 3.3, cancelled later
    Saying("no space", Reason.NO_SPACE, certain=False),
    Saying("database space exceeded", Reason.NO_SPACE, certain=False),
    Saying("not leader", Reason.NOT_LEADER),
    Saying("raft proposal dropped", Reason.PROPOSAL_DROPPED),  # by raft itself, before it is appended or forwarded
    Saying("too many requests", Reason.TOO_MANY_REQUESTS),
    Saying("not capable", Reason.NOT_CAPABLE),
    Saying("rpc not supported for learner", Reason.NOT_FOR_LEARNERS),
    Saying("corrupt cluster", Reason.CORRUPT),
    Saying("unhealthy cluster", Reason.UNHEALTHY),
    Saying("re-configuration failed due to not enough started members", Reason.NOT_ENOUGH_STARTED),
    Saying("member not found", Reason.MEMBER_NOT_FOUND),
    Saying("ID not found", Reason.MEMBER_NOT_FOUND),
    Saying("ID removed", Reason.MEMBER_NOT_FOUND),
    Saying("member ID already exist", Reason.MEMBER_EXISTS),
    Saying("ID exists", Reason.MEMBER_EXISTS),
    Saying("Peer URLs already exists", Reason.PEER_URL_EXISTS),
    Saying("peerURL exists", Reason.PEER_URL_EXISTS),
    Saying("given member URLs are invalid", Reason.BAD_URLS),
    Saying("too many learner members in cluster", Reason.TOO_MANY_LEARNERS),
    Saying("can only promote a learner member which is in sync with leader", Reason.NOT_IN_SYNC),
    # A follower that forwards a promotion and loses the first answer tries again and is told this: then the member is
    # no learner any more because of us. Promotions belong to the leader; and either way it is a voter now.
    Saying("can only promote a learner member", Reason.NOT_A_LEARNER),
    Saying("bad leader transferee", Reason.BAD_TRANSFEREE),
    Saying("cluster ID mismatch", Reason.CLUSTER_ID_MISMATCH),
    Saying("required revision has been compacted", Reason.COMPACTED),
    Saying("required revision is a future revision", Reason.FUTURE_REVISION),
    Saying("key is not provided", Reason.EMPTY_KEY),
    Saying("key not found", Reason.KEY_NOT_FOUND),
    Saying("duplicate key given in txn request", Reason.DUPLICATE_KEY),
    Saying("too many operations in txn request", Reason.TOO_MANY_OPERATIONS),
    Saying("request is too large", Reason.REQUEST_TOO_LARGE),
    Saying("grpc: received message larger than max", Reason.REQUEST_TOO_LARGE),  # said by the server's transport
    Saying("CLIENT: Received message larger than max", Reason.ANSWER_TOO_LARGE, certain=False),  # and by ours
    Saying("requested lease not found", Reason.LEASE_NOT_FOUND),
    Saying("lease not found", Reason.LEASE_NOT_FOUND),
    Saying("lease already exists", Reason.LEASE_EXISTS),
    Saying("too large lease TTL", Reason.LEASE_TTL_TOO_LARGE),
    Saying("authentication failed", Reason.AUTH_FAILED),
    Saying("authentication is not enabled", Reason.AUTH_NOT_ENABLED),
    Saying("invalid auth token", Reason.INVALID_TOKEN),
    Saying("revision of auth store is old", Reason.OLD_AUTH_REVISION),
    Saying("revision in header is old", Reason.OLD_AUTH_REVISION),
    Saying("invalid auth management", Reason.INVALID_AUTH_MANAGEMENT),
    Saying("permission denied", Reason.PERMISSION_DENIED),
    Saying("permission not given", Reason.PERMISSION_NOT_GIVEN),
    Saying("permission is not granted to the role", Reason.PERMISSION_NOT_GRANTED),
    Saying("root user does not exist", Reason.ROOT_USER_MISSING),
    Saying("root user does not have root role", Reason.ROOT_ROLE_MISSING),
    Saying("user name already exists", Reason.USER_EXISTS),
    Saying("user already exists", Reason.USER_EXISTS),
    Saying("user name not found", Reason.USER_NOT_FOUND),
    Saying("user not found", Reason.USER_NOT_FOUND),
    Saying("user name is empty", Reason.USER_EMPTY),
    Saying("role name already exists", Reason.ROLE_EXISTS),
    Saying("role already exists", Reason.ROLE_EXISTS),
    Saying("role name not found", Reason.ROLE_NOT_FOUND),
    Saying("role not found", Reason.ROLE_NOT_FOUND),
    Saying("role name is empty", Reason.ROLE_EMPTY),
    Saying("role is not granted to the user", Reason.ROLE_NOT_GRANTED),
    Saying("invalid downgrade target version", Reason.BAD_DOWNGRADE_TARGET),
    Saying("wrong downgrade target version format", Reason.BAD_DOWNGRADE_TARGET),
    Saying("cluster has a downgrade job in progress", Reason.DOWNGRADE_IN_PROGRESS),
    Saying("no inflight downgrade job", Reason.NO_DOWNGRADE),
    Saying("cluster version not found during downgrade", Reason.NO_CLUSTER_VERSION),
)

# What the transport of ours says when it never had a connection. Should a later grpcio word it otherwise, the change
# becomes one of unknown outcome: the safe side.
NEVER_CONNECTED = ("failed to connect to all addresses", "connections to all backends failing")

# Codes that, with a text we do not know, still mean that the server looked at the request and declined.
DECLINED = frozenset(
    {
        grpc.StatusCode.ALREADY_EXISTS,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)


def saying(details: str) -> Saying | None:
    bare = PREFIXES.sub("", details, count=1)
    return next((row for row in SAYINGS if bare.startswith(row.text)), None)


def error_for(code: grpc.StatusCode, details: str, *, what: str, changes: bool) -> EtcdError:
    """The error for a status; `what` names call and member, `changes` says that the call was to change something."""
    text = f"{what}: {details or 'no details'} ({code.name})"
    if code is grpc.StatusCode.UNAVAILABLE and details.startswith(NEVER_CONNECTED):
        return NotReachedError(text)
    if known := saying(details):
        certain, reason = known.certain, known.reason
    else:
        certain = code in DECLINED
        reason = Reason.OTHER if certain or code is grpc.StatusCode.UNKNOWN else Reason.NO_ANSWER
    if certain:
        return RefusedError(text, reason)
    if changes:
        return Unknown(f"{text}; the change may have been made or not", reason)
    return NoAnswerError(text, reason)
