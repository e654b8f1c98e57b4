"""The calls that etcd answers, as a table: path, types, and whether a call changes something.

What the protobuf generator writes for services knows no types and ties the package to one range of grpcio versions; a
row of this table is all that a call needs. The same path stands here twice where one call of etcd both reads and
changes, because a lost answer means something else for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from google.protobuf.message import Message

from etcd_operator.etcd.pb import rpc_pb2 as pb
from etcd_operator.releases.capabilities import Capability

Request = TypeVar("Request", bound=Message)
Answer = TypeVar("Answer", bound=Message)


@dataclass(frozen=True)
class Method(Generic[Request, Answer]):
    path: str  # service and method, without the slash in front
    request: type[Request]
    answer: type[Answer]
    changes: bool = False
    needs: Capability | None = None
    streams: tuple[bool, bool] = (False, False)  # of requests, of answers

    def __str__(self) -> str:
        return self.path.rpartition("/")[2]


RANGE = Method("etcdserverpb.KV/Range", pb.RangeRequest, pb.RangeResponse)
PUT = Method("etcdserverpb.KV/Put", pb.PutRequest, pb.PutResponse, changes=True)
DELETE_RANGE = Method("etcdserverpb.KV/DeleteRange", pb.DeleteRangeRequest, pb.DeleteRangeResponse, changes=True)
TXN = Method("etcdserverpb.KV/Txn", pb.TxnRequest, pb.TxnResponse, changes=True)
COMPACT = Method("etcdserverpb.KV/Compact", pb.CompactionRequest, pb.CompactionResponse, changes=True)

WATCH = Method("etcdserverpb.Watch/Watch", pb.WatchRequest, pb.WatchResponse, streams=(True, True))

LEASE_GRANT = Method("etcdserverpb.Lease/LeaseGrant", pb.LeaseGrantRequest, pb.LeaseGrantResponse, changes=True)
LEASE_REVOKE = Method("etcdserverpb.Lease/LeaseRevoke", pb.LeaseRevokeRequest, pb.LeaseRevokeResponse, changes=True)
LEASE_KEEP_ALIVE = Method(
    "etcdserverpb.Lease/LeaseKeepAlive", pb.LeaseKeepAliveRequest, pb.LeaseKeepAliveResponse, streams=(True, True)
)
LEASE_TIME_TO_LIVE = Method("etcdserverpb.Lease/LeaseTimeToLive", pb.LeaseTimeToLiveRequest, pb.LeaseTimeToLiveResponse)
LEASE_LEASES = Method(
    "etcdserverpb.Lease/LeaseLeases", pb.LeaseLeasesRequest, pb.LeaseLeasesResponse, needs=Capability.LEASE_LIST
)

MEMBER_LIST = Method("etcdserverpb.Cluster/MemberList", pb.MemberListRequest, pb.MemberListResponse)
MEMBER_ADD = Method("etcdserverpb.Cluster/MemberAdd", pb.MemberAddRequest, pb.MemberAddResponse, changes=True)
MEMBER_REMOVE = Method(
    "etcdserverpb.Cluster/MemberRemove", pb.MemberRemoveRequest, pb.MemberRemoveResponse, changes=True
)
MEMBER_UPDATE = Method(
    "etcdserverpb.Cluster/MemberUpdate", pb.MemberUpdateRequest, pb.MemberUpdateResponse, changes=True
)
MEMBER_PROMOTE = Method(
    "etcdserverpb.Cluster/MemberPromote",
    pb.MemberPromoteRequest,
    pb.MemberPromoteResponse,
    changes=True,
    needs=Capability.LEARNERS,
)

STATUS = Method("etcdserverpb.Maintenance/Status", pb.StatusRequest, pb.StatusResponse)
ALARM_LIST = Method("etcdserverpb.Maintenance/Alarm", pb.AlarmRequest, pb.AlarmResponse)
ALARM_DISARM = Method("etcdserverpb.Maintenance/Alarm", pb.AlarmRequest, pb.AlarmResponse, changes=True)
DEFRAGMENT = Method("etcdserverpb.Maintenance/Defragment", pb.DefragmentRequest, pb.DefragmentResponse, changes=True)
HASH = Method("etcdserverpb.Maintenance/Hash", pb.HashRequest, pb.HashResponse)
HASH_KV = Method("etcdserverpb.Maintenance/HashKV", pb.HashKVRequest, pb.HashKVResponse, needs=Capability.HASH_KV)
SNAPSHOT = Method("etcdserverpb.Maintenance/Snapshot", pb.SnapshotRequest, pb.SnapshotResponse, streams=(False, True))
MOVE_LEADER = Method(
    "etcdserverpb.Maintenance/MoveLeader",
    pb.MoveLeaderRequest,
    pb.MoveLeaderResponse,
    changes=True,
    needs=Capability.MOVE_LEADER,
)
DOWNGRADE_VALIDATE = Method(
    "etcdserverpb.Maintenance/Downgrade", pb.DowngradeRequest, pb.DowngradeResponse, needs=Capability.DOWNGRADE
)
DOWNGRADE = Method(
    "etcdserverpb.Maintenance/Downgrade",
    pb.DowngradeRequest,
    pb.DowngradeResponse,
    changes=True,
    needs=Capability.DOWNGRADE,
)

AUTH_ENABLE = Method("etcdserverpb.Auth/AuthEnable", pb.AuthEnableRequest, pb.AuthEnableResponse, changes=True)
AUTH_DISABLE = Method("etcdserverpb.Auth/AuthDisable", pb.AuthDisableRequest, pb.AuthDisableResponse, changes=True)
AUTH_STATUS = Method(
    "etcdserverpb.Auth/AuthStatus", pb.AuthStatusRequest, pb.AuthStatusResponse, needs=Capability.AUTH_STATUS
)
AUTHENTICATE = Method("etcdserverpb.Auth/Authenticate", pb.AuthenticateRequest, pb.AuthenticateResponse)
USER_ADD = Method("etcdserverpb.Auth/UserAdd", pb.AuthUserAddRequest, pb.AuthUserAddResponse, changes=True)
USER_GET = Method("etcdserverpb.Auth/UserGet", pb.AuthUserGetRequest, pb.AuthUserGetResponse)
USER_LIST = Method("etcdserverpb.Auth/UserList", pb.AuthUserListRequest, pb.AuthUserListResponse)
USER_DELETE = Method("etcdserverpb.Auth/UserDelete", pb.AuthUserDeleteRequest, pb.AuthUserDeleteResponse, changes=True)
USER_CHANGE_PASSWORD = Method(
    "etcdserverpb.Auth/UserChangePassword",
    pb.AuthUserChangePasswordRequest,
    pb.AuthUserChangePasswordResponse,
    changes=True,
)
USER_GRANT_ROLE = Method(
    "etcdserverpb.Auth/UserGrantRole", pb.AuthUserGrantRoleRequest, pb.AuthUserGrantRoleResponse, changes=True
)
USER_REVOKE_ROLE = Method(
    "etcdserverpb.Auth/UserRevokeRole", pb.AuthUserRevokeRoleRequest, pb.AuthUserRevokeRoleResponse, changes=True
)
ROLE_ADD = Method("etcdserverpb.Auth/RoleAdd", pb.AuthRoleAddRequest, pb.AuthRoleAddResponse, changes=True)
ROLE_GET = Method("etcdserverpb.Auth/RoleGet", pb.AuthRoleGetRequest, pb.AuthRoleGetResponse)
ROLE_LIST = Method("etcdserverpb.Auth/RoleList", pb.AuthRoleListRequest, pb.AuthRoleListResponse)
ROLE_DELETE = Method("etcdserverpb.Auth/RoleDelete", pb.AuthRoleDeleteRequest, pb.AuthRoleDeleteResponse, changes=True)
ROLE_GRANT_PERMISSION = Method(
    "etcdserverpb.Auth/RoleGrantPermission",
    pb.AuthRoleGrantPermissionRequest,
    pb.AuthRoleGrantPermissionResponse,
    changes=True,
)
ROLE_REVOKE_PERMISSION = Method(
    "etcdserverpb.Auth/RoleRevokePermission",
    pb.AuthRoleRevokePermissionRequest,
    pb.AuthRoleRevokePermissionResponse,
    changes=True,
)
