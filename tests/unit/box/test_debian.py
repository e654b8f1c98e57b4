from __future__ import annotations

from pathlib import Path

import pytest

from box.layout import BoxError
from box.toolchain import debian
from box.toolchain.debian import PACKAGES, Package


def absent(tmp_path: Path) -> Package:
    return Package("example", "for this test", ("sh", str(tmp_path / "absent")))


def test_a_package_is_missing_when_one_of_its_files_is(tmp_path: Path) -> None:
    assert absent(tmp_path).missing == [str(tmp_path / "absent")]
    (tmp_path / "absent").touch()
    assert absent(tmp_path).missing == []


def test_programs_are_also_found_where_a_short_search_path_does_not_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")

    assert Package("coreutils", "for this test", ("ls",)).missing == []


def test_nothing_is_said_or_done_when_all_is_there() -> None:
    said: list[str] = []

    debian.install((Package("coreutils", "for this test", ("ls",)),), say=said.append)

    assert said == []


def test_without_apt_get_the_programs_to_install_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(BoxError, match=f"{tmp_path}/absent must be installed by hand"):
        debian.install((absent(tmp_path),), say=print)


def test_every_package_says_why_it_is_needed_and_how_it_is_recognised() -> None:
    assert len({package.name for package in PACKAGES}) == len(PACKAGES)
    assert all(package.reason and package.provides for package in PACKAGES)


def test_services_are_kept_from_starting_only_while_packages_are_installed(tmp_path: Path) -> None:
    policy = tmp_path / "policy-rc.d"

    with debian._no_service_starts(policy):
        assert policy.read_text().endswith("exit 101\n")
        assert policy.stat().st_mode & 0o111 == 0o111
    assert not policy.exists()


def test_the_policy_goes_also_when_the_installation_fails(tmp_path: Path) -> None:
    policy = tmp_path / "policy-rc.d"

    with pytest.raises(BoxError), debian._no_service_starts(policy):
        raise BoxError("disk full")
    assert not policy.exists()


def test_a_policy_of_the_machines_owner_stays_as_it_is(tmp_path: Path) -> None:
    policy = tmp_path / "policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 0\n")

    with debian._no_service_starts(policy):
        assert "exit 0" in policy.read_text()
    assert policy.read_text() == "#!/bin/sh\nexit 0\n"


def test_a_policy_left_by_a_killed_installation_is_cleaned_up(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.write_text(debian.DENY_ALL)
    theirs.write_text("#!/bin/sh\nexit 0\n")

    for policy in (ours, theirs, tmp_path / "none"):
        debian._remove_leftover(policy)

    assert not ours.exists()
    assert theirs.exists()


@pytest.mark.parametrize(
    ("output", "network"),
    [
        ("E: Failed to fetch http://x/y.deb  404  Not Found", True),
        ("Err:1 Temporary failure resolving 'x'", True),
        ("E: Unable to locate package nonsense", False),
        ("E: Sub-process /usr/bin/dpkg returned an error code (1)", False),
    ],
)
def test_only_failed_downloads_are_tried_again(output: str, network: bool) -> None:
    assert debian.is_download_failure(output) == network
