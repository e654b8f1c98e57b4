from __future__ import annotations

from etcd_operator.api.cluster_names import CLUSTER_UID, IDENTITY
from etcd_operator.cluster.caches import cluster_uids
from etcd_operator.cluster.disks import disk_of, pull_of
from etcd_operator.cluster.identity import written
from etcd_operator.cluster.image_pull import image_pull_name, member_of
from etcd_operator.plan.view import Identity
from tests.unit.cluster.clusters import FIRST, UID
from tests.unit.cluster.pods import a_claim, a_pod, ended

OWNED = [{"kind": "EtcdCluster", "name": "demo", "uid": UID}]


def test_a_claim_tells_whose_it_is_by_its_owner_or_by_its_label() -> None:
    assert [*cluster_uids(a_claim(ownerReferences=OWNED))] == [UID]
    assert [*cluster_uids(a_claim(labels={CLUSTER_UID: UID}))] == [UID]
    assert [*cluster_uids(a_claim())] == []


def test_a_disk_is_what_its_claim_says() -> None:
    identity = Identity(cluster_id=1, member_id=2)
    found = disk_of(a_claim(ownerReferences=OWNED, annotations={IDENTITY: written(identity)}), cluster_uid=UID)

    assert (found.name, found.uid, found.owned, found.requested) == ("demo-a", "c-1", True, "8Gi")
    assert (found.identity, found.deleting, found.lost) == (identity, False, False)


def test_a_claim_whose_volume_is_gone_is_lost() -> None:
    assert disk_of(a_claim(phase="Lost"), cluster_uid=UID).lost
    assert not disk_of(a_claim(phase="Pending"), cluster_uid=UID).lost


def test_a_pull_is_done_when_its_pod_has_ended_well_and_in_trouble_when_it_has_not() -> None:
    assert pull_of(a_pod(phase="Succeeded", etcd=ended("", code=0))).done
    assert pull_of(a_pod(phase="Succeeded")).trouble == ""
    failed = pull_of(a_pod(phase="Failed", etcd=ended("exec format error")))
    assert (failed.done, failed.trouble) == (False, "Failed: exec format error")
    waiting = {"waiting": {"reason": "ErrImagePull", "message": "not found"}}
    assert pull_of(a_pod(etcd=waiting)).trouble == "ErrImagePull: not found"


def test_a_pull_is_for_the_member_that_it_is_named_after() -> None:
    assert member_of(image_pull_name(FIRST)) == FIRST
