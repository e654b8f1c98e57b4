"""Servers as the operator sees members: by their pods."""

from __future__ import annotations

from etcd_operator.cluster.dialling import Dialler
from etcd_operator.etcd.line import Login
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.pool import Pool
from etcd_operator.plan.view import Body, Identity, Stage
from tests.etcd.dialling import target_of, tls_of
from tests.etcd.servers import Cluster


def bodies_of(made: Cluster) -> dict[str, Body]:
    return {
        server.name: Body(name=server.name, uid=server.name, stage=Stage.STARTED, address=server.client)
        for server in made.servers
    }


def dialler_of(pool: Pool, made: Cluster, *, login: Login | None = None) -> Dialler:
    """Here every member has an address and a port of its own."""
    servers = {server.name: server for server in made.servers}
    trust = tls_of(made.authority.client("operator")) if made.authority else None

    def dial(body: Body, *, identity: Identity | None = None, anyone: bool = False) -> Member:
        known = identity or body.identity
        member_id = known.member_id if known and not anyone else None
        return pool.member(target_of(servers[body.name], member_id=member_id), tls=trust, login=login)

    return dial
