"""The containers of a member's pod: first what may keep etcd from starting, then etcd."""

from __future__ import annotations

from typing import Any

from etcd_operator.api.cluster import EtcdCluster
from etcd_operator.api.cluster_names import CLIENT_PORT, IDENTITY, PEER_PORT, tls
from etcd_operator.api.pod_policy import PodPolicy
from etcd_operator.cluster.command import etcd_command
from etcd_operator.cluster.environment import etcd_environment, metrics_port
from etcd_operator.cluster.images import Images, etcd_image
from etcd_operator.cluster.launch import Launch
from etcd_operator.cluster.security import container_security, guard_security
from etcd_operator.cluster.volumes import DATA_DIR, MARKER, PEER, etcd_mounts, guard_mounts
from etcd_operator.kube.objects import Manifest
from etcd_operator.releases.probes import Probe, probes
from etcd_operator.releases.version import Version

ETCD = "etcd"
CHECK_DNS = "check-dns"
GUARD = "guard"  # its name where another container is `check-dns`

# With 0 seconds the counter never comes by 0: it waits for ever. Kubernetes leaves `$(...)` alone where the brackets
# hold no name of a variable.
LOOK_UP = """\
left="$DNS_TIMEOUT"
until nslookup "$MEMBER_HOST"; do
  left=$((left - 1))
  if [ "$left" -eq 0 ]; then
    printf '{"reason": "DNSTimeout", "message": "%s does not resolve within %s s."}' \\
      "$MEMBER_HOST" "$DNS_TIMEOUT" > "${TERMINATION_LOG:-/dev/termination-log}"
    exit 1
  fi
  sleep 1
done
"""


def etcd_container(cluster: EtcdCluster, launch: Launch, *, images: Images) -> Manifest:
    return {
        "name": ETCD,
        "image": etcd_image(cluster, version=launch.version, images=images),
        "command": etcd_command(cluster, launch),
        "env": etcd_environment(cluster),
        "ports": _ports(cluster),
        **_probes(cluster, launch),
        **_resources(cluster),
        "securityContext": container_security(cluster),
        "terminationMessagePolicy": "FallbackToLogsOnError",  # its last words, where the operator sees them
        "volumeMounts": etcd_mounts(cluster),
    }


def init_containers(cluster: EtcdCluster, launch: Launch, *, images: Images) -> list[Manifest]:
    """A user who names an image for the DNS check gets it made by that; the guard follows all the same."""
    busybox = (cluster.spec.pod or PodPolicy()).busybox_image
    if not busybox:
        return [_guard(cluster, launch, images=images, name=CHECK_DNS)]
    return [_look_up(cluster, launch, image=busybox), _guard(cluster, launch, images=images, name=GUARD)]


def _look_up(cluster: EtcdCluster, launch: Launch, *, image: str) -> Manifest:
    return {
        "name": CHECK_DNS,
        "image": image,
        "command": ["/bin/sh", "-c", LOOK_UP],
        "env": _literal(_dns(cluster, launch)),
        **_resources(cluster),
        "securityContext": container_security(cluster),
    }


def _guard(cluster: EtcdCluster, launch: Launch, *, images: Images, name: str) -> Manifest:
    told = {
        "MEMBER_NAME": launch.member,
        "CLUSTER_UID": cluster.metadata.uid,
        **_dns(cluster, launch),
        "DATA_DIR": DATA_DIR,
        "MARKER": MARKER,
        "INITIAL_CLUSTER": launch.initial_cluster_flag,
        "INITIAL_STATE": str(launch.state),
        **({"PEER_CA": PEER.ca, "PEER_CERT": PEER.certificate, "PEER_KEY": PEER.key} if tls(cluster).peer else {}),
    }
    return {
        "name": name,
        "image": images.operator,
        "command": ["python3", "-I", "-m", "etcd_operator.member"],
        "env": [
            *_literal(told),
            _from_pod("POD_IP", "status.podIPs"),
            _from_pod("IDENTITY", f"metadata.annotations['{IDENTITY}']"),
        ],
        **_resources(cluster),
        "securityContext": guard_security(cluster),
        "volumeMounts": guard_mounts(cluster),
    }


def _dns(cluster: EtcdCluster, launch: Launch) -> dict[str, str]:
    timeout = (cluster.spec.pod or PodPolicy()).dns_timeout_in_second
    return {"MEMBER_HOST": launch.host, "DNS_TIMEOUT": str(timeout)}


def _literal(variables: dict[str, str]) -> list[Manifest]:
    return [{"name": name, "value": value} for name, value in variables.items()]


def _from_pod(name: str, path: str) -> Manifest:
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


def _resources(cluster: EtcdCluster) -> dict[str, Any]:
    """The same for every container, as it always was."""
    resources = (cluster.spec.pod or PodPolicy()).resources
    return {"resources": dict(resources)} if resources else {}


def _ports(cluster: EtcdCluster) -> list[Manifest]:
    """The metrics' port also where the version has none yet: the image may change under the pod."""
    ports = {"server": PEER_PORT, "client": CLIENT_PORT, "metrics": metrics_port(cluster)}
    return [{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in ports.items() if port]


def _probes(cluster: EtcdCluster, launch: Launch) -> dict[str, Manifest]:
    port = metrics_port(cluster)
    if port is None:
        return {}
    wanted = probes(Version.parse(launch.version))
    kinds = {
        "startupProbe": wanted.startup,
        "livenessProbe": wanted.liveness,
        "readinessProbe": wanted.readiness,
    }
    return {kind: _probe(probe, port) for kind, probe in kinds.items() if probe}


def _probe(probe: Probe, port: int) -> Manifest:
    return {
        "httpGet": {"path": probe.path, "port": port, "scheme": "HTTP"},
        "periodSeconds": probe.period,
        "timeoutSeconds": probe.timeout,
        "successThreshold": 1,
        "failureThreshold": probe.failures,
    }
