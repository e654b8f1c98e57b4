"""Where a version may lead; the properties hold for every pair of versions, known or not."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.releases.cautions import Severity, cautions
from etcd_operator.releases.hops import (
    HOPS,
    AllMembersAtLeast,
    AuthenticationOff,
    FreshRaftSnapshotOnEveryMember,
    Hop,
    hop_from,
)
from etcd_operator.releases.known import KNOWN, known
from etcd_operator.releases.path import Move, landing, move, path
from etcd_operator.releases.refusal import Reason, Refusal
from etcd_operator.releases.version import Series, Version

ANY = st.builds(Version, st.integers(3, 4), st.integers(0, 9), st.integers(0, 40))


def go(current: str, target: str) -> Move | Refusal:
    return move(Version.parse(current), Version.parse(target))


def refused(current: str, target: str) -> Refusal:
    decision = go(current, target)
    assert isinstance(decision, Refusal)
    return decision


def allowed(current: str, target: str) -> Move:
    decision = go(current, target)
    assert isinstance(decision, Move)
    return decision


def test_every_series_but_the_last_has_exactly_one_hop_and_it_goes_to_the_next() -> None:
    series = [row.series for row in KNOWN]

    assert [(hop.origin, hop.to) for hop in HOPS] == list(pairwise(series))


@pytest.mark.parametrize("hop", HOPS, ids=lambda hop: f"{hop.origin} to {hop.to}")
def test_a_hop_with_a_condition_says_why_and_can_be_met(hop: Hop) -> None:
    row = known(hop.origin)

    assert bool(hop.needs) == bool(hop.because)
    assert row
    assert hop.floor.series == hop.origin
    assert hop.floor <= row.newest


@pytest.mark.parametrize(("current", "target"), [("3.5.20", "3.5.35"), ("3.5.35", "3.5.20"), ("3.6.16", "3.6.16")])
def test_patches_of_a_series_follow_each_other_in_any_order(current: str, target: str) -> None:
    assert allowed(current, target) == Move(Version.parse(target))


def test_a_jump_over_a_minor_version_is_refused_and_the_way_is_told() -> None:
    refusal = refused("3.4.23", "3.6.16")

    assert refusal.reason == "MinorSkipped"
    assert refusal.waypoint == Version(3, 5, 35)
    assert "Set spec.version to 3.5.35 first, then to 3.6.16." in refusal.sentence


def test_a_patch_too_old_for_the_next_series_is_sent_to_a_newer_one_first() -> None:
    refusal = refused("3.5.25", "3.6.16")

    assert refusal.reason == "WaypointNeeded"
    assert refusal.waypoint == Version(3, 5, 35)
    assert "3.6 takes members of 3.5.26 and newer, because" in refusal.sentence
    assert allowed("3.5.26", "3.6.16").target == Version(3, 6, 16)


def test_a_long_way_has_all_its_stations() -> None:
    stations = path(Version(3, 2, 13), Version(3, 7, 1))

    assert isinstance(stations, tuple)
    assert list(map(str, stations)) == ["3.3.27", "3.4.45", "3.5.35", "3.6.16", "3.7.1"]


@pytest.mark.parametrize("target", ["3.5.0", "3.5.1", "3.5.2"])
@pytest.mark.parametrize("current", ["3.4.23", "3.5.35", "3.2.13"])
def test_nothing_leads_to_a_version_that_loses_data(current: str, target: str) -> None:
    refusal = refused(current, target)

    assert refusal.reason == "BadVersion"
    assert refusal.waypoint == Version(3, 5, 35)


def test_a_cluster_that_runs_a_version_that_loses_data_may_stay_and_may_leave() -> None:
    assert allowed("3.5.1", "3.5.1").needs == ()
    assert allowed("3.5.1", "3.5.35").needs == ()


def test_a_series_is_never_left_downwards() -> None:
    refusal = refused("3.6.16", "3.5.35")

    assert refusal.reason == "Downgrade"
    assert "3.5.35 cannot read what 3.6 writes" in refusal.sentence


@pytest.mark.parametrize("version", ["3.1.20", "3.8.0", "4.0.0"])
def test_a_series_that_is_not_known_is_no_target_and_no_origin(version: str) -> None:
    assert landing(Version.parse(version)) is not None
    assert refused("3.6.16", version).reason == Reason.UNKNOWN_VERSION
    assert refused(version, "3.6.16").reason == Reason.UNKNOWN_VERSION


def test_what_versions_cannot_tell_is_left_to_be_looked_at() -> None:
    assert allowed("3.4.45", "3.5.35").needs == (AuthenticationOff(),)
    assert allowed("3.5.35", "3.6.16").needs == ()
    assert allowed("3.6.16", "3.7.3").needs == (FreshRaftSnapshotOnEveryMember(writer=Series(3, 5)),)


def test_authentication_may_stay_on_where_the_older_patch_is_repaired() -> None:
    assert allowed("3.2.13", "3.3.27").needs == (AuthenticationOff(below=Version(3, 2, 31)),)
    assert allowed("3.2.32", "3.3.27").needs == ()


@given(ANY, ANY)
def test_a_path_never_skips_a_series_nor_goes_back_to_one(current: Version, target: Version) -> None:
    stations = path(current, target)
    if isinstance(stations, tuple):
        for here, there in zip((current, *stations), stations, strict=False):
            hop = hop_from(here.series)
            assert there.series == here.series or (hop and there.series == hop.to)


@given(ANY, ANY)
def test_a_path_ends_at_its_target_and_every_station_is_one_move_from_the_last(
    current: Version, target: Version
) -> None:
    stations = path(current, target)
    if isinstance(stations, tuple):
        assert (stations[-1:] or (current,)) == (target,)
        for here, there in zip((current, *stations), stations, strict=False):
            assert isinstance(move(here, there), Move)


@given(ANY, ANY)
def test_a_path_never_goes_through_a_version_that_is_refused(current: Version, target: Version) -> None:
    stations = path(current, target)
    if isinstance(stations, tuple):
        assert not [one for one in stations if any(each.severity is Severity.REFUSE for each in cautions(one))]


@given(ANY, ANY)
def test_what_may_be_done_in_one_move_meets_every_condition_on_versions(current: Version, target: Version) -> None:
    decision = move(current, target)
    if isinstance(decision, Move) and decision.hop:
        assert current >= decision.hop.floor
        assert not any(isinstance(need, AllMembersAtLeast) for need in decision.needs)


@given(ANY, ANY)
def test_a_refusal_names_what_is_refused_and_a_waypoint_that_is_not(current: Version, target: Version) -> None:
    decision = move(current, target)
    if isinstance(decision, Refusal):
        assert str(target) in decision.sentence
        assert decision.sentence.endswith(".")
        if decision.waypoint:
            assert landing(decision.waypoint) is None or decision.waypoint == current
            assert str(decision.waypoint) in decision.sentence
