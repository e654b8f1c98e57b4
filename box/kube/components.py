"""The programs of each node: their command lines and configuration files, as plain data.

Nothing here starts anything. What differs from a production cluster is commented; the rest is what any cluster has.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from box.containerd import UNUSED_PLUGINS
from box.layout import (
    API_PORT,
    CLUSTER_DOMAIN,
    CONTROL_PLANE,
    DNS_SERVICE_ADDRESS,
    POD_RANGE,
    SERVICE_RANGE,
    Layout,
    node_address,
    pod_range,
)
from box.settings import Settings

PAUSE_IMAGE = "box.local/pause:1"
CONTAINERD_SOCKET = "/run/containerd/containerd.sock"
CNI_PLUGINS = "/usr/lib/cni"


@dataclass(frozen=True)
class Service:
    """A program that a node keeps running."""

    name: str
    argv: tuple[str, ...]
    after: str = ""  # what must answer first: `unix:PATH`, `tcp:HOST:PORT` or an https address
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Programs:
    """Where the built programs are."""

    kubernetes: Path
    etcd: Path


def control_plane(layout: Layout, settings: Settings, programs: Programs) -> tuple[Service, ...]:
    ready = f"https://127.0.0.1:{API_PORT}/readyz"  # earlier, their own roles are not there and they give up
    return (
        Service("etcd", _etcd(programs)),
        Service("apiserver", _apiserver(layout, settings, programs), after="tcp:127.0.0.1:2379"),
        Service("controller-manager", _controller_manager(layout, programs), after=ready),
        Service("scheduler", _scheduler(layout, programs), after=ready),
    )


def worker(layout: Layout, name: str, programs: Programs) -> tuple[Service, ...]:
    disk = layout.node(name)
    kubelet = (
        str(programs.kubernetes / "kubelet"),
        f"--config={disk}/kubelet.json",
        f"--kubeconfig={layout.pki}/{name}.kubeconfig",
        f"--hostname-override={name}",
        f"--node-ip={node_address(name)}",
        "--root-dir=/var/lib/kubelet",
        "--cert-dir=/var/lib/kubelet/pki",
    )
    proxy = (str(programs.kubernetes / "kube-proxy"), f"--config={disk}/kube-proxy.json")
    return (
        Service("containerd", ("containerd", "--config", f"{disk}/containerd.toml")),
        Service("kubelet", kubelet, after=f"unix:{CONTAINERD_SOCKET}"),
        Service("proxy", proxy, after=f"tcp:{node_address(CONTROL_PLANE)}:{API_PORT}"),
    )


def worker_files(layout: Layout, name: str) -> dict[str, str]:
    """The configuration files of a worker by their names below its disk folder."""
    return {
        "kubelet.json": json.dumps(_kubelet_configuration(layout, name), indent=1),
        "kube-proxy.json": json.dumps(_proxy_configuration(layout, name), indent=1),
        "containerd.toml": _containerd_configuration(layout, name),
        "cni/10-box.conflist": json.dumps(_pod_network(name), indent=1),
    }


def _etcd(programs: Programs) -> tuple[str, ...]:
    client, peer = "http://127.0.0.1:2379", "http://127.0.0.1:2380"
    return (
        str(programs.etcd),
        "--name=cp",
        "--data-dir=/var/lib/etcd",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=cp={peer}",
        "--unsafe-no-fsync",  # the box's own bookkeeping, test data only
        "--log-level=warn",
    )


def _apiserver(layout: Layout, settings: Settings, programs: Programs) -> tuple[str, ...]:
    pki = layout.pki
    return (
        str(programs.kubernetes / "kube-apiserver"),
        f"--advertise-address={node_address(CONTROL_PLANE)}",
        "--bind-address=0.0.0.0",
        f"--secure-port={API_PORT}",
        "--etcd-servers=http://127.0.0.1:2379",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        f"--client-ca-file={pki}/ca.crt",
        f"--tls-cert-file={pki}/apiserver.crt",
        f"--tls-private-key-file={pki}/apiserver.key",
        f"--kubelet-client-certificate={pki}/apiserver-kubelet.crt",
        f"--kubelet-client-key={pki}/apiserver-kubelet.key",
        f"--kubelet-certificate-authority={pki}/ca.crt",
        "--kubelet-preferred-address-types=InternalIP",
        f"--service-account-issuer=https://kubernetes.default.svc.{CLUSTER_DOMAIN}",
        f"--service-account-key-file={pki}/sa.pub",
        f"--service-account-signing-key-file={pki}/sa.key",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        f"--requestheader-client-ca-file={pki}/ca.crt",
        "--requestheader-allowed-names=front-proxy",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={pki}/front-proxy.crt",
        f"--proxy-client-key-file={pki}/front-proxy.key",
        "--enable-aggregator-routing=true",  # webhooks are dialled by pod address: no kube-proxy on this node
        "--allow-privileged=true",
        "--profiling=false",
        f"--default-not-ready-toleration-seconds={settings.tolerate}",
        f"--default-unreachable-toleration-seconds={settings.tolerate}",
    )


def _controller_manager(layout: Layout, programs: Programs) -> tuple[str, ...]:
    pki = layout.pki
    return (
        str(programs.kubernetes / "kube-controller-manager"),
        *_own_endpoint(pki, "controller-manager"),
        "--allocate-node-cidrs=false",
        f"--cluster-cidr={POD_RANGE}",
        f"--root-ca-file={pki}/ca.crt",
        f"--service-account-private-key-file={pki}/sa.key",
        "--use-service-account-credentials=true",
        f"--cluster-signing-cert-file={pki}/ca.crt",
        f"--cluster-signing-key-file={pki}/ca.key",
        "--kube-api-qps=200",  # 20 otherwise: it would take 4 s to introduce its forty controllers
        "--kube-api-burst=400",
        "--node-monitor-period=2s",
        "--node-monitor-grace-period=16s",  # 50 s in Kubernetes: a lost node is noticed three times as fast
    )


def _scheduler(layout: Layout, programs: Programs) -> tuple[str, ...]:
    return (str(programs.kubernetes / "kube-scheduler"), *_own_endpoint(layout.pki, "scheduler"))


def _own_endpoint(pki: Path, name: str) -> tuple[str, ...]:
    return (
        f"--kubeconfig={pki}/{name}.kubeconfig",
        f"--authentication-kubeconfig={pki}/{name}.kubeconfig",
        f"--authorization-kubeconfig={pki}/{name}.kubeconfig",
        f"--tls-cert-file={pki}/{name}.crt",
        f"--tls-private-key-file={pki}/{name}.key",
        "--bind-address=127.0.0.1",
        "--leader-elect=false",
        "--profiling=false",
    )


def _kubelet_configuration(layout: Layout, name: str) -> dict[str, object]:
    pki = layout.pki
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "failCgroupV1": False,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"{layout.cgroup}/{name}",
        "cgroupsPerQOS": True,
        "enforceNodeAllocatable": [],
        # Lets it go on where it may not set the out-of-memory score or read the kernel's log.
        "featureGates": {"KubeletInUserNamespace": True},
        "failSwapOn": False,
        "localStorageCapacityIsolation": False,
        "evictionHard": {
            "memory.available": "50Mi",
            "nodefs.available": "1%",
            "imagefs.available": "1%",
            "nodefs.inodesFree": "1%",
        },
        "imageGCHighThresholdPercent": 100,  # there is no registry to fetch a collected image from again
        "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
        "clusterDNS": [DNS_SERVICE_ADDRESS],
        "clusterDomain": CLUSTER_DOMAIN,
        "resolvConf": f"{layout.node(name)}/resolv.conf",
        "address": node_address(name),
        "port": 10250,
        "readOnlyPort": 0,
        "healthzBindAddress": "127.0.0.1",
        "tlsCertFile": f"{pki}/{name}.crt",
        "tlsPrivateKeyFile": f"{pki}/{name}.key",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": f"{pki}/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "nodeStatusUpdateFrequency": "4s",
        "nodeStatusReportFrequency": "1m",
        "nodeLeaseDurationSeconds": 10,
        "maxPods": 60,
        "shutdownGracePeriod": "0s",
        "volumePluginDir": "/var/lib/kubelet/volume-plugins",
    }


def _proxy_configuration(layout: Layout, name: str) -> dict[str, object]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "hostnameOverride": name,
        "clusterCIDR": POD_RANGE,
        "clientConnection": {"kubeconfig": f"{layout.pki}/proxy.kubeconfig"},
        # Connection tracking limits are the host's: zero means hands off.
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        "metricsBindAddress": "127.0.0.1:10249",
        "healthzBindAddress": "127.0.0.1:10256",
        "nftables": {"minSyncPeriod": "100ms", "syncPeriod": "60s"},
    }


def _pod_network(name: str) -> dict[str, object]:
    addresses = {
        "type": "host-local",
        "dataDir": "/var/lib/cni/networks",
        "ranges": [[{"subnet": pod_range(name)}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    point_to_point = {"type": "ptp", "ipMasq": False, "mtu": 1500, "ipam": addresses}
    return {"cniVersion": "0.4.0", "name": "box", "plugins": [point_to_point]}


def _containerd_configuration(layout: Layout, name: str) -> str:
    return f"""version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
oom_score = 0
disabled_plugins = {json.dumps(UNUSED_PLUGINS)}
[grpc]
  address = "{CONTAINERD_SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  disable_tcp_service = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{CNI_PLUGINS}"
    conf_dir = "{layout.node(name)}/cni"
    max_conf_num = 1
"""
