"""How a process ends: asked to by a signal, in good order and in time.

The first SIGTERM or SIGINT cancels the work, which finishes the step under way and gives the lease back. It has twenty
seconds for that, of the thirty that Kubernetes gives a pod. A second signal is a person who does not want to wait.
Everything else that ends the work is a failure and says so with exit code 1, so that Kubernetes starts it anew.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

log = logging.getLogger(__name__)

SECONDS = 20.0
SIGNALS = (signal.SIGTERM, signal.SIGINT)


def run(
    work: Callable[[], Coroutine[Any, Any, None]],
    *,
    expected: tuple[type[Exception], ...] = (),
    seconds: float = SECONDS,
) -> int:
    """Works until that ends or a signal comes, and returns the exit code.

    An `expected` error is told by its own sentence, any other one with its traceback.
    """
    return asyncio.run(_supervised(work, expected, seconds))


async def _supervised(
    work: Callable[[], Coroutine[Any, Any, None]], expected: tuple[type[Exception], ...], seconds: float
) -> int:
    working = asyncio.create_task(work(), name="work of the process")
    asked = _listen(working, seconds)
    try:
        await working
    except asyncio.CancelledError:
        if not asked.is_set():
            raise
        log.info("Ended in good order")
        return 0
    except expected as error:
        log.error("%s", error)
        return 1
    except Exception:
        log.exception("The process ends, as it has met something that nobody expected")
        return 1
    return 0


def _listen(working: asyncio.Task[None], seconds: float) -> asyncio.Event:
    """Sets the event that is returned when a signal has come."""
    loop, asked = asyncio.get_running_loop(), asyncio.Event()

    def heard(number: signal.Signals) -> None:
        if asked.is_set():
            _leave(f"{number.name} once more: the process ends at once, and the lease is left to expire", 128 + number)
        asked.set()
        log.info("%s: the step under way is finished, within %g s, then the process ends", number.name, seconds)
        loop.call_later(seconds, _leave, f"Not everything was finished within {seconds:g} s; the process ends", 1)
        working.cancel()

    for number in SIGNALS:
        loop.add_signal_handler(number, heard, number)
    return asked


def _leave(sentence: str, code: int) -> NoReturn:
    log.warning(sentence)
    logging.shutdown()
    os._exit(code)
