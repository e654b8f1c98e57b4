"""The guard before real etcd servers: who it lets in, and that etcd then does what it was let in for.

With TLS it is the peers' port that is secured here, by certificates for addresses: that is where members are asked.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path

import pytest
import trustme

from etcd_operator.etcd.errors import EtcdError, Reason
from etcd_operator.etcd.pool import Pool
from etcd_operator.releases.capabilities import Capability, can
from tests.etcd.certificates import Identity, IdentityFiles
from tests.etcd.conftest import BOTH_WAYS, name_of
from tests.etcd.dialling import Dial
from tests.etcd.expecting import eventually, once_let
from tests.etcd.servers import Cluster, Server, free_port
from tests.unit.member.pods import UID, Guard, Pod

SEED, JOINER = 0, 1
DIALLED_FROM = "127.0.0.1"  # the address that etcd sees when somebody on this machine calls


@dataclass
class PeerTlsServer(Server):
    @property
    def peer_url(self) -> str:
        return f"https://{self.peer}"


@dataclass
class PeerTlsCluster(Cluster):
    ca: trustme.CA = field(default_factory=trustme.CA)

    @property
    def files(self) -> IdentityFiles:
        return IdentityFiles(self.folder / "peer-tls")

    def issue(self, *names: str) -> None:
        """One certificate for all members, as the documented secret has it."""
        leaf = self.ca.issue_cert(*names)
        self.files.write(
            Identity(self.ca.cert_pem.bytes(), leaf.cert_chain_pems[0].bytes(), leaf.private_key_pem.bytes())
        )

    def prepare(self) -> Server:
        plain = super().prepare()
        self.servers[-1] = PeerTlsServer(**{one.name: getattr(plain, one.name) for one in fields(plain)})
        self.servers[-1].extra += (
            "--peer-client-cert-auth",
            f"--peer-trusted-ca-file={self.files.ca}",
            f"--peer-cert-file={self.files.certificate}",
            f"--peer-key-file={self.files.key}",
        )
        return self.servers[-1]


@contextmanager
def empty_cluster(version: str, *, tls: bool = False) -> Iterator[Cluster]:
    """Without a member so far."""
    folder = Path(tempfile.mkdtemp(prefix=f"guard-{version}-"))
    address = f"127.{random.randint(1, 254)}.{random.randint(0, 254)}.{random.randint(1, 254)}"
    made = Cluster(version, folder, address, None)
    if tls:
        made = PeerTlsCluster(version, folder, address, None)
        made.issue(address, DIALLED_FROM)
    try:
        yield made
    finally:
        made.end()


def pod_of(made: Cluster, server: Server) -> Pod:
    """The server's, with its folder for a volume."""
    seed = made.servers[SEED] is server
    members = made.servers[: made.servers.index(server) + 1]
    variables = {
        "MEMBER_NAME": server.name,
        "MEMBER_HOST": made.address,
        "POD_IP": made.address,
        "INITIAL_STATE": "new" if seed else "existing",
        "INITIAL_CLUSTER": ",".join(member.initial for member in members),
    }
    if isinstance(made, PeerTlsCluster):
        files = made.files
        variables |= {"PEER_CA": str(files.ca), "PEER_CERT": str(files.certificate), "PEER_KEY": str(files.key)}
    return Pod(server.folder, variables)


def seeded(made: Cluster) -> Pod:
    pod = pod_of(made, made.prepare())
    assert pod.run() == 0
    made[SEED].start()
    made[SEED].wait_healthy()
    return pod


async def add(made: Cluster, pool: Pool, server: Server) -> int:
    """As a learner where etcd knows them; its ID."""
    seed = Dial(pool, made)(SEED)
    learner = can(await seed.version(), Capability.LEARNERS)
    return (await seed.member_add([server.peer_url], learner=learner)).member.id


async def joined(made: Cluster, pool: Pool, member_id: int) -> None:
    """Started, and a voter in the end."""
    dial = Dial(pool, made)
    made.join(made[JOINER])
    status = await eventually(dial(JOINER).status, but=(EtcdError,))
    if status.is_learner:
        await once_let(lambda: dial(SEED).member_promote(member_id), not_yet=Reason.NOT_IN_SYNC)
    await eventually(lambda: dial(JOINER).put(b"key", b"through the joiner"), but=(EtcdError,))


async def end_of(guard: Guard) -> int:
    return await asyncio.to_thread(guard.end)


def wipe(server: Server) -> None:
    shutil.rmtree(server.folder)
    server.folder.mkdir()


