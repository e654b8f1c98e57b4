"""The box's Kubernetes client against the real API server."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from box.kube.api import Api, ApiError, Change, JsonPatch, Object
from box.layout import BoxError
from tests.box.driving import Box


def a_note(name: str, namespace: str, **data: str) -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": {"of": "test"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


@pytest.fixture(scope="module")
def namespace(box: Box) -> Iterator[str]:
    """One for all tests here, as a namespace takes longer than any of them."""
    with box.namespace("api-client") as made:
        yield made


@pytest.fixture(scope="module")
def api(box: Box) -> Iterator[Api]:
    with Api.from_kubeconfig(box.layout.kubeconfig) as client:
        yield client


@pytest.fixture
def notes(api: Api, namespace: str) -> Iterator[str]:
    """The path of the namespace's config maps; those of the tests have a label, and are gone after each."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    yield path
    api.request("DELETE", path, query={"labelSelector": "of=test"})


def names(change: Change) -> tuple[str, list[str]]:
    return change.kind, [obj["metadata"]["name"] for obj in change.objects]


def test_what_was_created_can_be_read_listed_and_deleted(api: Api, namespace: str, notes: str) -> None:
    api.create(notes, a_note("one", namespace, word="a"))

    assert api.get(f"{notes}/one")["data"] == {"word": "a"}
    assert [note["metadata"]["name"] for note in api.list(notes, labels="of=test")] == ["one"]
    assert [note["metadata"]["name"] for note in api.list(notes, fields="metadata.name=one")] == ["one"]
    assert api.delete(f"{notes}/one") is True
    assert api.delete(f"{notes}/one") is False


def test_listed_objects_know_their_kind(api: Api, namespace: str, notes: str) -> None:
    api.create(notes, a_note("one", namespace))

    found = api.list(notes, labels="of=test")[0]

    assert (found["apiVersion"], found["kind"]) == ("v1", "ConfigMap")


def test_a_refusal_carries_status_reason_and_the_servers_words(api: Api, namespace: str, notes: str) -> None:
    api.create(notes, a_note("one", namespace))

    with pytest.raises(ApiError, match='configmaps "one" already exists') as refused:
        api.create(notes, a_note("one", namespace))
    assert refused.value.exists
    assert not refused.value.conflict

    with pytest.raises(ApiError, match='configmaps "two" not found') as missing:
        api.get(f"{notes}/two")
    assert missing.value.not_found


def test_a_deletion_spares_another_object_of_the_same_name(api: Api, namespace: str, notes: str) -> None:
    made = api.create(notes, a_note("one", namespace))

    assert api.delete(f"{notes}/one", uid="of-another") is False
    assert api.delete(f"{notes}/one", uid=made["metadata"]["uid"]) is True


def test_apply_finds_the_path_of_a_kind_by_asking_once(box: Box, namespace: str) -> None:
    class Listening(Api):
        """Notes what it asks for."""

        asked: tuple[str, ...] = ()

        def request(self, method: str, path: str, **rest: Any) -> Object:
            self.asked += (f"{method} {path}",)
            return super().request(method, path, **rest)

    budget: Object = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "one", "namespace": namespace},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "none"}}},
    }
    with Listening.from_kubeconfig(box.layout.kubeconfig) as api:
        assert isinstance(api, Listening)
        for _ in range(2):
            api.apply(budget)
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})

    budgets = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets/one"
    assert api.asked == (
        *("GET /apis/policy/v1", f"PATCH {budgets}", f"PATCH {budgets}"),
        *("GET /api/v1", f"PATCH /api/v1/namespaces/{namespace}"),
    )


def test_apply_takes_over_what_others_own(api: Api, namespace: str, notes: str) -> None:
    api.request(
        "PATCH",
        f"{notes}/one",
        query={"fieldManager": "another"},
        body=a_note("one", namespace, word="theirs", more="theirs"),
        content_type="application/apply-patch+yaml",
    )

    applied = api.apply(a_note("one", namespace, word="ours"))

    assert applied["data"] == {"word": "ours", "more": "theirs"}


def test_an_unknown_kind_is_named(api: Api) -> None:
    with pytest.raises(BoxError, match="no kind Unicorn in v1"):
        api.apply({"apiVersion": "v1", "kind": "Unicorn", "metadata": {"name": "x"}})


