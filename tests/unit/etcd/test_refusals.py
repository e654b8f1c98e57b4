"""What etcd says, and what a caller may believe about its change afterwards."""

from __future__ import annotations

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from etcd_operator.etcd.errors import (
    EtcdError,
    NoAnswerError,
    NotReachedError,
    Reason,
    RefusedError,
    UnknownOutcomeError,
)
from etcd_operator.etcd.refusals import DECLINED, SAYINGS, Saying, error_for, saying

CODES = list(grpc.StatusCode)
CERTAINLY_NOT_DONE = (RefusedError, NotReachedError)


def a_change(code: grpc.StatusCode, details: str) -> EtcdError:
    return error_for(code, details, what="Put on 10.0.0.1:2379", changes=True)


def a_read(code: grpc.StatusCode, details: str) -> EtcdError:
    return error_for(code, details, what="Range on 10.0.0.1:2379", changes=False)


@pytest.mark.parametrize("row", SAYINGS, ids=lambda row: row.text)
def test_every_row_of_the_table_is_reached_by_its_own_text(row: Saying) -> None:
    assert saying(row.text) is row
    assert saying(f"etcdserver: {row.text}") is row


@pytest.mark.parametrize("row", SAYINGS, ids=lambda row: row.text)
def test_the_text_decides_whatever_the_code(row: Saying) -> None:
    outcomes = {type(a_change(code, f"etcdserver: {row.text}")) for code in CODES}

    assert outcomes == {RefusedError if row.certain else UnknownOutcomeError}


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ("etcdserver: mvcc: required revision has been compacted", Reason.COMPACTED),
        ("etcdserver: mvcc: database space exceeded", Reason.NO_SPACE),
        ("etcdserver: can only promote a learner member which is in sync with leader", Reason.NOT_IN_SYNC),
        ("etcdserver: can only promote a learner member", Reason.NOT_A_LEARNER),
        ("etcdserver: request timed out, possibly due to previous leader failure", Reason.TIMED_OUT),
        ("etcdserver: request timed out, leader transfer took too long", Reason.TIMED_OUT),
        ("etcdserver: request canceled", Reason.CANCELLED),
        ("etcdserver: request cancelled", Reason.CANCELLED),
        ("auth: invalid auth token", Reason.INVALID_TOKEN),
        ("rpc error: code = Unauthenticated desc = etcdserver: invalid auth token", Reason.INVALID_TOKEN),
        ("grpc: received message larger than max (2 vs. 1)", Reason.REQUEST_TOO_LARGE),
        ("membership: ID not found", Reason.MEMBER_NOT_FOUND),
        ("lease not found", Reason.LEASE_NOT_FOUND),
    ],
)
def test_the_words_of_all_versions_have_one_reason(details: str, reason: Reason) -> None:
    assert a_change(grpc.StatusCode.UNKNOWN, details).reason is reason


def test_what_leaves_a_change_in_doubt() -> None:
    assert {row.reason for row in SAYINGS if not row.certain} == {
        Reason.ANSWER_TOO_LARGE,
        Reason.CANCELLED,
        Reason.LEADER_CHANGED,
        Reason.NO_LEADER,
        Reason.NO_SPACE,
        Reason.STOPPED,
        Reason.TIMED_OUT,
    }
    assert not {row.reason for row in SAYINGS if row.certain} & {row.reason for row in SAYINGS if not row.certain}


@pytest.mark.parametrize("code", CODES)
def test_without_words_that_are_known_only_a_declining_code_is_a_refusal(code: grpc.StatusCode) -> None:
    error = a_change(code, "something nobody has said before")

    assert isinstance(error, RefusedError) == (code in DECLINED)
    assert isinstance(error, UnknownOutcomeError) == (code not in DECLINED)


@given(st.sampled_from(sorted(set(CODES) - DECLINED, key=lambda code: code.name)), st.text())
def test_whatever_is_said_a_change_is_not_called_undone_without_a_reason(code: grpc.StatusCode, details: str) -> None:
    error = a_change(code, details)

    known = saying(details)
    assert isinstance(error, UnknownOutcomeError) or (known and known.certain)


@given(st.sampled_from(CODES), st.one_of(st.text(), st.sampled_from([row.text for row in SAYINGS])))
def test_a_read_is_refused_or_unanswered_and_never_of_unknown_outcome(code: grpc.StatusCode, details: str) -> None:
    change, read = a_change(code, details), a_read(code, details)

    assert not isinstance(read, UnknownOutcomeError)
    assert isinstance(read, NoAnswerError) == isinstance(change, UnknownOutcomeError)
    assert read.reason is change.reason


def test_a_connection_that_never_was_leaves_no_doubt() -> None:
    details = "failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.1:2379: Connection refused"

    assert isinstance(a_change(grpc.StatusCode.UNAVAILABLE, details), CERTAINLY_NOT_DONE)


@pytest.mark.parametrize(
    ("code", "details"),
    [
        (grpc.StatusCode.UNAVAILABLE, "Stream removed (ping timeout)"),
        (grpc.StatusCode.UNAVAILABLE, "recvmsg:Connection reset by peer"),
        (grpc.StatusCode.UNAVAILABLE, "Socket closed"),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded"),
        (grpc.StatusCode.CANCELLED, "Locally cancelled by application!"),
        (grpc.StatusCode.INTERNAL, "RST_STREAM"),
    ],
)
def test_a_lost_answer_leaves_the_outcome_unknown(code: grpc.StatusCode, details: str) -> None:
    error = a_change(code, details)

    assert isinstance(error, UnknownOutcomeError)
    assert error.reason is Reason.NO_ANSWER
    assert str(error).startswith("Put on 10.0.0.1:2379: ")
    assert "may have been made" in str(error)
