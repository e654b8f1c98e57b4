"""Users, roles and authentication: by password with tokens that end, and by the name in a certificate."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest

from etcd_operator.etcd.errors import NotReachedError, Reason, RefusedError
from etcd_operator.etcd.line import Login
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.results import Access, Permission
from etcd_operator.releases.capabilities import Capability, can
from tests.etcd.conftest import BOTH_WAYS, name_of
from tests.etcd.dialling import Dial
from tests.etcd.expecting import eventually, refused
from tests.etcd.servers import VERSIONS, Cluster, cluster

ROOT = Login("root", "secret")
READER = Login("reader", "also secret")

# In 3.2 the name in a client's certificate wins over its token, so a password is of use in plain text only.
BY_PASSWORD = [setup for setup in BOTH_WAYS if setup != ("3.2", True)]


async def turn_on(made: Cluster) -> None:
    """Root may everything, reader may read `a`."""
    async with Pool() as pool:
        member = Dial(pool, made)()
        await member.user_add(ROOT.user, ROOT.password)
        await refused(member.auth_enable(), Reason.ROOT_ROLE_MISSING)
        await member.role_add("root")
        await member.user_grant("root", "root")
        await member.user_add(READER.user, READER.password)
        await member.role_add("read-a")
        await member.role_grant("read-a", Permission(Access.READ, b"a"))
        await member.user_grant("reader", "read-a")
        await member.auth_enable()


@pytest.fixture(scope="module", params=BY_PASSWORD, ids=name_of)
def guarded(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    version, tls = request.param
    with cluster(version, tls=tls) as made:
        asyncio.run(turn_on(made))
        yield made


@pytest.fixture(scope="module", params=VERSIONS)
def guarded_by_certificate(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with cluster(request.param, tls=True) as made:
        asyncio.run(turn_on(made))
        yield made


@pytest.fixture
def dial(guarded: Cluster, pool: Pool) -> Dial:
    return Dial(pool, guarded, user="nobody-etcd-knows")


async def test_every_user_may_do_what_was_granted_and_nothing_else(dial: Dial) -> None:
    root, reader, nobody = dial(login=ROOT), dial(login=READER), dial()

    await root.put(b"a", b"value")
    assert (await reader.range(b"a")).items[0].value == b"value"
    await refused(reader.range(b"b"), Reason.PERMISSION_DENIED)
    await refused(reader.put(b"a", b""), Reason.PERMISSION_DENIED)
    await refused(reader.member_add(["http://127.0.0.1:1"]), Reason.PERMISSION_DENIED)
    await refused(reader.defragment(), Reason.PERMISSION_DENIED)
    await refused(reader.users(), Reason.PERMISSION_DENIED)
    await refused(reader.auth_disable(), Reason.PERMISSION_DENIED)
    with pytest.raises(RefusedError):
        await nobody.put(b"a", b"")
    await refused(dial(login=Login("root", "wrong")).range(b"a"), Reason.AUTH_FAILED)
    await refused(dial(login=Login("nobody", "wrong")).range(b"a"), Reason.AUTH_FAILED)


async def test_users_and_roles_come(dial: Dial) -> None:
    root = dial(login=ROOT)
    writes = Permission(Access.READ_WRITE, b"b", b"c")

    await root.role_add("extra")
    await refused(root.role_add("extra"), Reason.ROLE_EXISTS)
    await root.role_grant("extra", writes)
    await root.user_add("extra", "secret")
    await refused(root.user_add("extra", "secret"), Reason.USER_EXISTS)
    await root.user_grant("extra", "extra")
    await refused(root.user_grant("extra", "none"), Reason.ROLE_NOT_FOUND)

    assert sorted(await root.users()) == ["extra", "reader", "root"]
    assert sorted(await root.roles()) == ["extra", "read-a", "root"]
    assert await root.user_roles("extra") == ("extra",)
    assert await root.role_permissions("extra") == (writes,)


async def test_users_and_roles_go(dial: Dial) -> None:
    """Those that the test before has made."""
    root = dial(login=ROOT)

    await root.user_revoke("extra", "extra")
    await refused(root.user_revoke("extra", "extra"), Reason.ROLE_NOT_GRANTED)
    assert await root.user_roles("extra") == ()
    await root.role_revoke("extra", b"b", range_end=b"c")
    await refused(root.role_revoke("extra", b"b", range_end=b"c"), Reason.PERMISSION_NOT_GRANTED)
    assert await root.role_permissions("extra") == ()
    await root.user_delete("extra")
    await root.role_delete("extra")

    assert sorted(await root.users()) == ["reader", "root"]
    assert sorted(await root.roles()) == ["read-a", "root"]
    await refused(root.user_delete("root"), Reason.INVALID_AUTH_MANAGEMENT)
    await refused(root.role_delete("root"), Reason.INVALID_AUTH_MANAGEMENT)


async def test_a_token_is_renewed_after_a_restart(guarded: Cluster, dial: Dial) -> None:
    root = dial(login=ROOT)
    await root.put(b"a", b"before")
    guarded[0].kill()
    guarded[0].start()
    guarded[0].wait_healthy()

    await eventually(lambda: root.put(b"a", b"after"), but=(NotReachedError,))

    assert (await root.range(b"a")).items[0].value == b"after"


async def begin_watch(member: Member) -> None:
    async with member.watch(b"a"):
        pass


async def read_snapshot(member: Member) -> None:
    async with member.snapshot() as stream:
        async for _ in stream:
            pass


CALLS: tuple[Callable[[Member], Awaitable[object]], ...] = (
    lambda m: m.put(b"a", b""),
    lambda m: m.range(b"a"),
    lambda m: m.users(),
    lambda m: m.status(),
    lambda m: m.member_list(),
    lambda m: m.alarms(),
    lambda m: m.hash(),
    lambda m: m.defragment(),
    begin_watch,
    read_snapshot,
)


async def test_every_kind_of_call_gets_a_new_token_when_the_old_one_is_invalid(dial: Dial) -> None:
    root, admin = dial(login=ROOT), dial(login=Login("admin", "secret"))
    await root.user_add("admin", "secret")
    await root.user_grant("admin", "root")

    for call in CALLS:
        await admin.user_change_password(ROOT.user, ROOT.password)  # ends all tokens of root
        await call(root)

    await admin.user_change_password(ROOT.user, "new")
    await refused(root.range(b"a"), Reason.AUTH_FAILED)
    await dial(login=Login("root", "new")).user_change_password(ROOT.user, ROOT.password)
    await root.user_delete("admin")


async def test_authentication_is_turned_off_and_on_under_a_login_that_stays(dial: Dial) -> None:
    root = dial(login=ROOT)
    tells = can(await root.version(), Capability.AUTH_STATUS)
    assert not tells or (await root.auth_status()).enabled

    await root.auth_disable()
    assert not tells or not (await root.auth_status()).enabled
    await dial().put(b"a", b"by anybody")
    await root.put(b"a", b"by somebody whose token means nothing any more")

    await root.auth_enable()
    assert not tells or (await root.auth_status()).enabled
    assert sorted(await root.users()) == ["reader", "root"]
    await root.put(b"a", b"with a token again")


async def test_the_name_in_a_certificate_is_a_user_without_a_password(
    guarded_by_certificate: Cluster, pool: Pool
) -> None:
    made = guarded_by_certificate
    root, reader = Dial(pool, made, user="root")(), Dial(pool, made, user="reader")()

    await root.put(b"a", b"value")

    assert (await reader.range(b"a")).items[0].value == b"value"
    await refused(reader.put(b"a", b""), Reason.PERMISSION_DENIED)
    if can(await root.version(), Capability.CERTIFICATE_USERS):
        await root.user_add("certified", None)
        await root.user_grant("certified", "read-a")
        assert (await Dial(pool, made, user="certified")().range(b"a")).count == 1
        await refused(Dial(pool, made)(login=Login("certified", "")).range(b"a"), Reason.AUTH_FAILED)


async def test_in_3_2_a_certificate_wins_over_a_password_and_later_the_password(
    guarded_by_certificate: Cluster, pool: Pool
) -> None:
    both = Dial(pool, guarded_by_certificate, user="reader")(login=ROOT)

    if guarded_by_certificate.version == "3.2":
        await refused(both.put(b"a", b""), Reason.PERMISSION_DENIED)
    else:
        await both.put(b"a", b"")
