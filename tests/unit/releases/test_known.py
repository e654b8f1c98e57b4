from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from box.layout import REPOSITORY
from etcd_operator.releases.cautions import Severity, cautions
from etcd_operator.releases.known import DEFAULT, KNOWN, Known, known
from etcd_operator.releases.path import Move, move
from etcd_operator.releases.version import Series, Version

EXAMPLES = sorted((REPOSITORY / "example").rglob("*cluster.yaml"))


def test_every_series_from_3_2_to_3_7_is_known_once() -> None:
    assert [row.series for row in KNOWN] == [Series(3, minor) for minor in range(2, 8)]


def test_a_series_that_is_not_in_the_table_is_not_known() -> None:
    assert known(Series(3, 1)) is None
    assert known(Series(3, 8)) is None


def test_a_cluster_without_a_version_gets_the_newest_patch_of_a_series_that_is_repaired() -> None:
    row = known(DEFAULT.series)

    assert row
    assert row.supported
    assert row.newest == DEFAULT
    assert not cautions(DEFAULT)


def test_a_cluster_born_on_the_default_can_go_to_the_newest_series() -> None:
    assert isinstance(move(DEFAULT, KNOWN[-1].newest), Move)


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: str(row.series))
def test_the_newest_patch_of_a_series_can_always_be_proposed(row: Known) -> None:
    assert not any(caution.severity is Severity.REFUSE for caution in cautions(row.newest))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_the_examples_name_the_version_that_clusters_get_anyway(file: Path) -> None:
    spec = yaml.safe_load(file.read_text())["spec"]

    assert Version.parse(spec["version"]) == DEFAULT


def test_there_are_examples_that_name_a_version() -> None:
    assert EXAMPLES
