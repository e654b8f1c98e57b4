from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.releases.cautions import FAULTS, Fault, Severity, cautions
from etcd_operator.releases.known import KNOWN, Known, known
from etcd_operator.releases.version import Version

VERSIONS = st.builds(Version, st.just(3), st.integers(2, 8), st.integers(0, 50))


@pytest.mark.parametrize("version", ["3.5.0", "3.5.1", "3.5.2"])
def test_a_version_that_loses_data_is_refused_and_the_fix_is_named(version: str) -> None:
    found = [each for each in cautions(Version.parse(version)) if each.severity is Severity.REFUSE]

    assert [str(each.fixed_in) for each in found] == ["3.5.3"]


@given(VERSIONS)
def test_no_other_version_is_refused_for_its_faults(version: Version) -> None:
    refused = any(each.severity is Severity.REFUSE for each in cautions(version))

    assert refused == (Version(3, 5, 0) <= version <= Version(3, 5, 2))


@given(VERSIONS)
def test_a_fault_is_told_up_to_the_patch_that_ends_it_and_not_after(version: Version) -> None:
    for caution in cautions(version):
        if caution.fixed_in:
            assert caution.fixed_in.series == version.series
            assert version < caution.fixed_in
            assert caution not in cautions(caution.fixed_in)


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: str(row.series))
def test_the_newest_patch_has_no_fault_that_a_newer_one_would_end(row: Known) -> None:
    assert [each.fixed_in for each in cautions(row.newest) if each.fixed_in] == []


@pytest.mark.parametrize(
    ("version", "ended"), [("3.2.32", True), ("3.4.45", True), ("3.5.35", False), ("3.7.3", False)]
)
def test_a_series_that_nobody_repairs_is_warned_about(version: str, ended: bool) -> None:
    assert any("no longer repairs" in each.text for each in cautions(Version.parse(version))) == ended


def test_a_fault_of_just_one_patch_is_told_for_that_patch_only() -> None:
    told = [patch for patch in range(25, 35) if any("administrators" in c.text for c in cautions(Version(3, 5, patch)))]

    assert told == [28]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.text[:40])
def test_the_spans_of_a_fault_lie_each_in_one_known_series(fault: Fault) -> None:
    for span in fault.spans:
        assert span.first < span.fixed
        assert span.first.series == span.fixed.series
        assert known(span.first.series)
    assert len({span.first.series for span in fault.spans}) == len(fault.spans)
