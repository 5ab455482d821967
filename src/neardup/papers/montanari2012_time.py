"""Time per document against corpus size, index size and document size (Montanari & Puglisi 2012,
Figures 7–9).

Times are measured on one thread, so they depend on the machine and vary between runs. The paper's
DDD compares every document with all bitmaps of its window; here a document is compared only with
those that share a band.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.documents import collect
from neardup.engines.execution import execute
from neardup.papers.experiment import Experiment, Figure, Options, Row, Table, lines
from neardup.papers.paper_pass import read
from neardup.papers.recipe import with_recipe
from neardup.plan import resolve
from neardup.progress import Progress
from neardup.runs.result import Result
from neardup.settings import settings_of

PAPER = "Montanari & Puglisi 2012"
METHODS: dict[str, dict[str, Any]] = {
    "DDD (q-grams)": {"recipe": "montanari2012"},
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
    steps = len(METHODS) * (len(sizes) + len(lengths)) + SLICES * bool(slice_)
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
        METHODS,
        [table for table, _ in shown],
        [figure for _, figure in shown],
        notes=["Times are measured on one thread and differ between runs."],
        measured=True,
    )


def _part(name: str, title: str, over: str, rows: list[Row]) -> tuple[Table, Figure]:
    axis = {"figure_7": "documents", "figure_8": "before", "figure_9": "characters"}[name]
    formats = {**FORMATS, **({} if axis == "documents" else {axis: ","})}
    y = ("ms a document", "ms a document")
    return Table(name, title, formats, rows, PRINTED.get(name, "")), Figure(
        name, title, lambda: lines(rows, (axis, over), y, "method")
    )


def _timed(table: pa.Table, settings: dict[str, Any], **more: Any) -> tuple[float, Result]:
    """Milliseconds per document, and the result of the run."""
    written = {"workers": 1, "id": "id", "kinds": "none", **settings, **more}
    plan = resolve(settings_of(with_recipe(written)))
    began = time.perf_counter()
    result = execute(collect(table), plan)
    return 1000 * (time.perf_counter() - began) / max(len(table), 1), result


def _corpora(table: pa.Table, sizes: list[int], progress: Progress) -> Iterator[Row]:
    for name, settings in METHODS.items():
        for n in sizes:
            cost, _ = _timed(table.slice(0, n), settings)
            progress.advance(1)
            yield {"method": name, "documents": n, "ms a document": cost}


def _slices(table: pa.Table, slice_: int, progress: Progress) -> Iterator[Row]:
    """Each slice against all earlier ones, which are given as the folder of the previous run."""
    name, settings = next(iter(METHODS.items()))
    with tempfile.TemporaryDirectory() as folder:
        against: list[Path] = []
        for i in range(SLICES if slice_ else 0):
            part = table.slice(i * slice_, slice_)
            cost, result = _timed(part, settings, against=against, signatures=True)
            progress.advance(1)
            row = {"method": name, "documents": slice_, "ms a document": cost}
            yield {**row, "before": i * slice_}
            against = [result.save(Path(folder) / str(i))]


def _documents(lengths: dict[int, pa.Table], progress: Progress) -> Iterator[Row]:
    for name, settings in METHODS.items():
        for length, table in lengths.items():
            cost, _ = _timed(table, settings)
            progress.advance(1)
            row = {"method": name, "documents": len(table), "ms a document": cost}
            yield {**row, "characters": length}


def long_documents(table: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """As many documents as the paper has, for each length, cut from the texts joined in a row. A
    length for which there is too little text is left out."""
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
