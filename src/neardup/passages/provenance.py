"""Which passages of a document come from which documents of a collection, and where in both.

The documents that are traced are held and indexed; the collection is read once, in parallel, and
let go, so its size does not matter. Every copy of at least ``min_words`` words counts, exact or
edited. The parts of a traced document are then given to as few sources as possible: the source with
the most text first, then what is left. The share of the characters that are covered is the
``coverage``.

``rarity`` weighs a part by the number of documents of the collection that have it: a sentence that
thousands of documents share says nothing about where the text comes from.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.arguments import PassageArguments
from neardup.documents import Chunk, Collection, Columns, Rejected, collect
from neardup.documents.source import chunk_results
from neardup.passages.search import PassageSettings, mostly_rejected, settings_of, words_of
from neardup.progress import Progress, Silent
from neardup.runs.rejections import Reading
from neardup.schema import Array, Ragged
from neardup.settings import worker_count
from neardup.text.text_options import Text
from neardup.wording import many

MIN_WORDS, GRAM = 8, 4
_PLACES = 1000  # of a gram in the traced documents: all but hostile ones
CONTAMINATION = pa.schema(
    [
        pa.field("id", pa.large_string()),
        pa.field("file", pa.large_string()),
        pa.field("row", pa.int64()),
        pa.field("characters", pa.int64()),
        pa.field("coverage", pa.float64()),
        pa.field("weighted", pa.float64()),
        pa.field("documents", pa.int64()),
        pa.field("longest_words", pa.int64()),
        pa.field("source", pa.large_string()),
        pa.field("source_coverage", pa.float64()),
    ]
)


class Hit(NamedTuple):
    """A copy: words and characters of the traced document, and the place in the source."""

    source: int  # number of the document in the collection
    word_begin: int
    word_end: int
    begin: int
    end: int
    source_begin: int
    source_end: int
    matched: int
    longer: int
    text: str


@dataclass(frozen=True)
class Part:
    """A part of a traced document and where it comes from; places are characters."""

    begin: int
    end: int
    source: str
    source_begin: int
    source_end: int
    similarity: float
    text: str
    also_in: int

    def to_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


@dataclass
class Trace:
    """One document: its parts in order, and how much of it they cover."""

    id: str
    file: str
    row: int
    text: str
    hits: list[Hit] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    collection: int = 0  # documents
    longest_words: int = 0
    weighted: float = 0.0

    @property
    def covered(self) -> int:
        return sum(end - begin for begin, end in _union((p.begin, p.end) for p in self.parts))

    @property
    def coverage(self) -> float:
        return self.covered / len(self.text) if self.text else 0.0

    def sources(self) -> list[tuple[str, int, float]]:
        """Each source with its parts and its share of the document, the largest share first."""
        by_source: dict[str, list[Part]] = {}
        for part in self.parts:
            by_source.setdefault(part.source, []).append(part)
        shares = [
            (name, len(some), sum(p.end - p.begin for p in some) / max(1, len(self.text)))
            for name, some in by_source.items()
        ]
        return sorted(shares, key=lambda each: (-each[2], each[0]))

    def sentence(self) -> str:
        if not self.text.strip():
            return f"{self.id} is empty"
        sources = many(len(self.sources()), "source")
        passages = many(len(self.parts), "passage")
        return f"{100 * self.coverage:.1f} % of {self.id} stands in {sources} ({passages})"

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "file": self.file,
            "row": self.row,
            "characters": len(self.text),
            "coverage": round(self.coverage, 4),
            "weighted": round(self.weighted, 4),
            "sources": [
                {"source": name, "passages": count, "share": round(share, 4)}
                for name, count, share in self.sources()
            ],
            "passages": [part.to_dict() for part in self.parts],
        }

    def to_html(self) -> str:
        from neardup.passages.trace_page import trace_page

        return trace_page([self])


def _union(spans: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if out and begin <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((begin, end))
    return out


class Traces(list[Trace]):
    """The traced documents, in their order; ``rejected`` have no text to trace."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self.rejected: list[Rejected] = []
        self._reading = reading

    def mostly_rejected(self) -> list[dict[str, Any]]:
        return mostly_rejected(self.rejected, ((each.file, 1) for each in self), self._reading)

    def contamination(self) -> pa.Table:
        """How much of each document stands in the collection; ``weighted`` by rarity."""
        rows = []
        for trace in self:
            best = trace.sources()[:1]
            rows.append(
                {
                    "id": trace.id,
                    "file": trace.file,
                    "row": trace.row,
                    "characters": len(trace.text),
                    "coverage": trace.coverage,
                    "weighted": trace.weighted,
                    "documents": len({hit.source for hit in trace.hits}),
                    "longest_words": trace.longest_words,
                    "source": best[0][0] if best else None,
                    "source_coverage": best[0][2] if best else 0.0,
                }
            )
        return pa.Table.from_pylist(rows, schema=CONTAMINATION)


