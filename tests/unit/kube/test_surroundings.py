"""Which cluster a program finds itself at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from etcd_operator import __version__
from etcd_operator.kube.errors import ConfigurationError
from etcd_operator.kube.in_cluster import in_cluster
from etcd_operator.kube.surroundings import find, user_agent

POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    for name, text in (("token", "t"), ("ca.crt", "authority"), ("namespace", "here\n")):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    file = tmp_path / "config"
    entries = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://named"}}],
    }
    file.write_text(json.dumps(entries))
    return file


def test_a_pod_finds_its_own_cluster(account: Path) -> None:
    connection = in_cluster(POD, folder=account)

    assert (connection.server, connection.namespace) == ("https://10.0.0.1:443", "here")
    assert connection.trust.verify


def test_an_address_of_the_sixth_version_has_brackets(account: Path) -> None:
    assert in_cluster({**POD, "KUBERNETES_SERVICE_HOST": "fd00::1"}, folder=account).server == "https://[fd00::1]:443"


def test_a_namespace_that_is_not_mounted_is_the_default(account: Path) -> None:
    (account / "namespace").unlink()

    assert in_cluster(POD, folder=account).namespace == "default"


def test_a_pod_without_a_mounted_account_says_which_file_it_misses(account: Path) -> None:
    (account / "token").unlink()

    with pytest.raises(ConfigurationError, match=f"the service account's token {account}/token cannot be read"):
        in_cluster(POD, folder=account)
    with pytest.raises(ConfigurationError, match="this is no pod; say with KUBECONFIG"):
        in_cluster({}, folder=account)


def test_what_somebody_names_comes_before_the_cluster_one_is_in(kubeconfig: Path) -> None:
    assert find(kubeconfig=kubeconfig, environment=POD).server == "https://named"
    assert find(environment={**POD, "KUBECONFIG": str(kubeconfig)}).server == "https://named"


def test_the_cluster_one_is_in_comes_before_the_home_folder(kubeconfig: Path, tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    kubeconfig.rename(tmp_path / ".kube" / "config")

    assert find(environment={"HOME": str(tmp_path)}).server == "https://named"
    with pytest.raises(ConfigurationError, match="service account's token"):  # looked for it in the pod
        find(environment={"HOME": str(tmp_path), **POD})


def test_the_server_is_told_which_program_of_which_version_asks() -> None:
    assert user_agent("plugin") == f"etcd-operator/{__version__} (plugin)"
