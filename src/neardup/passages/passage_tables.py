"""The tables of passages and of their occurrences, with the class of each passage and its evidence.

A passage is in ``passages`` once, the one with the most repeated text first. ``occurrences`` has
every place where it stands: ``begin`` and ``end`` are characters of the original text, ``original``
marks the place that comes first in the order of ``keep``, and ``of`` names the document from which
a copy was found.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.arguments import PassageArguments
from neardup.documents import Collection, collect
from neardup.passages.excerpts import Excerpting, Gathered, varying_passages
from neardup.passages.passage_settings import (
    CLASSES,
    Evidence,
    PassageSettings,
    notices_in,
    settings_of,
)
from neardup.passages.search import Copied, Found, Place, Span, Workspace, search
from neardup.progress import Progress
from neardup.schema import Array, string_column
from neardup.wording import many

PASSAGES = pa.schema(
    [
        pa.field("passage", pa.int64()),
        pa.field("text", pa.large_string()),
        pa.field("words", pa.int64()),
        pa.field("characters", pa.int64()),
        pa.field("documents", pa.int64()),
        pa.field("occurrences", pa.int64()),
        pa.field("edited", pa.int64()),
        pa.field("class", pa.string()),
        pa.field("evidence", pa.large_string()),
        pa.field("sources", pa.int64()),
        pa.field("source", pa.large_string()),
        pa.field("first_date", pa.string()),
        pa.field("last_date", pa.string()),
    ]
)
OCCURRENCES = pa.schema(
    [
        pa.field("passage", pa.int64()),
        pa.field("id", pa.large_string()),
        pa.field("file", pa.large_string()),
        pa.field("row", pa.int64()),
        pa.field("begin", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("original", pa.bool_()),
        pa.field("of", pa.large_string()),
        pa.field("exact", pa.bool_()),
        pa.field("similarity", pa.float64()),
    ]
)
_STANDING, _STANDING_SHARE = 10, 0.05  # documents of a source that repeat what is no content
_EDGE = 0.25  # of a document, at its begin and end


class Passages:
    """The passages of a collection: two tables, the counts, and the settings."""

    def __init__(self, found: Found, unit: str, hold: int = 0) -> None:
        """``hold``: bytes of the texts with copies that are held, to be cleaned without another
        reading."""
        self.found, self.unit = found, unit
        self.documents = found.documents
        gathered = Gathered(found, hold)
        varying = varying_passages(found) if unit != "word" else frozenset()
        excerpting = Excerpting(found.places, unit, hold > 0, varying)
        for part in found.again(excerpting):
            excerpting.hold = gathered.add(part)
        self._gathered = gathered
        spans = gathered.spans()
        narrowed = gathered.narrow(found.places, spans, found.documents.settings.min_words)
        gathered.texts = {passage: text.strip() for passage, text in gathered.texts.items()}
        self.places = _repeated(found.places, spans)  # rows of found.places
        self.spans = spans[self.places]
        self._narrowed = np.isin(self.places, narrowed)
        ids, self.number = np.unique(found.places[self.places, Place.PASSAGE], return_inverse=True)
        self._rank_passages(ids)

    @property
    def _sizes(self) -> npt.NDArray[np.int64]:
        """The characters of each occurrence."""
        sizes: npt.NDArray[np.int64] = self.spans[:, Span.END] - self.spans[:, Span.BEGIN]
        return sizes

    def _rank_passages(self, ids: Array) -> None:
        sizes = np.bincount(self.number, self._sizes, len(ids))
        largest = np.zeros(len(ids), np.int64)
        np.maximum.at(largest, self.number, self._sizes)
        order = np.lexsort((ids, -(sizes - largest)))
        rank = np.empty(len(ids), np.int64)
        rank[order] = np.arange(len(ids))
        self.number = rank[self.number]
        self.kernel_ids = ids[order]

    @property
    def held(self) -> dict[int, str]:
        return self._gathered.held

    @cached_property
    def similarity(self) -> npt.NDArray[np.float64]:
        """The similarity of each occurrence to the one it was found from; 1 for the original."""
        rows = self.found.places[self.places, Place.COPY]
        copies = self.found.copies[np.maximum(rows, 0)].astype(np.int64).reshape(-1, 7)
        own = copies[:, Copied.END] - copies[:, Copied.BEGIN]
        theirs = copies[:, Copied.SOURCE_END] - copies[:, Copied.SOURCE_BEGIN]
        longer = np.maximum(own, theirs)
        return np.where(
            (rows < 0) | self._narrowed, 1.0, copies[:, Copied.MATCHED] / np.maximum(longer, 1)
        )

    @cached_property
    def original(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.found.places[self.places, Place.COPY] < 0)

    @cached_property
    def classes(self) -> tuple[list[str], list[str]]:
        """The class of each passage, and the evidence."""
        both = [each.classified() for each in self._evidence()]
        return [name for name, _ in both], [why for _, why in both]

    @cached_property
    def passages(self) -> pa.Table:
        count = len(self.kernel_ids)
        counts = _Counts(self.number, self._document, count)
        places = self.found.places[self.places]
        words = places[:, Place.END] - places[:, Place.BEGIN]
        longest_words, longest = np.zeros(count, np.int64), np.zeros(count, np.int64)
        np.maximum.at(longest_words, self.number, words)
        np.maximum.at(longest, self.number, self._sizes)
        first, last = self._dates()
        top = self._sources
        texts = self._gathered.texts
        columns = {
            "passage": np.arange(count),
            "text": string_column([texts[number] for number in self.kernel_ids.tolist()]),
            "words": longest_words,
            "characters": longest,
            "documents": counts.documents,
            "occurrences": counts.occurrences,
            "edited": np.bincount(self.number, self.similarity < 1, count).astype(np.int64),
            "class": self.classes[0],
            "evidence": self.classes[1],
            "sources": [sources for sources, _, _ in top],
            "source": [name for _, name, _ in top],
            "first_date": first,
            "last_date": last,
        }
        return pa.table(columns, schema=PASSAGES)

    @cached_property
    def occurrences(self) -> pa.Table:
        """Sorted by passage, then as the documents were read."""
        order = np.argsort(self.number, kind="stable")
        rows, numbers = self.places[order], self._document[order]
        ids = self.documents.id_column()
        copies = self.found.places[rows, Place.COPY]
        found = self.found.copies[np.maximum(copies, 0)].reshape(-1, Copied.COUNT)
        source = found[:, Copied.SOURCE].astype(np.int64)
        of = ids.take(pa.array(source, mask=copies < 0))
        similarity = self.similarity[order]
        columns = {
            "passage": self.number[order],
            "id": ids.take(pa.array(numbers)),
            "file": self.documents.file_column().take(pa.array(numbers)),
            "row": self.documents.numbers("rows")[numbers],
            "begin": self.spans[order, Span.BEGIN],
            "end": self.spans[order, Span.END],
            "original": self.original[order],
            "of": of,
            "exact": similarity == 1,
            "similarity": similarity,
        }
        return pa.table(columns, schema=OCCURRENCES)

    @cached_property
    def counts(self) -> dict[str, int]:
        characters = int(self.documents.numbers("lengths").sum())
        return {
            "documents": self.documents.total,
            "rejected": len(self.documents.rejected),
            "characters": characters,
            "passages": len(self.kernel_ids),
            "occurrences": len(self.places),
            "repeated_characters": self.repeated(),
            **{f"class_{name}": self.classes[0].count(name) for name in CLASSES},
        }

    def repeated(self, chosen: Array | None = None) -> int:
        """Characters of copies, each counted once; of the ``chosen`` occurrences, if given."""
        copies = ~self.original if chosen is None else chosen & ~self.original
        return sum(
            end - begin for _, begin, end in merged(self._document[copies], self.spans[copies])
        )

    def edited_of(self, removed: Array) -> npt.NDArray[np.bool_]:
        """Edited copies whose original is among the ``removed`` occurrences, at least in part."""
        places = self.found.places[self.places]
        gone: dict[int, list[tuple[int, int]]] = {}
        words = np.zeros((int(removed.sum()), Span.COUNT), np.int64)
        words[:, Span.BEGIN :] = places[removed, Place.BEGIN : Place.END + 1]
        for document, begin, end in merged(places[removed, Place.DOCUMENT], words):
            gone.setdefault(document, []).append((begin, end))
        found = np.zeros(len(places), np.bool_)
        for i in np.flatnonzero(removed & (self.similarity < 1)).tolist():
            _, _, _, source, begin, end, _ = self.found.copies[places[i, Place.COPY]].tolist()
            some = gone.get(source, [])
            at = bisect_left(some, (end, 0)) - 1  # the last one that begins before the end
            found[i] = at >= 0 and some[at][1] > begin
        return found

    def sentence(self) -> str:
        counts = self.counts
        share = 100 * counts["repeated_characters"] / max(1, counts["characters"])
        return (
            f"{many(counts['passages'], 'passage')} in {many(counts['occurrences'], 'place')} of "
            f"{many(counts['documents'], 'document')}; copies are {share:.1f} % of all characters"
        )

    def save(self, folder: str | Path) -> Path:
        """Write ``passages.parquet``, ``occurrences.parquet``, ``report.html`` and ``run.json``."""
        from neardup.passages.passage_folder import save

        return save(self, Path(folder))

    def standing(self) -> list[str]:
        """The texts that a source repeats: passages in at least ``_STANDING`` of its documents and
        a twentieth of them. If they are four fifths of these documents, they are notices: other
        texts that are copied as a whole are content."""
        names, codes = self._source_codes
        sizes = np.bincount(codes, minlength=len(names))
        pairs = np.unique(np.stack([self.number, self._document], 1), axis=0)
        found, counts = np.unique(
            np.stack([pairs[:, 0], codes[pairs[:, 1]]], 1), axis=0, return_counts=True
        )
        often = (counts >= _STANDING) & (counts >= _STANDING_SHARE * sizes[found[:, 1]])
        count, lengths = len(self.kernel_ids), self.documents.numbers("lengths")
        own = np.bincount(self.number, self._sizes, count)
        part = 1.25 * own < np.bincount(pairs[:, 0], lengths[pairs[:, 1]], count)
        part |= np.array(self.classes[0], object) == "notice"
        chosen = np.intersect1d(found[often, 0], np.flatnonzero(part))
        return [self._gathered.texts[n] for n in self.kernel_ids[chosen].tolist()]

    @cached_property
    def _document(self) -> npt.NDArray[np.int64]:
        documents: npt.NDArray[np.int64] = self.found.places[self.places, Place.DOCUMENT]
        return documents

    @cached_property
    def _source_codes(self) -> tuple[Array, npt.NDArray[np.int64]]:
        """The names of all sources, and which one each document has."""
        encoded = pa.array(self.documents.sources(), pa.large_string()).dictionary_encode()
        names = encoded.dictionary.to_numpy(zero_copy_only=False).astype(object)
        order = np.argsort(names)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return names[order], rank[encoded.indices.to_numpy(zero_copy_only=False)]

    @cached_property
    def _sources(self) -> list[tuple[int, str, int]]:
        """For each passage: how many sources it has, the most frequent source, and in how many
        documents that has it."""
        names, codes = self._source_codes
        pairs = np.unique(np.stack([self.number, self._document], 1), axis=0)
        found = np.unique(
            np.stack([pairs[:, 0], codes[pairs[:, 1]]], 1), axis=0, return_counts=True
        )
        (passage, source), counts = found[0].T, found[1]
        order = np.lexsort((source, -counts, passage))
        starts = np.searchsorted(passage[order], np.arange(len(self.kernel_ids) + 1))
        firsts = order[starts[:-1]] if len(order) else order
        several = np.diff(starts).tolist()
        tops = names[source[firsts]].tolist(), counts[firsts].tolist()
        return list(zip(several, *tops, strict=True))

    def _dates(self) -> tuple[list[str | None], list[str | None]]:
        count = len(self.kernel_ids)
        first: list[str | None] = [None] * count
        last: list[str | None] = [None] * count
        dates = self.documents.dates()
        if any(dates):
            for passage, document in zip(
                self.number.tolist(), self._document.tolist(), strict=True
            ):
                if date := dates[document]:
                    first[passage] = min(first[passage] or date, date)
                    last[passage] = max(last[passage] or date, date)
        return first, last

    def _evidence(self) -> list[Evidence]:
        count = len(self.kernel_ids)
        counts = _Counts(self.number, self._document, count)
        lengths = np.maximum(self.documents.numbers("lengths")[self._document], 1)
        middle = (self.spans[:, Span.BEGIN] + self.spans[:, Span.END]) / 2 / lengths
        edge = (middle < _EDGE) | (middle > 1 - _EDGE)
        at_edge = np.bincount(self.number, edge, count).astype(np.int64).tolist()
        edited = np.bincount(self.number, self.similarity < 1, count).astype(np.int64).tolist()
        everywhere = len(self._source_codes[0])
        gathered = self._gathered
        notices = notices_in([gathered.texts[passage] for passage in self.kernel_ids.tolist()])
        evidence = []
        for number, passage in enumerate(self.kernel_ids.tolist()):
            sources, source, of_source = self._sources[number]
            evidence.append(
                Evidence(
                    int(counts.documents[number]),
                    int(counts.occurrences[number]),
                    edited[number],
                    sources,
                    source,
                    of_source,
                    at_edge[number],
                    float(gathered.quoted[passage] / max(1, gathered.examined[passage])),
                    notices[number],
                    everywhere,
                )
            )
        return evidence


class _Counts:
    def __init__(self, passage: Array, document: Array, count: int) -> None:
        pairs = np.unique(np.stack([passage, document], 1), axis=0)
        self.documents = np.bincount(pairs[:, 0], minlength=count)
        self.occurrences = np.bincount(passage, minlength=count)


def _repeated(places: Array, spans: Array) -> npt.NDArray[np.int64]:
    """The rows of places that have whole units, of passages that have two of them."""
    there = np.flatnonzero(spans[:, Span.END] > spans[:, Span.BEGIN])
    _, inverse, counts = np.unique(
        places[there, Place.PASSAGE], return_inverse=True, return_counts=True
    )
    return there[counts[inverse] > 1]


def merged(document: Array, spans: Array) -> list[tuple[int, int, int]]:
    """Spans of characters (document, begin, end) without overlaps, sorted."""
    order = np.lexsort((spans[:, Span.BEGIN], document))
    out: list[tuple[int, int, int]] = []
    for number, begin, end in zip(
        document[order].tolist(), *spans[order][:, Span.BEGIN :].T.tolist(), strict=True
    ):
        if out and out[-1][0] == number and begin <= out[-1][2]:
            out[-1] = (number, out[-1][1], max(out[-1][2], end))
        else:
            out.append((number, begin, end))
    return out


def passages(documents: Any, **settings: Unpack[PassageArguments]) -> Passages:
    """Find every passage that occurs more than once in the documents.

    ``documents``: those of ``neardup.dedup``. ``settings`` are the fields of
    ``neardup.passages.passage_settings.PassageSettings``: ``min_words``, ``unit``, ``gap`` …
    """
    return passages_of(collect(documents), settings_of(dict(settings)))


class Engine(Protocol):
    """What finds passages: ``search`` on one machine, or Spark."""

    def __call__(
        self,
        collection: Collection,
        settings: PassageSettings,
        progress: Progress | None = None,
        workspace: Workspace | None = None,
    ) -> Found: ...


def passages_of(
    collection: Any,
    settings: PassageSettings,
    progress: Progress | None = None,
    workspace: Workspace | None = None,
    *,
    hold: int = 0,
    engine: Engine = search,
) -> Passages:
    return Passages(engine(collection, settings, progress, workspace), settings.unit, hold)
