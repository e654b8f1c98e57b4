from __future__ import annotations

import asyncio
import tracemalloc

import pytest

from etcd_operator.kube.errors import ApiError, ForbiddenError, ServerError, TooManyRequestsError, UnreachableError
from etcd_operator.kube.informer import Informer, Patience
from etcd_operator.kube.requests import Selection
from etcd_operator.kube.resources import CONFIG_MAPS
from etcd_operator.kube.store import Difference, Key
from tests.unit.kube.following import PATIENCE, Believer, Thing, following
from tests.unit.kube.history import History
from tests.unit.kube.virtual_time import in_virtual_time, now


def a_history(*names: str) -> History:
    history = History()
    for name in names:
        history.create(name)
    return history


def names(informer: Informer[Thing]) -> set[str]:
    return {thing.metadata.name for thing in informer.store}


def in_trouble(informer: Informer[Thing]) -> bool:
    return informer.trouble is not None


def test_what_was_there_comes_first_and_then_what_happens() -> None:
    async def story() -> None:
        history = a_history("a", "b", "c")
        async with following(history) as (informer, believer):
            assert believer.heard == ["+a", "+b", "+c"]
            history.create("d")
            history.change("a")
            history.delete("b")
            await asyncio.sleep(1)
            assert believer.heard[3:] == ["+d", "~a", "-b"]
            assert names(informer) == {"a", "c", "d"}
            assert len(history.lists) == 1

    in_virtual_time(story())


def test_a_watch_goes_on_where_the_one_before_ended() -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history) as (_, believer):
            history.change("a")
            await asyncio.sleep(1)
            reached = history.revision
            history.end()
            await asyncio.sleep(1)
            history.create("b")
            await asyncio.sleep(1)
            assert believer.heard == ["+a", "~a", "+b"]
            assert [version for _, version, _ in history.watches] == [2, reached]
            assert len(history.lists) == 1

    in_virtual_time(story())


def test_a_bookmark_moves_the_version_on_so_that_a_compaction_does_not_hurt() -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history) as (informer, _):
            history.revision = 500  # other kinds of objects
            history.bookmark()
            await asyncio.sleep(1)
            assert informer.store.version == "500"
            history.compact()
            history.cut()
            await asyncio.sleep(30)
            assert len(history.lists) == 1

    in_virtual_time(story())


def test_trouble_lasts_through_the_pauses_between_the_tries() -> None:
    """A frozen server costs each try as long as it takes to believe that a watch is open."""

    async def story() -> None:
        history = a_history("a")
        async with following(history) as (informer, _):
            history.frozen = True
            await asyncio.sleep(PATIENCE.silence + 1)
            for _ in range(200):
                assert in_trouble(informer)
                await asyncio.sleep(0.25)

    in_virtual_time(story())


def test_a_deletion_in_a_gap_is_seen_by_the_list_that_follows() -> None:
    async def story() -> None:
        history = a_history("a", "b")
        async with following(history) as (informer, believer):
            history.outage = UnreachableError("away")
            history.cut()
            history.delete("a")
            history.create("c")
            history.compact()
            await asyncio.sleep(60)
            history.outage = None
            await asyncio.sleep(60)
            assert believer.heard == ["+a", "+b", "-a", "+c"]
            assert names(informer) == {"b", "c"}

    in_virtual_time(story())


def test_an_object_made_anew_in_a_gap_is_an_end_and_a_beginning() -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history) as (_, believer):
            history.outage = UnreachableError("away")
            history.cut()
            history.delete("a")
            history.create("a")
            history.compact()
            await asyncio.sleep(60)
            history.outage = None
            await asyncio.sleep(60)
            assert believer.heard == ["+a", "-a", "+a"]

    in_virtual_time(story())


def test_silence_is_taken_for_a_dead_connection() -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history) as (informer, believer):
            history.frozen = True
            history.create("b")
            await asyncio.sleep(100)
            assert in_trouble(informer)
            history.thaw()
            await asyncio.sleep(30)
            assert not in_trouble(informer)
            assert believer.heard == ["+a", "+b"]
            assert len(history.lists) == 1

    in_virtual_time(story())


