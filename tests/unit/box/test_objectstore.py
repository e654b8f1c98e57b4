"""The object storage of a box: its keys, programs and names."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from box.layout import STORAGE_ADDRESS, BoxError, Layout
from box.storage import azure, objectstore
from box.storage.rules import Rule


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path, "test")


def variables(lines: list[str]) -> dict[str, str]:
    assert all(line.startswith("export ") for line in lines)
    parts = (line.removeprefix("export ").partition("=") for line in lines)
    return {name: value.strip("'") for name, _, value in parts}


def test_keys_are_made_once_and_for_the_owner_only(layout: Layout) -> None:
    first = objectstore.credentials(layout)
    file = layout.state / "objectstore" / "keys.json"

    assert objectstore.credentials(layout) == first
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(first.s3.secret) >= 40


def test_two_boxes_have_different_keys(tmp_path: Path) -> None:
    assert objectstore.credentials(Layout(tmp_path, "a")) != objectstore.credentials(Layout(tmp_path, "b"))


def test_the_shell_gets_what_aws_tools_look_for(layout: Layout) -> None:
    told = variables(objectstore.s3_env(layout))

    assert told["AWS_ENDPOINT_URL"] == "http://s3.box-storage.svc:9000"
    assert told["AWS_SECRET_ACCESS_KEY"] == objectstore.credentials(layout).s3.secret
    assert {"AWS_ACCESS_KEY_ID", "AWS_REGION", "AWS_DEFAULT_REGION"} < set(told)


def test_the_shell_gets_what_azure_tools_look_for(layout: Layout) -> None:
    told = variables(objectstore.azure_env(layout))

    assert told["AZURE_STORAGE_BLOB_ENDPOINT"] == "http://azure.box-storage.svc:10000/boxstorage"
    assert f"AccountKey={told['AZURE_STORAGE_KEY']};" in told["AZURE_STORAGE_CONNECTION_STRING"]


def test_the_server_stands_on_loopback_and_only_the_proxy_is_reached_by_pods(layout: Layout) -> None:
    server, proxy = objectstore.children(layout, "s3")

    assert "127.0.0.1:19000" in server.argv
    assert proxy.argv[3:7] == ("--listen", f"{STORAGE_ADDRESS}:9000", "--upstream", "127.0.0.1:19000")
    assert (server.name, proxy.name) == ("s3", "s3-faults")


def test_no_secret_is_on_a_command_line(layout: Layout) -> None:
    keys = objectstore.credentials(layout)

    for child in objectstore.children(layout, "s3"):
        assert not any(keys.s3.secret in word for word in child.argv)
    server = objectstore.children(layout, "s3")[0]
    assert keys.s3.secret in server.environment.values()


def test_pods_find_the_storage_by_name(layout: Layout) -> None:
    objects = {(made["kind"], made["metadata"]["name"]): made for made in objectstore.objects()}

    assert ("Namespace", "box-storage") in objects
    for name, port in (("s3", 9000), ("azure", 10000)):
        service, endpoints = objects["Service", name], objects["EndpointSlice", name]
        assert "selector" not in service["spec"]
        assert service["spec"]["ports"][0]["port"] == endpoints["ports"][0]["port"] == port
        assert endpoints["metadata"]["labels"]["kubernetes.io/service-name"] == name
        assert endpoints["endpoints"][0]["addresses"] == [STORAGE_ADDRESS]


def test_a_fault_is_written_where_the_proxy_looks(layout: Layout) -> None:
    rules = objectstore.faults(layout, "azure")
    rules.set(Rule("500"))

    assert rules.get()[1] == Rule("500")
    assert "--upstream" in objectstore.children(layout, "s3")[1].argv
    assert str(objectstore.faults(layout, "s3").path) in objectstore.children(layout, "s3")[1].argv


def test_a_box_that_starts_anew_has_no_faults(layout: Layout) -> None:
    for which in ("s3", "azure"):
        objectstore.faults(layout, which).set(Rule("500"))
    objectstore.heal(layout)
    objectstore.heal(layout)

    assert objectstore.faults(layout, "s3").get()[1] == objectstore.faults(layout, "azure").get()[1] == Rule()


def test_an_unknown_storage_is_refused(layout: Layout) -> None:
    with pytest.raises(BoxError, match="there are: s3, azure"):
        objectstore.children(layout, "gcs")


def test_azure_is_installed_before_it_is_started(layout: Layout) -> None:
    with pytest.raises(BoxError, match="azurite is not installed yet"):
        objectstore.children(layout, "azure")


def test_azurite_serves_blobs_only_tells_nobody_and_takes_accounts_from_the_path(layout: Layout) -> None:
    (azure._target(layout) / "node_modules").mkdir(parents=True)
    server, proxy = objectstore.children(layout, "azure")

    assert server.argv[1].endswith("azurite/dist/src/blob/main.js")
    assert {"--disableTelemetry", "--disableProductStyleUrl", "--skipApiVersionCheck"} < set(server.argv)
    assert server.environment["AZURITE_ACCOUNTS"].startswith("boxstorage:")
    assert f"{STORAGE_ADDRESS}:10000" in proxy.argv


def test_the_lock_file_has_checksums_and_no_addresses() -> None:
    text = (azure.LOCK_FOLDER / "package-lock.json").read_text()

    assert '"resolved"' not in text
    assert "https://" not in text
    assert text.count('"integrity"') > 300
