"""The way back to the minor version before: asked, begun, called off."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from etcd_operator.etcd.errors import Reason, UnknownOutcomeError
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.results import Downgrade
from etcd_operator.releases.capabilities import Capability, can
from etcd_operator.releases.version import Version
from tests.etcd.conftest import BOTH_WAYS, name_of
from tests.etcd.dialling import Dial
from tests.etcd.expecting import refused
from tests.etcd.servers import cluster

PREVIOUS = {"3.5": "3.4", "3.6": "3.5", "3.7": "3.6"}
DEADLINE = {"3.5": 1.0, "3.6": 8.0, "3.7": 8.0}


@pytest.mark.parametrize("setup", [setup for setup in BOTH_WAYS if setup[0] in PREVIOUS], ids=name_of)
async def test_a_downgrade_is_validated_enabled_and_cancelled(pool: Pool, setup: tuple[str, bool]) -> None:
    version, tls = setup
    target = PREVIOUS[version]
    with cluster(version, tls=tls) as made:
        member = Dial(pool, made)()
        assert (await member.downgrade_validate(target)).startswith(version)

        await done(version, lambda: member.downgrade_enable(target, deadline=DEADLINE[version]))
        await refused(member.downgrade_enable(target), Reason.DOWNGRADE_IN_PROGRESS)
        await refused(member.downgrade_validate(target), Reason.DOWNGRADE_IN_PROGRESS)
        if can(await member.version(), Capability.STORAGE_STATUS):
            assert (await member.status()).downgrade == Downgrade(f"{target}.0")

        await done(version, lambda: member.downgrade_cancel(deadline=DEADLINE[version]))
        assert (await member.status()).downgrade is None
        assert (await member.downgrade_validate(target)).startswith(version)


async def done(version: str, call: Callable[[], Awaitable[str]]) -> None:
    """3.5 does it and then never answers: the outcome is as unknown as the client says."""
    if version == "3.5":
        with pytest.raises(UnknownOutcomeError):
            await call()
    else:
        assert (await call()).startswith(version)


async def test_without_a_downgrade_3_5_has_nothing_to_cancel(pool: Pool) -> None:
    with cluster("3.5") as made:
        await refused(Dial(pool, made)().downgrade_cancel(), Reason.NO_DOWNGRADE)


def test_the_table_knows_which_versions_go_back() -> None:
    assert [version for version in PREVIOUS if not can(Version.parse(version), Capability.DOWNGRADE)] == []
