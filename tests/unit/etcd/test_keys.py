from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.etcd.keys import (
    Condition,
    Delete,
    Get,
    Operation,
    Put,
    Relation,
    Subject,
    compare_of,
    operation_of,
    prefix_end,
)
from etcd_operator.etcd.pb import rpc_pb2 as pb


@pytest.mark.parametrize(
    ("prefix", "end"), [(b"a", b"b"), (b"a/", b"a0"), (b"a\xff", b"b"), (b"\xff\xff", b"\0"), (b"", b"\0")]
)
def test_the_end_of_a_prefix(prefix: bytes, end: bytes) -> None:
    assert prefix_end(prefix) == end


@given(st.binary(min_size=1, max_size=4), st.binary(max_size=4))
def test_a_key_is_between_a_prefix_and_its_end_just_when_it_begins_with_it(prefix: bytes, key: bytes) -> None:
    end = prefix_end(prefix)

    assert (prefix <= key and (key < end or end == b"\0")) == key.startswith(prefix)


@pytest.mark.parametrize(
    ("operation", "kind"),
    [(Get(b"k"), "request_range"), (Put(b"k", b"v"), "request_put"), (Delete(b"k"), "request_delete_range")],
)
def test_an_operation_of_a_transaction_is_of_its_kind(operation: Operation, kind: str) -> None:
    assert operation_of(operation).WhichOneof("request") == kind


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (
            Condition(b"k", Subject.VERSION, Relation.EQUAL, 0),
            pb.Compare(key=b"k", target=pb.Compare.VERSION, result=pb.Compare.EQUAL, version=0),
        ),
        (
            Condition(b"k", Subject.CREATE_REVISION, Relation.GREATER, 4),
            pb.Compare(key=b"k", target=pb.Compare.CREATE, result=pb.Compare.GREATER, create_revision=4),
        ),
        (
            Condition(b"k", Subject.MOD_REVISION, Relation.LESS, 7),
            pb.Compare(key=b"k", target=pb.Compare.MOD, result=pb.Compare.LESS, mod_revision=7),
        ),
        (
            Condition(b"k", Subject.VALUE, Relation.NOT_EQUAL, b"v"),
            pb.Compare(key=b"k", target=pb.Compare.VALUE, result=pb.Compare.NOT_EQUAL, value=b"v"),
        ),
    ],
)
def test_a_condition_compares_what_it_says(condition: Condition, expected: pb.Compare) -> None:
    assert compare_of(condition) == expected