@pytest.mark.parametrize(
    "error",
    [
        ServerError("etcdserver: leader changed", status=500),
        TooManyRequestsError("later", status=429),
        ApiError("odd", status=418),
    ],
    ids=["500", "429", "418"],
)
def test_any_other_error_in_a_watch_is_waited_out_and_the_watch_resumed(error: ApiError) -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history) as (_, believer):
            history.cut(error)
            history.create("b")
            await asyncio.sleep(10)
            assert believer.heard == ["+a", "+b"]
            assert len(history.lists) == 1
            assert len(history.watches) == 2

    in_virtual_time(story())


def test_a_version_that_the_server_keeps_refusing_is_given_up() -> None:
    """A server whose own etcd came back from a backup knows only smaller versions than ours."""

    async def story() -> None:
        history = a_history("a", "b", "c")
        async with following(history) as (informer, _):
            history.outage = ServerError("Too large resource version", status=504, reason="Timeout")
            history.cut()
            await asyncio.sleep(60)
            history.restore(a_history("a"))
            history.outage = None
            await asyncio.sleep(60)
            assert names(informer) == {"a"}
            assert informer.store.version == "2"

    in_virtual_time(story())


def test_tries_become_rare_while_the_server_is_away() -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history):
            begun = now()
            history.outage = UnreachableError("away")
            history.cut()
            await asyncio.sleep(30)
            assert [when - begun for when, _, _ in history.watches[1:]] == [1, 3, 7, 15, 23], "doubled, then capped"

    in_virtual_time(story())


def test_a_watch_that_has_brought_something_is_opened_again_soon() -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history):
            for number in range(20):
                history.create(f"thing-{number}")
                await asyncio.sleep(0.5)
                history.cut(ServerError("etcdserver: leader changed", status=500))
                await asyncio.sleep(1.5)
            assert len(history.watches) == 21
            assert len(history.lists) == 1

    in_virtual_time(story())


def test_first_lists_become_rare_too() -> None:
    async def story() -> None:
        history = a_history("a")
        history.outage = ForbiddenError("not yours", status=403)
        informer = Informer(history, Selection(CONFIG_MAPS), into=Thing, patience=PATIENCE, uniform=max)
        running = asyncio.create_task(informer.run())
        await asyncio.sleep(30)
        assert history.lists == [0, 1, 3, 7, 15, 23]
        assert informer.trouble == "not yours"
        assert not informer.synced.is_set()
        running.cancel()
        await asyncio.wait({running})

    in_virtual_time(story())


@pytest.mark.parametrize(("asked", "waited"), [(40.0, 40), (3600.0, 60)])
def test_the_server_says_when_to_come_back_but_not_for_ever(asked: float, waited: int) -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history):
            begun = now()
            history.cut(TooManyRequestsError("later", status=429, retry_after=asked))
            await asyncio.sleep(70)
            assert [when - begun for when, _, _ in history.watches[1:]] == [waited]

    in_virtual_time(story())


def test_watches_that_end_at_once_are_not_opened_in_a_hurry() -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history):
            for _ in range(3000):
                await asyncio.sleep(0.01)
                history.end()
            assert len(history.watches) < 10

    in_virtual_time(story())


def test_a_history_that_is_always_too_short_is_not_listed_in_a_hurry() -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history):
            begun = now()
            history.forgetful = True
            history.cut()
            await asyncio.sleep(30)
            assert [when - begun for when in history.lists[1:]] == [3, 7, 15, 23]

    in_virtual_time(story())


def test_how_long_a_watch_lasts_is_asked_of_the_server() -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history):
            for _ in range(25):
                await asyncio.sleep(60)
                history.bookmark()
            assert [(when, seconds) for when, _, seconds in history.watches] == [(0, 600), (600, 600), (1200, 600)]

    in_virtual_time(story())


def test_a_list_longer_than_a_page_is_of_one_moment() -> None:
    async def story() -> None:
        history = History(between_pages=10.0)
        for number in range(5):
            history.create(f"thing-{number}")
        informer = Informer(history, Selection(CONFIG_MAPS), into=Thing, patience=PATIENCE)
        believer = Believer()
        informer.subscribe(believer)
        running = asyncio.create_task(informer.run())
        await asyncio.sleep(5)
        history.delete("thing-4")
        await asyncio.sleep(10)
        assert not believer.heard
        await informer.synced.wait()
        await asyncio.sleep(1)
        assert believer.heard == [*(f"+thing-{number}" for number in range(5)), "-thing-4"]
        running.cancel()
        await asyncio.wait({running})

    in_virtual_time(story())


