"""Time per document against corpus size, index size and document size (Montanari & Puglisi 2012,
Figures 7–9), and the rule of §5 that says when checking pays.

DDD is timed as the flow of its recipe: documents come one by one to an index that compares each
with all documents of the window, exactly, in bitmaps by hour, and remembers each. The baselines are
timed as runs over the collection. Times are processor time on one thread, so they depend on the
machine and vary between runs. The store is in memory, as the paper's was.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from neardup.documents.collection import collect
from neardup.engines.execution import execute
from neardup.engines.index.index import Index
from neardup.papers.experiment import Experiment, Figure, Options, Row, Table, lines
from neardup.papers.paper_pass import read
from neardup.plan import resolve
from neardup.progress import Progress
from neardup.settings import settings_of

PAPER = "Montanari & Puglisi 2012"
DDD = "DDD (q-grams, flow)"
RECIPE = "montanari2012"
METHODS: dict[str, dict[str, Any]] = {  # timed as runs
    "SpotSigs": {"method": "spotsigs"},
    "LSH (shingles)": {"method": "shingles"},
    "I-Match": {"method": "imatch"},
}
CORPORA = (500, 1000, 2000, 4000, 8000)
SLICE, SLICES = 500, 4  # Figure 8; slices of small collections are smaller
CORPUS = 732  # Figure 9
LENGTHS = (1_000, 2_000, 5_000, 10_000, 20_000)
PRINTED = {
    "figure_7": "The paper's DDD: 1,200 ms a document at 8,000 documents.",
    "figure_9": "The paper's DDD: less than 200 ms a document of 5 KB.",
}
FORMATS = {"method": "", "documents": ",", "ms a document": ".3f"}


def costs(inputs: Any, options: Options, progress: Progress) -> Experiment:
    material = read(inputs, options, progress)
    sizes = [n for n in CORPORA if n <= len(material)] or [len(material)]
    lengths = dict(long_documents(material.table))
    slice_ = min(SLICE, len(material) // SLICES)
    steps = (1 + len(METHODS)) * (len(sizes) + len(lengths)) + SLICES * bool(slice_)
    progress.stage("timing", steps, "runs")
    for settings in METHODS.values():  # the first run of a method includes one-time loading
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
        {DDD: {"recipe": RECIPE}, **METHODS},
        [table for table, _ in shown],
        [figure for _, figure in shown],
        notes=["Times are processor time on one thread and differ between runs.", *_worth(corpora)],
        measured=True,
    )


def _part(name: str, title: str, over: str, rows: list[Row]) -> tuple[Table, Figure]:
    axis = {"figure_7": "documents", "figure_8": "before", "figure_9": "characters"}[name]
    formats = {**FORMATS, **({} if axis == "documents" else {axis: ","})}
    y = ("ms a document", "ms a document")
    return Table(name, title, formats, rows, PRINTED.get(name, "")), Figure(
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
    for name, settings in METHODS.items():
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
    for name, settings in METHODS.items():
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
