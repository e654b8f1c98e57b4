"""Who belongs to the cluster: list, add, promote, update, remove.

Of these calls a lost answer is the rule rather than the exception: raft silently drops a change that is proposed while
another is not yet applied, and the server then waits for the caller's deadline. `UnknownOutcomeError` is to be answered
with a look at the list, never with the same call again.
"""

from __future__ import annotations

from collections.abc import Sequence

from etcd_operator.etcd import methods
from etcd_operator.etcd.call import CHANGE, READ, Caller, seconds_left, until_from
from etcd_operator.etcd.pb import rpc_pb2 as pb
from etcd_operator.etcd.results import MemberAdded, MemberList, header_of, record_of, records_of
from etcd_operator.releases.capabilities import Capability, can


class MembershipCalls(Caller):
    async def member_list(self, *, linearizable: bool = True, deadline: float = READ) -> MemberList:
        """The members; `linearizable` makes sure that no change known to the majority is missing.

        Up to 3.4 a member lists what it has applied itself. A linearizable read on the same member just before makes
        it catch up with the majority first.
        """
        until = until_from(deadline)
        if linearizable and not can(await self.version(deadline=deadline), Capability.LINEARIZABLE_MEMBER_LIST):
            read = pb.RangeRequest(key=b"\0", limit=1, keys_only=True)
            await self.call(methods.RANGE, read, deadline=seconds_left(until))
        request = pb.MemberListRequest(linearizable=linearizable)
        answer = await self.call(methods.MEMBER_LIST, request, deadline=seconds_left(until))
        return MemberList(header_of(answer.header), records_of(answer.members))

    async def member_add(
        self, peer_urls: Sequence[str], *, learner: bool = False, deadline: float = CHANGE
    ) -> MemberAdded:
        request = pb.MemberAddRequest(peerURLs=peer_urls, isLearner=learner)
        needs = Capability.LEARNERS if learner else None
        answer = await self.call(methods.MEMBER_ADD, request, deadline=deadline, needs=needs)
        return MemberAdded(header_of(answer.header), record_of(answer.member), records_of(answer.members))

    async def member_promote(self, member_id: int, *, deadline: float = CHANGE) -> MemberList:
        """Turn a learner into a voter. To be sent to the leader: a follower passes it on over HTTP, and repeats it.

        etcd promotes a dead learner too, if it had once caught up: whether it lives must be asked before.
        """
        request = pb.MemberPromoteRequest(ID=member_id)
        answer = await self.call(methods.MEMBER_PROMOTE, request, deadline=deadline)
        return MemberList(header_of(answer.header), records_of(answer.members))

    async def member_update(self, member_id: int, peer_urls: Sequence[str], *, deadline: float = CHANGE) -> MemberList:
        """Before 3.5.31 and 3.6.12 this makes a learner look like a voter in the list."""
        request = pb.MemberUpdateRequest(ID=member_id, peerURLs=peer_urls)
        answer = await self.call(methods.MEMBER_UPDATE, request, deadline=deadline)
        return MemberList(header_of(answer.header), records_of(answer.members))

    async def member_remove(self, member_id: int, *, deadline: float = CHANGE) -> MemberList:
        request = pb.MemberRemoveRequest(ID=member_id)
        answer = await self.call(methods.MEMBER_REMOVE, request, deadline=deadline)
        return MemberList(header_of(answer.header), records_of(answer.members))
