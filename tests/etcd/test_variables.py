"""Servers of every version take the variables that the operator sets, and heed those they know."""

from __future__ import annotations

import re
import subprocess

import pytest

from etcd_operator.etcd.errors import RefusedError
from etcd_operator.etcd.pool import Pool
from etcd_operator.releases.capabilities import Capability, can
from etcd_operator.releases.variables import (
    FEATURE_GATES,
    FLAGGED,
    GATES,
    LEARNERS,
    VARIABLES,
    Gate,
    learners_at_once,
    variables,
)
from etcd_operator.releases.version import Version
from tests.etcd.conftest import BOTH_WAYS, name_of
from tests.etcd.dialling import Dial
from tests.etcd.listening import answer, told
from tests.etcd.servers import VERSIONS, Cluster, Server, ServerError, cluster, program, release, variable

GATED = [version for version in VERSIONS if can(Version.parse(version), Capability.SEVERAL_LEARNERS)]
UNKNOWN = re.compile(r'unrecognized environment variable[ "\w:,-]*?(ETCD_\w+)')


def unknown_to(server: Server) -> set[str]:
    """The variables it complained about."""
    return set(UNKNOWN.findall((server.folder / "log").read_text()))


@pytest.mark.parametrize("setup", BOTH_WAYS, ids=name_of)
def test_every_version_serves_with_the_variables_set(setup: tuple[str, bool]) -> None:
    version, tls = setup

    with cluster(version, tls=tls, environment=told) as made:
        listening = answer(made[0], "/metrics") == 200
        complaints = unknown_to(made[0])

    number = Version.parse(release(version))
    expected = {row.name for row in VARIABLES if number < row.since}
    assert complaints == (expected if version in GATED else {*expected, FEATURE_GATES})
    assert listening == can(number, Capability.METRICS_LISTENER)


async def add_learners(made: Cluster, pool: Pool, *, count: int) -> int:
    """How many of them the cluster took."""
    member = Dial(pool, made)()
    for port in range(1, count + 1):
        try:
            await member.member_add([f"http://127.0.0.1:{port}"], learner=True)
        except RefusedError:
            return port - 1
    return count


@pytest.mark.parametrize("version", VERSIONS)
async def test_as_many_learners_may_join_at_once_as_the_table_says(pool: Pool, version: str) -> None:
    number = Version.parse(release(version))
    if not can(number, Capability.LEARNERS):
        assert learners_at_once(number, variables()) == 0
        return

    with cluster(version, environment=told) as made:
        taken = await add_learners(made, pool, count=LEARNERS + 1)

    assert taken == learners_at_once(number, variables())


@pytest.mark.parametrize("version", GATED)
async def test_a_member_with_a_lower_limit_does_not_start_among_more_learners(pool: Pool, version: str) -> None:
    with cluster(version, environment=told) as made:
        await add_learners(made, pool, count=2)
        made[0].stop()
        made[0].environment = {}
        made[0].start()

        with pytest.raises(ServerError, match="too many learner"):
            made[0].wait_healthy()


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.name)
def test_a_gate_and_its_older_name_end_3_6(gate: Gate) -> None:
    both = {**variables(), gate.older: "true"}

    with pytest.raises(ServerError, match="cannot specify both flags"), cluster("3.6", environment=lambda _: both):
        pass


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_serves_with_the_older_names_of_the_gates_chosen_by_the_user(version: str) -> None:
    chosen = {gate.older: "true" for gate in GATES}

    def environment(server: Server) -> dict[str, str]:
        return {**variables(chosen, metrics_url=f"http://{server.metrics}"), **chosen}

    with cluster(version, environment=environment) as made:
        assert made[0].healthy


@pytest.mark.parametrize("version", [version for version in VERSIONS if Version.parse(version) >= Version(3, 4)])
def test_a_setting_given_as_flag_and_as_variable_ends_etcd_from_3_4_on(version: str) -> None:
    twice = {"ETCD_NAME": "m0"}

    with pytest.raises(ServerError, match="ETCD_NAME"), cluster(version, environment=lambda _: twice):
        pass


@pytest.mark.parametrize("version", VERSIONS)
def test_every_flag_of_the_documented_command_line_is_there(version: str) -> None:
    asked = subprocess.run([program(version, "etcd"), "--help"], capture_output=True, text=True, check=False)
    flags = {variable(flag) for flag in re.findall(r"--[a-z0-9-]+", asked.stdout + asked.stderr)}

    assert flags >= FLAGGED
