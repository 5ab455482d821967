"""Precision, recall and F1 of q-grams and three baselines over thresholds (Montanari & Puglisi
2012, Figures 5–6).

The paper's LSH and I-Match are programs of the authors of SpotSigs, and they probably compared spot
signatures: LSH returned one pair more than SpotSigs at every threshold. Both baselines therefore
run on words and on spots. I-Match has no threshold and is drawn as a level line.

Time per document against corpus size, index size and document size (Montanari & Puglisi 2012,
Figures 7–9), and the rule of §5 that says when checking pays.

DDD is timed as the flow of its recipe: documents come one by one to an index that compares each
with all documents of the window, exactly, in bitmaps by hour, and remembers each. The baselines are
timed as runs over the collection. Times are processor time on one thread, so they depend on the
machine and vary between runs. The store is in memory, as the paper's was.
"""

from __future__ import annotations

import hashlib
import itertools
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from neardup.documents.collection import collect
from neardup.engines.execution import execute
from neardup.engines.index.index import Index
from neardup.errors import SettingsError
from neardup.methods.spotsigs import spots
from neardup.papers.experiment import Experiment, Figure, Options, Row, Table, lines
from neardup.papers.paper_pass import Material, Pass, measured, partial_notes, read
from neardup.plan import resolve
from neardup.progress import Progress
from neardup.settings import settings_of
from neardup.text.words import words

PAPER = "Montanari & Puglisi 2012"
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
FEWEST_SPOTS = 5
# method → (on spots?, settings)
METHODS: Mapping[str, tuple[bool, dict[str, Any]]] = {
    "DDD (q-grams)": (False, {"recipe": "montanari2012"}),
    "SpotSigs": (False, {"method": "spotsigs", "min_spots": FEWEST_SPOTS}),
    "LSH on words": (False, {"method": "shingles", "keys": "bands"}),
    "LSH on spots": (
        True,
        {"method": "shingles", "words": 1, "keys": "bands", "min_words": FEWEST_SPOTS},
    ),
    "I-Match on words": (False, {"method": "imatch"}),
    "I-Match on spots": (True, {"method": "imatch", "min_terms": FEWEST_SPOTS}),
}
# Figure 5: F1 at the thresholds, in order
PRINTED = {
    "DDD (q-grams)": (0.902, 0.942, 0.953, 0.953, 0.943),
    "SpotSigs": (0.800, 0.844, 0.829, 0.791, 0.791),
    "LSH on spots": (0.806, 0.850, 0.835, 0.798, 0.798),
    "I-Match on spots": (0.731, 0.731, 0.731, 0.705, 0.717),
}
PANELS = {"F1": "F1", "paper's F1": "F1 in the paper", "precision": "precision", "recall": "recall"}
FORMATS = {
    "threshold": ".1f",
    "method": "",
    "T": ",",
    "T∩C": ",",
    "recall": ".3f",
    "precision": ".3f",
    "F1": ".3f",
    "paper's F1": ".3f",
}


def quality(inputs: Any, options: Options, progress: Progress) -> Experiment:
    if options.gold is None:
        raise SettingsError(
            "montanari2012 needs gold.", hint="give --group COLUMN or --pairs FILE."
        )
    material = read(inputs, options, progress)
    passes = _passes(material)
    rows = [
        {"threshold": t, "method": name, **_measures(matched, t, material), **_printed(name, t)}
        for t in THRESHOLDS
        for name, matched in passes.items()
    ]
    figure_5 = Table(
        "figure_5",
        "Figure 5: methods over thresholds",
        FORMATS,
        rows,
        note="T: returned pairs that have a gold label; T∩C: the correct ones.",
    )
    return material.experiment(
        "montanari2012",
        PAPER,
        {name: matched.settings for name, matched in passes.items()},
        [figure_5, _best_table(rows)],
        [Figure("figure_6", "Figure 6: F1, precision and recall", lambda: _chart(rows))],
        notes=[*partial_notes(passes.values()), *_notes(material)],
    )


def _notes(material: Material) -> list[str]:
    notes = ["The printed figures of LSH and I-Match are shown beside those on spots."]
    if material.gold is not None and not material.gold.complete:
        notes.append("The gold does not label all pairs; pairs without a label are left out.")
    return notes


def _passes(material: Material) -> dict[str, Pass]:
    on_spots = spot_documents(material.table)
    lowest = {"threshold": THRESHOLDS[0]}
    passes = {}
    for name, (spotted, settings) in METHODS.items():
        threshold = {} if settings.get("method") == "imatch" else lowest
        passes[name] = material.find(on_spots if spotted else None, **settings, **threshold)
    return passes


