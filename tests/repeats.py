"""How many examples properties get: few in CI, twenty times as many with ``make long``."""

from __future__ import annotations

import os

from hypothesis import settings

TIMES = int(os.environ.get("NEARDUP_TIMES", "1"))


def examples(count: int) -> settings:
    return settings(max_examples=count * TIMES)
