"""What precedes a change: a login, or the question who is there."""

from __future__ import annotations

import pytest

from etcd_operator.etcd import methods
from etcd_operator.etcd.call import unsent
from etcd_operator.etcd.errors import NoAnswerError, NotReachedError, Reason, RefusedError


def test_a_change_was_not_sent_if_the_question_before_it_was_not_answered() -> None:
    with pytest.raises(NotReachedError, match=r"silence; Put was not sent"), unsent(methods.PUT):
        raise NoAnswerError("Status on 10.0.0.1:2379: silence")


def test_a_read_was_just_not_answered() -> None:
    with pytest.raises(NoAnswerError, match="silence"), unsent(methods.RANGE):
        raise NoAnswerError("Status on 10.0.0.1:2379: silence")


def test_a_refusal_stays_a_refusal() -> None:
    with pytest.raises(RefusedError) as refusal, unsent(methods.PUT):
        raise RefusedError("Authenticate on 10.0.0.1:2379: no", Reason.AUTH_FAILED)

    assert refusal.value.reason is Reason.AUTH_FAILED
