from __future__ import annotations

import hashlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.etcd.errors import CorruptSnapshotError
from etcd_operator.etcd.snapshot import DIGEST, SECTOR, Trailer

DATABASE = bytes(range(256)) * 8  # four sectors


def sent(database: bytes) -> bytes:
    return database + hashlib.sha256(database).digest()


def fed(content: bytes, cuts: list[int]) -> Trailer:
    """In pieces, cut anywhere; two equal cuts make an empty piece."""
    trailer = Trailer()
    edges = [0, *sorted(min(cut, len(content)) for cut in cuts), len(content)]
    for begin, end in itertools.pairwise(edges):
        trailer.feed(content[begin:end])
    return trailer


CUTS = st.lists(st.integers(0, len(DATABASE) + DIGEST), max_size=40)


@given(CUTS)
def test_a_snapshot_is_verified_however_it_is_cut(cuts: list[int]) -> None:
    trailer = fed(sent(DATABASE), cuts)

    trailer.verify()
    assert trailer.size == len(DATABASE) + DIGEST
    assert trailer.sha256 == hashlib.sha256(DATABASE).hexdigest()


@given(CUTS, st.integers(0, len(DATABASE) + DIGEST - 1), st.integers(1, 255))
def test_one_altered_byte_is_found_wherever_it_is(cuts: list[int], place: int, difference: int) -> None:
    content = bytearray(sent(DATABASE))
    content[place] ^= difference

    with pytest.raises(CorruptSnapshotError, match="SHA-256"):
        fed(bytes(content), cuts).verify()


@given(CUTS, st.integers(0, len(DATABASE) + DIGEST - 1))
def test_a_snapshot_that_ends_early_is_found(cuts: list[int], length: int) -> None:
    with pytest.raises(CorruptSnapshotError):
        fed(sent(DATABASE)[:length], cuts).verify()


def test_a_database_without_a_checksum_is_no_snapshot() -> None:
    with pytest.raises(CorruptSnapshotError, match="no database with a checksum"):
        fed(DATABASE, []).verify()


def test_a_checksum_without_a_database_is_no_snapshot() -> None:
    with pytest.raises(CorruptSnapshotError, match="no database with a checksum"):
        fed(sent(b""), []).verify()


def test_a_database_is_whole_sectors() -> None:
    with pytest.raises(CorruptSnapshotError, match="no database with a checksum"):
        fed(sent(bytes(SECTOR + 1)), []).verify()