def test_a_refresh_lists_again_and_one_list_answers_many_requests() -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history) as (informer, _):
            await asyncio.sleep(10)
            for _ in range(5):
                informer.refresh()
            await informer.until(lambda: informer.listed == 2)
            await asyncio.sleep(100)
            assert history.lists == [0, 15]

    in_virtual_time(story())


def test_a_refresh_during_a_list_is_answered_by_another_one() -> None:
    async def story() -> None:
        history = History(between_pages=10.0)
        for number in range(3):
            history.create(f"thing-{number}")
        async with following(history) as (informer, _):
            begun = now()
            informer.refresh()
            await asyncio.sleep(5)
            assert informer.lists_begun == 2
            informer.refresh()
            await informer.until(lambda: informer.listed == 3)
            assert [when - begun for when in history.lists[1:]] == [0, 10]

    in_virtual_time(story())


def test_who_subscribes_late_is_told_of_what_is_there() -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history) as (informer, _):
            late = Believer()
            leave = informer.subscribe(late)
            history.create("b")
            await asyncio.sleep(1)
            leave()
            history.create("c")
            await asyncio.sleep(1)
            assert late.heard == ["+a", "+b"]

    in_virtual_time(story())


def test_a_subscriber_that_fails_is_reported_and_hurts_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def bad(difference: Difference[Thing]) -> None:
        raise ValueError("never mind")

    async def story() -> None:
        history = a_history("a")
        async with following(history) as (informer, believer):
            informer.subscribe(bad)
            late = Believer()
            informer.subscribe(late)
            history.create("b")
            await asyncio.sleep(1)
            assert believer.heard == late.heard == ["+a", "+b"]

    in_virtual_time(story())

    assert "A subscriber of /api/v1/configmaps failed at ns/b" in caplog.text


def test_an_object_that_cannot_be_read_is_named_and_the_others_come_through() -> None:
    async def story() -> None:
        history = a_history("a")
        history.create("bad", size="seven")
        async with following(history) as (informer, believer):
            assert believer.heard == ["+a"]
            assert "Expected `int`, got `str` - at `$.size`" in informer.unreadable[Key("ns", "bad")].problem
            history.create("worse", size=[])
            history.create("b")
            await asyncio.sleep(1)
            assert set(informer.unreadable) == {Key("ns", "bad"), Key("ns", "worse")}
            history.change("bad", size=7)
            history.delete("worse")
            await asyncio.sleep(1)
            assert not informer.unreadable
            assert believer.heard == ["+a", "+b", "+bad"]

    in_virtual_time(story())


def test_an_object_that_becomes_unreadable_is_not_taken_for_deleted() -> None:
    async def story() -> None:
        history = a_history("a", "b")
        async with following(history) as (informer, believer):
            history.change("a", size="seven")
            await asyncio.sleep(1)
            informer.refresh()
            await informer.until(lambda: informer.listed == 2)
            assert believer.heard == ["+a", "+b"]
            history.delete("a")
            await asyncio.sleep(1)
            assert believer.heard == ["+a", "+b", "-a"]
            assert not informer.unreadable

    in_virtual_time(story())


def test_an_unreadable_successor_ends_the_object_before_it() -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history) as (informer, believer):
            history.outage = UnreachableError("away")
            history.cut()
            history.delete("a")
            history.create("a", size="seven")
            history.compact()
            history.outage = None
            await asyncio.sleep(30)
            assert believer.heard == ["+a", "-a"]
            assert set(informer.unreadable) == {Key("ns", "a")}

    in_virtual_time(story())


def test_a_list_taken_again_keeps_the_objects_that_did_not_change() -> None:
    async def story() -> None:
        history = a_history("a")
        async with following(history) as (informer, _):
            before = informer.store.get(Key("ns", "a"))
            informer.refresh()
            await informer.until(lambda: informer.listed == 2)
            assert informer.store.get(Key("ns", "a")) is before

    in_virtual_time(story())


def test_a_list_taken_again_needs_no_second_memory() -> None:
    async def story() -> None:
        history = History()
        for number in range(1000):
            history.create(f"{number:01000}")
        async with following(history, Patience(page=50)) as (informer, _):
            tracemalloc.start()
            try:
                informer.refresh()
                await informer.until(lambda: informer.listed == 2)
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert peak < 500_000, "half of what the objects need"

    in_virtual_time(story())
