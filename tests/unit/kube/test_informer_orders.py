"""Whatever happens in whatever order: in the end the store is what the server has, and the differences told the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from etcd_operator.kube.errors import ServerError, UnreachableError
from etcd_operator.kube.store import Key, key_of
from tests.unit.kube.following import Thing, following
from tests.unit.kube.history import History
from tests.unit.kube.virtual_time import in_virtual_time

NAMES = "abcde"


@dataclass(frozen=True)
class Deed:
    """Something that happens, after a pause."""

    pause: float
    what: str
    name: str

    def __call__(self, history: History) -> None:
        named: dict[str, Callable[[str], None]] = {
            "create": history.create,
            "change": history.change,
            "delete": history.delete,
        }
        plain: dict[str, Callable[[], None]] = {
            "compact": history.compact,
            "bookmark": history.bookmark,
            "cut": history.cut,
            "end": history.end,
            "thaw": history.thaw,
        }
        if self.what in named:
            named[self.what](self.name)
        elif self.what in plain:
            plain[self.what]()
        elif self.what == "make anew":
            history.delete(self.name)
            history.create(self.name)
        elif self.what == "spoil":
            history.change(self.name, size="seven")
        elif self.what == "error":
            history.cut(ServerError("etcdserver: request timed out", status=500))
        elif self.what == "freeze":
            history.frozen = True
        elif self.what == "go away":
            history.outage = UnreachableError("away")
        elif self.what == "come back":
            history.outage = None
        else:
            raise AssertionError(self.what)


WHAT = (
    *("create", "change", "delete", "create", "change", "delete", "make anew", "spoil", "compact", "bookmark"),
    *("cut", "end", "error", "freeze", "thaw", "go away", "come back"),
)

deeds = st.builds(
    Deed,
    pause=st.sampled_from([0.0, 0.0, 0.1, 1.0, 20.0, 100.0]),
    what=st.sampled_from(WHAT),
    name=st.sampled_from(NAMES),
)


@settings(max_examples=400, deadline=None)
@given(before=st.lists(st.sampled_from(NAMES), max_size=5), script=st.lists(deeds, max_size=40))
def test_in_the_end_the_store_is_what_the_server_has(before: list[str], script: list[Deed]) -> None:
    async def story() -> None:
        history = History(between_pages=3.0)
        for name in before:
            history.create(name)
        async with following(history) as (informer, believer):
            by_size = informer.store.index(lambda thing: [thing.size])
            for deed in script:
                await asyncio.sleep(deed.pause)
                deed(history)
            history.outage = None
            history.thaw()
            await asyncio.sleep(200)

            spoilt = {Key("ns", name) for name, obj in history.objects.items() if obj["size"] == "seven"}
            truth = {
                Key("ns", name): msgspec.convert(obj, Thing)
                for name, obj in history.objects.items()
                if Key("ns", name) not in spoilt
            }
            known = {Key("ns", thing.metadata.name): thing for thing in informer.store}
            assert {key: thing for key, thing in known.items() if key not in spoilt} == truth
            assert set(informer.unreadable) == spoilt
            for key in spoilt & set(known):
                assert known[key].metadata.uid == history.objects[key.name]["metadata"]["uid"]
            assert believer.things == known
            for size in (1, 2):
                expected = {key for key, thing in known.items() if thing.size == size}
                assert {key_of(thing) for thing in by_size[size]} == expected

    in_virtual_time(story())