def test_a_mapping_merges_and_a_list_is_a_json_patch(api: Api, namespace: str, notes: str) -> None:
    api.create(notes, a_note("one", namespace, word="a", more="b"))

    api.patch(f"{notes}/one", {"data": {"word": "c"}})
    api.patch(f"{notes}/one", [{"op": "replace", "path": "/data/more", "value": "d"}])

    assert api.get(f"{notes}/one")["data"] == {"word": "c", "more": "d"}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"metadata": {"resourceVersion": "1"}, "data": {"word": "b"}}, 409),
        ([{"op": "test", "path": "/data/word", "value": "z"}, {"op": "remove", "path": "/data/word"}], 422),
    ],
    ids=["of an old version", "with a test that fails"],
)
def test_a_patch_of_something_else_than_was_meant_is_refused(
    api: Api, namespace: str, notes: str, change: Mapping[str, Any] | JsonPatch, status: int
) -> None:
    api.create(notes, a_note("one", namespace, word="a"))

    with pytest.raises(ApiError) as refused:
        api.patch(f"{notes}/one", change)

    assert refused.value.status == status
    assert refused.value.conflict is (status == 409)
    assert api.get(f"{notes}/one")["data"] == {"word": "a"}


def test_a_status_is_patched_by_its_path(api: Api, namespace: str) -> None:
    claims = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims"
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}
    api.create(claims, {"metadata": {"name": "one"}, "spec": spec})

    api.patch(f"{claims}/one/status", {"status": {"conditions": [{"type": "Mine", "status": "True"}]}})

    assert api.get(f"{claims}/one")["status"]["conditions"][0]["type"] == "Mine"


def test_threads_share_a_client(api: Api, namespace: str, notes: str) -> None:
    wanted = {f"note-{number}" for number in range(8)}
    threads = [threading.Thread(target=api.create, args=(notes, a_note(name, namespace))) for name in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {note["metadata"]["name"] for note in api.list(notes, labels="of=test")} == wanted


def test_a_watch_begins_with_all_there_is_and_goes_on_with_every_change(api: Api, namespace: str, notes: str) -> None:
    api.create(notes, a_note("old", namespace))
    changes = api.watch(notes, labels="of=test", timeout=20)

    assert names(next(changes)) == ("RESET", ["old"])
    api.create(notes, a_note("new", namespace))
    assert names(next(changes)) == ("ADDED", ["new"])
    api.patch(f"{notes}/new", {"data": {"word": "a"}})
    assert names(next(changes)) == ("MODIFIED", ["new"])
    api.delete(f"{notes}/old")
    assert names(next(changes)) == ("DELETED", ["old"])


def test_a_watch_ends_at_its_deadline(api: Api, notes: str) -> None:
    begin = time.monotonic()

    assert [change.kind for change in api.watch(notes, labels="of=test", timeout=1.0)] == ["RESET"]
    assert time.monotonic() - begin < 4


def test_waiting_ends_when_what_is_wanted_is_there(api: Api, namespace: str, notes: str) -> None:
    threading.Timer(0.3, api.create, args=(notes, a_note("one", namespace))).start()

    seen = api.wait(notes, lambda found: f"{namespace}/one" in found, labels="of=test", timeout=20, what="The note")

    assert list(seen) == [f"{namespace}/one"]


def test_waiting_in_vain_says_for_what_and_how_long(api: Api, notes: str) -> None:
    with pytest.raises(BoxError, match="DNS did not happen within 1 s"):
        api.wait(notes, bool, labels="of=test", timeout=1, what="DNS")


def test_a_stranger_is_refused_and_a_watch_does_not_try_forever(box: Box, notes: str) -> None:
    address = box.kubectl("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}")
    anyone = ssl.create_default_context()
    anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE

    with Api(server=address, context=anyone) as stranger, pytest.raises(ApiError) as refused:
        next(stranger.watch(notes, timeout=20))

    assert refused.value.status in (401, 403)


def test_a_server_that_nobody_vouches_for_is_not_spoken_to(box: Box, notes: str) -> None:
    address = box.kubectl("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}")

    with (
        Api(server=address, context=ssl.create_default_context()) as api,
        pytest.raises(ApiError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        api.list(notes)
