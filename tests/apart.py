"""A call in a thread of its own: a browser leaves an event loop running in the thread of the tests,
beside which no other can run."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def apart(do: Callable[..., Any], *arguments: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(do, *arguments).result()
