from __future__ import annotations

import pytest

from etcd_operator.kube.objects import PartialObject
from etcd_operator.kube.store import Difference, Key, Store, at_least, owner_uids
from tests.unit.kube.objects import a_key, an_object


def a_store(*objects: PartialObject) -> Store[PartialObject]:
    store: Store[PartialObject] = Store()
    store.replace(objects)
    return store


def test_a_new_object_a_change_and_an_end_are_differences() -> None:
    store = a_store()
    first, second = an_object("a", version=1), an_object("a", version=2)

    assert store.put(first) == [Difference(None, first)]
    assert store.put(second) == [Difference(first, second)]
    assert store.drop(an_object("a", version=3)) == [Difference(second, None)]
    assert store.get(a_key("a")) is None


def test_the_same_version_again_is_no_difference() -> None:
    store = a_store(an_object("a"))

    assert store.put(an_object("a")) == []
    assert store.replace([an_object("a")]) == []


def test_the_end_of_what_was_never_known_is_no_difference() -> None:
    assert a_store().drop(an_object("a")) == []


def test_a_name_that_passes_to_another_object_is_an_end_and_a_beginning() -> None:
    old, new = an_object("a", uid="one"), an_object("a", uid="two", version=9)

    assert a_store(old).put(new) == [Difference(old, None), Difference(None, new)]
    assert a_store(old).replace([new]) == [Difference(old, None), Difference(None, new)]


def test_what_is_missing_in_a_list_is_gone() -> None:
    kept, gone = an_object("kept"), an_object("gone")
    store = a_store(kept, gone)

    assert store.replace([kept]) == [Difference(gone, None)]
    assert list(store) == [kept]


def test_a_list_may_say_that_something_is_there_without_saying_how_it_is() -> None:
    known = an_object("a")
    store = a_store(known)

    assert store.replace([], kept=[a_key("a"), a_key("never-known")]) == []
    assert list(store) == [known]


def test_children_are_found_by_their_owner_as_they_come_and_go() -> None:
    store = a_store(an_object("child-1", owner="a"))
    children = store.index(owner_uids)

    second = an_object("child-2", owner="a")
    store.put(second)
    store.put(an_object("stranger"))
    store.put(an_object("child-1", owner="b", version=2))

    assert children["uid-of-a"] == (second,)
    assert [child.metadata.name for child in children["uid-of-b"]] == ["child-1"]
    assert children["uid-of-nobody"] == ()

    store.replace([])
    assert len(children) == 0


def test_an_object_may_name_one_owner_twice() -> None:
    store = a_store()
    index = store.index(lambda obj: ["same", "same"])

    store.put(an_object("a"))
    store.drop(an_object("a"))

    assert index["same"] == ()


def test_a_key_reads_as_people_write_it() -> None:
    assert str(Key("ns", "name")) == "ns/name"
    assert str(Key("", "node-1")) == "node-1"


@pytest.mark.parametrize(
    ("seen", "wanted", "reached"),
    [
        ("9", "9", True),
        ("10", "9", True),
        ("9", "10", False),
        ("99999999999999999999", "99999999999999999998", True),
        ("", "1", False),
        ("1", "", False),
        ("", "", False),
        ("abc", "abc", True),
        ("abd", "abc", False),
        ("11", "0x1", False),
    ],
)
def test_versions_are_compared_as_numbers_and_otherwise_only_for_being_the_same(
    seen: str, wanted: str, *, reached: bool
) -> None:
    assert at_least(seen, wanted) is reached
