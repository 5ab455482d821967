"""What the pages of judging and evaluation stand on: the runs, and the folder of judgements."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.evaluation.judged_folder import DRAWN, SUGGESTED, JudgedFolder, judging_folder
from neardup.evaluation.sampling import draw
from neardup.web.judging.suggesting import suggested

if TYPE_CHECKING:
    from neardup.outputs.result import Result


class Desk:
    """``runs`` by name, the one that is looked at first; the others are compared with it. They are
    read when they are needed."""

    def __init__(self, runs: Mapping[str, Path]) -> None:
        self.runs = dict(runs)
        self.folder = JudgedFolder(judging_folder(next(iter(self.runs.values()))))
        self._results: dict[str, Result] = {}
        self._lock = threading.Lock()

    @classmethod
    def of(cls, target: Path, others: tuple[Path, ...] = ()) -> Desk:
        return cls({str(one): one for one in (target, *others)})

    @property
    def name(self) -> str:
        return next(iter(self.runs))

    def results(self) -> dict[str, Result]:
        from neardup.outputs.result import Result

        with self._lock:
            for name, path in self.runs.items():
                if name not in self._results:
                    self._results[name] = Result.load(path)
            return dict(self._results)

    def draw(self, wanted: int, strata: int, seed: int) -> str:
        """The name of the sample; the same wishes find the same sample again."""
        return self.folder.add(draw(self.results(), wanted, strata=strata, seed=seed), DRAWN)

    def suggest(self, wanted: int) -> str:
        return self.folder.add(suggested(self.results(), self.folder, wanted), SUGGESTED)
