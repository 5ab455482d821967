"""Work that takes longer than a page may: done once for each state of the labels, one at a time."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from neardup.errors import NeardupError

LOG = logging.getLogger("neardup.web")
MOST = 32  # names whose outcome is kept
COMPUTING, READY, FAILED = "computing", "ready", "failed"


@dataclass(frozen=True)
class Outcome:
    state: str
    value: Any = None
    reason: str | None = None

    def data(self) -> dict[str, Any]:
        return {"state": self.state, "value": self.value, "reason": self.reason}


class Background:
    """Of each name the latest outcome is kept. Threads end with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._known: dict[str, tuple[str, Outcome]] = {}
        self._threads: set[threading.Thread] = set()

    def ask(self, name: str, state: str, compute: Callable[[], Any]) -> Outcome:
        """What ``compute`` gives for this state, or that it is being computed."""
        with self._lock:
            known = self._known.get(name)
            if known and known[0] == state:
                return known[1]
            begun = Outcome(COMPUTING)
            self._known.pop(name, None)
            self._known[name] = state, begun
            if len(self._known) > MOST:
                del self._known[next(iter(self._known))]
            thread = threading.Thread(target=self._run, args=(name, state, compute), daemon=True)
            self._threads.add(thread)
            thread.start()
            return begun

    def _run(self, name: str, state: str, compute: Callable[[], Any]) -> None:
        with self._turn:
            wanted = self._known.get(name, ("",))[0] == state  # else newer labels have come
            outcome = _outcome(compute) if wanted else Outcome(COMPUTING)
        with self._lock:
            if self._known.get(name, ("",))[0] == state:
                self._known[name] = state, outcome
            self._threads.discard(threading.current_thread())

    def wait(self) -> None:
        """Until nothing is being computed."""
        for thread in list(self._threads):
            thread.join()


def _outcome(compute: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(READY, compute())
    except NeardupError as error:
        return Outcome(FAILED, reason=str(error))
    except Exception as error:
        LOG.exception("an evaluation failed")
        return Outcome(FAILED, reason=f"Unexpected {type(error).__name__}: see the log.")
