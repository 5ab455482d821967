"""What an index holds, what that takes, and whether checking pays (DDD §5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neardup.online.entries import moment
from neardup.online.memory import Memory
from neardup.online.store import Counters


@dataclass
class Checks:
    """How many there were since the index was opened, and how long they took."""

    count: int = 0
    total: float = 0.0

    def add(self, seconds: float) -> None:
        self.count += 1
        self.total += seconds

    @property
    def seconds(self) -> float | None:
        """Of one."""
        return self.total / self.count if self.count else None


def stats_of(
    totals: dict[str, int], memory: Memory, counters: Counters, checks: Checks
) -> dict[str, Any]:
    newest, seconds = counters.newest, checks.seconds
    share = totals["duplicates"] / totals["documents"] if totals["documents"] else 0.0
    return {
        **totals,
        "matchable": len(memory),
        "evidence_bytes": memory.evidence_bytes,
        "postings_bytes": memory.postings_bytes,
        "newest": None if newest is None else moment(newest),
        "checks": checks.count,
        "check_seconds": seconds,
        "duplicate_share": share,
        "pays_from_seconds": seconds / share if seconds and share else None,
    }
