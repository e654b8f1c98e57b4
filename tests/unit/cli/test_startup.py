from __future__ import annotations

import pytest

from etcd_operator.cli.startup import StartError, image_of, persistently
from etcd_operator.kube.backoff import Backoff
from etcd_operator.kube.errors import ForbiddenError, KubeError, UnreachableError
from etcd_operator.kube.objects import Metadata
from etcd_operator.kube.projections import Container, Pod, PodSpec
from tests.unit.kube.virtual_time import in_virtual_time, now


def a_pod(*containers: tuple[str, str]) -> Pod:
    spec = PodSpec(containers=tuple(Container(name=name, image=image) for name, image in containers))
    return Pod(metadata=Metadata(name="etcd-operator-1"), spec=spec)


def test_the_image_of_the_only_container_is_ours() -> None:
    assert image_of(a_pod(("manager", "operator:1"))) == "operator:1"


def test_of_several_containers_the_one_with_the_operators_name_is_ours() -> None:
    pod = a_pod(("etcd-operator", "operator:1"), ("etcd-backup-operator", "operator:2"), ("proxy", "proxy:3"))

    assert image_of(pod) == "operator:1"


def test_where_it_cannot_be_told_the_flag_is_named() -> None:
    with pytest.raises(StartError, match="--operator-image"):
        image_of(a_pod(("one", "operator:1"), ("two", "proxy:3")))


def test_it_tries_for_ever_and_tells_each_trouble_once() -> None:
    async def story() -> None:
        troubles: list[KubeError] = [UnreachableError("away")] * 40 + [ForbiddenError("not you", status=403)] * 40
        told: list[str] = []

        async def attempt() -> str:
            if troubles:
                raise troubles.pop(0)
            return "done"

        assert await persistently(attempt, what="The thing cannot be had", tell=told.append) == "done"
        assert told == ["The thing cannot be had: away", "The thing cannot be had: not you"]
        assert now() > 600

    in_virtual_time(story())


def test_what_is_no_trouble_with_kubernetes_is_not_tried_again() -> None:
    async def story() -> None:
        async def attempt() -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await persistently(attempt, what="", tell=print, backoff=Backoff())

    in_virtual_time(story())
