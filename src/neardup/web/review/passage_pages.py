"""The review of a passage run: its passages, what removing them changes, and the trace of a text.

The page lists the largest passages. Classes and single passages are switched on and off, and the
effect is computed at once from the places in ``occurrences.parquet``: the characters of the copies,
each counted once. A text that is pasted into the other page is traced against the documents of the
run, or against an index.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from fastapi.responses import Response
from pydantic import BaseModel, Field

from neardup.documents import Collection, collect
from neardup.documents.collection import collect_inputs
from neardup.engines.index.index import Index
from neardup.errors import UsageError
from neardup.passages.cleanup import USUAL
from neardup.passages.passage_folder import MEANINGS
from neardup.passages.passage_settings import CLASSES, PassageSettings, settings_of
from neardup.passages.provenance import MIN_WORDS, Library, traced
from neardup.passages.traces import traced_document
from neardup.report.html_page import style
from neardup.runs.checksums import Checksums
from neardup.runs.run_info import RUN
from neardup.schema import Array
from neardup.web.app import Link, Part
from neardup.web.doors import Door
from neardup.wording import shortened

SHOWN = 100
LONGEST = 1_000_000  # characters of a text that is traced
Data = dict[str, Any]
Sources = Callable[[], Collection | Library]


class Chosen(BaseModel):
    """The classes to remove, and single passages that stay."""

    classes: list[str] = Field(default=[], max_length=20)
    off: list[int] = Field(default=[], max_length=10_000)


class Pasted(BaseModel):
    text: str = Field(max_length=LONGEST)


class PassagePages(Part):
    """The passages of a run folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._info: Data = json.loads((folder / RUN).read_bytes())
        checksums = Checksums(folder)
        checksums.check("passages.parquet")
        checksums.check("occurrences.parquet")
        self._passages = pq.read_table(folder / "passages.parquet")
        self._classes = np.array(self._passages["class"].to_pylist(), object)

    @property
    def links(self) -> Sequence[Link]:
        return [Link("/", "Passages")]

    def doors(self) -> Sequence[Door]:
        return [
            Door("/", self.front, template="review/passages.html"),
            Door("/effect", self.effect, "POST", reads=True),
        ]

    def front(self) -> Data:
        counts = self._info["counts"]
        rows = self._passages.slice(0, SHOWN).to_pylist()
        return {
            "name": self._folder.name,
            "options": self._options(),
            "counts": counts,
            "classes": [
                {"name": name, "meaning": MEANINGS[name], "passages": counts[f"class_{name}"]}
                | {"on": name in USUAL, "effect": self._effect([name], [])["removed"]}
                for name in CLASSES
                if counts[f"class_{name}"]
            ],
            "passages": [{**row, "text": shortened(row["text"], 400)} for row in rows],
            "effect": self._effect(USUAL, []),
        }

    def _options(self) -> str:
        """The options with which ``clean`` finds the passages of this run, with their numbers."""
        usual, used = PassageSettings(), self._info["settings"]
        named = ("min_words", "gap", "similarity", "keep", "text", "id", "date", "source")
        other = {name: used[name] for name in named if used[name] != getattr(usual, name)}
        given = {"unit": used["unit"], **other}
        return " ".join(
            f"--{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in given.items()
        )

    def effect(self, chosen: Chosen) -> Data:
        return self._effect(chosen.classes, chosen.off)

    def _effect(self, classes: Sequence[str], off: Sequence[int]) -> Data:
        on = np.isin(self._classes.astype(str), list(classes))
        on[[number for number in off if 0 <= number < len(on)]] = False
        passage, document, begin, end = self._copies
        copies = on[passage]
        removed = covered(document[copies], begin[copies], end[copies])
        total = self._info["counts"]["characters"]
        return {
            "passages": int(on.sum()),
            "documents": len(np.unique(document[copies])),
            "removed": removed,
            "kept": total - removed,
            "share": round(100 * removed / total, 1) if total else 0.0,
        }

    @cached_property
    def _copies(self) -> tuple[Array, Array, Array, Array]:
        """Passage, document, begin and end of each place that is no original."""
        table = pq.read_table(self._folder / "occurrences.parquet")
        table = table.filter(pc.invert(table["original"]))
        files = np.unique(table["file"].to_pylist(), return_inverse=True)[1]
        rows = table["row"].to_numpy()
        names = np.stack([files.reshape(-1), rows], 1) if len(rows) else np.empty((0, 2), np.int64)
        document = np.unique(names, axis=0, return_inverse=True)[1].reshape(-1)
        numbers = [table[name].to_numpy() for name in ("passage", "begin", "end")]
        return numbers[0], document, numbers[1], numbers[2]


def covered(document: Array, begin: Array, end: Array) -> int:
    """The characters of spans, those of several spans counted once."""
    if not len(document):
        return 0
    width = int(end.max()) + 1
    order = np.lexsort((begin, document))
    first, last = (document * width + begin)[order], (document * width + end)[order]
    reached = np.maximum.accumulate(last)
    before = np.concatenate([first[:1], reached[:-1]])
    return int(np.maximum(0, last - np.maximum(first, before)).sum())


class TracePages(Part):
    """A pasted text beside the documents that its passages come from."""

    def __init__(self, sources: Sources, what: str, index: Index | None = None) -> None:
        self._sources, self._what, self._index = sources, what, index

    @property
    def links(self) -> Sequence[Link]:
        return [Link("/trace", "Trace a text")]

    def doors(self) -> Sequence[Door]:
        return [
            Door("/trace", lambda: {"what": self._what}, template="review/trace.html"),
            Door("/trace/text", self.trace, "POST", reads=True),
            Door("/passages.css", _style, everyone=True),
        ]

    def close(self) -> None:
        if self._index:
            self._index.close()

    def trace(self, pasted: Pasted) -> Data:
        settings = settings_of({"min_words": MIN_WORDS})
        documents = collect([{"id": "your text", "text": pasted.text}])
        (trace,) = traced(documents, self._sources(), settings)
        return {**trace.to_dict(), "sentence": trace.sentence(), "html": traced_document(trace)}


def _style() -> Response:
    return Response(style("passages"), media_type="text/css")


def passage_parts(folder: Path) -> list[Part]:
    """The pages of a passage run."""
    info = json.loads((folder / RUN).read_bytes())
    if "settings" not in info:
        raise UsageError(
            f"{folder} is a report of contamination, which has no passages to review.",
            hint="contamination.parquet has its items.",
        )

    def sources() -> Collection:
        missing = [path for path in info["inputs"] if path is None or not Path(path).exists()]
        if missing:
            raise UsageError(
                "The documents of the run cannot be read again, so nothing can be traced.",
                hint="are its input files still there?",
            )
        return collect_inputs([(None, path) for path in info["inputs"]])

    return [PassagePages(folder), TracePages(sources, f"the documents of {folder.name}")]


def trace_parts(target: str) -> list[Part]:
    """The page that traces a text against an index; none if it has no texts."""
    if Path(target).is_dir():
        return []
    index = Index.open(target, create=False)
    if not index.described()["texts"]:
        index.close()
        return []
    return [TracePages(lambda: index, "the index", index)]
