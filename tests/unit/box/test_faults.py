"""A fault stands on one node only, the sender's, so that a packet is diced for once."""

from __future__ import annotations

from box.layout import STORAGE_ADDRESS
from box.network.faults import Fault, between, node_places, ruleset

POD_ON_W1, POD_ON_W2 = "198.19.1.7", "198.19.2.9"


def rules(node: str, *faults: Fault) -> list[str]:
    """The rules of one chain; all three chains have the same."""
    lines = ruleset(node, faults).splitlines()
    if "  chain on_forward {" not in lines:
        return []
    start = lines.index("  chain on_forward {") + 2
    return [line.strip() for line in lines[start : lines.index("  }", start)]]


def test_a_cut_of_two_pods_is_one_rule_on_each_of_their_nodes() -> None:
    both = between(a=(POD_ON_W1,), b=(POD_ON_W2,), percent=100, one_way=False)

    assert rules("w1", *both) == ["ip saddr { 198.19.1.7 } ip daddr { 198.19.2.9 } drop"]
    assert rules("w2", *both) == ["ip saddr { 198.19.2.9 } ip daddr { 198.19.1.7 } drop"]
    assert rules("w3", *both) == []
    assert rules("cp", *both) == []


def test_one_way_leaves_the_way_back_open() -> None:
    there = between(a=(POD_ON_W1,), b=(POD_ON_W2,), percent=100, one_way=True)

    assert len(rules("w1", *there)) == 1
    assert rules("w2", *there) == []


def test_two_pods_on_one_node_have_both_rules_there() -> None:
    both = between(a=(POD_ON_W1,), b=("198.19.1.8",), percent=100, one_way=False)

    assert len(rules("w1", *both)) == 2


def test_loss_is_a_share_of_ten_thousand() -> None:
    assert rules("w1", Fault((POD_ON_W1,), (POD_ON_W2,), 12.5)) == [
        "ip saddr { 198.19.1.7 } ip daddr { 198.19.2.9 } numgen random mod 10000 < 1250 drop"
    ]


def test_a_node_stands_for_itself_and_its_pods() -> None:
    assert node_places("w2") == ("198.18.0.12", "198.19.2.0/24")
    cut = between(a=node_places("w1"), b=node_places("w2"), percent=100, one_way=True)

    assert rules("w1", *cut) == ["ip saddr { 198.18.0.11, 198.19.1.0/24 } ip daddr { 198.18.0.12, 198.19.2.0/24 } drop"]


def test_a_sender_outside_the_nodes_is_met_where_its_packets_arrive() -> None:
    both = between(a=(POD_ON_W1,), b=(STORAGE_ADDRESS,), percent=100, one_way=False)

    assert rules("w1", *both) == [
        "ip saddr { 198.19.1.7 } ip daddr { 198.18.0.2 } drop",
        "ip saddr { 198.18.0.2 } ip daddr { 198.19.1.7 } drop",
    ]
    assert rules("w2", *both) == []


def test_no_faults_leave_no_table() -> None:
    assert ruleset("w1", ()).splitlines() == ["table inet box_faults {}", "delete table inet box_faults"]


def test_a_fault_is_told_in_words() -> None:
    assert Fault((POD_ON_W1,), (POD_ON_W2,), 100).describe() == "cut from 198.19.1.7 to 198.19.2.9"
    assert Fault((POD_ON_W1,), (POD_ON_W2,), 7.5).describe() == "loss of 7.5 % from 198.19.1.7 to 198.19.2.9"
