"""What the tests expect of calls: a refusal for a reason, or an answer that comes in the end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from etcd_operator.etcd.errors import Reason, RefusedError, UnknownOutcomeError
from etcd_operator.etcd.member import Member
from etcd_operator.etcd.results import MemberList

T = TypeVar("T")
PATIENCE = 60.0


async def refused(call: Awaitable[object], reason: Reason) -> None:
    with pytest.raises(RefusedError) as refusal:
        await call
    assert refusal.value.reason is reason


async def ends_of(calls: Sequence[Awaitable[object]]) -> list[object]:
    """All at once; what each gave back or raised."""
    return list(await asyncio.gather(*calls, return_exceptions=True))


async def output_of(*command: str | Path, cwd: Path | None = None) -> str:
    """Of a program that must succeed."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        output, errors = await asyncio.wait_for(process.communicate(), 2 * PATIENCE)
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, errors.decode()
    return output.decode()


async def eventually(
    question: Callable[[], Awaitable[T]],
    *,
    until: Callable[[T], bool] = lambda answer: True,
    but: tuple[type[Exception], ...] = (),
    within: float = PATIENCE,
) -> T:
    """Asks again until the answer is the one waited for; exceptions in `but` mean: not yet."""
    deadline = time.monotonic() + within
    while True:
        try:
            answer = await question()
            if until(answer):
                return answer
            reason: Exception = AssertionError(f"still {answer!r} after {within:.0f} s")
        except but as error:
            reason = error
        if time.monotonic() > deadline:
            raise reason
        await asyncio.sleep(0.05)


async def members_after(
    change: Callable[[], Awaitable[object]], member: Member, *, shows: Callable[[MemberList], bool]
) -> MemberList:
    """Changes the members until their list shows it, as whoever changes them twice in a row must.

    Raft drops a change without a word while the one before is not applied in it, and that is a moment later than the
    answer to the one before. The client then says that the outcome is unknown, and only a look tells.
    """
    while not shows(listed := await member.member_list()):
        with contextlib.suppress(UnknownOutcomeError):
            await change()
    return listed


async def once_let(change: Callable[[], Awaitable[T]], *, not_yet: Reason) -> T:
    """Tries a change again for as long as it is refused for that one reason."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return await change()
        except RefusedError as refusal:
            if refusal.reason is not not_yet or time.monotonic() > deadline:
                raise
        await asyncio.sleep(0.05)
