"""Answers that are no messages as we know them: a server up to 3.6 keeps names that are no UTF-8, and lists them."""

from __future__ import annotations

import pytest

from etcd_operator.etcd.call import Unary
from etcd_operator.etcd.errors import NoAnswerError, UnknownOutcomeError
from etcd_operator.etcd.pool import Pool
from tests.etcd.dialling import Dial
from tests.etcd.servers import cluster

USER_ADD = "/etcdserverpb.Auth/UserAdd"
NO_UTF_8 = b"\x0a\x01\xff\x12\x06secret"  # name and password, as protobuf writes them


async def test_an_answer_that_cannot_be_read_is_told_as_such(pool: Pool) -> None:
    with cluster("3.6") as made:
        member = Dial(pool, made)()
        await member.status()
        async with pool.line(member.target, None, until=float("inf")) as line:
            add: Unary = line.channel.unary_unary(USER_ADD)
            await add(NO_UTF_8, timeout=30)

        with pytest.raises(NoAnswerError, match="cannot be read") as error:
            await member.users()

        assert not isinstance(error.value, UnknownOutcomeError)
