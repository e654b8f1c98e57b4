"""The kubelet's questions, put to servers in the states that matter."""

from __future__ import annotations

import pytest

from etcd_operator.etcd.pb import rpc_pb2 as pb
from etcd_operator.etcd.pool import Pool
from etcd_operator.releases.probes import Probe, Probes, probes
from etcd_operator.releases.version import Version
from tests.etcd.listening import answer, told
from tests.etcd.raw import raw_to
from tests.etcd.servers import VERSIONS, Server, cluster, release, wait_until

PROBED = [version for version in VERSIONS if probes(Version.parse(release(version))).liveness]


def asked_of(version: str) -> Probes:
    return probes(Version.parse(release(version)))


def passes(server: Server, probe: Probe | None) -> bool:
    return probe is None or 200 <= answer(server, probe.path) < 400


def test_only_3_2_is_not_probed() -> None:
    assert set(VERSIONS) - set(PROBED) == {"3.2"}


@pytest.mark.parametrize("version", PROBED)
def test_a_healthy_member_passes_without_a_client_certificate(version: str) -> None:
    with cluster(version, tls=True, environment=told) as made:
        asked = asked_of(version)

        wait_until(lambda: passes(made[0], asked.startup))
        assert passes(made[0], asked.liveness)
        wait_until(lambda: passes(made[0], asked.readiness))


@pytest.mark.parametrize("version", PROBED)
def test_a_member_that_restarts_without_a_quorum_lives_and_is_not_ready(version: str) -> None:
    asked = asked_of(version)
    with cluster(version, size=3, environment=told) as made:
        for server in made.servers:
            server.kill()
        made[0].start()

        wait_until(lambda: passes(made[0], asked.startup))
        wait_until(lambda: passes(made[0], asked.liveness))
        assert asked.readiness is None or not passes(made[0], asked.readiness)


@pytest.mark.parametrize("version", PROBED)
async def test_a_member_of_a_full_cluster_stays_ready_so_that_it_can_be_emptied(pool: Pool, version: str) -> None:
    asked = asked_of(version)
    with cluster(version, environment=told) as made:
        async with raw_to(pool, made) as raw:
            request = pb.AlarmRequest(action=pb.AlarmRequest.ACTIVATE, alarm=pb.NOSPACE)
            await raw("Maintenance/Alarm", request, pb.AlarmResponse)

        wait_until(lambda: passes(made[0], asked.readiness))
        assert passes(made[0], asked.liveness)
