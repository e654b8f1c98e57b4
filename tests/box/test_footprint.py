"""What an idle box costs, with generous bounds; the figures are printed and belong into the notes of a release."""

from __future__ import annotations

import time

from box import resource_usage
from tests.box.driving import Box


def test_an_idle_box_leaves_the_machine_to_the_tests(box: Box) -> None:
    time.sleep(5)
    cores = resource_usage.cores(box.layout, 20)
    memory = resource_usage.memory(box.layout)
    print(f"{cores:.2f} cores, {sum(memory.values()) / 1e6:.0f} MB: {memory}")

    assert sum(memory.values()) < 1.1e9
    assert cores < 0.6, "0.2 of a core on a quiet machine"
