"""Tokens that end under several calls at once: each of them gets a new one, and none is refused for the old one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from etcd_operator.etcd.line import Login
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from tests.etcd.dialling import Dial
from tests.etcd.servers import VERSIONS, cluster
from tests.etcd.test_auth import ROOT, begin_watch, turn_on

LONG = 30.0
CALLS: tuple[Callable[[Member], Awaitable[object]], ...] = (
    lambda m: m.put(b"a", b"", deadline=LONG),
    lambda m: m.range(b"a", deadline=LONG),
    lambda m: m.users(deadline=LONG),
    begin_watch,
)


@pytest.mark.parametrize("version", VERSIONS)
async def test_calls_side_by_side_all_get_a_new_token(pool: Pool, version: str) -> None:
    with cluster(version) as made:
        await turn_on(made)
        root, admin = Dial(pool, made)(login=ROOT), Dial(pool, made)(login=Login("admin", "secret"))
        await root.user_add("admin", "secret")
        await root.user_grant("admin", "root")

        for _ in range(3):
            await root.users()
            await admin.user_change_password(ROOT.user, ROOT.password)  # ends all tokens of root
            await asyncio.gather(*(call(root) for call in CALLS * 3))
