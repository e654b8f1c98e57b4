"""The state of one member, and its upkeep: status, hashes, alarms, space, the leader, the way back, the snapshot."""

from __future__ import annotations

from pathlib import Path

from etcd_operator.etcd import methods
from etcd_operator.etcd.call import CHANGE, READ, Caller
from etcd_operator.etcd.capabilities import read_version
from etcd_operator.etcd.pb import rpc_pb2 as pb
from etcd_operator.etcd.results import (
    Alarm,
    AlarmKind,
    Hash,
    Header,
    KeyHash,
    Status,
    alarms_of,
    header_of,
    status_of,
)
from etcd_operator.etcd.snapshot import STALL, Snapshot
from etcd_operator.etcd.snapshot_file import SnapshotFile, save
from etcd_operator.releases.capabilities import Capability, can

SCAN = 30.0  # seconds; a hash reads the whole database
DEFRAGMENT = 480.0  # a member rewrites some 100 MB a second, and answers nothing else meanwhile


class MaintenanceCalls(Caller):
    async def status(self, *, deadline: float = READ) -> Status:
        answer = await self.call(methods.STATUS, pb.StatusRequest(), deadline=deadline)
        self._version = read_version(answer.version)
        return status_of(answer)

    async def hash(self, *, deadline: float = SCAN) -> Hash:
        answer = await self.call(methods.HASH, pb.HashRequest(), deadline=deadline)
        return Hash(header_of(answer.header), answer.hash)

    async def hash_kv(self, revision: int = 0, *, deadline: float = SCAN) -> KeyHash:
        """Of all keys up to `revision`; 0 is the newest, which is of no use for a comparison."""
        answer = await self.call(methods.HASH_KV, pb.HashKVRequest(revision=revision), deadline=deadline)
        told = can(await self.version(), Capability.HASH_REVISION)
        return KeyHash(
            header=header_of(answer.header),
            hash=answer.hash,
            compact_revision=answer.compact_revision,
            hash_revision=answer.hash_revision if told else None,
        )

    async def alarms(self, *, deadline: float = READ) -> tuple[Alarm, ...]:
        """Of all members. etcd asks the majority for them: without one, the errors in the status tell."""
        request = pb.AlarmRequest(action=pb.AlarmRequest.GET)
        return alarms_of(await self.call(methods.ALARM_LIST, request, deadline=deadline))

    async def alarm_disarm(self, alarm: Alarm, *, deadline: float = CHANGE) -> tuple[Alarm, ...]:
        """Gives back what was disarmed: nothing, if it was not raised."""
        kind = alarm.kind.value
        request = pb.AlarmRequest(action=pb.AlarmRequest.DEACTIVATE, memberID=alarm.member_id, alarm=kind)
        needs = Capability.CORRUPT_ALARM if alarm.kind is AlarmKind.CORRUPT else None
        return alarms_of(await self.call(methods.ALARM_DISARM, request, deadline=deadline, needs=needs))

    async def defragment(self, *, deadline: float = DEFRAGMENT) -> None:
        """Once begun, it goes on in the server, whatever becomes of the caller."""
        await self.call(methods.DEFRAGMENT, pb.DefragmentRequest(), deadline=deadline)

    async def move_leader(self, member_id: int, *, deadline: float = CHANGE) -> Header:
        """Only the leader can, and only to a voter. To a dead one (3.3: to nobody, too) it tries until the deadline."""
        answer = await self.call(methods.MOVE_LEADER, pb.MoveLeaderRequest(targetID=member_id), deadline=deadline)
        return header_of(answer.header)

    async def downgrade_validate(self, version: str, *, deadline: float = READ) -> str:
        """Whether a downgrade to `version` (`3.5`) could begin; gives back the cluster's version."""
        request = pb.DowngradeRequest(action=pb.DowngradeRequest.VALIDATE, version=version)
        return (await self.call(methods.DOWNGRADE_VALIDATE, request, deadline=deadline)).version

    async def downgrade_enable(self, version: str, *, deadline: float = CHANGE) -> str:
        """3.5 does it at once and answers with a time-out; only the refusal of a second one shows it there."""
        request = pb.DowngradeRequest(action=pb.DowngradeRequest.ENABLE, version=version)
        return (await self.call(methods.DOWNGRADE, request, deadline=deadline)).version

    async def downgrade_cancel(self, *, deadline: float = CHANGE) -> str:
        """3.5 answers with a time-out here too; from 3.6 on it says yes also when it failed: look into the status."""
        request = pb.DowngradeRequest(action=pb.DowngradeRequest.CANCEL)
        return (await self.call(methods.DOWNGRADE, request, deadline=deadline)).version

    def snapshot(self, *, deadline: float = CHANGE, stall: float = STALL) -> Snapshot:
        """The database of this member, without what it has not applied yet; also without a quorum.

        `deadline` is for its beginning, `stall` for each pause; there is no limit for the whole.
        """
        return Snapshot(self, deadline=deadline, stall=stall)

    async def save_snapshot(self, path: Path, *, deadline: float = CHANGE, stall: float = STALL) -> SnapshotFile:
        """The same into a file, which is there only once it is whole, verified and on the disk; faster than a stream.

        A file of that name is replaced. OSError when the disk does not take it.
        """
        return await save(self, path, deadline=deadline, stall=stall)
