"""The object storage of a box: an S3 server and an Azure blob server, outside the cluster as in real life.

Both run in the room, on its loopback. In front of each stands a proxy on the storage address (`faulty_proxy`), which
can be told to fail, so that the servers themselves stay as they are. Pods reach them by the names of two Services.
They are started when first asked for.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import json
import os
import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from box.children import Child
from box.layout import STORAGE_ADDRESS, BoxError, Layout
from box.storage import azure, s3_client
from box.storage.rules import FaultFile, Rule
from box.toolchain import builds

NAMESPACE = "box-storage"
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Store:
    """One kind of object storage: where pods find it, and where the server itself listens."""

    name: str
    port: int
    inner_port: int

    @property
    def endpoint(self) -> str:
        return f"http://{self.name}.{NAMESPACE}.svc:{self.port}"


S3 = Store("s3", port=9000, inner_port=19000)
AZURE = Store("azure", port=10000, inner_port=19001)
STORES = {store.name: store for store in (S3, AZURE)}


@dataclass(frozen=True)
class Credentials:
    """Made once for each box."""

    s3: s3_client.Keys
    azure_account: str
    azure_key: str


def credentials(layout: Layout) -> Credentials:
    """Read the keys of this box, or make them."""
    file = _folder(layout) / "keys.json"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = {
            "access": "BOX" + secrets.token_hex(8).upper(),
            "secret": secrets.token_urlsafe(30),
            "azure_account": "boxstorage",
            "azure_key": base64.b64encode(secrets.token_bytes(64)).decode(),
        }
        draft = file.with_name(f"keys.{os.getpid()}.draft")
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(fresh))
        draft.rename(file)
    kept = json.loads(file.read_text())
    return Credentials(
        s3=s3_client.Keys(access=kept["access"], secret=kept["secret"]),
        azure_account=kept["azure_account"],
        azure_key=kept["azure_key"],
    )


def children(layout: Layout, which: str) -> tuple[Child, ...]:
    """Describe the programs behind `s3` or `azure`: the server, and the proxy before it."""
    store = _store(which)
    server = _s3_server(layout) if store is S3 else _azure_server(layout)
    proxy = (
        *(sys.executable, "-m", "box.storage.faulty_proxy"),
        *("--listen", f"{STORAGE_ADDRESS}:{store.port}"),
        *("--upstream", f"{LOOPBACK}:{store.inner_port}"),
        *("--rules", str(faults(layout, which).path)),
    )
    return server, Child(f"{store.name}-faults", proxy)


def answers(which: str, *, timeout: float = 1.0) -> bool:
    """Ask the server itself for anything at all; only inside the room's network."""
    connection = http.client.HTTPConnection(LOOPBACK, _store(which).inner_port, timeout=timeout)
    try:
        connection.request("GET", "/")
        connection.getresponse()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True


def wait(layout: Layout, which: str, *, timeout: float = 30.0) -> None:
    """Wait until the server answers and its proxy follows the rules; only inside the room's network."""
    end = time.monotonic() + timeout
    rules = faults(layout, which)
    rules.forget()
    while not (answers(which) and rules.followed()):
        if time.monotonic() > end:
            raise BoxError(f"The {which} server did not start within {timeout:.0f} s; see: box logs {which}")
        time.sleep(0.05)


def faults(layout: Layout, which: str) -> FaultFile:
    return FaultFile(_folder(layout) / f"{_store(which).name}-fault.json")


def set_faults(layout: Layout) -> list[str]:
    """The faults that are set, in words."""
    rules = {which: faults(layout, which).get()[1] for which in STORES}
    return [f"{which}: {rule.describe()}" for which, rule in rules.items() if rule.mode != "ok"]


def fault(layout: Layout, which: str, rule: Rule) -> None:
    """Let the storage fail by a rule, or heal it with the rule `ok`; returns when the proxy follows it."""
    faults(layout, which).set(rule, timeout=5.0)


def heal(layout: Layout) -> None:
    """Drop all faults, as for a box that starts anew."""
    for which in STORES:
        faults(layout, which).path.unlink(missing_ok=True)


def s3_env(layout: Layout) -> list[str]:
    """List what a shell needs to use the S3 server as pods do."""
    keys = credentials(layout).s3
    return [
        f"export AWS_ACCESS_KEY_ID={keys.access}",
        f"export AWS_SECRET_ACCESS_KEY={keys.secret}",
        f"export AWS_REGION={s3_client.REGION}",
        f"export AWS_DEFAULT_REGION={s3_client.REGION}",
        f"export AWS_ENDPOINT_URL={S3.endpoint}",
    ]


