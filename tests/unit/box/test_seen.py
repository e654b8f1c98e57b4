"""What the provisioner remembers of volumes that are gone from Kubernetes, and whose data is not, or the reverse."""

from __future__ import annotations

from box.volume.seen import CLAIMS, VOLUMES, Seen
from tests.unit.box.test_claims import a_claim, a_volume

NAME = "pvc-1234"


def test_a_claim_and_its_volume_are_found_by_the_volumes_name() -> None:
    seen = Seen()
    seen.put(CLAIMS, NAME, a_claim())
    seen.put(VOLUMES, NAME, a_volume())

    assert seen.pair(NAME) == (a_claim(), a_volume())
    assert seen.pair("another") == (None, None)


def test_what_is_still_heard_of_a_removed_volume_changes_nothing() -> None:
    seen = Seen()
    dying = a_volume(phase="Released")
    seen.put(VOLUMES, NAME, dying)
    seen.clean(NAME)
    seen.put(VOLUMES, NAME, dying)

    assert seen.pair(NAME) == (None, None)
    seen.drop(VOLUMES, NAME)
    assert seen.pair(NAME) == (None, None)


def test_a_released_volume_that_somebody_else_deleted_is_remembered_until_its_data_is_gone() -> None:
    seen = Seen()
    seen.put(VOLUMES, NAME, a_volume(phase="Released"))
    seen.drop(VOLUMES, NAME)

    assert seen.pair(NAME) == (None, a_volume(phase="Released"))
    seen.clean(NAME)
    assert seen.pair(NAME) == (None, None)


def test_so_is_one_that_a_new_list_no_longer_holds() -> None:
    seen = Seen()
    seen.put(VOLUMES, NAME, a_volume(phase="Released"))

    assert seen.replace(VOLUMES, {"other": a_volume()}) == {NAME, "other"}
    assert seen.pair(NAME) == (None, a_volume(phase="Released"))
    assert seen.pair("other") == (None, a_volume())


def test_one_whose_data_is_to_be_kept_is_not() -> None:
    seen = Seen()
    seen.put(VOLUMES, NAME, a_volume(phase="Released", policy="Retain"))
    seen.drop(VOLUMES, NAME)

    assert seen.pair(NAME) == (None, None)
