"""Which passages of a document come from which documents of a collection, and where in both.

The documents that are traced are held and indexed; the collection is read once, in parallel, and
let go, so its size does not matter. An index (``Library``) is asked for the documents that share an
anchor, a sampled gram of six words, with those that are traced; of a collection these are the only
sources, too, so both give the same answer. Every eight words that are the same share an anchor. In
a source, every copy of at least ``min_words`` words counts, exact or edited. The parts of a traced
document are then given to as few sources as possible: the source with the most text first, then
what is left. The share of the characters that are covered is the ``coverage``.

``rarity`` weighs a part by the number of documents of the collection that have it: a sentence that
thousands of documents share says nothing about where the text comes from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeGuard, Unpack

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.arguments import PassageArguments
from neardup.documents import Collection, Columns, DocumentBatch, Rejected, collect
from neardup.documents.source import chunk_results
from neardup.errors import ColumnError, SettingsError, UsageError
from neardup.passages.passage_settings import PassageSettings, settings_of
from neardup.passages.search import Copied, Span, words_in, words_of
from neardup.passages.traces import Hit, Part, Trace, Traces, union_of
from neardup.progress import Progress, Silent
from neardup.runs.rejections import Reading
from neardup.schema import Array, Ragged
from neardup.settings import worker_count
from neardup.text.text_options import Text

MIN_WORDS, GRAM = 8, 4
ANCHOR, ANCHOR_WINDOW = 6, 3  # part of stored passage indexes
_TEXT = Text().native()
_SOURCES = 1000  # of an index whose texts are held at once
_PLACES = 1000  # of a gram in the traced documents: all but hostile ones


class Source(NamedTuple):
    """A document of an index; ``number`` is its place in the order of arrival."""

    number: int
    id: str
    text: str


class Library(Protocol):
    """An index that can be asked for the sources of passages (``engines/index/index.py``)."""

    def __len__(self) -> int: ...

    def sharing(self, anchors: Array) -> Iterable[Source]:
        """The documents with one of these anchors, in order of arrival."""
        ...


def is_library(against: Any) -> TypeGuard[Library]:
    return hasattr(against, "sharing")  # a check of the whole protocol takes as long as a lookup


def trace(documents: Any, against: Any, **settings: Unpack[PassageArguments]) -> Traces:
    """Find which passages of ``documents`` come from which documents of the collection ``against``.

    ``documents`` are what ``neardup.dedup`` takes; a single text is a list of one. ``against``
    is a collection, too, or an open ``neardup.Index`` that stores texts. ``settings`` are
    those of ``neardup.passages``, with ``min_words=8`` unless another number is given.
    """
    wanted = settings_of({"min_words": MIN_WORDS, **settings})
    sources = against if is_library(against) else collect(against)
    return traced(collect(documents), sources, wanted)


def traced(
    documents: Collection,
    against: Collection | Library,
    settings: PassageSettings,
    progress: Progress | None = None,
    *,
    engine: Comparison | None = None,
) -> Traces:
    """``engine`` compares a collection elsewhere than here."""
    traces = Traces(Reading(settings.text, settings.id, documents.sources))
    wanted = Traced(settings)
    for chunk in documents.chunks(_columns(documents, settings)):
        words = words_of(chunk)
        wanted.hashes.append(words.hashes)
        records = words.batch.records
        traces.rejected += words.batch.rejected
        for id, row, text in zip(
            *(records[name].to_pylist() for name in ("id", "row", "text")), strict=True
        ):
            traces.append(Trace(id, words.batch.file, row, text))
            wanted.documents.append((id, text))
    shown = progress or Silent()
    if isinstance(against, Collection):
        compared = (engine or compare)(wanted, against, shown)
        total = _match(traces, _from_collection(traces, compared), shown)
    else:
        _match(traces, _from_library(against, wanted), shown)
        total = len(against)
    for each in traces:
        each.collection = total
        _choose(each, settings.min_words)
    return traces


def _columns(documents: Collection, settings: PassageSettings) -> Columns:
    """Columns that are named are those of the collection. Documents that lack them, such as a text
    file that is traced against a table, have the usual ones."""
    named = Columns(settings.text, settings.id)
    if named == Columns():
        return named
    problems: list[UsageError] = []
    for columns in (named, Columns(settings.text), Columns(id=settings.id), Columns()):
        try:
            documents.check_columns(columns)
        except (ColumnError, SettingsError) as problem:
            problems.append(problem)
        else:
            return columns
    hint = f"what is traced needs a column {settings.text!r}, as --text says, or 'text'."
    raise ColumnError(problems[1].message, hint=hint)


def _anchors(settings: PassageSettings) -> tuple[int, int]:
    """Words and window of anchors: all grams where passages are shorter than an anchor allows."""
    short = settings.min_words < ANCHOR + ANCHOR_WINDOW - 1
    return (min(ANCHOR, settings.min_words), 1) if short else (ANCHOR, ANCHOR_WINDOW)


def _kernel(settings: PassageSettings) -> _native.Copies:
    gram = min(GRAM, settings.min_words)
    percent = round(100 * settings.similarity)
    anchors = _anchors(settings)
    return _native.Copies(settings.min_words, gram, 1, settings.gap, _PLACES, percent, *anchors)


class Compared(NamedTuple):
    """Documents of the collection and what they share with those that are traced."""

    first: Sequence[int] | int  # the numbers of its documents, or that of the first one
    sources: list[tuple[str, str]]  # of each copy: the id of its document, and its text there
    copies: Array
    spans: Array  # in the collection, characters
    documents: int
    size: int = 0  # bytes that were read
    file: str = ""
    rejected: Sequence[Rejected] = ()


@dataclass
class Traced:
    """The documents that are traced, as a comparison needs them; it may travel to other machines,
    which make the kernel again."""

    settings: PassageSettings
    documents: list[tuple[str, str]] = field(default_factory=list)  # id and text
    hashes: list[Ragged] = field(default_factory=list)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "kernel"}

    @cached_property
    def kernel(self) -> _native.Copies:
        kernel = _kernel(self.settings)
        for some in self.hashes:
            kernel.hold(some.values, some.offsets)
        kernel.index()
        return kernel

    def compared(self, batch: DocumentBatch) -> Compared:
        ids, texts = batch.records["id"], batch.records["text"]
        copies, spans = self.copies_in(words_in(batch).hashes, Ragged.of_strings(texts))
        sources = [(ids[n].as_py(), texts[n].as_py()) for n in copies[:, Copied.DOCUMENT].tolist()]
        compared = self.with_sources(copies, spans, sources, len(ids))
        return compared._replace(size=batch.size, file=batch.file, rejected=batch.rejected)

    def copies_in(self, words: Ragged, texts: Ragged) -> tuple[Array, Array]:
        copies = self.kernel.against(words.values, words.offsets).reshape(-1, Copied.COUNT)
        return _placed(copies, texts, Copied.DOCUMENT)

    def with_sources(
        self, copies: Array, spans: Array, sources: list[tuple[str, str]], documents: int
    ) -> Compared:
        """``sources`` has the id and the whole text of the document of each copy. A document is not
        its own source."""
        own = [
            self.documents[n] == source
            for n, source in zip(copies[:, Copied.SOURCE], sources, strict=True)
        ]
        if any(own):
            others = ~np.array(own)
            copies, spans = copies[others], spans[others]
            sources = [source for source, same in zip(sources, own, strict=True) if not same]
        places = zip(sources, spans[:, Span.BEGIN :].tolist(), strict=True)
        parts = [(id, text[begin:end]) for (id, text), (begin, end) in places]
        return Compared(0, parts, copies, spans, documents)


class Comparison(Protocol):
    """What compares a collection with the traced documents: this machine, or Spark."""

    def __call__(
        self, wanted: Traced, against: Collection, progress: Progress
    ) -> Iterable[Compared]: ...


def compare(wanted: Traced, against: Collection, progress: Progress) -> Iterator[Compared]:
    """The documents of the collection, read once, in order."""
    progress.stage("comparing", total_bytes=against.plain_size())
    chunks = against.chunks(Columns(wanted.settings.text, wanted.settings.id))
    workers = worker_count(wanted.settings.workers)
    _ = wanted.kernel  # made before there are threads
    return chunk_results(chunks, lambda chunk: wanted.compared(chunk.read()), workers)


def _from_collection(traces: Traces, compared: Iterable[Compared]) -> Iterator[Compared]:
    first = 0
    for batch in compared:
        traces.tally(batch.file, batch.documents, batch.rejected)
        yield batch._replace(first=first)
        first += batch.documents


def _from_library(against: Library, wanted: Traced) -> Iterator[Compared]:
    settings = wanted.settings
    if settings.min_words < ANCHOR + ANCHOR_WINDOW - 1:
        raise SettingsError(
            f"min_words is {settings.min_words}, and an index finds passages of at least "
            f"{ANCHOR + ANCHOR_WINDOW - 1} words.",
            hint="trace against the documents themselves, or leave --min-words out.",
        )
    hashes = wanted.hashes
    asked = [_native.anchors(each.values, each.offsets, *_anchors(settings))[0] for each in hashes]
    alone = len(hashes) == 1 and len(hashes[0]) == 1  # its anchors are sorted, each once
    anchors = asked[0] if alone else np.unique(np.concatenate([np.empty(0, np.uint64), *asked]))
    found = iter(against.sharing(anchors))
    while some := list(islice(found, _SOURCES)):
        texts = Ragged.of_texts([source.text for source in some])
        words = Ragged(*_native.word_hashes(texts.values, texts.offsets, _TEXT))
        copies, spans = wanted.copies_in(words, texts)
        sources = [(some[n].id, some[n].text) for n in copies[:, Copied.DOCUMENT].tolist()]
        numbers = [each.number for each in some]
        yield wanted.with_sources(copies, spans, sources, len(some))._replace(first=numbers)


def _match(traces: Traces, batches: Iterator[Compared], shown: Progress) -> int:
    """Gives each document its hits; returns the number of documents that were compared."""
    texts = Ragged.of_texts([t.text for t in traces])
    total = 0
    for batch in batches:
        mine = _characters(batch.copies, texts)
        for copy, span, place, (id, text) in zip(
            batch.copies.tolist(), batch.spans.tolist(), mine, batch.sources, strict=True
        ):
            number, begin, end, source, at, until, matched = copy
            first = batch.first
            number = first + number if isinstance(first, int) else first[number]
            longer = max(end - begin, until - at)
            words, place_there = (at, until), (span[2], span[3])
            hit = Hit(number, id, *words, *place, *place_there, matched, longer, text)
            traces[source].hits.append(hit)
        total += batch.documents
        shown.advance(batch.documents, batch.size)
    return total


def _placed(copies: Array, texts: Ragged, column: int) -> tuple[Array, npt.NDArray[np.int64]]:
    """The copies sorted by a document and its words, and where they stand in its text."""
    begin = column + 1
    order = np.lexsort((copies[:, begin], copies[:, column]))
    copies = copies[order]
    counts = np.searchsorted(copies[:, column], np.arange(len(texts) + 1)).astype(np.int64)
    spans = _native.text_spans(
        texts.values,
        texts.offsets,
        _TEXT,
        np.ascontiguousarray(copies[:, begin]),
        np.ascontiguousarray(copies[:, begin + 1]),
        counts,
        0,
    )
    return copies, spans.reshape(-1, Span.COUNT)


def _characters(copies: Array, texts: Ragged) -> list[tuple[int, int]]:
    """Where the copies stand in the traced documents."""
    order = np.lexsort((copies[:, Copied.SOURCE_BEGIN], copies[:, Copied.SOURCE]))
    _, spans = _placed(copies[order], texts, Copied.SOURCE)
    out = np.empty((len(copies), 2), np.int64)
    out[order] = spans[:, Span.BEGIN :]
    return [(int(begin), int(end)) for begin, end in out]


def _choose(each: Trace, least: int) -> None:
    """Gives the parts of a document to sources: that with the most text first."""
    if not each.hits:
        return
    size = max(hit.word_end for hit in each.hits)
    by_source: dict[int, list[Hit]] = {}
    for hit in each.hits:
        by_source.setdefault(hit.source, []).append(hit)
    count = np.zeros(size + 1, np.int64)  # documents of the collection that have each word
    for some in by_source.values():
        for begin, end in union_of((h.word_begin, h.word_end) for h in some):
            count[begin:end] += 1
    each.longest_words = max(hit.matched for hit in each.hits)
    taken = np.zeros(size, np.bool_)
    chosen: list[Hit] = []
    left = [(-_gain(some, taken), source) for source, some in by_source.items()]
    heapify(left)
    while left and -left[0][0] >= least:
        gain, source = heappop(left)
        if (now := -_gain(by_source[source], taken)) > gain:  # others have taken some of it since
            heappush(left, (now, source))
            continue
        for hit in sorted(by_source[source], key=lambda h: (-h.matched, h.word_begin)):
            if _gain([hit], taken) >= least or not taken[hit.word_begin : hit.word_end].any():
                taken[hit.word_begin : hit.word_end] = True
                chosen.append(hit)
    each.parts = [_part(hit, count) for hit in sorted(chosen, key=lambda h: (h.begin, h.end))]
    each.weighted = _weighted(each, chosen, count)


def _gain(hits: Sequence[Hit], taken: npt.NDArray[np.bool_]) -> int:
    spans = union_of((h.word_begin, h.word_end) for h in hits)
    return sum(end - begin - int(taken[begin:end].sum()) for begin, end in spans)


def _having(hit: Hit, count: Array) -> int:
    """The documents that have a part: the median of its words."""
    words = count[hit.word_begin : hit.word_end]
    return int(np.partition(words, len(words) // 2)[len(words) // 2])


def _part(hit: Hit, count: Array) -> Part:
    also = _having(hit, count) - 1
    similarity = round(hit.matched / hit.longer, 4)
    place = (hit.source_begin, hit.source_end)
    return Part(hit.begin, hit.end, hit.id, *place, similarity, hit.text, max(0, also))


def _weighted(each: Trace, chosen: Sequence[Hit], count: Array) -> float:
    """The coverage with each part weighed by its rarity: 1 if one document of the collection has
    it, near 0 if most of them have it."""
    whole = math.log(each.collection + 1)
    total = 0.0
    for hit in chosen:
        having = max(1, _having(hit, count))
        weight = math.log((each.collection + 1) / having) / whole if whole else 1.0
        total += (hit.end - hit.begin) * weight
    return min(1.0, total / max(1, len(each.text)))