@pytest.mark.parametrize("setup", BOTH_WAYS, ids=name_of)
async def test_a_joiner_waits_until_it_is_added_and_then_etcd_really_joins(pool: Pool, setup: tuple[str, bool]) -> None:
    version, tls = setup
    with empty_cluster(version, tls=tls) as made:
        seeded(made)
        pod = pod_of(made, made.prepare())
        before = resource.getrusage(resource.RUSAGE_CHILDREN)

        with pod.running() as guard:
            await asyncio.to_thread(guard.wait_for, "m0 does not list m1 yet.")
            assert not pod.marker.exists()
            member_id = await add(made, pool, made[JOINER])
            assert await end_of(guard) == 0
            assert guard.log.count("m0 does not list m1 yet.") == 1
            assert guard.log[-1] == "m1 is listed by m0. etcd may start."

        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"the guard took {spent:.2f} s of CPU")
        assert spent < 1
        assert json.loads(pod.marker.read_text()) == {"cluster": UID, "member": "m1"}
        await joined(made, pool, member_id)
        assert (await Dial(pool, made)(SEED).range(b"key")).items[0].value == b"through the joiner"


async def two_listed(made: Cluster, pool: Pool) -> tuple[Pod, Pod]:
    """The pods of two that were added together."""
    made.extra = ("--max-learners=2",)
    seeded(made)
    both = made.prepare(), made.prepare()
    everybody = ",".join(server.initial for server in made.servers)
    for server in both:
        await add(made, pool, server)
    first, second = (pod_of(made, server) for server in both)
    for pod in (first, second):
        pod.variables["INITIAL_CLUSTER"] = everybody
    return first, second


@pytest.mark.parametrize("version", ["3.6", "3.7"])
async def test_of_two_that_join_together_the_second_starts_when_the_first_has(pool: Pool, version: str) -> None:
    with empty_cluster(version) as made:
        first, second = await two_listed(made, pool)

        assert await asyncio.to_thread(first.run) == 0
        with second.running() as guard:
            await asyncio.to_thread(guard.wait_for, "m2 is listed and starts after m1.")
            made.join(made[1])
            assert await end_of(guard) == 0
            assert guard.log[-1] == "m2 is listed by m0, m1. etcd may start."
        made.join(made[2])

        for server in (1, 2):
            assert (await eventually(Dial(pool, made)(server).status, but=(EtcdError,))).is_learner


async def test_one_that_never_starts_holds_the_other_up_for_seconds_only(pool: Pool) -> None:
    with empty_cluster("3.7") as made:
        _, second = await two_listed(made, pool)

        assert await asyncio.to_thread(second.run) == 0
        made.join(made[2])

        assert (await eventually(Dial(pool, made)(2).status, but=(EtcdError,))).is_learner


@pytest.mark.parametrize("setup", [("3.2", False), ("3.5", True), ("3.7", False)], ids=name_of)
async def test_a_seed_that_ran_is_let_in_with_its_disk_and_refused_without(pool: Pool, setup: tuple[str, bool]) -> None:
    version, tls = setup
    with empty_cluster(version, tls=tls) as made:
        pod = seeded(made)
        header = (await Dial(pool, made)().put(b"key", b"value")).header
        pod.variables["IDENTITY"] = json.dumps(
            {"clusterID": f"{header.cluster_id:x}", "memberID": f"{header.member_id:x}"}
        )
        made[SEED].kill()

        assert pod.run() == 0
        made[SEED].start()
        made[SEED].wait_healthy()
        assert (await Dial(pool, made)().range(b"key")).items[0].value == b"value"
        made[SEED].kill()
        wipe(made[SEED])

        assert pod.run() == 1
        assert pod.said["reason"] == "DiskLost"
        assert f"{header.member_id:x}" in pod.said["message"]
        assert list(pod.volume.iterdir()) == []


@pytest.mark.parametrize("version", ["3.2", "3.5", "3.7"])
async def test_a_joiner_whose_disk_is_lost_before_anybody_wrote_its_identity_down_is_refused(
    pool: Pool, version: str
) -> None:
    with empty_cluster(version) as made:
        seeded(made)
        pod = pod_of(made, made.prepare())
        member_id = await add(made, pool, made[JOINER])
        assert pod.run() == 0
        await joined(made, pool, member_id)
        made[JOINER].kill()
        wipe(made[JOINER])

        assert pod.run() == 1
        assert pod.said["reason"] == "DiskLost"
        assert "listed by its peers as started (m1)" in pod.said["message"]


@pytest.mark.parametrize("version", ["3.2", "3.7"])
async def test_after_a_power_cut_each_member_starts_although_nobody_answers(pool: Pool, version: str) -> None:
    with empty_cluster(version) as made:
        pods = [seeded(made), pod_of(made, made.prepare())]
        member_id = await add(made, pool, made[JOINER])
        assert pods[JOINER].run() == 0
        await joined(made, pool, member_id)
        for server in made.servers:
            server.kill()

        for pod, server in zip(reversed(pods), reversed(made.servers), strict=True):
            assert pod.run() == 0
            server.start()

        made.wait_healthy()
        assert (await Dial(pool, made)(SEED).range(b"key")).items[0].value == b"through the joiner"


