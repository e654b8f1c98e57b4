"""How the tests reach a server: as the operator does, by address, with the name in its certificate as authority."""

from __future__ import annotations

from etcd_operator.etcd.line import Login, Target
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.etcd.tls import Tls
from tests.etcd.certificates import Identity
from tests.etcd.expecting import eventually
from tests.etcd.servers import Cluster, Server


def tls_of(identity: Identity) -> Tls:
    return Tls(ca=identity.ca, certificate=identity.certificate, key=identity.key)


def target_of(server: Server, *, member_id: int | None = None) -> Target:
    return Target(server.client, server.authority if server.tls else None, member_id)


class Dial:
    """Members of one cluster; all of them are called with the same client certificate."""

    def __init__(self, pool: Pool, cluster: Cluster, *, user: str = "client") -> None:
        self._pool = pool
        self._cluster = cluster
        self._tls = tls_of(cluster.authority.client(user)) if cluster.authority else None

    def __call__(self, index: int = 0, *, member_id: int | None = None, login: Login | None = None) -> Member:
        target = target_of(self._cluster[index], member_id=member_id)
        return self._pool.member(target, tls=self._tls, login=login)

    async def leader(self) -> Member:
        return self(await self.leader_index())

    async def leader_index(self) -> int:
        """Once all members that run agree about it."""

        async def agreed() -> int | None:
            running = [i for i, server in enumerate(self._cluster.servers) if server.running]
            statuses = {i: await self(i).status() for i in running}
            leading = [i for i, status in statuses.items() if status.leads]
            return leading[0] if len({s.leader for s in statuses.values()}) == 1 and leading else None

        found = await eventually(agreed, until=lambda index: index is not None)
        assert found is not None
        return found
