"""A change whose answer is lost is reported as unknown and never sent a second time.

A relay between client and server loses the answer after the request has arrived: the effect is there, and only once.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from etcd_operator.etcd.errors import EtcdError, NoAnswerError, NotReachedError, UnknownOutcomeError
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from tests.etcd.dialling import Dial, tls_of
from tests.etcd.expecting import eventually
from tests.etcd.relay import Relay, relay_to
from tests.etcd.servers import VERSIONS, Cluster, cluster, free_port

TRIES = 9
SHORT, LONG = 1.0, 30.0  # seconds


@pytest.fixture
async def relay(single: Cluster) -> AsyncIterator[Relay]:
    async with relay_to(single[0].client) as made:
        yield made


@pytest.fixture
def relayed(single: Cluster, pool: Pool, relay: Relay) -> Member:
    tls = tls_of(single.authority.client()) if single.authority else None
    return pool.member(Target(relay.address, single[0].authority), tls=tls)


async def version_of(member: Member, key: bytes) -> int:
    """How often it was written. A server on a slow disk takes its time for it after a put."""
    found = await member.range(key, deadline=LONG)
    return found.items[0].version if found.items else 0


async def test_a_put_whose_answer_is_cut_off_is_unknown_and_happened_once(
    single: Cluster, pool: Pool, relay: Relay, relayed: Member, prefix: bytes
) -> None:
    direct = Dial(pool, single)()
    for number in range(TRIES):
        key = prefix + bytes([number])
        relay.pass_answers()
        await eventually(relayed.status, but=(NoAnswerError, NotReachedError))  # the last loss is just being noticed
        relay.swallow_answers()
        put = asyncio.create_task(relayed.put(key, b"value", deadline=LONG))
        await eventually(lambda key=key: version_of(direct, key), until=lambda times: times > 0)  # type: ignore[misc]
        relay.cut()

        with pytest.raises(UnknownOutcomeError):
            await put

        assert await version_of(direct, key) == 1


async def test_a_put_whose_answer_never_comes_is_unknown_at_its_deadline_and_happened_once(
    single: Cluster, pool: Pool, relay: Relay, relayed: Member, prefix: bytes
) -> None:
    await relayed.status()
    relay.swallow_answers()

    with pytest.raises(UnknownOutcomeError):
        await relayed.put(prefix, b"value", deadline=SHORT)

    direct = Dial(pool, single)()
    assert await eventually(lambda: version_of(direct, prefix), until=lambda times: times > 0) == 1


async def test_a_lost_connection_is_dialled_anew_for_the_next_call(relay: Relay, relayed: Member) -> None:
    await relayed.status()
    relay.cut()

    async def answered() -> bool:
        return (await relayed.status(deadline=5)).leads

    assert await eventually(answered, but=(NoAnswerError,))
    assert relay.connections == 2


async def test_a_read_whose_answer_is_lost_has_just_no_answer(relay: Relay, relayed: Member, prefix: bytes) -> None:
    await relayed.status()
    relay.swallow_answers()

    with pytest.raises(NoAnswerError) as error:
        await relayed.range(prefix, deadline=SHORT)

    assert not isinstance(error.value, UnknownOutcomeError)


CHANGES: dict[str, Callable[[Member], Awaitable[object]]] = {
    "put": lambda m: m.put(b"k", b"v", deadline=SHORT),
    "delete": lambda m: m.delete(b"k", deadline=SHORT),
    "txn": lambda m: m.txn(deadline=SHORT),
    "compact": lambda m: m.compact(1, deadline=SHORT),
    "lease_grant": lambda m: m.lease_grant(60, deadline=SHORT),
    "lease_revoke": lambda m: m.lease_revoke(1, deadline=SHORT),
    "member_add": lambda m: m.member_add(["nowhere"], deadline=SHORT),
    "member_update": lambda m: m.member_update(1, ["nowhere"], deadline=SHORT),
    "member_remove": lambda m: m.member_remove(1, deadline=SHORT),
    "defragment": lambda m: m.defragment(deadline=SHORT),
    "auth_enable": lambda m: m.auth_enable(deadline=SHORT),
    "user_add": lambda m: m.user_add("", "", deadline=SHORT),
    "user_delete": lambda m: m.user_delete("nobody", deadline=SHORT),
    "user_grant": lambda m: m.user_grant("nobody", "none", deadline=SHORT),
    "user_revoke": lambda m: m.user_revoke("nobody", "none", deadline=SHORT),
    "user_change_password": lambda m: m.user_change_password("nobody", "", deadline=SHORT),
    "role_delete": lambda m: m.role_delete("none", deadline=SHORT),
    "role_revoke": lambda m: m.role_revoke("none", b"k", deadline=SHORT),
}


async def test_every_change_without_an_answer_is_unknown(relay: Relay, relayed: Member) -> None:
    await relayed.status()
    relay.swallow_answers()

    outcomes = await asyncio.gather(*(change(relayed) for change in CHANGES.values()), return_exceptions=True)

    assert {name: type(outcome) for name, outcome in zip(CHANGES, outcomes, strict=True)} == dict.fromkeys(
        CHANGES, UnknownOutcomeError
    )


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_server_killed_amid_puts_leaves_each_there_once_or_not_at_all(
    pool: Pool, version: str, prefix: bytes
) -> None:
    with cluster(version) as made:
        member = Dial(pool, made)()
        acknowledged: set[bytes] = set()

        async def write(worker: int) -> tuple[bytes, EtcdError]:
            """Key after key, until one fails."""
            for number in itertools.count():
                key = prefix + b"%d/%d" % (worker, number)
                try:
                    await member.put(key, b"value")
                except EtcdError as error:
                    return key, error
                acknowledged.add(key)
            raise AssertionError

        writers = [asyncio.create_task(write(worker)) for worker in range(TRIES)]
        await eventually(lambda: asyncio.sleep(0, len(acknowledged)), until=lambda count: count > 2 * TRIES)
        made[0].kill()
        failed = dict(await asyncio.gather(*writers))
        made[0].start()
        made[0].wait_healthy()
        await eventually(member.status, but=(NotReachedError,))

        assert {type(error) for error in failed.values()} <= {UnknownOutcomeError, NotReachedError}
        assert {await version_of(member, key) for key in acknowledged} == {1}
        assert {await version_of(member, key) for key in failed} <= {0, 1}


async def test_a_port_that_refuses_is_not_reached_at_once(pool: Pool, prefix: bytes) -> None:
    nobody = pool.member(Target(f"127.0.0.1:{free_port('127.0.0.1')}"))

    async with asyncio.timeout(5):
        for call in (nobody.status(deadline=60), nobody.put(prefix, b"", deadline=60)):
            with pytest.raises(NotReachedError, match="refused"):
                await call