def spot_documents(table: pa.Table) -> pa.Table:
    """The documents with one word for each spot. The n-th occurrence of a spot is a word of its
    own, so that a set of words represents a multiset of spots."""
    texts = [_spotted(text) for text in table["text"].to_pylist()]
    place = table.schema.get_field_index("text")
    return table.set_column(place, "text", pa.array(texts, pa.large_string()))


def _spotted(text: str) -> str:
    """The spots of a text as words. A text of too few spots becomes one word that equals only that
    of the same text."""
    text_spots = spots(text)
    if len(text_spots) < FEWEST_SPOTS:
        return _word(" ".join(words(text)))
    seen: Counter[str] = Counter()
    spot_words = []
    for spot in text_spots:
        seen[spot] += 1
        spot_words.append(_word(f"{spot} {seen[spot]}"))
    return " ".join(spot_words)


def _word(name: str) -> str:
    return hashlib.blake2b(name.encode(), digest_size=8).hexdigest()


def _measures(matched: Pass, threshold: float, material: Material) -> Row:
    assert material.gold is not None
    passing = matched if matched.settings["method"] == "imatch" else matched.at(threshold)
    measures = measured(passing, material.gold)
    shares = {"recall": measures["recall"], "precision": measures["precision"], "F1": measures["F"]}
    return {"T": measures["judged"], "T∩C": measures["correct"], **shares}


def _printed(name: str, threshold: float) -> Row:
    values = PRINTED.get(name)
    return {"paper's F1": values[THRESHOLDS.index(threshold)] if values else None}


def _best_table(rows: list[Row]) -> Table:
    best = []
    for name in METHODS:
        own = [row for row in rows if row["method"] == name]
        highest = max(own, key=lambda row: row["F1"] or 0)
        printed = max((row["paper's F1"] for row in own if row["paper's F1"]), default=None)
        best.append({**highest, "paper's best F1": printed})
    formats = {**FORMATS, "paper's best F1": ".3f"}
    del formats["paper's F1"]
    return Table("best", "§4: each method at its best threshold", formats, best)


def _chart(rows: list[Row]) -> Any:
    panels = [
        {"threshold": r["threshold"], "method": r["method"], "measure": title, "value": r[name]}
        for name, title in PANELS.items()
        for r in rows
        if r[name] is not None
    ]
    x, y = ("threshold", "threshold"), ("value", "share")
    return lines(panels, x, y, "method", facet="measure", unit=True, columns=2)


DDD = "DDD (q-grams, flow)"
RECIPE = "montanari2012"
TIMED: dict[str, dict[str, Any]] = {  # timed as runs
    "SpotSigs": {"method": "spotsigs"},
    "LSH (shingles)": {"method": "shingles"},
    "I-Match": {"method": "imatch"},
}
CORPORA = (500, 1000, 2000, 4000, 8000)
SLICE, SLICES = 500, 4  # Figure 8; slices of small collections are smaller
CORPUS = 732  # Figure 9
LENGTHS = (1_000, 2_000, 5_000, 10_000, 20_000)
PRINTED_TIMES = {
    "figure_7": "The paper's DDD: 1,200 ms a document at 8,000 documents.",
    "figure_9": "The paper's DDD: less than 200 ms a document of 5 KB.",
}
TIME_FORMATS = {"method": "", "documents": ",", "ms a document": ".3f"}


