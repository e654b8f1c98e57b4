"""Pods, services and names reach each other as on any cluster, and nothing reaches the outside."""

from __future__ import annotations

import select
import socket
import threading
import time

from tests.box.driving import Box, eventually
from tests.box.pods import fetch, pod, reaches, service, wait_ready, web

OURS = ("198.18.", "198.19.")
OUTSIDE = ("192.0.2.1", "203.0.113.7", "10.255.255.1", "169.254.169.254")


def test_pods_on_different_nodes_reach_each_other_by_address_service_and_name(box: Box, namespace: str) -> None:
    box.apply(
        web("one", namespace, node="w1"),
        web("two", namespace, node="w2"),
        service("two", namespace, selector={"app": "two"}),
        service("outside", namespace, selector={"app": "two"}, type="NodePort"),
    )
    addresses = wait_ready(box, namespace, "one", "two")
    assert addresses["one"].startswith("198.19.1.")
    assert addresses["two"].startswith("198.19.2.")
    virtual = box.get("service", "two", namespace)["spec"]["clusterIP"]
    node_port = box.get("service", "outside", namespace)["spec"]["ports"][0]["nodePort"]

    for url in (
        f"http://{addresses['two']}:8080",
        f"http://{virtual}",
        "http://two",
        f"http://two.{namespace}.svc",
        f"http://two.{namespace}.svc.cluster.local",
        f"http://198.18.0.13:{node_port}",
    ):
        assert eventually(lambda url=url: fetch(box, namespace, "one", url), within=20) == "two", url  # type: ignore[misc]


def test_a_pod_that_is_not_ready_has_a_name_where_the_service_publishes_it(box: Box, namespace: str) -> None:
    never = web("never", namespace, hostname="never", subdomain="members")
    never["spec"]["containers"][0]["readinessProbe"] = {"exec": {"command": ["false"]}, "periodSeconds": 1}
    box.apply(
        never,
        web("asking", namespace),
        service("members", namespace, selector={"app": "never"}, clusterIP="None", publishNotReadyAddresses=True),
        service("ready-only", namespace, selector={"app": "never"}, clusterIP="None"),
    )
    wait_ready(box, namespace, "asking")
    eventually(lambda: box.get("pod", "never", namespace)["status"]["containerStatuses"][0]["started"])

    assert eventually(lambda: fetch(box, namespace, "asking", f"http://never.members.{namespace}.svc:8080")) == "never"
    assert not reaches(box, namespace, "asking", f"http://never.ready-only.{namespace}.svc:8080")


def test_no_packet_leaves_the_box(box: Box, namespace: str) -> None:
    box.apply(pod("curious", namespace, command=["sleep", "1000"]))
    wait_ready(box, namespace, "curious")
    attempts = "for a in {}; do timeout 2 wget -q -O - http://$a/; done; true".format(" ".join(OUTSIDE))

    with Sniffer() as sniffer:
        begun = time.monotonic()
        box.exec(namespace, "curious", "sh", "-c", attempts)
        box.exec(namespace, "curious", "sh", "-c", "timeout 3 nslookup example.com || true")
        took = time.monotonic() - begun

    assert sniffer.seen == [], "packets from the box, or to where it tried to go, were on the host's interfaces"
    assert took < 30, "an address outside must be refused at once, not run into a time-out"


class Sniffer:
    """Counts packets on the host's interfaces that only the box can have sent, under whichever address."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._listen)

    def __enter__(self) -> Sniffer:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        self._socket.close()

    def _listen(self) -> None:
        while not self._end.is_set() or select.select([self._socket], [], [], 0)[0]:
            if not select.select([self._socket], [], [], 0.2)[0]:
                continue
            frame, interface = self._socket.recvfrom(2048)[:2]
            if frame[12:14] == b"\x08\x00":
                source, target = socket.inet_ntoa(frame[26:30]), socket.inet_ntoa(frame[30:34])
                if source.startswith(OURS) or target.startswith(OURS) or target in OUTSIDE:
                    self.seen.append(f"{interface[0]}: {source} -> {target}")


def test_a_program_of_the_host_knows_the_names_of_the_cluster(box: Box) -> None:
    for name in ("kubernetes", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"):
        assert "198.18.16.1" in box("run", "--", "getent", "hosts", name)


def test_the_room_has_no_cable_to_the_host(box: Box) -> None:
    links = box("run", "--", "ip", "-o", "link", "show").splitlines()
    names = {line.split(":")[1].strip().split("@")[0] for line in links}

    assert names <= {"lo", "br0", "v-cp", "v-w1", "v-w2", "v-w3"}, names
