from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from etcd_operator.kube.lease import LeaseLostError, Times, unique_identity
from tests.unit.kube.candidate import TIMES, Candidate, an_election
from tests.unit.kube.register import Register, Wire
from tests.unit.kube.virtual_time import in_virtual_time, now


@asynccontextmanager
async def candidates(register: Register, *identities: str) -> AsyncIterator[list[Candidate]]:
    """Each a second after the one before."""
    made = []
    for identity in identities:
        made.append(Candidate(Wire(register), identity))
        await asyncio.sleep(1)
    try:
        yield made
    finally:
        for candidate in made:
            await candidate.stop()


def test_one_leads_and_the_other_waits() -> None:
    async def story() -> None:
        register = Register()
        async with candidates(register, "a", "b") as (a, b):
            await asyncio.sleep(600)
            assert a.leads
            assert not b.leads
            assert b.election.holder == "a"
            assert set(register.writers) == {"a"}
            assert register.spec["leaseTransitions"] == 0

    in_virtual_time(story())


def test_a_lease_given_back_is_taken_at_the_next_try() -> None:
    async def story() -> None:
        register = Register()
        async with candidates(register, "a", "b") as (a, b):
            await asyncio.sleep(60)
            await a.stop()
            assert register.spec["holderIdentity"] == ""
            await asyncio.sleep(TIMES.retry * 1.2)
            assert b.leads
            assert register.spec["leaseTransitions"] == 1

    in_virtual_time(story())


def test_a_lease_is_given_back_also_if_a_renewal_was_on_its_way() -> None:
    async def story() -> None:
        register = Register()
        async with candidates(register, "a") as (a,):
            await asyncio.sleep(60)
            a.wire.back = 1.0
            renewals = len(register.writers)
            while len(register.writers) == renewals:  # noqa: ASYNC110 - until a renewal has arrived
                await asyncio.sleep(0.1)
            a.wire.back = 0.0
            await a.stop()
            assert register.spec["holderIdentity"] == ""

    in_virtual_time(story())


def test_a_dead_holder_is_followed_after_the_duration_and_not_before() -> None:
    async def story() -> None:
        register = Register()
        async with candidates(register, "a", "b") as (a, b):
            await asyncio.sleep(60)
            a.wire.cut_there = True
            died = now()
            await asyncio.sleep(60)
            assert b.leads
            assert not a.leads
            assert b.begun is not None
            # The last renewal was up to a try before the death, and b tries as rarely.
            assert TIMES.duration - 1.2 * TIMES.retry <= b.begun - died <= TIMES.duration + 1.2 * TIMES.retry

    in_virtual_time(story())


def test_a_holder_without_an_answer_ends_its_work_before_another_can_begin() -> None:
    async def story() -> None:
        register = Register()
        async with candidates(register, "a", "b") as (a, b):
            await asyncio.sleep(60)
            a.wire.there = 1000.0
            silent_since = now()
            await asyncio.sleep(60)
            assert "could not be renewed within 10.0 s" in a.lost
            assert a.ended is not None
            assert b.begun is not None
            assert a.ended <= silent_since + TIMES.renewal
            assert a.ended < b.begun

    in_virtual_time(story())


def test_an_answer_lost_on_the_way_back_does_not_cost_the_lease() -> None:
    async def story() -> None:
        register = Register()
        async with candidates(register, "a") as (a,):
            await asyncio.sleep(10)
            a.wire.cut_back = True
            await asyncio.sleep(5)
            a.wire.cut_back = False
            await asyncio.sleep(60)
            assert a.leads
            assert register.spec["leaseTransitions"] == 0

    in_virtual_time(story())


def test_a_rival_in_the_record_ends_the_work_at_once() -> None:
    async def story() -> None:
        register = Register()
        async with candidates(register, "a") as (a,):
            await asyncio.sleep(10)
            lease = register.read()
            register.write({**lease, "spec": {**lease["spec"], "holderIdentity": "thief"}})
            await asyncio.sleep(TIMES.retry * 1.2)
            assert "it is held by thief now" in a.lost
            assert not a.leads
            assert register.spec["holderIdentity"] == "thief"

    in_virtual_time(story())


def test_what_others_write_beside_the_record_stays_and_costs_nothing() -> None:
    async def story() -> None:
        register = Register()
        async with candidates(register, "a") as (a,):
            await asyncio.sleep(10)
            lease = register.read()
            register.write({**lease, "metadata": {**lease["metadata"], "labels": {"team": "storage"}}})
            await asyncio.sleep(60)
            assert a.leads
            assert register.read()["metadata"]["labels"] == {"team": "storage"}
            assert register.spec["leaseTransitions"] == 0

    in_virtual_time(story())


def test_a_lease_that_somebody_deleted_is_made_again() -> None:
    async def story() -> None:
        register = Register()
        async with candidates(register, "a") as (a,):
            await asyncio.sleep(10)
            register.lease = None
            await asyncio.sleep(60)
            assert a.leads
            assert register.spec["holderIdentity"] == "a"

    in_virtual_time(story())


