"""How long no write got through, member restart by member restart.

A client notices nothing of a restart but the time between two acknowledgements. Each gap belongs to the restart that is
nearest to it, so a run has as many figures as restarts, and a quiet one shows what the machine itself is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def longest(acknowledged: Sequence[float], *, since: float, until: float) -> float:
    """The longest time without an acknowledgement that touches a span; moments in seconds, in their order."""
    touching = [after - before for before, after in pairwise(acknowledged) if after >= since and before <= until]
    if not touching:
        raise ValueError(f"nothing was acknowledged between {since} and {until}")
    return max(touching)


def spans(moments: Sequence[float], *, since: float, until: float) -> list[tuple[float, float]]:
    """A time with several moments in it, cut half-way between each two."""
    ordered = sorted(moments)
    cuts = [(before + after) / 2 for before, after in pairwise(ordered)]
    return list(pairwise([since, *cuts, until])) if ordered else []


def longest_by_restart(
    acknowledged: Sequence[float], restarts: Sequence[float], *, since: float, until: float
) -> tuple[float, ...]:
    found = spans(restarts, since=since, until=until)
    return tuple(longest(acknowledged, since=begin, until=end) for begin, end in found)
