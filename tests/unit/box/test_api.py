"""The Kubernetes client of the box, against an API in miniature."""

from __future__ import annotations

import base64
import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from box.kube.api import Api, ApiError, Change, Object
from box.layout import BoxError
from tests.unit.box.apiserver import Handler, Server, World, serving

PODS = "/api/v1/namespaces/default/pods"


def a_pod(name: str, **labels: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
    }


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def api(world: World) -> Iterator[Api]:
    with serving(world) as address, Api(server=address, timeout=5.0) as client:
        yield client


def test_what_was_created_can_be_read_listed_and_deleted(api: Api) -> None:
    api.create(PODS, a_pod("one"))

    assert api.get(f"{PODS}/one")["metadata"]["name"] == "one"
    assert [pod["metadata"]["name"] for pod in api.list("/api/v1/pods")] == ["one"]
    assert api.delete(f"{PODS}/one") is True
    assert api.delete(f"{PODS}/one") is False


def test_listed_objects_know_their_kind(api: Api) -> None:
    api.create(PODS, a_pod("one"))

    assert api.list(PODS)[0]["kind"] == "Thing"
    assert api.list(PODS)[0]["apiVersion"] == "v1"


def test_a_refusal_carries_status_reason_and_the_servers_words(api: Api) -> None:
    api.create(PODS, a_pod("one"))

    with pytest.raises(ApiError, match="already exists") as refused:
        api.create(PODS, a_pod("one"))

    assert refused.value.exists
    assert not refused.value.not_found
    assert isinstance(refused.value, BoxError)


def test_a_deletion_spares_another_object_of_the_same_name(api: Api) -> None:
    api.create(PODS, a_pod("one"))

    assert api.delete(f"{PODS}/one", uid="of-another") is False
    assert api.get(f"{PODS}/one")


def test_apply_finds_the_path_of_a_kind_by_asking(api: Api, world: World) -> None:
    api.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "dns", "namespace": "kube-system"}})
    api.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "w1"}})

    assert "/apis/apps/v1/namespaces/kube-system/deployments/dns" in world.objects
    assert "/api/v1/nodes/w1" in world.objects
    assert "fieldManager=box&force=true" in world.requests[-1][1]


def test_a_kind_is_asked_for_once(api: Api, world: World) -> None:
    for name in ("w1", "w2", "w3"):
        api.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})

    assert [request[0] for request in world.requests] == ["GET", "PATCH", "PATCH", "PATCH"]


def test_an_unknown_kind_is_named(api: Api) -> None:
    with pytest.raises(BoxError, match="no kind Unicorn in v1"):
        api.apply({"apiVersion": "v1", "kind": "Unicorn", "metadata": {"name": "x"}})


def test_a_mapping_merges_and_a_list_is_a_json_patch(api: Api) -> None:
    api.create(PODS, a_pod("one", app="a"))

    api.patch(f"{PODS}/one/status", {"status": {"phase": "Running"}})
    api.patch(f"{PODS}/one", [{"op": "replace", "path": "/metadata/labels/app", "value": "b"}])

    pod = api.get(f"{PODS}/one")
    assert pod["status"]["phase"] == "Running"
    assert pod["metadata"]["labels"]["app"] == "b"


def test_nobody_there_is_an_error_of_its_own() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    with pytest.raises(ApiError, match="could not be asked") as failed:
        Api(server=f"http://127.0.0.1:{port}").get("/api/v1/nodes")

    assert failed.value.unreachable


def test_a_server_that_hangs_is_given_up_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        begin = time.monotonic()
        with pytest.raises(ApiError, match="no answer within"):
            Api(server=f"http://127.0.0.1:{silent.getsockname()[1]}").get("/api/v1/nodes", timeout=0.3)

    assert time.monotonic() - begin < 2


def test_a_connection_that_the_server_closed_is_opened_again(world: World) -> None:
    class Closing(Handler):
        """Closes after each answer without having said so, as a restarted server does."""

        def do_GET(self) -> None:  # noqa: N802 - its name is the method's
            super().do_GET()
            self.close_connection = True

    Closing.world = world
    server = Server(("127.0.0.1", 0), Closing)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        with Api(server=f"http://127.0.0.1:{server.server_address[1]}") as api:
            for _ in range(3):
                assert api.list(PODS) == []
                time.sleep(0.05)
    finally:
        server.shutdown()
        server.server_close()


