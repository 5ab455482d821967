"""How often one client may ask: a bucket of tokens for each, filled at a steady rate."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

CLIENTS = 10_000  # remembered; beyond it those that were quiet longest are forgotten


class Rate:
    """``per_second`` on the long run, ``burst`` at once."""

    def __init__(
        self, per_second: float, *, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.per_second, self.burst = per_second, burst
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, since when

    def wait(self, client: str) -> float:
        """Takes a token: 0.0. Where there is none: seconds until there is one."""
        now = self._clock()
        tokens, since = self._left.pop(client, (self.burst, now))
        tokens = min(self.burst, tokens + (now - since) * self.per_second)
        taken = tokens >= 1
        self._left[client] = (tokens - taken, now)
        if len(self._left) > CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if taken else (1 - tokens) / self.per_second
