from __future__ import annotations

import asyncio

import pytest

from etcd_operator.kube.expectations import Expectations
from etcd_operator.kube.store import Key
from tests.unit.kube.following import following
from tests.unit.kube.history import History
from tests.unit.kube.virtual_time import in_virtual_time, now


def test_a_loop_is_held_until_its_own_write_is_in_the_cache() -> None:
    async def story() -> None:
        history = History()
        expectations = Expectations()
        async with following(history) as (informer, _):
            history.create("a")
            expectations.written(informer, str(history.revision))
            assert expectations.pending == 1
            assert informer.store.get(Key("ns", "a")) is None
            await expectations.met()
            assert informer.store.get(Key("ns", "a")) is not None
            assert expectations.pending == 0

    in_virtual_time(story())


def test_a_write_that_changed_nothing_holds_nobody() -> None:
    async def story() -> None:
        history = History()
        history.create("a")
        expectations = Expectations()
        async with following(history) as (informer, _):
            expectations.written(informer, "2")
            begun = now()
            await expectations.met()
            assert now() == begun

    in_virtual_time(story())


def test_a_later_version_of_another_object_is_late_enough() -> None:
    async def story() -> None:
        history = History()
        expectations = Expectations()
        async with following(history) as (informer, _):
            expectations.written(informer, "2")
            history.create("a")
            history.create("b")
            await expectations.met()
            assert informer.store.version >= "2"

    in_virtual_time(story())


def test_several_caches_must_all_get_there() -> None:
    async def story() -> None:
        near, far = History(), History()
        expectations = Expectations()
        async with following(near) as (first, _), following(far) as (second, _):
            expectations.written(first, "2")
            expectations.written(second, "2")
            near.create("a")
            await asyncio.sleep(1)
            assert expectations.pending == 1
            asyncio.get_running_loop().call_later(3, far.create, "b")
            begun = now()
            await expectations.met()
            assert now() == begun + 3

    in_virtual_time(story())


def test_a_deletion_is_seen_by_absence() -> None:
    async def story() -> None:
        history = History()
        history.create("a")
        expectations = Expectations()
        async with following(history) as (informer, _):
            expectations.deleted(informer, Key("ns", "a"), uid="uid-1")
            assert expectations.pending == 1
            history.delete("a")
            await expectations.met()
            assert not list(informer.store)

    in_virtual_time(story())


def test_a_deletion_is_seen_by_the_mark_that_the_object_carries_until_it_ends() -> None:
    async def story() -> None:
        history = History()
        history.create("a")
        expectations = Expectations()
        async with following(history) as (informer, _):
            expectations.deleted(informer, Key("ns", "a"), uid="uid-1")
            history.objects["a"]["metadata"]["deletionTimestamp"] = "2026-11-15T09:00:00Z"
            history.change("a")
            await expectations.met()
            assert len(informer.store) == 1
            assert len(history.lists) == 1

    in_virtual_time(story())


def test_a_successor_of_the_same_name_is_not_the_object_that_was_deleted() -> None:
    async def story() -> None:
        history = History()
        history.create("a")
        expectations = Expectations()
        async with following(history) as (informer, _):
            history.delete("a")
            history.create("a")
            expectations.deleted(informer, Key("ns", "a"), uid="uid-1")
            await expectations.met()
            assert [thing.metadata.uid for thing in informer.store] == ["uid-2"]
            assert len(history.lists) == 1

    in_virtual_time(story())


def test_an_object_that_was_made_and_deleted_is_not_taken_for_gone_before_it_has_come() -> None:
    async def story() -> None:
        history = History()
        expectations = Expectations()
        async with following(history) as (informer, _):
            history.create("a")
            expectations.written(informer, str(history.revision))
            expectations.deleted(informer, Key("ns", "a"), uid="uid-1")
            assert expectations.pending == 2
            asyncio.get_running_loop().call_later(3, history.delete, "a")
            begun = now()
            await expectations.met()
            assert now() == begun + 3
            assert not list(informer.store)

    in_virtual_time(story())


def test_a_cache_that_stays_behind_is_listed_again_and_never_used_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        history = History()
        expectations = Expectations(patience=15)
        async with following(history) as (informer, _):
            history.frozen = True
            history.create("a")
            expectations.written(informer, str(history.revision))
            asyncio.get_running_loop().call_later(60, history.thaw)
            begun = now()
            await expectations.met()
            assert informer.store.get(Key("ns", "a")) is not None
            assert now() - begun >= 60
            assert len(history.lists) > 1
            assert expectations.refreshes > 0

    in_virtual_time(story())

    assert "has not shown our own write for 15 s, so its list is taken again" in caplog.text


def test_a_lost_answer_is_settled_by_a_list_that_begins_after_it() -> None:
    async def story() -> None:
        history = History()
        expectations = Expectations()
        async with following(history) as (informer, _):
            expectations.unsure(informer)
            history.create("unrelated")
            assert expectations.pending == 1
            await expectations.met()
            assert len(history.lists) == 2

    in_virtual_time(story())


def test_a_list_under_way_is_too_old_for_what_happens_during_it() -> None:
    async def story() -> None:
        history = History(between_pages=10.0)
        for name in ("a", "b", "c"):
            history.create(name)
        expectations = Expectations()
        async with following(history) as (informer, _):
            informer.refresh()
            await asyncio.sleep(5)
            history.create("d")
            expectations.unsure(informer)
            await expectations.met()
            assert informer.store.get(Key("ns", "d")) is not None
            assert informer.listed == 3

    in_virtual_time(story())
