"""What a setting is recommended for: ``f1``, ``precision=0.99``, ``recall=0.95``."""

from __future__ import annotations

from dataclasses import dataclass

from neardup.errors import SettingsError

WISHES = "f1, precision=0.99 or recall=0.95"


@dataclass(frozen=True)
class Wish:
    """``measure`` is "f1", "precision" or "recall"; the latter are to be ``least`` or more."""

    measure: str = "f1"
    least: float | None = None

    @classmethod
    def parse(cls, written: str) -> Wish:
        measure, equals, value = written.strip().lower().partition("=")
        try:
            least = float(value) if equals else None
        except ValueError:
            least = None
        needs_value = measure in ("precision", "recall")
        if measure == "f1" and not equals:
            return cls()
        if not needs_value or least is None or not 0 < least <= 1:
            raise SettingsError(f"recommend is {written!r}.", hint=f"expected {WISHES}.")
        return cls(measure, least)

    def __str__(self) -> str:
        if self.least is None:
            return "the highest F1"
        return f"{self.measure} of {self.least:g} or more"

    @property
    def other(self) -> str:
        """What is made as high as possible where the wish is met."""
        return {"f1": "f1", "precision": "recall", "recall": "precision"}[self.measure]
