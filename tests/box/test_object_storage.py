"""The S3 server answers as AWS does and fails as it is told; the Azure server is there too."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import io
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from email.utils import formatdate
from typing import IO, TYPE_CHECKING, cast

import boto3
import pytest
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from box.layout import STORAGE_ADDRESS
from tests.box.driving import Box, eventually
from tests.box.pods import pod, wait_ready

if TYPE_CHECKING:
    from types_boto3_s3.client import S3Client

MEGABYTE = 1 << 20


def variables(box: Box, *command: str) -> dict[str, str]:
    return dict(re.findall(r"^export (\w+)='?(.*?)'?$", box(*command), re.MULTILINE))


@pytest.fixture(scope="module")
def keys(box: Box) -> dict[str, str]:
    found = variables(box, "s3", "env")
    box("s3", "mb", "backups")
    return found


@pytest.fixture(autouse=True)
def _healed(box: Box) -> Iterator[None]:
    yield
    box("s3", "fault", "ok")


def client(keys: dict[str, str], *, secret: str = "", access: str = "", read_timeout: float = 60) -> S3Client:
    settings = Config(
        s3={"addressing_style": "path"},
        retries={"total_max_attempts": 1},
        connect_timeout=3,
        read_timeout=read_timeout,
    )
    return boto3.client(
        "s3",
        endpoint_url=f"http://{STORAGE_ADDRESS}:9000",
        aws_access_key_id=access or keys["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=secret or keys["AWS_SECRET_ACCESS_KEY"],
        region_name=keys["AWS_REGION"],
        config=settings,
    )


def test_the_variables_are_those_a_pod_needs(box: Box, keys: dict[str, str], namespace: str) -> None:
    assert keys["AWS_ENDPOINT_URL"] == "http://s3.box-storage.svc:9000"
    box.apply(pod("user", namespace, command=["sleep", "1000"]))
    wait_ready(box, namespace, "user")

    script = f"wget -q -O - {keys['AWS_ENDPOINT_URL']}/ 2>&1 || true"

    # Without a signature it must refuse; a name that does not resolve yet says something else.
    assert eventually(lambda: "403" in box.exec(namespace, "user", "sh", "-c", script), within=20)


def test_a_gigabyte_goes_up_in_parts_and_comes_back_whole(box: Box, keys: dict[str, str]) -> None:
    block = bytes(range(256)) * (64 * MEGABYTE // 256)
    expected = hashlib.sha256()
    for _ in range(16):
        expected.update(block)

    def travel() -> tuple[str, str, int]:
        s3 = client(keys)
        parts = TransferConfig(multipart_threshold=8 * MEGABYTE, multipart_chunksize=64 * MEGABYTE, max_concurrency=2)
        s3.upload_fileobj(cast("IO[bytes]", Repeated(block, 16)), "backups", "large/one", Config=parts)
        about = s3.head_object(Bucket="backups", Key="large/one")
        found = hashlib.sha256()
        for chunk in s3.get_object(Bucket="backups", Key="large/one")["Body"].iter_chunks(MEGABYTE):
            found.update(chunk)
        s3.delete_object(Bucket="backups", Key="large/one")
        return found.hexdigest(), about["ETag"], about["ContentLength"]

    begun = time.monotonic()
    digest, mark, length = box.inside(travel)

    assert length == 1 << 30
    assert digest == expected.hexdigest()
    assert mark.endswith('-16"'), "sixteen parts, as AWS marks them"
    print(f"1 GiB up and down in {time.monotonic() - begun:.1f} s")


def test_wrong_keys_are_refused_and_conditions_kept(box: Box, keys: dict[str, str]) -> None:
    def put(s3: S3Client, **condition: str) -> int:
        try:
            s3.put_object(Bucket="backups", Key="guarded", Body=b"x", **condition)  # type: ignore[arg-type]
        except ClientError as error:
            return int(error.response["ResponseMetadata"]["HTTPStatusCode"])
        return 200

    assert box.inside(lambda: put(client(keys, secret="wrongwrongwrong"))) == 403
    assert box.inside(lambda: put(client(keys, access="NOBODY"))) == 403
    assert box.inside(lambda: put(client(keys))) == 200
    assert box.inside(lambda: put(client(keys), IfNoneMatch="*")) == 412
    assert "guarded" in box("s3", "ls", "backups")


def outcome(box: Box, keys: dict[str, str], *, size: int = 1000) -> str:
    """What an upload came to."""

    def put() -> str:
        try:
            client(keys, read_timeout=3).put_object(Bucket="backups", Key="try", Body=b"x" * size)
        except ClientError as error:
            return str(error.response["Error"]["Code"])
        except BotoCoreError as error:
            return type(error).__name__
        return "stored"

    return box.inside(put)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("refuse", "EndpointConnectionError"),
        ("hang", "ReadTimeoutError"),
        ("500", "InternalError"),
        ("throttle", "SlowDown"),
        ("cut", "ConnectionClosedError"),
    ],
)
def test_it_fails_as_it_is_told_and_heals(box: Box, keys: dict[str, str], mode: str, expected: str) -> None:
    box("s3", "fault", mode)
    assert "! s3:" in box("status")
    assert outcome(box, keys, size=4 * MEGABYTE if mode == "cut" else 1000) == expected

    box("s3", "fault", "ok")
    assert outcome(box, keys) == "stored"


def test_a_download_is_cut_in_the_middle(box: Box, keys: dict[str, str]) -> None:
    assert outcome(box, keys, size=4 * MEGABYTE) == "stored"
    box("s3", "fault", "cut", str(MEGABYTE), "--method", "GET")

    def get() -> int:
        body = client(keys).get_object(Bucket="backups", Key="try")["Body"]
        received = 0
        try:
            for chunk in body.iter_chunks(65536):
                received += len(chunk)
        except (BotoCoreError, OSError):
            return received
        return -1

    received = box.inside(get)
    assert 0 < received < 4 * MEGABYTE


def test_a_fault_can_be_limited_to_so_many_requests(box: Box, keys: dict[str, str]) -> None:
    box("s3", "fault", "500", "--count", "2", "--method", "PUT")

    assert [outcome(box, keys) for _ in range(3)] == ["InternalError", "InternalError", "stored"]


def test_azure_is_reached_by_its_service_name(box: Box, namespace: str) -> None:
    found = variables(box, "azure", "env")
    assert found["AZURE_STORAGE_BLOB_ENDPOINT"].startswith("http://azure.box-storage.svc:10000/")
    box.apply(pod("user", namespace, command=["sleep", "1000"]))
    wait_ready(box, namespace, "user")

    script = f"wget -O - '{found['AZURE_STORAGE_BLOB_ENDPOINT']}?comp=list' 2>&1 || true"

    # Azure's own words; a name that does not resolve yet says something else.
    refusal = "403 Server failed to authenticate"
    assert eventually(lambda: refusal in box.exec(namespace, "user", "sh", "-c", script), within=20)


def test_azure_keeps_blobs_for_those_who_have_the_key(box: Box) -> None:
    account = azure_account(variables(box, "azure", "env"))
    stranger = replace(account, key=b"x" * 64)

    def travel() -> tuple[int, bytes, int]:
        account.ask("PUT", "/backups", "restype:container")
        account.ask("PUT", "/backups/one", body=b"content", blob_type="BlockBlob")
        refused = stranger.ask("GET", "/backups/one")[0]
        return *account.ask("GET", "/backups/one"), refused

    assert box.inside(travel) == (200, b"content", 403)


@dataclass(frozen=True)
class AzureAccount:
    """Requests signed as the Azure blob service wants them (Shared Key)."""

    name: str
    key: bytes

    def ask(
        self, method: str, path: str, query: str = "", *, body: bytes = b"", blob_type: str = ""
    ) -> tuple[int, bytes]:
        headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
        if blob_type:
            headers["x-ms-blob-type"] = blob_type
        canonical = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
        resource = f"/{self.name}/{self.name}{path}" + (f"\n{query}" if query else "")
        length = str(len(body)) if body else ""
        signed = f"{method}\n\n\n{length}\n\n\n\n\n\n\n\n\n{canonical}{resource}"
        mark = base64.b64encode(hmac.digest(self.key, signed.encode(), "sha256")).decode()
        headers["Authorization"] = f"SharedKey {self.name}:{mark}"
        target = f"/{self.name}{path}" + (f"?{query.replace(':', '=')}" if query else "")
        connection = http.client.HTTPConnection(STORAGE_ADDRESS, 10000, timeout=20)
        try:
            connection.request(method, target, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def azure_account(found: dict[str, str]) -> AzureAccount:
    return AzureAccount(found["AZURE_STORAGE_ACCOUNT"], base64.b64decode(found["AZURE_STORAGE_KEY"]))


class Repeated(io.RawIOBase):
    """A block, so many times over, without the memory for it."""

    def __init__(self, block: bytes, times: int) -> None:
        self._block, self._length, self._position = block, len(block) * times, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._length}[whence]
        self._position = base + offset
        return self._position

    def read(self, size: int = -1) -> bytes:
        wanted = self._length - self._position if size < 0 else min(size, self._length - self._position)
        pieces = []
        while wanted:
            start = self._position % len(self._block)
            piece = self._block[start : start + wanted]
            pieces.append(piece)
            self._position += len(piece)
            wanted -= len(piece)
        return b"".join(pieces)
