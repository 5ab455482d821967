"""The desk of judging and evaluation: the runs, the folder of judgements, and suggested pairs.

Suggested pairs are those that would teach a model of the labels most, once there are enough labels.
The store of an index can be judged like a run: its pairs are each duplicate with its kept document,
which are not all pairs there are. It has to store its texts.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup import schema
from neardup.documents.collection import collect
from neardup.engines.index.store import Row, no_index, open_store
from neardup.errors import InputError, MissingExtraError
from neardup.labels.agreement import verdicts
from neardup.labels.label_store import DUPLICATE, UNDECIDED
from neardup.labels.samples import DRAWN, SUGGESTED, Guideline, JudgedFolder, judging_folder
from neardup.labels.sampling import Key, Sample, draw, draw_pairs
from neardup.runs.result import Result

if TYPE_CHECKING:
    from neardup.artefacts.model import Model
    from neardup.evaluation.training.training_data import Material
    from neardup.labels.training_labels import Labelled
    from neardup.runs.result import Result

KIND = "linear"  # quick enough to wait for


def suggested(results: Mapping[str, Result], folder: JudgedFolder, wanted: int) -> Sample:
    from neardup.evaluation.training.suggestions import pool_of_run, suggest

    known = {label.pair for label in folder.labels()}
    model = quick_model(next(iter(results.values())), folder)
    seed = len(known)
    pools = {name: pool_of_run(name, one, model, seed) for name, one in results.items()}
    return suggest(pools, wanted, model=model, labelled=known, seed=seed)


def labelled_of(folder: JudgedFolder) -> Labelled:
    """The labels that count, as training takes them."""
    from neardup.labels.training_labels import Labelled

    found = Labelled(source="judged pairs")
    for pair, label in verdicts(folder.labels()).settled.items():
        if label.label != UNDECIDED:
            found.add(*pair, int(label.label == DUPLICATE))
    return found


def missing_labels(labelled: Labelled) -> str | None:
    """What is missing for training, in words; None where there is enough."""
    from neardup.evaluation.training.trainer import FEWEST

    yes = sum(labelled.labels.values())
    no = len(labelled.labels) - yes
    if min(yes, no) >= FEWEST:
        return None
    return (
        f"Training needs {FEWEST} duplicates and {FEWEST} pairs that are none; "
        f"so far there are {yes:,} and {no:,}."
    )


def material_of_run(result: Result, labelled: Labelled) -> Material:
    from neardup.documents.columns import Columns
    from neardup.evaluation.training.training_data import Source, material_of
    from neardup.progress import Silent

    settings = result.info["settings"]
    columns = Columns(settings["text"], settings["id"])
    source = Source(result.collection(), columns, limit=settings.get("limit"))
    return material_of(source, labelled, Silent())


def quick_model(result: Result, folder: JudgedFolder) -> Model | None:
    from neardup.evaluation.training.trainer import train

    labelled = labelled_of(folder)
    if missing_labels(labelled):
        return None
    try:
        return train(material_of_run(result, labelled), kind=KIND, choose=False)
    except (MissingExtraError, InputError):  # then pairs are spread instead
        return None


class Desk:
    """``runs`` by name, the one that is looked at first; the others are compared with it. They are
    read when they are needed; a store of an index may stand for a run."""

    def __init__(self, runs: Mapping[str, Path]) -> None:
        self.runs = dict(runs)
        self.folder = JudgedFolder(judging_folder(next(iter(self.runs.values()))))
        self.guideline: Guideline | None = None  # what assessors are told a duplicate is
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
        """The key of a sample. A run that was moved since is called as it is now."""
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
    from neardup.runs.result import Result

    return Result.load(path) if path.is_dir() else result_of_index(str(path))


def _named(runs: Sequence[Path]) -> dict[str, Path]:
    """The runs by the names of their folders, wherever the command is run: samples are drawn by
    these names."""
    found: dict[str, Path] = {}
    for path in runs:
        name, number = path.resolve().name or str(path), 2
        while name in found:
            name, number = f"{path.resolve().name} ({number})", number + 1
        found[name] = path
    return found


FILE = "input"  # what documents in memory are said to stand in


def result_of_index(url: str) -> Result:
    description, rows = _read(url)
    texts = {row.id: row.text for row in rows if row.text is not None}
    if rows and not texts:
        raise InputError(
            f"The index {url} does not store the texts of its documents, so nobody can judge them.",
            hint="`neardup index build --texts` makes one that does.",
        )
    pairs = [row for row in rows if row.kept_id in texts and row.id in texts]
    documents = [{"id": one, "text": text} for one, text in texts.items()]
    parameters = description["parameters"]
    info = {
        "settings": {
            "method": description["method"],
            "parameters": parameters,
            "text": "text",
            "id": "id",
        },
        "pairs": "partial",
        "against": None,
    }
    return Result(
        _decisions({row.id: row for row in rows if row.id in texts}),
        _pairs(pairs),
        info,
        collection=lambda: collect(documents),
    )


def _read(url: str) -> tuple[dict[str, Any], list[Row]]:
    store = open_store(url, create=False)
    try:
        description = store.description()
        if description is None:
            raise no_index(store.url)
        rows: list[Row] = []
        while page := store.rows(rows[-1].seq if rows else 0):
            rows += [row for row, _ in page]
        return description, rows
    finally:
        store.close()


def _pairs(rows: list[Row]) -> pa.Table:
    given: dict[str, list[Any]] = {
        "a": [row.kept_id for row in rows],
        "b": [row.id for row in rows],
        "score": [row.score for row in rows],
        "kind": [row.kind for row in rows],
    }
    return _table(given, len(rows), schema.PAIRS)


def _decisions(rows: dict[str, Row]) -> pa.Table:
    aside = [row.kept_seq is not None for row in rows.values()]
    given: dict[str, list[Any]] = {
        "id": list(rows),
        "file": [FILE] * len(rows),
        "row": list(range(1, len(rows) + 1)),
        "decision": [schema.DUPLICATE if one else schema.KEPT for one in aside],
        "reason": [row.reason for row in rows.values()],
        "kept_id": [row.kept_id for row in rows.values()],
        "score": [row.score for row in rows.values()],
        "kind": [row.kind for row in rows.values()],
    }
    return _table(given, len(rows), schema.DECISIONS)


def _table(given: dict[str, list[Any]], count: int, of: pa.Schema) -> pa.Table:
    columns = [pa.array(given.get(f.name, [None] * count), _plain(f.type)) for f in of]
    return pa.table(columns, names=of.names).cast(of)


def _plain(type_: pa.DataType) -> pa.DataType:
    return type_.value_type if pa.types.is_dictionary(type_) else type_
