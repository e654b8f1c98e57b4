from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.etcd import snapshot_message
from etcd_operator.etcd.pb import rpc_pb2 as pb

HEADERS = st.builds(pb.ResponseHeader, cluster_id=st.integers(0, 2**64 - 1), revision=st.integers(0, 2**63 - 1))


@given(HEADERS, st.integers(0, 2**63 - 1), st.binary(max_size=70_000), st.text(max_size=20))
def test_it_reads_what_protobuf_writes(header: pb.ResponseHeader, remaining: int, blob: bytes, version: str) -> None:
    written = pb.SnapshotResponse(header=header, remaining_bytes=remaining, blob=blob, version=version)

    read = snapshot_message.read(written.SerializeToString())

    assert (bytes(read.blob), read.remaining_bytes, read.version) == (blob, remaining, version)


@given(st.binary(min_size=1, max_size=300), st.data())
def test_a_message_that_is_cut_off_is_refused(blob: bytes, data: st.DataObject) -> None:
    whole = pb.SnapshotResponse(remaining_bytes=300, blob=blob).SerializeToString()
    end = data.draw(st.integers(0, len(whole) - 1))
    if end in (0, 3):  # the end of a field: a shorter message, and no worse
        return

    with pytest.raises(ValueError, match="snapshot"):
        snapshot_message.read(whole[:end])


def test_a_field_of_a_later_etcd_is_passed_over() -> None:
    unknown = b"\x28\x05" + b"\x31" + bytes(8) + b"\x3d" + bytes(4) + b"\x42\x02ab"
    written = unknown + pb.SnapshotResponse(remaining_bytes=7, blob=b"data").SerializeToString() + unknown

    assert bytes(snapshot_message.read(written).blob) == b"data"
