"""What a flow has done so far, in numbers and in a line."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from neardup.online.flow.places import DUPLICATE, ORIGINAL, UNREADABLE


@dataclass
class Totals:
    """``lag`` is how long the last item took from its coming to its place; ``waiting`` are items
    that could not be moved yet and are tried again."""

    began: float
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys((ORIGINAL, DUPLICATE, UNREADABLE), 0)
    )
    waiting: int = 0
    lag: float = 0.0
    checked: int = 0
    check_seconds: float = 0.0
    told: int = 0
    told_seconds: float = 0.0

    def count(self, what: str, lag: float) -> None:
        self.counts[what] += 1
        self.lag = max(lag, 0.0)

    @property
    def items(self) -> int:
        return sum(self.counts.values())

    @property
    def share(self) -> float:
        """Of duplicates among what could be read."""
        read = self.counts[ORIGINAL] + self.counts[DUPLICATE]
        return self.counts[DUPLICATE] / read if read else 0.0

    @property
    def pays_from(self) -> float | None:
        """Checking pays where processing an item costs more seconds than this (Montanari &
        Puglisi, section 5: share of duplicates × cost of processing > cost of checking)."""
        if not self.checked or not self.share:
            return None
        return self.check_seconds / self.checked / self.share

    @property
    def pays(self) -> bool | None:
        """Known where a command does the processing."""
        if not self.told or self.pays_from is None:
            return None
        return self.told_seconds / self.told > self.pays_from

    def data(self, now: float) -> dict[str, Any]:
        figures = {name: value for name, value in asdict(self).items() if name not in _INNER}
        seconds = max(now - self.began, 0.0)
        made = {"items": self.items, **self.counts, **figures, "seconds": seconds}
        return made | {"pays_from_seconds": self.pays_from, "pays": self.pays}

    def line(self, now: float) -> str:
        """The live status."""
        rate = self.items / max(now - self.began, 1e-9)
        parts = [
            f"{_counted(self.items, 'item')}, {rate:,.1f}/s",
            *self._counted(),
            f"lag {_span(self.lag)}",
        ]
        return ", ".join([*parts, *self._payment()])

    def _counted(self) -> list[str]:
        said = [_counted(self.counts[what], what) for what in (ORIGINAL, DUPLICATE)]
        said.append(f"{self.counts[UNREADABLE]:,} unreadable")
        return [*said, f"{self.waiting:,} waiting"] if self.waiting else said

    def _payment(self) -> list[str]:
        if self.pays_from is None:
            return []
        if self.pays is None:
            return [f"checking pays where processing an item takes over {_span(self.pays_from)}"]
        verb = "pays" if self.pays else "does not pay"
        cost = _span(self.told_seconds / self.told)
        return [f"checking {verb}: processing takes {cost}, break-even {_span(self.pays_from)}"]

    def sentence(self) -> str:
        return f"{_counted(self.items, 'item')}: {', '.join(self._counted())}"


_INNER = ("began", "counts", "check_seconds", "told_seconds")


def _counted(number: int, name: str) -> str:
    return f"{number:,} {name}{'' if number == 1 else 's'}"


def _span(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 120 else f"{seconds / 60:,.0f} min"
