"""One message of a snapshot, read without copying the database in it.

Protobuf's own reader copies the bytes once into the message and once more out of it, which cost a tenth of the speed of
a snapshot (measured). All other messages are small and are read by the generated code.
"""

from __future__ import annotations

from typing import NamedTuple

from etcd_operator.etcd.pb import rpc_pb2 as pb

_FIELDS = pb.SnapshotResponse.DESCRIPTOR.fields_by_name
_REMAINING, _BLOB, _VERSION = (_FIELDS[name].number for name in ("remaining_bytes", "blob", "version"))
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_WIDTH = {_FIXED64: 8, _FIXED32: 4}


class SnapshotMessage(NamedTuple):
    blob: memoryview
    remaining_bytes: int
    version: str


def read(raw: bytes) -> SnapshotMessage:
    """Raises ValueError where protobuf's reader would refuse."""
    whole, at = memoryview(raw), 0
    blob, remaining, version = whole[:0], 0, ""
    while at < len(raw):
        tag, at = _varint(raw, at)
        field, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            number, at = _varint(raw, at)
            if field == _REMAINING:
                remaining = number
            continue
        width, at = _varint(raw, at) if kind == _LENGTH else (_WIDTH.get(kind, len(raw)), at)
        part, at = whole[at : at + width], at + width
        if field == _BLOB:
            blob = part
        elif field == _VERSION:
            version = str(part, "utf-8")
    if at != len(raw):
        raise ValueError("a message of the snapshot is cut off or of another shape")
    return SnapshotMessage(blob, remaining, version)


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    try:
        while (byte := raw[at]) >= 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            at += 1
    except IndexError:
        raise ValueError("a message of the snapshot ends within a number") from None
    return value | byte << shift, at + 1
