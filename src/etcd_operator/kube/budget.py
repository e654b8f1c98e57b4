"""How many requests a client may send, so that an operator gone wild cannot take the API server with it.

A bucket of tokens that refills steadily. Whoever comes takes the next token, also when it is still to be made, and is
told how long to wait for it; so the order is that of coming, nobody is overtaken, and a wait that would outlast the
caller's deadline is refused at once instead of sat through. The clock is the caller's: nothing here sleeps.

The defaults are far above what hundreds of busy clusters need, and below what keeps an API server's two cores busy.
"""

from __future__ import annotations

PER_SECOND = 500.0
BURST = 1000


class Budget:
    """Tokens of one client, or of several that share it."""

    def __init__(self, *, per_second: float = PER_SECOND, burst: int = BURST) -> None:
        if not (per_second > 0 and burst >= 1):
            raise ValueError(f"a budget of {per_second} requests a second and {burst} at once lets nothing through")
        self._interval = 1 / per_second
        self._slack = self._interval * (burst - 1)
        self._next = float("-inf")  # when the next token would be there if none were kept

    def take(self, *, now: float, at_most: float = float("inf")) -> float | None:
        """Seconds until the request may go; None, and no token is taken, if that is more than `at_most`."""
        due = max(self._next, now - self._slack)
        wait = max(0.0, due - now)
        if wait > at_most:
            return None
        self._next = due + self._interval
        return wait
