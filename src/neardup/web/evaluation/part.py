"""The part of evaluation: one page about a run, from the labels that people gave its pairs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter

from neardup.evaluation.agreement import Verdicts, verdicts
from neardup.evaluation.judged_curve import by_stratum, curve, found_by, judged_of, kind_table
from neardup.evaluation.judged_folder import DRAWN
from neardup.evaluation.labels import LABELS, UNDECIDED, Label, Pair
from neardup.evaluation.wish import Wish
from neardup.schema import KINDS
from neardup.web.app import Link
from neardup.web.evaluation import figures
from neardup.web.evaluation.background import Background
from neardup.web.evaluation.learning import learned
from neardup.web.evaluation.recommending import recommended
from neardup.web.judging.desk import Desk
from neardup.web.judging.results import measured
from neardup.web.judging.suggesting import labelled_of, missing_labels
from neardup.web.judging.training_hint import train_command
from neardup.web.pages import Data, Pages

WISHES = ("f1", "precision=0.9", "precision=0.95", "precision=0.99", "recall=0.9", "recall=0.95")


class Evaluating:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.background = Background()

    @property
    def links(self) -> Sequence[Link]:
        return [Link("/evaluation", "Evaluation")]

    def router(self, pages: Pages) -> APIRouter:
        router = APIRouter()
        pages.add(router, "/evaluation", "evaluation/evaluation.html", self.evaluation)
        return router

    def open(self) -> None:
        pass

    def close(self) -> None:
        pass

    def evaluation(self, wish: str = "f1") -> Data:
        Wish.parse(wish)  # refuses what is none
        word = verdicts(self.desk.folder.labels())
        drawn = [name for name in self.desk.folder.samples() if name.startswith(DRAWN)]
        current = [name for name in drawn if self.desk.is_current(name)]
        return {
            "run": self.desk.name,
            "runs": list(self.desk.runs),
            "labels": _counts(word),
            "stale": [name for name in drawn if name not in current],
            **self._estimates(current, word),
            **self._curves(current, word),
            "learning": self._learning(word),
            "wish": wish,
            "wishes": sorted({*WISHES, wish}, key=[*WISHES, wish].index),
            "recommended": self._recommended(word, wish),
            "train": train_command(self.desk),
        }

    def _estimates(self, current: Sequence[str], word: Verdicts) -> Data:
        """By the sample of which most is decided."""
        keys = {name: self.desk.key(name) for name in current}
        decided = {
            name: sum(pair in word.settled for pair in key.pairs.values())
            for name, key in keys.items()
        }
        best = max(current, key=decided.__getitem__, default=None)
        if best is None or not decided[best]:
            return {"sample": None, "treatments": [], "strata": [], "strata_figure": None}
        strata = by_stratum(keys[best], self.desk.name, word.settled)
        return {
            "sample": best,
            "treatments": measured(keys[best], word),
            "strata": strata,
            "strata_figure": figures.strata(strata),
        }

    def _curves(self, current: Sequence[str], word: Verdicts) -> Data:
        """Of each run over its thresholds, and its kinds."""
        keys = [self.desk.key(name) for name in current]
        curves, table = {}, {}
        for name, result in self.desk.results().items():
            found = found_by(result, list(word.settled))
            judged = judged_of(keys, name, word.settled, found)
            points = [
                one.data()
                for one in curve(judged, result.pairs["score"].to_numpy(), result.threshold)
            ]
            curves[name] = {
                "points": points,
                "judged": len(judged),
                "threshold": result.threshold,
                "figure": figures.thresholds(points, result.threshold, name),
            }
            if name == self.desk.name:
                table = kind_table(word.settled, found)
        said = {column for row in table.values() for column in row} | table.keys()
        kinds = {"table": table, "kinds": [kind for kind in KINDS if kind in said]}
        return {"curves": curves, "kinds": kinds}

    def _learning(self, word: Verdicts) -> Data:
        labelled = labelled_of(self.desk.folder)
        if missing := missing_labels(labelled):
            return {"state": "missing", "value": None, "reason": missing, "figure": None}
        result = self.desk.results()[self.desk.name]
        asked = self.background.ask(
            "learning", _state(word.settled), lambda: learned(result, labelled)
        )
        points = asked.value["curve"] if asked.value else []
        return {**asked.data(), "figure": figures.learning(points)}

    def _recommended(self, word: Verdicts, wish: str) -> Data:
        labels = _decided(word.settled)
        if not labels:
            return {"state": "missing", "value": None, "reason": "No pair is decided yet."}
        results = self.desk.results()
        state = f"{wish} {_state(word.settled)}"
        return self.background.ask(
            f"recommended {wish}", state, lambda: recommended(results, labels, wish)
        ).data()


def _decided(settled: Mapping[Pair, Label]) -> dict[Pair, str]:
    return {p: str(one.label) for p, one in settled.items() if one.label != UNDECIDED}


def _counts(word: Verdicts) -> dict[str, int]:
    said = [label.label for label in word.settled.values()]
    counts: dict[str, Any] = {label: said.count(label) for label in LABELS}
    return {**counts, "disputed": len(word.disputed)}


def _state(settled: Mapping[Pair, Label]) -> str:
    """A digest of the labels that count."""
    rows = sorted((*pair, str(label.label)) for pair, label in settled.items())
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