def costs(inputs: Any, options: Options, progress: Progress) -> Experiment:
    material = read(inputs, options, progress)
    sizes = [n for n in CORPORA if n <= len(material)] or [len(material)]
    lengths = dict(long_documents(material.table))
    slice_ = min(SLICE, len(material) // SLICES)
    steps = (1 + len(TIMED)) * (len(sizes) + len(lengths)) + SLICES * bool(slice_)
    progress.stage("timing", steps, "runs")
    for settings in TIMED.values():  # the first run of a method includes one-time loading
        _timed(material.table.slice(0, 50), settings)
    corpora = list(_corpora(material.table, sizes, progress))
    slices = list(_slices(material.table, slice_, progress))
    documents = list(_documents(lengths, progress))
    parts = (
        (
            "figure_7",
            "Figure 7: time over the size of the corpus",
            "documents in the corpus",
            corpora,
        ),
        ("figure_8", "Figure 8: time as the index grows", "documents in the index", slices),
        (
            "figure_9",
            "Figure 9: time over the size of documents",
            "characters a document",
            documents,
        ),
    )
    shown = [_part(*part) for part in parts if part[-1]]
    return material.experiment(
        "montanari2012-time",
        PAPER,
        {DDD: {"recipe": RECIPE}, **TIMED},
        [table for table, _ in shown],
        [figure for _, figure in shown],
        notes=["Times are processor time on one thread and differ between runs.", *_worth(corpora)],
        measured=True,
    )


def _part(name: str, title: str, over: str, rows: list[Row]) -> tuple[Table, Figure]:
    axis = {"figure_7": "documents", "figure_8": "before", "figure_9": "characters"}[name]
    formats = {**TIME_FORMATS, **({} if axis == "documents" else {axis: ","})}
    y = ("ms a document", "ms a document")
    return Table(name, title, formats, rows, PRINTED_TIMES.get(name, "")), Figure(
        name, title, lambda: lines(rows, (axis, over), y, "method")
    )


def _timed(table: pa.Table, settings: dict[str, Any]) -> float:
    """Milliseconds per document of a run."""
    plan = resolve(settings_of({"workers": 1, "id": "id", "kinds": "none", **settings}))
    began = time.process_time()
    execute(collect(table), plan)
    return 1000 * (time.process_time() - began) / max(len(table), 1)


class Flow:
    """The index of the recipe, empty at first; ``hour`` is when documents arrive."""

    def __init__(self) -> None:
        self.hour = 0
        self.duplicates = 0
        self._index = Index.open("memory:", recipe=RECIPE, clock=lambda: 3600.0 * self.hour)

    def cost(self, table: pa.Table) -> float:
        """Milliseconds per document to check it and to remember it."""
        rows = table.select(["id", "text"]).to_pylist()
        began = time.process_time()
        for row in rows:
            self.duplicates += self._index.add(row) is not None
        return 1000 * (time.process_time() - began) / max(len(rows), 1)

    def __enter__(self) -> Flow:
        return self

    def __exit__(self, *_: object) -> None:
        self._index.close()


def _flow_row(table: pa.Table) -> Row:
    with Flow() as flow:
        cost = flow.cost(table)
        row = {"method": DDD, "documents": len(table), "ms a document": cost}
        return {**row, "duplicates": flow.duplicates / max(len(table), 1)}


def _worth(rows: list[Row]) -> list[str]:
    """§5: checking pays where P·t_p, the processing that is saved, is more than t_3, its cost."""
    largest = max((row for row in rows if row["method"] == DDD), key=lambda row: row["documents"])
    share, cost = largest["duplicates"], largest["ms a document"]
    rule = "§5: checking pays where P·t_p > t_3 (the paper: P = 10 %, t_p = 10 s, t_3 < 5 ms)."
    if not share:
        return [f"{rule} No duplicate came here, so it would not pay."]
    return [
        f"{rule} Here P is {share:.1%} and t_3 is {cost:.2f} ms in a window of "
        f"{largest['documents']:,}: it pays where processing a document takes more than "
        f"{cost / share:.1f} ms."
    ]


def _corpora(table: pa.Table, sizes: list[int], progress: Progress) -> Iterator[Row]:
    for n in sizes:
        yield _flow_row(table.slice(0, n))
        progress.advance(1)
    for name, settings in TIMED.items():
        for n in sizes:
            cost = _timed(table.slice(0, n), settings)
            progress.advance(1)
            yield {"method": name, "documents": n, "ms a document": cost}


def _slices(table: pa.Table, slice_: int, progress: Progress) -> Iterator[Row]:
    """Hour after hour: each slice comes to an index that has the earlier ones."""
    with Flow() as flow:
        for hour in range(SLICES if slice_ else 0):
            flow.hour = hour
            cost = flow.cost(table.slice(hour * slice_, slice_))
            progress.advance(1)
            row = {"method": DDD, "documents": slice_, "ms a document": cost}
            yield {**row, "before": hour * slice_}


def _documents(lengths: dict[int, pa.Table], progress: Progress) -> Iterator[Row]:
    for length, table in lengths.items():
        yield {**_flow_row(table), "characters": length}
        progress.advance(1)
    for name, settings in TIMED.items():
        for length, table in lengths.items():
            cost = _timed(table, settings)
            progress.advance(1)
            row = {"method": name, "documents": len(table), "ms a document": cost}
            yield {**row, "characters": length}


def long_documents(table: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """Yields as many documents as the paper has, for each length, cut from the texts joined in a
    row. A length for which there is too little text is left out."""
    texts = table["text"].to_pylist()
    for length in LENGTHS:
        pieces = list(itertools.islice(_pieces(texts, length), CORPUS))
        if len(pieces) == CORPUS:
            ids = [str(i) for i in range(CORPUS)]
            yield length, pa.table({"id": ids, "text": pa.array(pieces, pa.large_string())})


def _pieces(texts: list[str], length: int) -> Iterator[str]:
    rest = ""
    for text in texts:
        rest += text + "\n"
        while len(rest) >= length:
            yield rest[:length]
            rest = rest[length:]