async def test_a_joiner_waits_while_the_list_is_another_and_starts_when_it_fits(pool: Pool) -> None:
    with empty_cluster("3.7") as made:
        seeded(made)
        stranger = f"http://{made.address}:{free_port(made.address)}"
        seed = Dial(pool, made)(SEED)
        added = await seed.member_add([stranger], learner=True)
        pod = pod_of(made, made.prepare())

        with pod.running() as guard:
            await asyncio.to_thread(guard.wait_for, f"(+ {stranger}, - {made[JOINER].peer_url})")
            assert guard.waits
            await seed.member_remove(added.member.id)
            member_id = await add(made, pool, made[JOINER])
            assert await end_of(guard) == 0

        await joined(made, pool, member_id)


async def test_a_frozen_peer_is_silent_and_sigterm_ends_the_wait_for_it() -> None:
    with empty_cluster("3.7") as made:
        seeded(made)
        made[SEED].freeze()

        with pod_of(made, made.prepare()).running() as guard:
            await asyncio.to_thread(guard.wait_for, f"No peer lists the members yet: {made[SEED].peer_url}")
            assert await asyncio.to_thread(guard.terminate) == 128 + signal.SIGTERM


@pytest.mark.parametrize("version", ["3.2", "3.7"])
@pytest.mark.parametrize(
    ("wrong", "why"),
    [("name of the peer", "mismatch"), ("authority of the peer", "certificate"), ("authority of the joiner", "alert")],
)
async def test_a_wrong_certificate_on_either_side_stops_a_joiner_that_is_listed(
    pool: Pool, version: str, wrong: str, why: str
) -> None:
    with empty_cluster(version, tls=True) as made:
        assert isinstance(made, PeerTlsCluster)
        if wrong == "name of the peer":
            made.issue("127.0.0.9")
        seeded(made)
        joiner = made.prepare()
        await add(made, pool, joiner)
        pod, stranger = pod_of(made, joiner), PeerTlsCluster(version, made.folder / "stranger", made.address, None)
        stranger.issue(made.address, DIALLED_FROM)
        if wrong == "authority of the peer":
            pod.variables["PEER_CA"] = str(stranger.files.ca)
        if wrong == "authority of the joiner":
            pod.variables |= {"PEER_CERT": str(stranger.files.certificate), "PEER_KEY": str(stranger.files.key)}

        with pod.running() as guard:
            await asyncio.to_thread(guard.wait_for, "No peer lists the members yet")
            assert why in guard.log[0]
            assert guard.waits


async def test_certificates_that_are_renewed_are_taken_up_while_a_joiner_waits() -> None:
    with empty_cluster("3.7", tls=True) as made:
        assert isinstance(made, PeerTlsCluster)
        seeded(made)
        pod = pod_of(made, made.prepare())
        key = made.files.key.read_bytes()
        made.files.key.write_bytes(b"")

        with pod.running() as guard:
            await asyncio.to_thread(guard.wait_for, "No peer lists the members yet")
            made.files.key.write_bytes(key)
            await asyncio.to_thread(guard.wait_for, "m0 does not list m1 yet.")


def own_mount() -> tuple[str, ...]:
    """To run something with mounts that nobody else sees."""
    return ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--user", "--map-root-user", "--mount")


def on_tmpfs(pod: Pod, options: str, prepare: str = ":") -> tuple[str, ...]:
    """Runs what follows with another volume in its place, which goes with the process."""
    script = f'mount -t tmpfs none "$0" && {{ {prepare}; }} && mount -o remount,{options} "$0" && exec "$@"'
    return (*own_mount(), "sh", "-c", script, str(pod.volume))


def test_a_read_only_disk_is_refused_with_or_without_what_etcd_wrote() -> None:
    with empty_cluster("3.7") as made:
        pod = seeded(made)
        made[SEED].stop()
        kept = made.folder / "kept"
        shutil.copytree(pod.volume, kept)

        for prepare in (":", f'cp -r {kept}/. "$0"'):
            assert pod.run(*on_tmpfs(pod, "ro", prepare)) == 1
            assert pod.said["reason"] == "DiskUnusable"
            assert "read-only" in pod.said["message"]
        assert pod.run(*on_tmpfs(pod, "rw", f'cp -r {kept}/. "$0"')) == 0


def test_a_full_disk_is_refused_with_what_the_kernel_says(tmp_path: Path) -> None:
    pod = Pod(tmp_path / "volume", {"INITIAL_STATE": "new", "INITIAL_CLUSTER": "demo-b=http://127.0.0.1:2"})
    fill = 'mount -o remount,size=8k "$0" && dd if=/dev/zero of="$0/ballast" bs=4k count=2 status=none'

    assert pod.run(*on_tmpfs(pod, "rw", fill)) == 1
    assert pod.said["reason"] == "DiskUnusable"
    assert "No space left on device" in pod.said["message"]
