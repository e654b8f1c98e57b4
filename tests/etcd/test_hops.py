"""Clusters of every version go to the next series, member by member, with the environment they were born with.

That is how members without a volume claim are upgraded: their image changes and nothing else. A key is deleted and the
history compacted at each step, so that the checks for corruption have something to compare.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.releases.path import Move, move
from etcd_operator.releases.version import Version
from tests.etcd.dialling import Dial
from tests.etcd.listening import told
from tests.etcd.servers import VERSIONS, cluster, release

GATED = ("3.6", "3.7")
OFTEN = ("--snapshot-count=5",)  # the check at start asks those whom the last raft snapshot names
KEYS = 12
CHECKED = "initial corruption checking passed"


async def churn(member: Member, prefix: bytes) -> None:
    """Enough for a raft snapshot, and a compaction that ends at a deletion."""
    for number in range(KEYS):
        await member.put(prefix + str(number).encode(), b"value")
    deleted = await member.delete(prefix + b"0")
    await member.compact(deleted.header.revision)


@pytest.mark.parametrize(("older", "newer"), list(pairwise(VERSIONS)))
async def test_a_cluster_goes_to_the_next_series_with_the_variables_it_was_born_with(
    pool: Pool, older: str, newer: str
) -> None:
    assert isinstance(move(Version.parse(release(older)), Version.parse(release(newer))), Move)
    with cluster(older, size=3, extra=OFTEN, environment=told) as made:
        dial = Dial(pool, made)
        for index, server in enumerate(made.servers):
            await churn(dial(index), f"{index}/".encode())
            server.stop()
            server.version = newer
            server.start()
            made.wait_healthy()
            assert (CHECKED in (server.folder / "log").read_text()) == (newer in GATED)

        kept = await dial().range(b"\0", range_end=b"\0", count_only=True)
        assert kept.count == 3 * (KEYS - 1)
        assert await dial().alarms() == ()