def trace(documents: Any, against: Any, **settings: Unpack[PassageArguments]) -> Traces:
    """Find which passages of ``documents`` come from which documents of the collection ``against``.

    Both are what :func:`neardup.dedup` takes; a single text is a list of one. ``settings`` are
    those of :func:`neardup.passages`, with ``min_words=8`` unless another number is given.
    """
    wanted = settings_of({"min_words": MIN_WORDS, **settings})
    return traced(collect(documents), collect(against), wanted)


def traced(
    documents: Collection,
    against: Collection,
    settings: PassageSettings,
    progress: Progress | None = None,
) -> Traces:
    shown = progress or Silent()
    columns = Columns(settings.text, settings.id)
    traces = Traces(Reading(settings.text, settings.id, documents.sources))
    kernel = _kernel(settings)
    for chunk in documents.chunks(columns):
        words = words_of(chunk)
        kernel.hold(words.hashes.values, words.hashes.offsets)
        records = words.batch.records
        traces.rejected += words.batch.rejected
        for id, row, text in zip(
            *(records[name].to_pylist() for name in ("id", "row", "text")), strict=True
        ):
            traces.append(Trace(id, words.batch.file, row, text))
    kernel.index()
    ids = _match(traces, kernel, against, settings, shown)
    for each in traces:
        each.collection = len(ids)
        _choose(each, ids, settings.min_words)
    return traces


def _kernel(settings: PassageSettings) -> _native.Copies:
    gram = min(GRAM, settings.min_words)
    percent = round(100 * settings.similarity)
    return _native.Copies(settings.min_words, gram, 1, settings.gap, _PLACES, percent)


class _Batch(NamedTuple):
    ids: list[str]
    copies: Array
    spans: Array  # in the collection, characters
    texts: list[str]
    same: list[bool]
    size: int  # bytes that were read


def _match(
    traces: Traces,
    kernel: _native.Copies,
    against: Collection,
    settings: PassageSettings,
    shown: Progress,
) -> list[str]:
    """Reads the collection and gives each document its hits; returns the ids of the collection."""
    own = {(t.id, t.text) for t in traces}
    texts = Ragged.of_texts([t.text for t in traces])
    ids: list[str] = []

    def work(chunk: Chunk) -> _Batch:
        words = words_of(chunk)
        copies = kernel.against(words.hashes.values, words.hashes.offsets).reshape(-1, 7)
        records = words.batch.records
        copies, spans = _placed(copies, Ragged.of_strings(records["text"]), 0)
        strings = [records["text"][int(number)].as_py() for number in copies[:, 0]]
        names = records["id"].to_pylist()
        same = [
            (names[int(number)], text) in own
            for number, text in zip(copies[:, 0].tolist(), strings, strict=True)
        ]
        parts = [text[b:e] for text, (_, _, b, e) in zip(strings, spans.tolist(), strict=True)]
        return _Batch(names, copies, spans, parts, same, words.batch.size)

    shown.stage("comparing", total_bytes=against.plain_size())
    chunks = against.chunks(Columns(settings.text, settings.id))
    for batch in chunk_results(chunks, work, worker_count(settings.workers)):
        copies, mine = batch.copies, _characters(batch.copies, texts)
        for i, (copy, span) in enumerate(zip(copies.tolist(), batch.spans.tolist(), strict=True)):
            number, begin, end, source, at, until, matched = copy
            if batch.same[i]:
                continue
            longer = max(end - begin, until - at)
            traces[source].hits.append(
                Hit(
                    len(ids) + number,
                    at,
                    until,
                    *mine[i],
                    span[2],
                    span[3],
                    matched,
                    longer,
                    batch.texts[i],
                )
            )
        ids += batch.ids
        shown.advance(len(batch.ids), batch.size)
    return ids


