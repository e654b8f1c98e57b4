"""Every disk, every history, every role: which of them may start."""

from __future__ import annotations

from pathlib import Path

import pytest

from etcd_operator.member.disk import Disk, Illegible, Marker
from etcd_operator.member.refusal import Reason, Refusal
from etcd_operator.member.settings import Settings
from etcd_operator.member.verdict import Start, Verdict, WaitForListing, judge
from tests.unit.member.pods import IDENTITY, UID, Pod

MARKERS: dict[str, Marker | Illegible | None] = {
    "none": None,
    "own": Marker(UID, "demo-b"),
    "sibling's": Marker(UID, "demo-a"),
    "stranger's": Marker("another-uid", "demo-b"),
    "illegible": Illegible("{"),
}
ROLES = {
    "seed": {"INITIAL_STATE": "new", "INITIAL_CLUSTER": "demo-b=http://127.0.0.1:2"},
    "joiner": {"INITIAL_STATE": "existing"},
    "alone": {"INITIAL_STATE": "existing", "INITIAL_CLUSTER": "demo-b=http://127.0.0.1:2"},
}

# marker, content                never answered           has answered
#                                seed    joiner  alone    seed    joiner  alone
TABLE = """
none        empty                start   wait    lost     lost    lost    lost
none        files                foreign foreign foreign  lost    lost    lost
none        log                  foreign foreign foreign  foreign foreign foreign
own         empty                start   wait    lost     lost    lost    lost
own         files                start   wait    lost     lost    lost    lost
own         log                  start   start   start    start   start   start
sibling's   empty                foreign foreign foreign  foreign foreign foreign
sibling's   files                foreign foreign foreign  foreign foreign foreign
sibling's   log                  foreign foreign foreign  foreign foreign foreign
stranger's  empty                foreign foreign foreign  foreign foreign foreign
stranger's  files                foreign foreign foreign  foreign foreign foreign
stranger's  log                  foreign foreign foreign  foreign foreign foreign
illegible   empty                foreign foreign foreign  foreign foreign foreign
illegible   files                foreign foreign foreign  foreign foreign foreign
illegible   log                  foreign foreign foreign  foreign foreign foreign
"""
COLUMNS = [(role, identity) for identity in ("", IDENTITY) for role in ROLES]
CASES = [
    pytest.param(
        marker, content, role, identity, expected, id=f"{marker}-{content}-{role}-{'ran' if identity else 'new'}"
    )
    for marker, content, *row in (line.split() for line in TABLE.split("\n") if line)
    for (role, identity), expected in zip(COLUMNS, row, strict=True)
]
REASONS = {Reason.DISK_LOST: "lost", Reason.FOREIGN_DISK: "foreign", Reason.DISK_UNUSABLE: "unusable"}


def disk(marker: str, content: str, *, read_only: bool = False) -> Disk:
    return Disk(
        marker=MARKERS[marker], has_wal=content == "log", has_files=content in {"log", "files"}, read_only=read_only
    )


def settings(folder: Path, role: str, identity: str) -> Settings:
    return Pod(folder / "volume", {**ROLES[role], "IDENTITY": identity}).settings


def short(verdict: Verdict) -> str:
    match verdict:
        case Start():
            return "start"
        case WaitForListing():
            return "wait"
        case Refusal(reason, _):
            return REASONS[reason]


@pytest.mark.parametrize(("marker", "content", "role", "identity", "expected"), CASES)
def test_the_table_is_kept(tmp_path: Path, marker: str, content: str, role: str, identity: str, expected: str) -> None:
    assert short(judge(disk(marker, content), settings(tmp_path, role, identity))) == expected


@pytest.mark.parametrize(("marker", "content", "role", "identity", "expected"), CASES)
def test_nothing_starts_on_a_disk_that_cannot_be_written(
    tmp_path: Path, marker: str, content: str, role: str, identity: str, expected: str
) -> None:
    assert short(judge(disk(marker, content, read_only=True), settings(tmp_path, role, identity))) == "unusable"


def test_the_table_has_every_disk() -> None:
    assert len(CASES) == len(MARKERS) * len(("empty", "files", "log")) * len(ROLES) * len(("never", "has answered"))


def test_a_lost_disk_is_told_with_the_identity_that_was_on_it(tmp_path: Path) -> None:
    verdict = judge(disk("own", "empty"), settings(tmp_path, "seed", IDENTITY))

    assert isinstance(verdict, Refusal)
    assert "demo-b has run before, as member 8e9e05c52164694d of cluster cdf818194e3a8c32" in verdict.message


@pytest.mark.parametrize(
    ("marker", "content", "words"),
    [
        ("none", "log", "write-ahead log but no member.json"),
        ("sibling's", "log", "that of demo-a, another member of the same cluster"),
        ("stranger's", "log", "the cluster with UID another-uid"),
        ("illegible", "log", "names nobody ('{')"),
        ("none", "files", "has never run, and yet"),
    ],
)
def test_a_foreign_disk_is_told_with_what_was_found_on_it(
    tmp_path: Path, marker: str, content: str, words: str
) -> None:
    verdict = judge(disk(marker, content), settings(tmp_path, "joiner", ""))

    assert isinstance(verdict, Refusal)
    assert words in verdict.message
