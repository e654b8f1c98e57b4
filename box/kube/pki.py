"""The certificates of a box: one authority, one certificate per program, kubeconfigs that hold them.

`openssl` makes them because the standard library cannot, and every Debian has it.
"""

from __future__ import annotations

import base64
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from box.layout import API_PORT, API_SERVICE_ADDRESS, CLUSTER_DOMAIN, CONTROL_PLANE, BoxError, Layout, node_address

_DAYS = "3650"


@dataclass(frozen=True)
class Certificate:
    """What a certificate is asked to say."""

    name: str
    subject: str
    usage: str = "clientAuth"
    names: str = ""


def _certificates(workers: tuple[str, ...]) -> list[Certificate]:
    inside = f"DNS:localhost,IP:127.0.0.1,IP:{node_address(CONTROL_PLANE)}"
    service = ",".join(
        f"DNS:kubernetes{suffix}" for suffix in ("", ".default", ".default.svc", f".default.svc.{CLUSTER_DOMAIN}")
    )
    both = "clientAuth,serverAuth"
    return [
        Certificate("apiserver", "/CN=kube-apiserver", "serverAuth", f"{service},{inside},IP:{API_SERVICE_ADDRESS}"),
        Certificate("apiserver-kubelet", "/O=system:masters/CN=kube-apiserver-kubelet"),
        Certificate("front-proxy", "/CN=front-proxy"),
        Certificate("admin", "/O=system:masters/CN=admin"),
        Certificate("controller-manager", "/CN=system:kube-controller-manager", both, inside),
        Certificate("scheduler", "/CN=system:kube-scheduler", both, inside),
        Certificate("proxy", "/CN=system:kube-proxy"),
        *(
            Certificate(name, f"/O=system:nodes/CN=system:node:{name}", both, f"DNS:{name},IP:{node_address(name)}")
            for name in workers
        ),
    ]


def create(layout: Layout, workers: tuple[str, ...], *, relay_port: int) -> None:
    """Makes what is missing, and the kubeconfigs anew (the relay's port may have changed)."""
    layout.pki.mkdir(mode=0o700, parents=True, exist_ok=True)
    _authority(layout.pki)
    _service_account_key(layout.pki)
    inside = f"https://{node_address(CONTROL_PLANE)}:{API_PORT}"
    for certificate in _certificates(workers):
        _sign(layout.pki, certificate)
        if "clientAuth" in certificate.usage:
            target = layout.pki / f"{certificate.name}.kubeconfig"
            _write_secret(target, kubeconfig(layout.pki, certificate.name, server=inside))
    outside = f"https://127.0.0.1:{relay_port}"
    _write_secret(layout.kubeconfig, kubeconfig(layout.pki, "admin", server=outside))


def kubeconfig(pki: Path, name: str, *, server: str) -> str:
    """A kubeconfig as JSON, which is YAML too."""

    def encoded(file: str) -> str:
        return base64.b64encode((pki / file).read_bytes()).decode()

    cluster = {"server": server, "certificate-authority-data": encoded("ca.crt")}
    user = {"client-certificate-data": encoded(f"{name}.crt"), "client-key-data": encoded(f"{name}.key")}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "box", "cluster": cluster}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": "box", "context": {"cluster": "box", "user": name}}],
        "current-context": "box",
    }
    return json.dumps(content, indent=1)


def _authority(pki: Path) -> None:
    if (pki / "ca.crt").exists():
        return
    extensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign,digitalSignature"]
    _request(pki, "ca", subject="/CN=box-ca", extensions=extensions)


def _sign(pki: Path, certificate: Certificate) -> None:
    if (pki / f"{certificate.name}.crt").exists():
        return
    extensions = [
        "basicConstraints=critical,CA:FALSE",
        "keyUsage=critical,digitalSignature,keyEncipherment",
        f"extendedKeyUsage={certificate.usage}",
    ]
    if certificate.names:
        extensions.append(f"subjectAltName={certificate.names}")
    issuer = ["-CA", str(pki / "ca.crt"), "-CAkey", str(pki / "ca.key")]
    _request(pki, certificate.name, subject=certificate.subject, extensions=extensions, issuer=issuer)


def _request(pki: Path, name: str, *, subject: str, extensions: list[str], issuer: list[str] | None = None) -> None:
    draft = pki / f"{name}.draft"
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout", str(pki / f"{name}.key")]
    wanted = [argument for extension in extensions for argument in ("-addext", extension)]
    _openssl("req", "-x509", *key, "-subj", subject, "-days", _DAYS, *wanted, *(issuer or []), "-out", str(draft))
    draft.rename(pki / f"{name}.crt")  # a certificate that exists is whole, its key too


def _service_account_key(pki: Path) -> None:
    if (pki / "sa.pub").exists():
        return
    key, draft = pki / "sa.key", pki / "sa.draft"
    _openssl("genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", str(key))
    _openssl("pkey", "-in", str(key), "-pubout", "-out", str(draft))
    draft.rename(pki / "sa.pub")


def _openssl(*arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BoxError(f"openssl could not make a certificate: {done.stderr.strip().splitlines()[-1:]}")


def _write_secret(path: Path, text: str) -> None:
    draft = path.with_name(path.name + ".draft")
    draft.touch(mode=0o600)
    draft.write_text(text)
    draft.rename(path)