def test_a_label_written_by_a_person_does_not_prolong_the_life_of_a_dead_holder() -> None:
    async def story() -> None:
        register = Register()
        async with candidates(register, "a", "b") as (a, b):
            await asyncio.sleep(60)
            a.wire.cut_there = True
            for _ in range(20):
                await asyncio.sleep(1)
                lease = register.read()
                register.write({**lease, "metadata": {**lease["metadata"], "labels": {"at": str(now())}}})
            assert b.leads

    in_virtual_time(story())


def test_the_duration_of_the_holder_counts_and_not_that_of_the_candidate() -> None:
    async def story() -> None:
        register = Register()
        register.write(
            {
                "metadata": {"name": "etcd-operator", "namespace": "ns"},
                "spec": {"holderIdentity": "patient", "leaseDurationSeconds": 100, "renewTime": None},
            }
        )
        async with candidates(register, "b") as (b,):
            await asyncio.sleep(98)
            assert not b.leads
            await asyncio.sleep(10)
            assert b.leads

    in_virtual_time(story())


def test_the_times_in_the_record_are_not_believed() -> None:
    async def story() -> None:
        register = Register()
        register.write(
            {
                "metadata": {"name": "etcd-operator", "namespace": "ns"},
                "spec": {
                    "holderIdentity": "slow-clock",
                    "leaseDurationSeconds": 15,
                    "renewTime": "1999-01-01T00:00:00.000000Z",
                },
            }
        )
        async with candidates(register, "b") as (b,):
            await asyncio.sleep(13)
            assert not b.leads, "it has watched for less than the duration"

    in_virtual_time(story())


def test_the_fence_is_counted_from_before_the_call() -> None:
    async def story() -> None:
        register = Register()
        a = Candidate(Wire(register, there=1.0, back=1.0), "a")
        await asyncio.sleep(3.05)
        assert a.leads, "one second to learn that there is no lease, and two to make it"
        assert a.election.still_ours(margin=12.9)
        assert not a.election.still_ours(margin=13.0), "the second call began 2.05 s ago"
        await a.stop()

    in_virtual_time(story())


def test_the_margin_is_time_that_the_lease_is_still_ours_for() -> None:
    async def story() -> None:
        async with candidates(Register(), "a") as (a,):
            assert a.election.still_ours(margin=13.9)
            assert not a.election.still_ours(margin=14.0), "it is one second old"

    in_virtual_time(story())


def test_nothing_is_ours_before_the_lease_and_after_the_work() -> None:
    async def story() -> None:
        election = an_election(Wire(Register()), "a")
        assert not election.still_ours()

        async def work() -> str:
            assert election.still_ours()
            return "done"

        assert await election.lead(work) == "done"
        assert not election.still_ours()

    in_virtual_time(story())


def test_work_that_fails_gives_the_lease_back_and_its_failure_on() -> None:
    async def story() -> None:
        register = Register()

        async def work() -> None:
            raise OSError("the disk is full")

        with pytest.raises(OSError, match="the disk is full"):
            await an_election(Wire(register), "a").lead(work)
        assert register.spec["holderIdentity"] == ""

    in_virtual_time(story())


def test_the_lease_is_kept_while_the_work_comes_to_its_end() -> None:
    async def story() -> None:
        register = Register()
        ended: list[float] = []

        async def work() -> None:
            try:
                await asyncio.sleep(1000)
            finally:
                await asyncio.sleep(100)
                ended.append(now())

        election = an_election(Wire(register), "a")
        leading = asyncio.create_task(election.lead(work))
        await asyncio.sleep(10)
        leading.cancel()
        await asyncio.sleep(99)
        assert election.still_ours()
        await asyncio.wait({leading})
        assert ended == [110]
        assert register.spec["holderIdentity"] == ""

    in_virtual_time(story())


def test_work_that_does_not_end_after_a_loss_is_not_waited_for_beyond_the_duration(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        wire = Wire(Register())

        async def work() -> None:
            try:
                await asyncio.sleep(10**6)
            finally:
                await asyncio.sleep(10**6)

        election = an_election(wire, "a")
        leading = asyncio.create_task(election.lead(work))
        await asyncio.sleep(10)
        cut = now()
        wire.cut_there = True
        with pytest.raises(LeaseLostError):
            await leading
        assert now() - cut <= TIMES.duration
        assert wire.register.spec["holderIdentity"] == "a", "it was not given back"

    in_virtual_time(story())

    assert "The work goes on although it was cancelled" in caplog.text


@pytest.mark.parametrize("wrong", [{"renewal": 15.0}, {"retry": 9.0}, {"duration": 10}, {"retry": 0.0}], ids=str)
def test_times_that_do_not_fit_into_each_other_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must fit"):
        Times(**wrong)  # type: ignore[arg-type]


def test_two_processes_of_one_pod_have_different_names() -> None:
    assert unique_identity("pod-1").startswith("pod-1_")
    assert unique_identity("pod-1") != unique_identity("pod-1")
