"""A run as the parts of its report see it: the result, what ``run.json`` says, and how to count."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.outputs.report.columns import Coded, coded, decision_codes
from neardup.outputs.result import Counts, Result
from neardup.schema import Array


@dataclass(frozen=True)
class Run:
    """``info`` may say more than that of the result: which files were written. ``groups`` are the
    values of a column that was asked for. ``references``: whether to look for their texts, for
    which all of them may have to be read."""

    result: Result
    info: dict[str, Any]
    by: str | None = None
    groups: Coded | None = None
    references: bool = False

    @property
    def counts(self) -> Counts:
        return self.result.counts

    @property
    def settings(self) -> dict[str, Any]:
        found: dict[str, Any] = self.info["settings"]
        return found

    @functools.cached_property
    def decision(self) -> Array:
        return decision_codes(self.result.decisions)

    @functools.cached_property
    def grouped(self) -> tuple[str, Coded]:
        """By what the shares are told: the column asked for, else inputs, else files."""
        if self.groups is not None:
            return str(self.by), self.groups
        for name in ("source", "file"):
            found = coded(self.result.decisions[name])
            if len(np.unique(found.codes)) > 1:
                return name, found
        return "source", coded(self.result.decisions["source"])

    @property
    def removed(self) -> bool:
        """Whether the run wrote what it kept; ``find`` does not."""
        return bool(self.info.get("kept_files")) and "annotated" not in self.info
