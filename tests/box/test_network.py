"""Pods, services and names reach each other as on any cluster, and nothing reaches the outside."""

from __future__ import annotations

import select
import socket
import time

from box.layout import default_layout
from tests.box.driving import Box, eventually
from tests.box.pods import fetch, pod, reaches, service, wait_ready, web


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
    attempts = "for a in 192.0.2.1 8.8.8.8 10.0.0.1 169.254.169.254; do timeout 2 wget -q -O - http://$a/; done; true"

    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3)) as sniffer:
        begun = time.monotonic()
        box.exec(namespace, "curious", "sh", "-c", attempts)
        box.exec(namespace, "curious", "sh", "-c", "timeout 3 nslookup example.com || true")
        took = time.monotonic() - begun
        seen = _packets_of_the_box(sniffer)

    assert seen == [], "packets with addresses of the box were seen on the host's interfaces"
    assert took < 30, "an address outside must be refused at once, not run into a time-out"


def _packets_of_the_box(sniffer: socket.socket) -> list[str]:
    found = []
    while select.select([sniffer], [], [], 0.5)[0]:
        frame, interface = sniffer.recvfrom(2048)[:2]
        is_ipv4 = frame[12:14] == b"\x08\x00"
        if is_ipv4 and any(frame[start : start + 2] in (b"\xc6\x12", b"\xc6\x13") for start in (26, 30)):
            found.append(f"{interface[0]}: {socket.inet_ntoa(frame[26:30])} -> {socket.inet_ntoa(frame[30:34])}")
    return found


def test_the_room_has_no_cable_to_the_host(box: Box) -> None:
    links = box("run", "--", "ip", "-o", "link", "show").splitlines()
    names = {line.split(":")[1].strip().split("@")[0] for line in links}

    assert names <= {"lo", "br0", "v-cp", "v-w1", "v-w2", "v-w3"}, names
    assert default_layout().home.is_absolute()
