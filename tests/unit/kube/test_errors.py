"""Answers of the API server, and of what stands in front of it, as errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.kube.errors import (
    AlreadyExistsError,
    ApiError,
    Cause,
    ConflictError,
    ForbiddenError,
    GoneError,
    InvalidError,
    KubeError,
    NotFoundError,
    ServerError,
    TooManyRequestsError,
    UnauthorizedError,
    UnreachableError,
    UnreadableError,
    refusal,
)


def status(code: int, reason: str, **rest: Any) -> bytes:
    return json.dumps({"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, **rest}).encode()


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (401, "Unauthorized", UnauthorizedError),
        (403, "Forbidden", ForbiddenError),
        (404, "NotFound", NotFoundError),
        (409, "Conflict", ConflictError),
        (409, "AlreadyExists", AlreadyExistsError),
        (410, "Gone", GoneError),
        (410, "Expired", GoneError),
        (422, "Invalid", InvalidError),
        (429, "TooManyRequests", TooManyRequestsError),
        (500, "InternalError", ServerError),
        (504, "Timeout", ServerError),
        (400, "BadRequest", ApiError),
        (405, "MethodNotAllowed", ApiError),
    ],
)
def test_each_answer_has_its_class(code: int, reason: str, kind: type[ApiError]) -> None:
    error = refusal(code, status(code, reason, message="words"), request="GET /x")

    assert type(error) is kind
    assert (str(error), error.status, error.reason, error.request) == ("words", code, reason, "GET /x")


def test_the_fields_that_the_server_objects_to_are_kept() -> None:
    causes = [{"field": "spec.size", "reason": "FieldValueInvalid", "message": "must be positive"}]

    error = refusal(422, status(422, "Invalid", details={"causes": causes, "name": "x"}))

    assert error.causes == (Cause("spec.size", "FieldValueInvalid", "must be positive"),)


def test_when_to_come_back_is_in_the_header_or_in_the_details() -> None:
    body = status(429, "TooManyRequests", details={"retryAfterSeconds": 7})

    assert refusal(429, body, retry_after="3").retry_after == 3
    assert refusal(429, body).retry_after == 7
    assert refusal(503, b"", retry_after="2.5").retry_after == 2.5
    assert refusal(429, b"", retry_after="Fri, 31 Dec 2027 23:59:59 GMT").retry_after is None
    assert refusal(404, status(404, "NotFound")).retry_after is None


def test_a_page_of_a_proxy_is_told_in_short() -> None:
    error = refusal(502, b"<html>\n<h1>Bad   Gateway</h1>" + b"x" * 10_000, request="GET /api")

    assert type(error) is ServerError
    assert str(error).startswith("GET /api was answered with 502: <html> <h1>Bad Gateway</h1>")
    assert len(str(error)) < 400


def test_an_empty_answer_still_says_what_was_asked() -> None:
    assert str(refusal(503, b"", request="GET /api")) == "GET /api was answered with 503"


def test_an_object_that_is_no_status_is_not_taken_for_one() -> None:
    error = refusal(
        500, b'{"kind": "Other", "message": "not this", "code": 404, "reason": "NotFound"}', request="GET /x"
    )

    assert type(error) is ServerError


@given(st.integers(400, 599), st.binary(max_size=200) | st.builds(lambda text: status(404, text), st.text(max_size=20)))
def test_whatever_comes_is_an_error_with_the_code_it_came_with(code: int, body: bytes) -> None:
    assert refusal(code, body, request="GET /x").status == code


@pytest.mark.parametrize(
    ("error", "possible"),
    [
        (UnreachableError("the answer never came"), True),
        (UnreachableError("nobody there", sent=False), False),
        (UnreadableError("not what was asked for"), True),
        (refusal(500, b"etcdserver: request timed out"), True),
        (refusal(504, status(504, "Timeout")), True),
        (refusal(302, b""), False),
        (refusal(409, status(409, "Conflict")), False),
        (refusal(429, b""), False),
    ],
)
def test_an_error_says_whether_a_mutation_may_have_happened(error: KubeError, possible: bool) -> None:
    assert error.may_have_happened is possible
