"""Keys: read, write, delete, all or nothing, watch; and forgetting the revisions before one.

A range is a key and the first key after it that is not meant any more; `prefix_end` gives it for all keys that begin
alike, and `EVERYTHING` is the range of all.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

import msgspec

from etcd_operator.etcd import methods
from etcd_operator.etcd.call import CHANGE, READ, Caller
from etcd_operator.etcd.pb import rpc_pb2 as pb
from etcd_operator.etcd.results import Header, KeyValue, header_of, key_value_of
from etcd_operator.etcd.watch import Watch

EVERYTHING = (b"\0", b"\0")


def prefix_end(prefix: bytes) -> bytes:
    """The first key after all that begin with `prefix`: its last byte that can grow, grown by one."""
    bare = prefix.rstrip(b"\xff")
    return bare[:-1] + bytes([bare[-1] + 1]) if bare else b"\0"


class Found(msgspec.Struct, frozen=True):
    header: Header
    items: tuple[KeyValue, ...]
    more: bool  # the limit left some out
    count: int  # of all keys in the range


class Written(msgspec.Struct, frozen=True):
    header: Header
    previous: KeyValue | None


class Deleted(msgspec.Struct, frozen=True):
    header: Header
    count: int
    previous: tuple[KeyValue, ...]


class Get(msgspec.Struct, frozen=True):
    key: bytes
    range_end: bytes = b""
    limit: int = 0
    revision: int = 0
    keys_only: bool = False
    count_only: bool = False


class Put(msgspec.Struct, frozen=True):
    key: bytes
    value: bytes
    lease: int = 0
    previous: bool = False


class Delete(msgspec.Struct, frozen=True):
    key: bytes
    range_end: bytes = b""
    previous: bool = False


class Relation(enum.StrEnum):
    EQUAL = "EQUAL"
    GREATER = "GREATER"
    LESS = "LESS"
    NOT_EQUAL = "NOT_EQUAL"


class Subject(enum.StrEnum):
    """What of a key is compared; a key that is not there has the version and the revisions 0."""

    VERSION = "version"
    CREATE_REVISION = "create_revision"
    MOD_REVISION = "mod_revision"
    VALUE = "value"


class Condition(msgspec.Struct, frozen=True):
    key: bytes
    subject: Subject
    relation: Relation
    operand: int | bytes


class Outcome(msgspec.Struct, frozen=True):
    """Of a transaction: whether the conditions held, and the answers of the branch that was taken."""

    header: Header
    succeeded: bool
    answers: tuple[Found | Written | Deleted, ...]


Operation = Get | Put | Delete

TARGETS = {
    Subject.VERSION: pb.Compare.VERSION,
    Subject.CREATE_REVISION: pb.Compare.CREATE,
    Subject.MOD_REVISION: pb.Compare.MOD,
    Subject.VALUE: pb.Compare.VALUE,
}


class KeyCalls(Caller):
    async def range(  # noqa: PLR0913 - etcd's own options
        self,
        key: bytes,
        *,
        range_end: bytes = b"",
        limit: int = 0,
        revision: int = 0,
        serializable: bool = False,
        keys_only: bool = False,
        count_only: bool = False,
        deadline: float = READ,
    ) -> Found:
        """`serializable` takes what this member has, without asking the others whether that is still true."""
        get = Get(key, range_end, limit=limit, revision=revision, keys_only=keys_only, count_only=count_only)
        request = range_request(get)
        request.serializable = serializable
        return found_of(await self.call(methods.RANGE, request, deadline=deadline))

    async def put(
        self, key: bytes, value: bytes, *, lease: int = 0, previous: bool = False, deadline: float = CHANGE
    ) -> Written:
        request = put_request(Put(key, value, lease, previous))
        return written_of(await self.call(methods.PUT, request, deadline=deadline))

    async def delete(
        self, key: bytes, *, range_end: bytes = b"", previous: bool = False, deadline: float = CHANGE
    ) -> Deleted:
        request = delete_request(Delete(key, range_end, previous))
        return deleted_of(await self.call(methods.DELETE_RANGE, request, deadline=deadline))

    async def txn(
        self,
        conditions: Sequence[Condition] = (),
        *,
        then: Sequence[Operation] = (),
        otherwise: Sequence[Operation] = (),
        deadline: float = CHANGE,
    ) -> Outcome:
        request = pb.TxnRequest(
            compare=[compare_of(condition) for condition in conditions],
            success=[operation_of(one) for one in then],
            failure=[operation_of(one) for one in otherwise],
        )
        answer = await self.call(methods.TXN, request, deadline=deadline)
        answers = tuple(answer_of(one) for one in answer.responses)
        return Outcome(header_of(answer.header), answer.succeeded, answers)

    async def compact(self, revision: int, *, physical: bool = True, deadline: float = CHANGE) -> Header:
        """Forget what was before `revision`; `physical` waits until it is gone from this member's database too."""
        request = pb.CompactionRequest(revision=revision, physical=physical)
        return header_of((await self.call(methods.COMPACT, request, deadline=deadline)).header)

    def watch(
        self,
        key: bytes,
        *,
        range_end: bytes = b"",
        start_revision: int = 0,
        progress: bool = False,
        previous: bool = False,
        deadline: float = READ,
    ) -> Watch:
        """Changes from `start_revision` on, or from now. `deadline` is for its beginning: a watch may be silent."""
        request = pb.WatchCreateRequest(
            key=key, range_end=range_end, start_revision=start_revision, progress_notify=progress, prev_kv=previous
        )
        return Watch(self, request, deadline=deadline)


def range_request(get: Get) -> pb.RangeRequest:
    return pb.RangeRequest(
        key=get.key,
        range_end=get.range_end,
        limit=get.limit,
        revision=get.revision,
        keys_only=get.keys_only,
        count_only=get.count_only,
    )


def put_request(put: Put) -> pb.PutRequest:
    return pb.PutRequest(key=put.key, value=put.value, lease=put.lease, prev_kv=put.previous)


def delete_request(delete: Delete) -> pb.DeleteRangeRequest:
    return pb.DeleteRangeRequest(key=delete.key, range_end=delete.range_end, prev_kv=delete.previous)


def operation_of(operation: Operation) -> pb.RequestOp:
    match operation:
        case Get():
            return pb.RequestOp(request_range=range_request(operation))
        case Put():
            return pb.RequestOp(request_put=put_request(operation))
        case Delete():
            return pb.RequestOp(request_delete_range=delete_request(operation))


def compare_of(condition: Condition) -> pb.Compare:
    compare = pb.Compare(result=condition.relation.value, target=TARGETS[condition.subject], key=condition.key)
    setattr(compare, condition.subject.value, condition.operand)
    return compare


def answer_of(answer: pb.ResponseOp) -> Found | Written | Deleted:
    match answer.WhichOneof("response"):
        case "response_range":
            return found_of(answer.response_range)
        case "response_put":
            return written_of(answer.response_put)
        case _:
            return deleted_of(answer.response_delete_range)


def found_of(answer: pb.RangeResponse) -> Found:
    items = tuple(key_value_of(item) for item in answer.kvs)
    return Found(header_of(answer.header), items, answer.more, answer.count)


def written_of(answer: pb.PutResponse) -> Written:
    return Written(header_of(answer.header), key_value_of(answer.prev_kv) if answer.HasField("prev_kv") else None)


def deleted_of(answer: pb.DeleteRangeResponse) -> Deleted:
    return Deleted(header_of(answer.header), answer.deleted, tuple(key_value_of(item) for item in answer.prev_kvs))
