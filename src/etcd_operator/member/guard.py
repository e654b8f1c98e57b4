"""From the pod's settings to etcd's start, or to the reason against it.

The disk comes first, because what it says against a start is final while DNS and peers may come; the marker comes last,
because it says that etcd was let in.

Who is to ask peers is loaded when there are some to ask: TLS and HTTP are a quarter of what a start costs.
"""

from __future__ import annotations

from collections.abc import Mapping

from etcd_operator.member import settings as pod
from etcd_operator.member.disk import look, own_marker, write_marker
from etcd_operator.member.own_name import wait_for_own_name
from etcd_operator.member.refusal import Reason, Refusal
from etcd_operator.member.settings import Settings, SettingsError
from etcd_operator.member.verdict import Start, Verdict, WaitForListing, judge
from etcd_operator.member.waiting import Journal


def guard(environment: Mapping[str, str]) -> Start | Refusal:
    try:
        settings = pod.read(environment)
    except SettingsError as error:
        return Refusal(Reason.BAD_SETTINGS, f"{error}. This pod cannot start as it was made.")
    journal = Journal()
    verdict = _look_and_judge(settings)
    if isinstance(verdict, Refusal):
        return verdict
    if (refusal := wait_for_own_name(settings, journal)) is not None:
        return refusal
    outcome = _listed(settings, journal) if isinstance(verdict, WaitForListing) else verdict
    if isinstance(outcome, Refusal):
        return outcome
    return _mark(settings) or outcome


def _listed(settings: Settings, journal: Journal) -> Start | Refusal:
    from etcd_operator.member.peers import wait_for_listing  # noqa: PLC0415 - see above

    return wait_for_listing(settings, journal)


def _look_and_judge(settings: Settings) -> Verdict:
    try:
        return judge(look(settings), settings)
    except OSError as error:
        return _unusable(settings, error)


def _mark(settings: Settings) -> Refusal | None:
    """A marker that is there is ours: any other was refused."""
    try:
        if not settings.marker.exists():
            write_marker(settings.marker, own_marker(settings))
    except OSError as error:
        return _unusable(settings, error)
    return None


def _unusable(settings: Settings, error: OSError) -> Refusal:
    return Refusal(
        Reason.DISK_UNUSABLE,
        f"The volume of {settings.member} cannot be used: {error.strerror} ({error.filename or settings.marker}). "
        "etcd could not use it either and stays off.",
    )
