"""As much of the S3 protocol as `box s3 ls`, `mb` and `rb` need, with the standard library alone.

The signature is AWS' version 4. Buckets are addressed by path, as in every S3 server that has no domain of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

from box.layout import BoxError

REGION = "us-east-1"
TIMEOUT = 30.0
_UNRESERVED = "-_.~"
_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True)
class Keys:
    """Who asks."""

    access: str
    secret: str


@dataclass(frozen=True)
class Stored:
    """An object in a bucket."""

    name: str
    size: int
    modified: str


def signed_headers(
    keys: Keys, *, method: str, host: str, path: str, query: Mapping[str, str], body: bytes, now: datetime
) -> dict[str, str]:
    """Build the headers that prove who asks; `path` is not encoded yet."""
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    digest = hashlib.sha256(body).hexdigest()
    headers = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": stamp}
    names = ";".join(sorted(headers))
    canonical = "\n".join(
        [method, quote(path, safe="/" + _UNRESERVED), canonical_query(query)]
        + [f"{name}:{headers[name]}" for name in sorted(headers)]
        + ["", names, digest]
    )
    return headers | {"authorization": authorization(keys, canonical=canonical, names=names, stamp=stamp)}


def authorization(keys: Keys, *, canonical: str, names: str, stamp: str, service: str = "s3") -> str:
    scope = f"{stamp[:8]}/{REGION}/{service}/aws4_request"
    to_sign = "\n".join([_ALGORITHM, stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{keys.secret}".encode()
    for part in (*scope.split("/"), to_sign):
        key = hmac.digest(key, part.encode(), "sha256")
    return f"{_ALGORITHM} Credential={keys.access}/{scope}, SignedHeaders={names}, Signature={key.hex()}"


def canonical_query(query: Mapping[str, str]) -> str:
    return urlencode(sorted(query.items()), quote_via=quote, safe=_UNRESERVED)


class Bucket:
    """A server's buckets and what is in them."""

    def __init__(self, *, host: str, port: int, keys: Keys) -> None:
        self._host, self._port, self._keys = host, port, keys

    def names(self) -> list[str]:
        found = self._ask("GET", "/").findall(".//{*}Bucket")
        return [bucket.findtext("{*}Name", "") for bucket in found]

    def objects(self, bucket: str, prefix: str = "") -> Iterator[Stored]:
        query = {"list-type": "2", "prefix": prefix}
        while True:
            page = self._ask("GET", f"/{bucket}", query)
            for entry in page.findall(".//{*}Contents"):
                yield Stored(
                    name=entry.findtext("{*}Key", ""),
                    size=int(entry.findtext("{*}Size", "0")),
                    modified=entry.findtext("{*}LastModified", ""),
                )
            token = page.findtext("{*}NextContinuationToken")
            if page.findtext("{*}IsTruncated") != "true" or not token:
                return
            query["continuation-token"] = token

    def make(self, bucket: str) -> None:
        self._ask("PUT", f"/{bucket}")

    def remove(self, bucket: str, *, force: bool = False) -> None:
        """Delete a bucket, which must be empty; with `force` its objects go first."""
        for stored in list(self.objects(bucket)) if force else ():
            self._ask("DELETE", f"/{bucket}/{stored.name}")
        self._ask("DELETE", f"/{bucket}")

    def _ask(self, method: str, path: str, query: Mapping[str, str] | None = None) -> ElementTree.Element:
        query = query or {}
        headers = signed_headers(
            self._keys,
            method=method,
            host=f"{self._host}:{self._port}",
            path=path,
            query=query,
            body=b"",
            now=datetime.now(UTC),
        )
        target = quote(path, safe="/" + _UNRESERVED) + (f"?{canonical_query(query)}" if query else "")
        connection = http.client.HTTPConnection(self._host, self._port, timeout=TIMEOUT)
        try:
            connection.request(method, target, headers=headers)
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise BoxError(f"The S3 server did not answer ({error}); see: box logs s3") from error
        finally:
            connection.close()
        parsed = _parse(answer)
        if response.status >= 400:
            code = parsed.findtext("{*}Code") or f"status {response.status}"
            raise BoxError(f"The S3 server refused {method} {path}: {code}: {parsed.findtext('{*}Message', '')}")
        return parsed


def _parse(answer: bytes) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(answer)
    except ElementTree.ParseError:
        return ElementTree.Element("Empty")
