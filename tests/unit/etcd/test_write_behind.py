from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from etcd_operator.etcd.snapshot_file import STEP, write_behind
from tests.etcd.full_disk import files_limited_to


def test_all_pieces_are_in_the_file_in_their_order(tmp_path: Path) -> None:
    chosen = random.Random(7)
    digest = hashlib.sha256()
    file = tmp_path / "file"
    file.touch()

    def pieces() -> Iterator[bytes]:
        left = 3 * STEP
        while left > 0:
            piece = chosen.randbytes(8) * chosen.randrange(1, STEP // 16)
            digest.update(piece)
            left -= len(piece)
            yield piece

    write_behind(file, pieces())

    with file.open("rb") as written:
        assert hashlib.file_digest(written, "sha256").digest() == digest.digest()
    file.unlink()


def test_a_file_that_was_taken_away_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_behind(tmp_path / "file", iter([b"piece"]))

    assert not list(tmp_path.iterdir())


def test_a_last_piece_that_the_disk_takes_a_part_of_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with files_limited_to(1000), pytest.raises(OSError, match="File too large"):
        write_behind(tmp_path / "file", iter([bytes(1500)]))
