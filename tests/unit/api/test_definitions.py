from __future__ import annotations

import json
import re

import pytest

from etcd_operator.api.crd import definition, definitions
from etcd_operator.api.field import Change
from etcd_operator.api.kinds import KINDS, Kind
from tests.unit.api.schemas import at, every_node, nodes, roots

LARGEST = 200_000
INSIDE_KUBERNETES_TYPE = re.compile(
    r"^spec\.pod\.(?:affinity|tolerations|topologySpread|imagePull|resources|etcdEnv|persist|security)\w*[.\[]"
)
ENTRY = ("[]", "{}")


def kind_name(kind: Kind) -> str:
    return kind.name


def spec_fields() -> list[tuple[str, str]]:
    """Our own fields below the spec of each kind, with their texts."""
    return [
        (f"{kind}.{path}", node["description"])
        for kind, root in roots().items()
        for path, node in nodes(root)
        if path.startswith("spec.") and not path.endswith(ENTRY) and not INSIDE_KUBERNETES_TYPE.match(path)
    ]


def test_every_field_is_described() -> None:
    """Kubernetes describes metadata itself, and the entries of a list of words are what the list says."""
    silent = [path for path, node in every_node() if not node.get("description")]
    words = [path for path, node in every_node() if path.endswith(ENTRY) and node.get("type") != "object"]

    assert len(every_node()) > 300
    assert [path for path in silent if path not in words and not path.endswith(".metadata")] == []


def test_the_first_sentence_of_every_description_is_short_and_ends() -> None:
    texts = {path: node["description"] for path, node in every_node() if "description" in node}
    firsts = {path: re.split(r"(?<=\.)\s", text, maxsplit=1)[0] for path, text in texts.items()}

    assert {path: len(first) for path, first in firsts.items() if len(first) >= 100} == {}
    assert [path for path, text in texts.items() if not text.endswith(".") or text[0].islower()] == []


def test_every_field_of_a_spec_says_what_a_change_does() -> None:
    sentences = tuple(change.value for change in Change)

    assert len(spec_fields()) > 50
    assert [path for path, text in spec_fields() if not text.endswith(sentences)] == []


def test_every_field_that_may_be_left_out_says_what_holds_then() -> None:
    needed = {f"{path}.{name}" for path, node in every_node() for name in node.get("required", ())}

    assert [path for path, text in spec_fields() if path not in needed and "Default: " not in text] == []
    assert [path for path, text in spec_fields() if path in needed and "Default: " in text] == []


@pytest.mark.parametrize("kind", KINDS, ids=kind_name)
def test_a_definition_fits_into_an_annotation_of_kubectl_apply(kind: Kind) -> None:
    assert len(json.dumps(definition(kind))) < LARGEST


def test_the_version_of_etcd_has_no_default_or_an_update_would_upgrade_live_clusters() -> None:
    assert "default" not in at("EtcdCluster", "spec.version")
    assert "default" not in at("EtcdCluster", "spec.repository")


def test_the_time_a_backup_may_take_has_no_default_or_it_could_never_be_raised_for_stored_ones() -> None:
    assert "default" not in at("EtcdBackup", "spec.backupPolicy.timeoutInSecond")


def test_names_are_those_that_users_and_other_operators_know() -> None:
    names = {made["metadata"]["name"]: made["spec"]["names"] for made in definitions()}

    assert list(names) == [
        "etcdclusters.etcd.database.coreos.com",
        "etcdbackups.etcd.database.coreos.com",
        "etcdrestores.etcd.database.coreos.com",
    ]
    assert [found["shortNames"] for found in names.values()] == [["etcd"], ["etcdbk"], ["etcdrs"]]
    assert {made["spec"]["versions"][0]["name"] for made in definitions()} == {"v1beta2"}


def test_no_category_hides_a_short_name() -> None:
    """Kubectl looks for categories first, and one of several kinds makes `kubectl get etcd demo` an error."""
    names = [made["spec"]["names"] for made in definitions()]
    categories = {category for found in names for category in found["categories"]}

    assert categories == {"etcd-operator"}
    assert not categories & {word for found in names for word in (*found["shortNames"], found["singular"])}


def test_unknown_fields_are_no_longer_kept() -> None:
    assert [made["spec"]["preserveUnknownFields"] for made in definitions()] == [False, False, False]
    assert [path for path, node in every_node() if "x-kubernetes-preserve-unknown-fields" in node] == []


def test_the_spellings_of_the_old_operator_stay() -> None:
    assert {"TLS", "pod", "size", "version", "repository", "paused"} <= set(at("EtcdCluster", "spec")["properties"])
    assert {"DNSTimeoutInSecond", "ClusterDomain"} <= set(at("EtcdCluster", "spec.pod")["properties"])
    assert "clientTLSSecret" in at("EtcdBackup", "spec")["properties"]
    assert "Reason" in at("EtcdBackup", "status")["properties"]
    assert "reason" in at("EtcdRestore", "status")["properties"]


@pytest.mark.parametrize("kind", KINDS, ids=kind_name)
def test_every_column_shows_a_field_that_there_is(kind: Kind) -> None:
    known = {path.replace("[]", "") for path, _ in nodes(roots()[kind.name])}
    shown = [re.sub(r"\[\?.*?\]", "", column.path).removeprefix(".") for column in kind.columns]

    assert [path for path in shown if path not in known and path != "metadata.creationTimestamp"] == []


def test_the_paths_of_scale_lead_to_fields() -> None:
    scale = definitions()[0]["spec"]["versions"][0]["subresources"]["scale"]

    assert [at("EtcdCluster", path.removeprefix("."))["type"] for path in scale.values()] == [
        "integer",
        "integer",
        "string",
    ]


def test_a_status_demands_nothing_that_an_old_one_may_lack() -> None:
    words = {"minimum", "maximum", "pattern", "format", "enum", "minLength", "x-kubernetes-validations"}
    strict = [
        (path, word)
        for path, node in every_node()
        if ".status" in path
        for word in words & set(node)
        if (word, node.get("format")) != ("format", "int64")
    ]

    assert strict == []
    assert {path: node["required"] for path, node in every_node() if ".status" in path and "required" in node} == {
        **{f"{kind.name}.status.conditions[]": ["type"] for kind in KINDS},
        "EtcdCluster.status.memberList[]": ["name"],  # by which entries are told apart; old ones have no such list
    }
