"""Leases: keys that vanish unless somebody keeps their lease alive."""

from __future__ import annotations

from etcd_operator.etcd import methods
from etcd_operator.etcd.call import CHANGE, READ, Caller
from etcd_operator.etcd.errors import NoAnswerError, Reason, RefusedError
from etcd_operator.etcd.pb import rpc_pb2 as pb
from etcd_operator.etcd.results import Header, Lease, LeaseLife, header_of
from etcd_operator.etcd.stream import WITH_LEADER, Stream


class LeaseCalls(Caller):
    async def lease_grant(self, ttl: int, *, lease_id: int = 0, deadline: float = CHANGE) -> Lease:
        """A lease of `ttl` seconds or more; the server chooses the ID unless one is given."""
        request = pb.LeaseGrantRequest(TTL=ttl, ID=lease_id)
        answer = await self.call(methods.LEASE_GRANT, request, deadline=deadline)
        return Lease(header_of(answer.header), answer.ID, answer.TTL)

    async def lease_revoke(self, lease_id: int, *, deadline: float = CHANGE) -> Header:
        """End a lease, and with it all its keys."""
        request = pb.LeaseRevokeRequest(ID=lease_id)
        return header_of((await self.call(methods.LEASE_REVOKE, request, deadline=deadline)).header)

    async def lease_keep_alive(self, lease_id: int, *, deadline: float = READ) -> Lease:
        """Renew it once. etcd's call for it is a stream; it is closed again: the next renewal is seconds away."""
        request = pb.LeaseKeepAliveRequest(ID=lease_id)
        stream = Stream(self, methods.LEASE_KEEP_ALIVE, request, metadata=WITH_LEADER)
        what = f"LeaseKeepAlive on {self.target}"
        try:
            answer = await stream.open(deadline)
        finally:
            await stream.close()
        if answer is None:
            raise NoAnswerError(f"{what}: the server ended the stream", Reason.NO_ANSWER)
        if answer.TTL <= 0:
            raise RefusedError(f"{what}: there is no lease {lease_id:x}", Reason.LEASE_NOT_FOUND)
        return Lease(header_of(answer.header), answer.ID, answer.TTL)

    async def lease_time_to_live(self, lease_id: int, *, keys: bool = False, deadline: float = READ) -> LeaseLife:
        request = pb.LeaseTimeToLiveRequest(ID=lease_id, keys=keys)
        answer = await self.call(methods.LEASE_TIME_TO_LIVE, request, deadline=deadline)
        if answer.TTL < 0:
            what = f"LeaseTimeToLive on {self.target}"
            raise RefusedError(f"{what}: there is no lease {lease_id:x}", Reason.LEASE_NOT_FOUND)
        return LeaseLife(
            header=header_of(answer.header),
            id=answer.ID,
            ttl=answer.TTL,
            granted_ttl=answer.grantedTTL,
            keys=tuple(answer.keys),
        )

    async def leases(self, *, deadline: float = READ) -> tuple[int, ...]:
        """The IDs of all leases that this member knows."""
        answer = await self.call(methods.LEASE_LEASES, pb.LeaseLeasesRequest(), deadline=deadline)
        return tuple(lease.ID for lease in answer.leases)
