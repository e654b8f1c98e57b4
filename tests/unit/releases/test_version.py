from __future__ import annotations

import pytest

from etcd_operator.releases.version import NotAVersionError, Series, Version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("3.2.13", (3, 2, 13)),
        ("3.6", (3, 6, 0)),
        ("v3.5.1", (3, 5, 1)),
        ("vv3.5.21", (3, 5, 21)),
        ("3.7.0-rc.1", (3, 7, 0)),
        ("3.5.9-0", (3, 5, 9)),
        ("3.4.23+dfsg", (3, 4, 23)),
        ("10.0.2", (10, 0, 2)),
    ],
)
def test_a_version_is_read(text: str, version: tuple[int, int, int]) -> None:
    assert Version.parse(text) == version


@pytest.mark.parametrize(
    "text", ["", "3", "latest", "3.x", "3.5.1.2", "3.5.1 ", "3.5.1\n", "\u0663.5.1", "3." + "9" * 5000]
)
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(NotAVersionError, match="no version"):
        Version.parse(text)


def test_versions_are_ordered_by_number_not_by_letter() -> None:
    texts = ["3.10.0", "3.5.9", "3.5.26", "3.4.45", "3.5.0"]

    assert sorted(map(Version.parse, texts)) == [(3, 4, 45), (3, 5, 0), (3, 5, 9), (3, 5, 26), (3, 10, 0)]


def test_a_version_is_written_as_it_is_read_and_tells_its_series() -> None:
    version = Version.parse("v3.5.21")

    assert str(version) == "3.5.21"
    assert version.series == Series(3, 5)
    assert str(version.series) == "3.5"