def test_threads_share_a_client(api: Api) -> None:
    names = [f"pod-{number}" for number in range(8)]
    threads = [threading.Thread(target=api.create, args=(PODS, a_pod(name))) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {pod["metadata"]["name"] for pod in api.list(PODS)} == set(names)


def names(change: Change) -> tuple[str, list[str]]:
    return change.kind, [obj["metadata"]["name"] for obj in change.objects]


def test_a_watch_begins_with_all_there_is_and_goes_on_with_every_change(api: Api, world: World) -> None:
    world.put(f"{PODS}/old", a_pod("old"))
    changes = api.watch("/api/v1/pods", timeout=5)

    assert names(next(changes)) == ("RESET", ["old"])
    world.put(f"{PODS}/new", a_pod("new"))
    assert names(next(changes)) == ("ADDED", ["new"])
    world.put(f"{PODS}/new", a_pod("new", app="a"))
    assert names(next(changes)) == ("MODIFIED", ["new"])
    world.remove(f"{PODS}/old")
    assert names(next(changes)) == ("DELETED", ["old"])


def test_a_watch_that_is_too_old_lists_again(api: Api, world: World) -> None:
    changes = api.watch("/api/v1/pods", timeout=5)
    assert names(next(changes)) == ("RESET", [])

    world.put(f"{PODS}/one", a_pod("one"))
    world.oldest = world.version

    assert names(next(changes)) == ("RESET", ["one"])


def test_a_watch_that_is_cut_goes_on_where_it_was(api: Api, world: World) -> None:
    world.cut_watches = 1
    changes = api.watch("/api/v1/pods", timeout=5)
    assert names(next(changes)) == ("RESET", [])

    world.put(f"{PODS}/one", a_pod("one"))
    assert names(next(changes)) == ("ADDED", ["one"])
    world.put(f"{PODS}/two", a_pod("two"))
    assert names(next(changes)) == ("ADDED", ["two"])


def test_a_watch_ends_at_its_deadline(api: Api) -> None:
    begin = time.monotonic()

    assert [change.kind for change in api.watch("/api/v1/pods", timeout=1.0)] == ["RESET"]
    assert time.monotonic() - begin < 4


def test_waiting_ends_when_what_is_wanted_is_there(api: Api, world: World) -> None:
    threading.Timer(0.2, lambda: world.put(f"{PODS}/one", a_pod("one"))).start()

    seen = api.wait(PODS, lambda pods: "default/one" in pods, timeout=5, what="The pod")

    assert list(seen) == ["default/one"]


def test_waiting_in_vain_says_for_what_and_how_long(api: Api) -> None:
    with pytest.raises(BoxError, match="DNS did not happen within 1 s"):
        api.wait(PODS, bool, timeout=1, what="DNS")


def test_a_kubeconfig_that_is_missing_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(BoxError, match="box up"):
        Api.from_kubeconfig(tmp_path / "kubeconfig")


def test_a_kubeconfig_of_someone_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text("apiVersion: v1\nkind: Config\n")

    with pytest.raises(BoxError, match="not a kubeconfig that the box wrote"):
        Api.from_kubeconfig(path)


def test_client_and_server_prove_each_other_who_they_are(tmp_path: Path, world: World) -> None:
    key, certificate = tmp_path / "key", tmp_path / "crt"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "1", "-subj", "/CN=box", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.load_verify_locations(certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    server = Server(("127.0.0.1", 0), type("Bound", (Handler,), {"world": world}))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    encoded = base64.b64encode(certificate.read_bytes()).decode()
    user = {"client-certificate-data": encoded, "client-key-data": base64.b64encode(key.read_bytes()).decode()}
    cluster = {"server": f"https://127.0.0.1:{server.server_address[1]}", "certificate-authority-data": encoded}
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps({"clusters": [{"cluster": cluster}], "users": [{"user": user}]}))
    try:
        with Api.from_kubeconfig(path) as api:
            assert api.list(PODS) == []
    finally:
        server.shutdown()
        server.server_close()
