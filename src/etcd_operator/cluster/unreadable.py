"""The status of a cluster whose spec makes no sense: everything that was known, and that nothing is done about it.

Above all what the operation under way needs is kept: once the spec can be read again, it goes on from there.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from etcd_operator.api.cluster import ClusterStatus
from etcd_operator.api.condition import Condition
from etcd_operator.api.reading import Unreadable, salvaged


def sentence(found: Unreadable) -> str:
    return f"{found.field}: {found.message}. The members stay as they are; correct the field."


def invalid(found: Unreadable, *, stored: object, now: datetime) -> ClusterStatus:
    before = salvaged(stored, ClusterStatus)
    known = {condition.type: condition for condition in before.conditions or ()}
    ready = known.get("Ready")
    since = ready.last_transition_time if ready and ready.status == "False" else None
    known["Ready"] = Condition(
        type="Ready",
        status="False",
        observed_generation=found.metadata.generation,
        last_transition_time=since or now.replace(microsecond=0),
        reason="InvalidSpec",
        message=sentence(found),
    )
    return msgspec.structs.replace(
        before, observed_generation=found.metadata.generation, conditions=tuple(known[name] for name in sorted(known))
    )
