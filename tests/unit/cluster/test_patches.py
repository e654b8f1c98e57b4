from __future__ import annotations

from etcd_operator.cluster.image_pull import image_pull
from etcd_operator.cluster.images import etcd_image
from etcd_operator.cluster.names import selector
from etcd_operator.cluster.patches import identified, new_image
from tests.unit.cluster.clusters import FIRST, IDENTITY, IMAGES, a_cluster, a_returning, container, pod_of


def test_a_pod_gets_the_image_and_the_note_that_a_new_one_would_have() -> None:
    cluster = a_cluster(repository="mirror.test/etcd")
    made_anew = pod_of(cluster, a_returning(cluster, "v3.7.3"))

    patch = new_image(uid="u-7", version="v3.7.3", image=etcd_image(cluster, version="v3.7.3", images=IMAGES))

    assert patch["spec"]["containers"] == [{"name": "etcd", "image": container(made_anew)["image"]}]
    assert patch["metadata"]["annotations"].items() <= made_anew["metadata"]["annotations"].items()
    assert patch["metadata"]["uid"] == "u-7"


def test_a_pod_learns_who_it_is_as_one_made_anew_would_know_it() -> None:
    cluster = a_cluster()
    annotations = identified(uid="u-7", identity=IDENTITY)["metadata"]["annotations"]

    assert annotations.items() <= pod_of(cluster, a_returning(cluster))["metadata"]["annotations"].items()


def test_a_pod_that_pulls_an_image_is_never_taken_for_a_member() -> None:
    cluster = a_cluster()
    labels = image_pull(cluster, member=FIRST, node="w1", image="e:v3.7.3")["metadata"]["labels"]

    assert not selector(cluster).items() & labels.items()
