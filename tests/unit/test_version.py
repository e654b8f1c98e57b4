"""One version, written once, told by everything that tells one."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.version import Version

from box.layout import REPOSITORY
from etcd_operator import __version__

HEADING = re.compile(r"^## \[(?P<name>[^\]]+)\]", re.MULTILINE)


def changelog_agrees(text: str, version: str) -> bool:
    """Work in progress stands under `Unreleased`; a release stands under its own number, newest first."""
    names = HEADING.findall(text)
    expected = "Unreleased" if Version(version).is_devrelease else version
    return bool(names) and names[0] == expected


def test_the_build_takes_the_version_from_the_package() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())

    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/etcd_operator/__init__.py"


def test_the_version_is_written_as_packaging_tools_normalize_it() -> None:
    assert str(Version(__version__)) == __version__


def test_the_changelog_speaks_of_this_version() -> None:
    assert changelog_agrees((REPOSITORY / "CHANGELOG.md").read_text(), __version__)


@pytest.mark.parametrize(
    ("version", "text"),
    [
        pytest.param("1.2.0", "## [Unreleased]\n", id="released but not written down"),
        pytest.param("1.3.0.dev0", "## [1.2.0] - 2026-11-15\n", id="work after a release has no heading"),
        pytest.param("1.2.0", "", id="empty"),
    ],
)
def test_a_changelog_out_of_step_is_noticed(version: str, text: str) -> None:
    assert not changelog_agrees(text, version)


def test_the_wheel_carries_the_version_and_the_program(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=REPOSITORY, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")

    with zipfile.ZipFile(wheel) as archive:
        folder = f"etcd_operator-{__version__}.dist-info"
        metadata = archive.read(f"{folder}/METADATA").decode()
        programs = archive.read(f"{folder}/entry_points.txt").decode()
        names = archive.namelist()

    assert f"\nVersion: {__version__}\n" in metadata
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert "etcd-operator = etcd_operator.cli.operator:main" in programs
    assert "etcd_operator/py.typed" in names
    assert not any(name.startswith(("box/", "dev/", "tests/")) for name in names)