def azure_env(layout: Layout) -> list[str]:
    """List what a shell needs to use the Azure blob server as pods do."""
    known = credentials(layout)
    endpoint = f"{AZURE.endpoint}/{known.azure_account}"
    connection = (
        f"DefaultEndpointsProtocol=http;AccountName={known.azure_account};AccountKey={known.azure_key};"
        f"BlobEndpoint={endpoint};"
    )
    return [
        f"export AZURE_STORAGE_ACCOUNT={known.azure_account}",
        f"export AZURE_STORAGE_KEY={known.azure_key}",
        f"export AZURE_STORAGE_BLOB_ENDPOINT={endpoint}",
        f"export AZURE_STORAGE_CONNECTION_STRING='{connection}'",
    ]


def s3_ls(layout: Layout, path: str = "") -> list[str]:
    """List the buckets, or the objects below `bucket[/prefix]`."""
    bucket, _, prefix = path.removeprefix("s3://").partition("/")
    if not bucket:
        return _buckets(layout).names()
    return [
        f"{stored.modified}  {stored.size:>12}  {stored.name}" for stored in _buckets(layout).objects(bucket, prefix)
    ]


def s3_mb(layout: Layout, bucket: str) -> None:
    _buckets(layout).make(bucket.removeprefix("s3://"))


def s3_rb(layout: Layout, bucket: str, *, force: bool = False) -> None:
    _buckets(layout).remove(bucket.removeprefix("s3://"), force=force)


def objects() -> list[dict[str, Any]]:
    """Build the names by which pods reach the storage: Services whose endpoint lies outside the cluster."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    return [namespace, *(obj for store in STORES.values() for obj in (_service(store), _endpoints(store)))]


def _service(store: Store) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": store.name, "namespace": NAMESPACE},
        "spec": {"ports": [{"name": "http", "port": store.port, "protocol": "TCP", "targetPort": store.port}]},
    }


def _endpoints(store: Store) -> dict[str, Any]:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": store.name,
            "namespace": NAMESPACE,
            "labels": {
                "kubernetes.io/service-name": store.name,
                "endpointslice.kubernetes.io/managed-by": "box",
            },
        },
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": store.port, "protocol": "TCP"}],
        "endpoints": [{"addresses": [STORAGE_ADDRESS], "conditions": {"ready": True}}],
    }


def _s3_server(layout: Layout) -> Child:
    data, accounts = _folder(layout) / "s3", _folder(layout) / "iam"
    for folder in (data, accounts):
        folder.mkdir(parents=True, exist_ok=True)
    keys = credentials(layout).s3
    # Without a folder of accounts an unknown access key is answered with 404 where AWS says 403.
    argv = (
        *(str(builds.program(layout, "versitygw", "versitygw")), "--port", f"{LOOPBACK}:{S3.inner_port}"),
        *("--region", s3_client.REGION, "--keep-alive", "--quiet", "--iam-dir", str(accounts)),
        *("posix", str(data)),
    )
    return Child(S3.name, argv, {"ROOT_ACCESS_KEY": keys.access, "ROOT_SECRET_KEY": keys.secret})


def _azure_server(layout: Layout) -> Child:
    data = _folder(layout) / "azure"
    data.mkdir(parents=True, exist_ok=True)
    known = credentials(layout)
    argv = azure.command(layout, address=LOOPBACK, port=AZURE.inner_port, data=data)
    return Child(AZURE.name, argv, {"AZURITE_ACCOUNTS": f"{known.azure_account}:{known.azure_key}"})


def _buckets(layout: Layout) -> s3_client.Bucket:
    """Speak to the server itself, so that a person can look while the proxy fails."""
    return s3_client.Bucket(host=LOOPBACK, port=S3.inner_port, keys=credentials(layout).s3)


def _folder(layout: Layout) -> Path:
    return layout.state / "objectstore"


def _store(which: str) -> Store:
    if which not in STORES:
        raise BoxError(f"There is no object storage '{which}'; there are: {', '.join(STORES)}")
    return STORES[which]


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m box.storage.objectstore", description="Object storage, from inside the room's network."
    )
    parser.add_argument("home", type=Path)
    parser.add_argument("name")
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("wait").add_argument("which", choices=tuple(STORES))
    actions.add_parser("ls").add_argument("path", nargs="?", default="")
    actions.add_parser("mb").add_argument("bucket")
    remove = actions.add_parser("rb")
    remove.add_argument("bucket")
    remove.add_argument("--force", action="store_true")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _arguments(sys.argv[1:] if argv is None else argv)
    layout = Layout(arguments.home, arguments.name)
    try:
        match arguments.action:
            case "wait":
                wait(layout, arguments.which)
            case "ls":
                print("\n".join(s3_ls(layout, arguments.path)))
            case "mb":
                s3_mb(layout, arguments.bucket)
            case "rb":
                s3_rb(layout, arguments.bucket, force=arguments.force)
    except BoxError as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
