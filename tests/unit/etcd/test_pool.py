"""How channels are kept. A channel dials when it is first used, so none of this needs a server."""

from __future__ import annotations

import asyncio
import socket

import pytest

from etcd_operator.etcd.errors import NotReachedError
from etcd_operator.etcd.line import Target
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.tls import Tls

A, B, C = (Target(f"127.0.0.1:{port}") for port in (1, 2, 3))


def soon() -> float:
    return asyncio.get_running_loop().time() + 0.1


async def use(pool: Pool, target: Target) -> None:
    async with pool.line(target, None, until=asyncio.get_running_loop().time() + 60):
        pass


async def test_two_callers_of_one_member_share_a_channel() -> None:
    async with Pool() as pool, pool.line(A, None, until=soon()) as one, pool.line(A, None, until=soon()) as other:
        assert one is other
        assert len(pool) == 1


async def test_the_ids_that_are_expected_make_no_other_channel() -> None:
    known = Target(A.address, member_id=1, cluster_id=2)
    async with Pool() as pool, pool.line(A, None, until=soon()) as one, pool.line(known, None, until=soon()) as other:
        assert one is other


async def test_another_name_or_certificate_makes_another_channel() -> None:
    named = Target(A.address, authority="demo-x.demo.ns.svc")
    async with Pool() as pool, pool.line(A, None, until=soon()), pool.line(named, None, until=soon()):
        assert len(pool) == 2


async def test_the_one_used_longest_ago_makes_room() -> None:
    async with Pool(2) as pool:
        async with pool.line(A, None, until=soon()) as first:
            pass
        async with pool.line(B, None, until=soon()):
            pass
        async with pool.line(A, None, until=soon()):
            pass
        async with pool.line(C, None, until=soon()):
            assert len(pool) == 2
        async with pool.line(A, None, until=soon()) as again:
            assert again is first


async def test_one_in_use_is_kept_although_it_is_the_oldest() -> None:
    async with Pool(2) as pool, pool.line(A, None, until=soon()) as held:
        for other in (B, C, B, C):
            async with pool.line(other, None, until=soon()):
                assert len(pool) == 2
        async with pool.line(A, None, until=soon()) as again:
            assert again is held


async def test_with_all_in_use_a_caller_waits_for_one() -> None:
    async with Pool(1) as pool:
        held = pool.line(A, None, until=soon())
        await held.__aenter__()
        waiting = asyncio.create_task(use(pool, B))
        await asyncio.sleep(0.01)
        assert not waiting.done()

        await held.__aexit__(None, None, None)

        await waiting
        assert len(pool) == 1


async def test_with_all_in_use_for_too_long_nothing_is_sent() -> None:
    async with Pool(1) as pool, pool.line(A, None, until=soon()):
        with pytest.raises(NotReachedError, match="all 1 channels"):
            async with pool.line(B, None, until=soon()):
                pass


async def test_a_closed_pool_dials_nobody() -> None:
    pool = Pool()
    await pool.close()

    with pytest.raises(NotReachedError, match="the pool is closed"):
        await pool.member(A).status()


async def test_whoever_waits_for_a_channel_is_told_that_the_pool_was_closed() -> None:
    pool = Pool(1)
    async with pool.line(A, None, until=soon()):
        waiting = asyncio.create_task(use(pool, B))
        await asyncio.sleep(0.01)
        await pool.close()

        with pytest.raises(NotReachedError, match="the pool is closed"):
            await asyncio.wait_for(waiting, 30)  # less than it was ready to wait


async def test_a_closed_port_is_not_reached_and_the_next_call_dials_anew() -> None:
    async with Pool() as pool:
        member = pool.member(A)
        for _ in range(3):
            with pytest.raises(NotReachedError, match="Connection refused"):
                await member.put(b"k", b"v")
        assert len(pool) == 1


async def test_a_port_that_opens_is_dialled_by_the_next_call() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        async with Pool() as pool:
            member = pool.member(Target(f"127.0.0.1:{listener.getsockname()[1]}"))
            with pytest.raises(NotReachedError, match="Connection refused"):
                await member.status()

            listener.listen()

            with pytest.raises(NotReachedError, match="took no connection in the time given"):
                await member.status(deadline=0.1)


NAMES = ["demo.ns.svc:2379", ""]
PORTS = ["10.0.0.1", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:-1", "10.0.0.1:\u0663"]
BRACKETS = ["::1:2379", "[10.0.0.1:2379", "[10.0.0.1]:2379", "[]:2379"]


@pytest.mark.parametrize("address", [*NAMES, *PORTS, *BRACKETS])
def test_only_addresses_are_dialled(address: str) -> None:
    with pytest.raises(ValueError, match="without DNS"):
        Target(address)


@pytest.mark.parametrize(
    ("address", "dialled"), [("10.0.0.1:2379", "ipv4:10.0.0.1:2379"), ("[fd00::1]:2379", "ipv6:[fd00::1]:2379")]
)
def test_both_kinds_of_addresses_are_dialled(address: str, dialled: str) -> None:
    assert Target(address).dialled == dialled


def test_the_fingerprint_tells_certificates_apart() -> None:
    one = Tls(b"ca", b"certificate", b"key")

    assert one.fingerprint == Tls(b"ca", b"certificate", b"key").fingerprint
    assert one.fingerprint != Tls(b"cac", b"ertificate", b"key").fingerprint
    assert one.fingerprint != Tls(b"ca", b"certificate", b"another").fingerprint
