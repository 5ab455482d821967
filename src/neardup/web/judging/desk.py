"""What the pages of judging and evaluation stand on: the runs, and the folder of judgements."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.evaluation.judged_folder import DRAWN, SUGGESTED, JudgedFolder, judging_folder
from neardup.evaluation.sampling import Key, draw
from neardup.evaluation.strata import draw_pairs
from neardup.web.judging.suggesting import suggested

if TYPE_CHECKING:
    from neardup.outputs.result import Result


class Desk:
    """``runs`` by name, the one that is looked at first; the others are compared with it. They are
    read when they are needed; a store of an index may stand for a run."""

    def __init__(self, runs: Mapping[str, Path]) -> None:
        self.runs = dict(runs)
        self.folder = JudgedFolder(judging_folder(next(iter(self.runs.values()))))
        self._results: dict[str, Result] = {}
        self._digests: dict[str, str] = {}
        self._lock = threading.Lock()

    @classmethod
    def of(cls, target: Path, others: tuple[Path, ...] = ()) -> Desk:
        return cls(_named([target, *others]))

    @property
    def name(self) -> str:
        return next(iter(self.runs))

    def results(self) -> dict[str, Result]:
        with self._lock:
            for name, path in self.runs.items():
                if name not in self._results:
                    self._results[name] = _result(path)
            return dict(self._results)

    def key(self, sample: str) -> Key:
        """Of a sample. A run that was moved since is called as it is now."""
        results = self.results()
        digests = {self._digest(name, one): name for name, one in results.items()}
        key = self.folder.key(sample)
        treatments = tuple(
            one
            if one.name in results
            else replace(one, name=digests.get(one.digest or "", one.name))
            for one in key.treatments
        )
        return replace(key, treatments=treatments)

    def is_current(self, sample: str) -> bool:
        """Whether the runs that it was drawn from are still what they were, as far as known."""
        results = self.results()
        return all(
            one.digest in (None, self._digest(one.name, results[one.name]))
            for one in self.key(sample).treatments
            if one.name in results
        )

    def _digest(self, name: str, result: Result) -> str:
        if name not in self._digests:
            self._digests[name] = draw_pairs(result, 1, 1, "").digest()
        return self._digests[name]

    def draw(self, wanted: int, strata: int, seed: int) -> str:
        """The name of the sample; the same wishes find the same sample again."""
        return self.folder.add(draw(self.results(), wanted, strata=strata, seed=seed), DRAWN)

    def suggest(self, wanted: int) -> str:
        return self.folder.add(suggested(self.results(), self.folder, wanted), SUGGESTED)


def _result(path: Path) -> Result:
    """A folder is a run, a file the store of an index."""
    from neardup.evaluation.indexed import result_of_index
    from neardup.outputs.result import Result

    return Result.load(path) if path.is_dir() else result_of_index(str(path))


def _named(runs: Sequence[Path]) -> dict[str, Path]:
    """By the names of their folders, wherever they are called from: samples are drawn by them."""
    found: dict[str, Path] = {}
    for path in runs:
        name, number = path.resolve().name or str(path), 2
        while name in found:
            name, number = f"{path.resolve().name} ({number})", number + 1
        found[name] = path
    return found
