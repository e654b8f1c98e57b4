"""Loss, cuts and delays hit those they name, and nobody else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.box.driving import Box, eventually
from tests.box.pods import pod, reaches, service, wait_ready, web


@dataclass(frozen=True)
class Pair:
    """Two pods on different nodes and a third that must never notice."""

    box: Box
    namespace: str
    addresses: dict[str, str]

    def reaches(self, source: str, target: str) -> bool:
        return reaches(self.box, self.namespace, source, f"http://{self.addresses[target]}:8080")

    def name(self, pod_name: str) -> str:
        return f"{self.namespace}/{pod_name}"

    def echoes_heard(self, name: str) -> int:
        """How many echo requests ever reached a pod, answered or not."""
        lines = self.box.exec(self.namespace, name, "grep", "^Icmp:", "/proc/net/snmp").splitlines()
        names, values = (line.split()[1:] for line in lines)
        return int(dict(zip(names, values, strict=True))["InEchos"])

    def ping(self, source: str, target: str, *, count: int = 1, interval: str = "0.2") -> str:
        script = f"ping -q -c {count} -i {interval} -W 1 {self.addresses[target]} || true"
        return self.box.exec(self.namespace, source, "sh", "-c", script)


@pytest.fixture(scope="module")
def pair(box: Box) -> Iterator[Pair]:
    with box.namespace("faults") as namespace:
        box.apply(
            web("a", namespace, node="w1"),
            web("b", namespace, node="w2"),
            web("c", namespace, node="w2"),
            service("b", namespace, selector={"app": "b"}),
        )
        yield Pair(box, namespace, wait_ready(box, namespace, "a", "b", "c"))


@pytest.fixture(autouse=True)
def _healed(box: Box) -> Iterator[None]:
    yield
    box("net", "heal")


def test_a_cut_between_two_pods_separates_these_two_only(pair: Pair) -> None:
    pair.box("net", "cut", pair.name("a"), pair.name("b"))

    assert not pair.reaches("a", "b")
    assert not pair.reaches("b", "a")
    assert not reaches(pair.box, pair.namespace, "a", f"http://b.{pair.namespace}.svc"), "also through a service"
    assert pair.reaches("a", "c")
    assert pair.reaches("c", "b")
    assert "cut from" in pair.box("status")

    pair.box("net", "heal")
    assert pair.reaches("a", "b")
    assert "cut from" not in pair.box("status")


def test_a_one_way_cut_lets_packets_pass_the_other_way(pair: Pair) -> None:
    pair.box("net", "cut", pair.name("a"), pair.name("b"), "--one-way")

    for source, target, expected in (("a", "b", 0), ("b", "a", 3)):
        before = pair.echoes_heard(target)
        pair.ping(source, target, count=3)
        assert pair.echoes_heard(target) - before == expected, f"from {source} to {target}"


def test_a_cut_between_two_nodes_separates_their_pods(pair: Pair) -> None:
    pair.box("net", "cut", "w1", "w2")

    assert not pair.reaches("a", "b")
    assert pair.reaches("c", "b"), "both on w2"


def test_loss_is_about_as_much_as_was_asked_for(pair: Pair) -> None:
    pair.box("net", "loss", pair.name("a"), pair.name("b"), "30")

    told = pair.ping("a", "b", count=300, interval="0.01")

    lost = int(re.findall(r"(\d+)% packet loss", told)[0])
    # A round trip survives with 0.7 * 0.7; 300 samples stay well within these bounds.
    assert 38 <= lost <= 64, told


@pytest.mark.parametrize("target", ["pod", "node"])
def test_a_delay_lengthens_the_round_trip_by_twice_as_much(pair: Pair, target: str) -> None:
    before = round_trip(pair, "a", "b")

    pair.box("net", "delay", pair.name("b") if target == "pod" else "w2", "100")

    assert eventually(lambda: 200 <= round_trip(pair, "a", "b") - before < 260, within=10)
    if target == "pod":
        assert round_trip(pair, "a", "c") < 150, "another pod on the same node"
    assert pair.reaches("a", "b")
    pair.box("net", "heal")
    assert eventually(lambda: round_trip(pair, "a", "b") < 100, within=10)


def round_trip(pair: Pair, source: str, target: str) -> float:
    """The shortest of a few, in milliseconds."""
    told = pair.ping(source, target, count=3)
    found = re.search(r"min/avg/max = ([\d.]+)/", told)
    assert found, told
    return float(found[1])


def test_what_cannot_be_found_is_named(pair: Pair) -> None:
    failed = pair.box.command("net", "cut", "no-such-pod", "w1")

    assert failed.returncode == 1
    assert "there is no pod no-such-pod in default" in failed.stderr


def test_a_pod_without_an_address_cannot_be_cut_off(pair: Pair) -> None:
    waiting = pod("nowhere", pair.namespace, command=["true"], node="no-such-node")
    pair.box.apply(waiting)

    failed = pair.box.command("net", "cut", pair.name("nowhere"), "w1")

    assert failed.returncode == 1
    assert "has no address yet" in failed.stderr
