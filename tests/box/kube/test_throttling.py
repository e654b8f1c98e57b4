"""When there are too many requests: the server's word, and our own budget."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from etcd_operator.kube.budget import Budget
from etcd_operator.kube.client import Client
from etcd_operator.kube.connection import Connection
from etcd_operator.kube.errors import DeadlineExceededError, TooManyRequestsError
from etcd_operator.kube.kubeconfig import from_kubeconfig
from etcd_operator.kube.resources import CONFIG_MAPS, NAMESPACES
from tests.box.driving import Box
from tests.box.kube.kubeconfigs import Admin, new_token, write_kubeconfig

ALWAYS = "kube-root-ca.crt"


@contextmanager
def no_room_for(box: Box, namespace: str) -> Iterator[None]:
    """The API server has no seat for the service accounts of a namespace, and lets nobody wait for one."""
    version = "flowcontrol.apiserver.k8s.io/v1"
    name = {"name": f"no-room-{namespace}"}
    level = {
        "nominalConcurrencyShares": 0,
        "lendablePercent": 0,
        "borrowingLimitPercent": 0,
        "limitResponse": {"type": "Reject"},
    }
    subject = {"kind": "ServiceAccount", "serviceAccount": {"name": "*", "namespace": namespace}}
    rules = {
        "subjects": [subject],
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}],
    }
    schema = {"priorityLevelConfiguration": name, "matchingPrecedence": 2, "rules": [rules]}
    box.apply(
        {
            "apiVersion": version,
            "kind": "PriorityLevelConfiguration",
            "metadata": name,
            "spec": {"type": "Limited", "limited": level},
        },
        {"apiVersion": version, "kind": "FlowSchema", "metadata": name, "spec": schema},
    )
    try:
        yield
    finally:
        box.kubectl("delete", "flowschema,prioritylevelconfiguration", name["name"])


async def test_a_server_without_room_says_when_to_come_back(box: Box, tmp_path: Path, place: str) -> None:
    token = new_token(box, place)
    file = write_kubeconfig(tmp_path, cluster=Admin(box).cluster, user={"token": token})
    async with Client(from_kubeconfig(files=(file,)), user_agent="tests") as client:
        assert await client.get(CONFIG_MAPS, ALWAYS, namespace=place)
        with no_room_for(box, place):
            refused = await refusal(client, place)

    assert refused.retry_after == 1
    assert refused.status == 429


async def refusal(client: Client, place: str) -> TooManyRequestsError:
    """Asks until the API server has noticed its new settings; one at a time it lets through whatever they are."""
    async with asyncio.timeout(60):
        while True:
            calls = (client.get(CONFIG_MAPS, ALWAYS, namespace=place) for _ in range(30))
            for answer in await asyncio.gather(*calls, return_exceptions=True):
                if isinstance(answer, TooManyRequestsError):
                    return answer


async def test_requests_are_spread_as_the_budget_says(connection: Connection) -> None:
    budget = Budget(per_second=20, burst=5)
    async with Client(connection, user_agent="tests", budget=budget) as client:
        await client.get(NAMESPACES, "default")
        await asyncio.sleep(0.3)
        begin = time.monotonic()
        await asyncio.gather(*(client.get(NAMESPACES, "default") for _ in range(15)))

        assert time.monotonic() - begin > 0.49  # 5 at once, 10 more at 20 a second


async def test_a_budget_that_is_used_up_longer_than_a_call_may_take_refuses_it_unsent(connection: Connection) -> None:
    budget = Budget(per_second=0.1, burst=1)
    async with Client(connection, user_agent="tests", budget=budget) as client:
        await client.get(NAMESPACES, "default")
        begin = time.monotonic()
        with pytest.raises(DeadlineExceededError, match="own budget of requests is used up") as refused:
            await client.get(NAMESPACES, "default", deadline=5)

        assert not refused.value.sent
        assert time.monotonic() - begin < 4
