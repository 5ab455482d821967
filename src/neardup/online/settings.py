"""The settings of an index as written, and the method that they name."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.combined import one_or_any
from neardup.methods.method import Method
from neardup.online.rule import KEPT, SEEN
from neardup.plan import Settings, resolve

DEFAULT_METHOD = registry.DEFAULT


@dataclass(frozen=True)
class IndexSettings:
    """As written; None: as stored, or the usual. ``set`` are parameters of the method by name. Of
    several methods one is enough."""

    method: str | Method | Sequence[str | Method] | None = None
    threshold: float | str | None = None
    set: dict[str, Any] = field(default_factory=dict)
    text: str | None = None
    id: str | None = None
    date: str | None = None
    window: str | None = None
    against: str | None = None
    artefacts: Any = None
    run: str | Path | None = None
    texts: bool | None = None
    within: str | None = None
    source: str | None = None
    kinds: bool | None = None
    memory: str | int | None = None

    @classmethod
    def of(cls, given: dict[str, Any]) -> IndexSettings:
        """Keyword arguments; those that are no settings are parameters of the method."""
        names = {one.name for one in dataclasses.fields(cls)}
        ours = {name: value for name, value in given.items() if name in names}
        others = {name: value for name, value in given.items() if name not in names}
        return cls(**{**ours, "set": {**ours.get("set", {}), **others}})

    def against_what(self) -> str:
        written = self.against or KEPT
        if written not in (KEPT, SEEN):
            raise SettingsError(f"against is {written!r}.", hint=f"expected {KEPT} or {SEEN}.")
        return written

    def asked(self, base: Method | None) -> Method:
        """The method, checked by the same rules as those of a run; without one it is ``base``."""
        method = one_or_any(self.method) if self.method is not None else base or DEFAULT_METHOD
        if base is not None and method == base.name:
            method = base
        plan = resolve(
            Settings(
                method=method,
                threshold=self.threshold,
                set=self.set,
                date=self.date,
                text=self.text or "text",
                within=self.within,
            )
        )
        if plan.planted_cut and self.artefacts is None and self.run is None:
            raise SettingsError(
                "threshold is 'auto', but an index has no collection that could say where to cut.",
                hint="build it from documents with `neardup index build`, or give a run's folder.",
            )
        return plan.method
