"""The S3 protocol: AWS' own examples for the signature, and a small server for the rest."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from box.layout import BoxError
from box.storage.s3_client import Bucket, Keys, authorization, canonical_query, signed_headers

EXAMPLE = Keys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize(
    ("query", "signature"),
    [
        ("", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("Param1=value1&Param2=value2", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    ],
    ids=["get-vanilla", "get-vanilla-query-order-key-case"],
)
def test_the_signature_is_that_of_the_published_test_suite(query: str, signature: str) -> None:
    lines = ["GET", "/", query, "host:example.amazonaws.com", "x-amz-date:20150830T123600Z", "", "host;x-amz-date"]
    canonical = "\n".join([*lines, EMPTY])

    header = authorization(
        EXAMPLE, canonical=canonical, names="host;x-amz-date", stamp="20150830T123600Z", service="service"
    )

    assert header == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        f"SignedHeaders=host;x-amz-date, Signature={signature}"
    )


def test_the_signature_of_a_listing_is_that_of_the_s3_documentation() -> None:
    keys = Keys("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    headers = signed_headers(
        keys,
        method="GET",
        host="examplebucket.s3.amazonaws.com",
        path="/",
        query={"max-keys": "2", "prefix": "J"},
        body=b"",
        now=datetime(2013, 5, 24, tzinfo=UTC),
    )

    assert headers["authorization"].endswith(
        "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    )


def test_a_query_is_sorted_and_encoded_as_amazon_wants_it() -> None:
    assert canonical_query({"prefix": "a b/c~d", "list-type": "2"}) == "list-type=2&prefix=a%20b%2Fc~d"


class Small(BaseHTTPRequestHandler):
    """Two pages of objects in one bucket."""

    asked: list[str]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is given
        pass

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        if url.path == "/":
            self._answer(200, "<Buckets><Bucket><Name>one</Name></Bucket><Bucket><Name>two</Name></Bucket></Buckets>")
        elif url.path != "/one":
            self._answer(404, "<Code>NoSuchBucket</Code><Message>The bucket does not exist</Message>")
        elif "continuation-token" in query:
            assert query["continuation-token"] == ["next/+="]
            self._answer(200, self._object("b", 2) + "<IsTruncated>false</IsTruncated>")
        else:
            more = "<IsTruncated>true</IsTruncated><NextContinuationToken>next/+=</NextContinuationToken>"
            self._answer(200, self._object("a &amp; o", 1) + more)

    def do_DELETE(self) -> None:
        self._answer(200, "")

    def _object(self, name: str, size: int) -> str:
        return f"<Contents><Key>{name}</Key><Size>{size}</Size><LastModified>now</LastModified></Contents>"

    def _answer(self, status: int, body: str) -> None:
        self.asked.append(f"{self.command} {self.path}")
        data = f'<R xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{body}</R>'.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def bucket(asked: list[str]) -> Iterator[Bucket]:
    server = HTTPServer(("127.0.0.1", 0), type("Bound", (Small,), {"asked": asked}))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield Bucket(host="127.0.0.1", port=server.server_address[1], keys=EXAMPLE)
    server.shutdown()
    server.server_close()


def test_buckets_are_listed(bucket: Bucket) -> None:
    assert bucket.names() == ["one", "two"]


def test_all_pages_of_a_bucket_are_listed(bucket: Bucket) -> None:
    assert [(found.name, found.size) for found in bucket.objects("one")] == [("a & o", 1), ("b", 2)]


def test_a_bucket_is_removed_with_all_in_it_if_asked(bucket: Bucket, asked: list[str]) -> None:
    bucket.remove("one", force=True)

    assert asked[-3:] == ["DELETE /one/a%20%26%20o", "DELETE /one/b", "DELETE /one"]


def test_what_the_server_says_reaches_the_user(bucket: Bucket) -> None:
    with pytest.raises(BoxError, match="NoSuchBucket: The bucket does not exist"):
        list(bucket.objects("none"))