def _placed(copies: Array, texts: Ragged, column: int) -> tuple[Array, npt.NDArray[np.int64]]:
    """The copies sorted by a document and its words, and where they stand in its text."""
    begin = column + 1
    order = np.lexsort((copies[:, begin], copies[:, column]))
    copies = copies[order]
    counts = np.searchsorted(copies[:, column], np.arange(len(texts) + 1)).astype(np.int64)
    spans = _native.text_spans(
        texts.values,
        texts.offsets,
        Text().native(),
        np.ascontiguousarray(copies[:, begin]),
        np.ascontiguousarray(copies[:, begin + 1]),
        counts,
        0,
    )
    return copies, spans.reshape(-1, 4)


def _characters(copies: Array, texts: Ragged) -> list[tuple[int, int]]:
    """Where the copies stand in the traced documents."""
    order = np.lexsort((copies[:, 4], copies[:, 3]))
    _, spans = _placed(copies[order], texts, 3)
    out = np.empty((len(copies), 2), np.int64)
    out[order] = spans[:, 2:]
    return [(int(begin), int(end)) for begin, end in out]


def _choose(each: Trace, ids: Sequence[str], least: int) -> None:
    """Gives the parts of a document to sources: that with the most text first."""
    if not each.hits:
        return
    size = max(hit.word_end for hit in each.hits)
    by_source: dict[int, list[Hit]] = {}
    for hit in each.hits:
        by_source.setdefault(hit.source, []).append(hit)
    count = np.zeros(size + 1, np.int64)  # documents of the collection that have each word
    for some in by_source.values():
        for begin, end in _union((h.word_begin, h.word_end) for h in some):
            count[begin:end] += 1
    each.longest_words = max(hit.matched for hit in each.hits)
    taken = np.zeros(size, np.bool_)
    chosen: list[Hit] = []
    left = {source: _gain(some, taken) for source, some in by_source.items()}
    while left:
        source = min(left, key=lambda s: (-left[s], s))
        gain = _gain(by_source[source], taken)
        if gain < left[source]:  # others have taken some of it since
            left[source] = gain
            if gain < least:
                del left[source]
            continue
        if gain < least:
            break
        for hit in sorted(by_source[source], key=lambda h: (-h.matched, h.word_begin)):
            if _gain([hit], taken) >= least or not taken[hit.word_begin : hit.word_end].any():
                taken[hit.word_begin : hit.word_end] = True
                chosen.append(hit)
        del left[source]
    each.parts = [_part(hit, ids, count) for hit in sorted(chosen, key=lambda h: (h.begin, h.end))]
    each.weighted = _weighted(each, chosen, count)


def _gain(hits: Sequence[Hit], taken: npt.NDArray[np.bool_]) -> int:
    spans = _union((h.word_begin, h.word_end) for h in hits)
    return sum(end - begin - int(taken[begin:end].sum()) for begin, end in spans)


def _part(hit: Hit, ids: Sequence[str], count: Array) -> Part:
    also = int(np.median(count[hit.word_begin : hit.word_end])) - 1
    similarity = round(hit.matched / hit.longer, 4)
    place = (hit.source_begin, hit.source_end)
    return Part(hit.begin, hit.end, ids[hit.source], *place, similarity, hit.text, max(0, also))


def _weighted(each: Trace, chosen: Sequence[Hit], count: Array) -> float:
    """The coverage with each part weighed by its rarity: 1 if one document of the collection has
    it, near 0 if most of them have it."""
    whole = math.log(each.collection + 1)
    total = 0.0
    for hit in chosen:
        having = float(np.median(count[hit.word_begin : hit.word_end]))
        weight = (math.log((each.collection + 1) / max(1.0, having)) / whole) if whole else 1.0
        total += (hit.end - hit.begin) * weight
    return min(1.0, total / max(1, len(each.text)))
