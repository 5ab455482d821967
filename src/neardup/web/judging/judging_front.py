"""The front page of judging: who judges, what there is to judge, and how far everyone is."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fastapi.responses import Response

from neardup.errors import NeardupError
from neardup.evaluation.evaluation import pasted_inputs
from neardup.evaluation.training.suggestions import WANTED
from neardup.labels.agreement import ARBITER, ASSESSOR, check_assessor, free_name, verdicts
from neardup.labels.label_store import Labels, Pair
from neardup.labels.samples import DRAWN
from neardup.labels.sampling import PER_TREATMENT, STRATA
from neardup.settings import Settings
from neardup.web.doors import Door
from neardup.web.judging.desk import Desk, labelled_of, missing_labels
from neardup.web.judging.judged_pairs import PostedFields, address
from neardup.web.pages import Data

if TYPE_CHECKING:
    from neardup.runs.result import Result

READING = ("text", "id", "limit", "encoding", "extract")


@functools.lru_cache(maxsize=8)
def train_command(desk: Desk) -> str:
    """The inputs are looked for once: a folder may have a million files."""
    labels = shlex.quote(str(desk.folder.labels_path))
    return f"neardup train {labels} --documents {_documents(desk)} -o my.model"


def _documents(desk: Desk) -> str:
    """The inputs of the run as it names them; INPUT where they are not known any more."""
    try:
        result = desk.results()[desk.name]
        collection = result.collection()
    except (NeardupError, OSError):
        return "INPUT"
    files = [path for path in collection.paths if path]
    return pasted_inputs(collection, reading(result)) if len(files) == 1 else "INPUT"


def reading(result: Result) -> Settings:
    """How the documents of a run were read."""
    written = result.info["settings"]
    return Settings(**{name: written[name] for name in READING if written.get(name) is not None})


MOST, MOST_SEED = 10_000, 2**31


class Front:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def doors(self) -> Sequence[Door]:
        return [
            Door("/judge", self.front, template="judging/front.html"),
            Door("/judge/begin", self.begin, "POST"),
        ]

    def front(self, assessor: str = "") -> Data:
        folder = self.desk.folder
        labels = folder.labels()
        samples = [self._sample(name, labels) for name in folder.samples()]
        missing = missing_labels(labelled_of(folder))
        return {
            "run": self.desk.name,
            "runs": list(self.desk.runs),
            "pairs": sum(len(result.pairs) for result in self.desk.results().values()),
            "assessor": assessor,
            "proposed": free_name(labels),
            "wanted": {"n": PER_TREATMENT, "strata": STRATA, "seed": 0, "suggested": WANTED},
            "samples": samples,
            "labels": len(labels),
            "lists": folder.lists_path.exists(),
            "file": str(folder.labels_path),
            "torn": labels.torn,
            "missing_to_train": missing,
            "train": None if missing else train_command(self.desk),
        }

    def _sample(self, name: str, labels: Labels) -> Data:
        key = self.desk.folder.key(name)
        pairs = set(key.pairs.values())
        said = labels.among(pairs)
        return {
            "name": name,
            "drawn": name.startswith(DRAWN),
            "pairs": len(pairs),
            "runs": [one.name for one in key.treatments],
            "seed": key.seed,
            "assessors": progress(said, pairs),
            "disputed": len(verdicts(said).disputed),
        }

    def begin(self, posted: PostedFields) -> Response:
        """``what``: the name of a sample, or ``draw`` or ``suggest`` for a new one."""
        labels = self.desk.folder.labels()
        who, role = posted.get("assessor", free_name(labels)), posted.get("role", ASSESSOR)
        check_assessor(labels, who, role)
        what = posted.get("what", "draw")
        if what == "draw":
            sample = self.desk.draw(
                posted.number("n", PER_TREATMENT, MOST),
                posted.number("strata", STRATA, MOST),
                posted.number("seed", 0, MOST_SEED),
            )
        elif what == "suggest":
            sample = self.desk.suggest(posted.number("suggested", WANTED, MOST))
        else:
            sample = self.desk.folder.sample(what).stem
        given = {"sample": sample, "assessor": who, "role": role if role == ARBITER else None}
        return posted.answer(address("/judge/pair", **given), {"sample": sample})


def progress(labels: Labels, pairs: set[Pair]) -> list[dict[str, Any]]:
    """The progress of everyone who has begun: how much they have judged, never what."""
    found: dict[str, dict[str, Any]] = {}
    disputed = len(verdicts(labels).disputed)
    for label in labels:
        one = found.setdefault(
            label.assessor,
            {"name": label.assessor, "arbiter": label.arbiter, "done": 0, "seconds": 0.0},
        )
        one["done"] += 1
        one["seconds"] = round(one["seconds"] + (label.seconds or 0.0), 1)
    for one in found.values():
        one["of"] = one["done"] + disputed if one["arbiter"] else len(pairs)
    return list(found.values())
