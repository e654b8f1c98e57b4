"""Which cgroup trees count, on each kind of host."""

from __future__ import annotations

from pathlib import Path

from box.cgroups import hierarchies

UNIFIED = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n"
OLD = """tmpfs /sys/fs/cgroup tmpfs rw 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0
"""
HYBRID = OLD + "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
STRAY = UNIFIED + "cgroup /sys/fs/cgroup/net_cls cgroup rw,net_cls 0 0\n"
ELSEWHERE = UNIFIED + "cgroup2 /run/other/cgroup cgroup2 rw 0 0\ncgroup /mnt/cgroup/memory cgroup rw,memory 0 0\n"


def test_a_unified_host_has_one_tree() -> None:
    assert hierarchies(UNIFIED) == ([Path("/sys/fs/cgroup")], True)


def test_an_old_host_has_a_tree_for_each_controller() -> None:
    assert hierarchies(OLD) == ([Path("/sys/fs/cgroup/cpu,cpuacct"), Path("/sys/fs/cgroup/memory")], False)


def test_on_a_hybrid_host_the_old_trees_count_and_the_new_one_is_cleaned_too() -> None:
    trees, unified = hierarchies(HYBRID)

    assert not unified
    assert trees[-1] == Path("/sys/fs/cgroup/unified")


def test_trees_mounted_elsewhere_are_none_of_ours() -> None:
    assert hierarchies(ELSEWHERE) == ([Path("/sys/fs/cgroup")], True)


def test_a_stray_old_tree_does_not_make_a_new_host_old() -> None:
    assert hierarchies(STRAY) == ([Path("/sys/fs/cgroup")], True)
