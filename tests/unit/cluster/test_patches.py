from __future__ import annotations

from datetime import UTC, datetime

from etcd_operator.api.cluster_names import POD_POLICY, SERVING, VERSION, selector
from etcd_operator.cluster.bodies import body_of
from etcd_operator.cluster.claim import member_claim
from etcd_operator.cluster.image_pull import image_pull
from etcd_operator.cluster.images import etcd_image
from etcd_operator.cluster.patches import belonging, gate, identified, new_image, requested
from tests.unit.cluster.clusters import CLAIM, FIRST, IDENTITY, IMAGES, a_cluster, a_returning, container, pod_of
from tests.unit.cluster.pods import RUNNING, a_pod, ended


def test_a_pod_gets_the_image_and_the_note_that_a_new_one_would_have() -> None:
    cluster = a_cluster(repository="mirror.test/etcd")
    made_anew = pod_of(cluster, a_returning(cluster, "v3.7.3"))

    image = etcd_image(cluster, version="v3.7.3", images=IMAGES)
    patch = new_image(body_of(a_pod(etcd=RUNNING)), version="v3.7.3", image=image)

    assert patch["spec"]["containers"] == [{"name": "etcd", "image": container(made_anew)["image"]}]
    assert patch["metadata"]["annotations"][VERSION] == made_anew["metadata"]["annotations"][VERSION]
    assert patch["metadata"]["uid"] == "u-1"


def test_the_process_that_ran_before_a_change_of_image_is_known_until_it_has_ended() -> None:
    before = body_of(a_pod(etcd=RUNNING))
    annotations = new_image(before, version="3.7.3", image="e:v3.7.3")["metadata"]["annotations"]
    later = {"running": {"startedAt": "2026-11-15T12:40:00Z"}}

    assert not before.restarting
    assert body_of(a_pod(annotations=annotations, etcd=RUNNING)).restarting
    assert not body_of(a_pod(annotations=annotations, etcd=later)).restarting
    assert not body_of(a_pod(annotations=annotations, etcd=ended())).restarting


def test_the_same_image_again_restarts_nothing() -> None:
    before = body_of(a_pod(etcd=RUNNING))
    annotations = new_image(before, version="3.6.16", image=before.image)["metadata"]["annotations"]

    assert not body_of(a_pod(annotations=annotations, etcd=RUNNING)).restarting


def test_a_pod_learns_who_it_is_as_one_made_anew_would_know_it() -> None:
    cluster = a_cluster()
    annotations = identified(uid="u-7", identity=IDENTITY)["metadata"]["annotations"]

    assert annotations.items() <= pod_of(cluster, a_returning(cluster))["metadata"]["annotations"].items()


def test_a_pod_that_pulls_an_image_is_never_taken_for_a_member() -> None:
    cluster = a_cluster()
    labels = image_pull(cluster, member=FIRST, node="w1", image="e:v3.7.3")["metadata"]["labels"]

    assert not selector(cluster).items() & labels.items()


def test_a_gate_is_a_condition_of_the_pods_status_with_the_time_of_its_change() -> None:
    now = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
    opened, closed = (gate(uid="u-7", opened=each, now=now) for each in (True, False))

    (condition,) = opened["status"]["conditions"]
    assert (condition["type"], condition["status"]) == (SERVING, "True")
    assert condition["lastTransitionTime"] == "2026-11-15T12:00:00Z"
    assert closed["status"]["conditions"][0]["status"] == "False"
    assert opened["metadata"] == {"uid": "u-7"}


def test_a_claim_is_given_its_owner_as_a_new_one_would_have_it_and_loses_no_other() -> None:
    cluster = a_cluster()
    made = member_claim(cluster, FIRST, wanted=CLAIM)["metadata"]["ownerReferences"]

    assert belonging(cluster, uid="c-1", owned=True)["metadata"]["ownerReferences"] == made
    assert belonging(cluster, uid="c-1", owned=False)["metadata"]["ownerReferences"] == [
        {"$patch": "delete", "uid": cluster.metadata.uid}
    ]


def test_a_larger_disk_is_asked_for_by_its_request_alone() -> None:
    assert requested(uid="c-1", storage="16Gi") == {
        "metadata": {"uid": "c-1"},
        "spec": {"resources": {"requests": {"storage": "16Gi"}}},
    }


def test_a_pod_of_the_old_operator_is_told_what_it_was_made_for() -> None:
    annotations = identified(uid="u-7", identity=IDENTITY, policy="abc")["metadata"]["annotations"]

    assert annotations[POD_POLICY] == "abc"
    assert POD_POLICY not in identified(uid="u-7", identity=IDENTITY)["metadata"]["annotations"]
