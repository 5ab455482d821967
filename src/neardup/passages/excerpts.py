"""What is taken from the texts of documents that are read again: the place of each passage in
characters, its text, and whether its copies are marked as quotations. ``Cutting`` cuts passages
out of these texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.documents import DocumentBatch
from neardup.documents.folder import FolderSource
from neardup.passages.passage_settings import UNITS
from neardup.passages.search import Copied, Found, Place, Span
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text
from neardup.text.words import buffers

LONGEST_TEXT = 20_000  # bytes of a passage that the table shows
_LOOKED_AT = 8  # occurrences of a passage whose surroundings are examined
_MARKS = (b">", b"|", b":")  # of quoted lines
_QUOTE = '"“”„«»‹›「」『』'


class UnitOf(NamedTuple):
    """A unit of a place: its words as a digest, and its size in words, bytes and characters."""

    digest: bytes
    words: int
    bytes: int
    characters: int


class Excerpts(NamedTuple):
    """What is taken from the texts of a batch: the span of each place, the text of each passage and
    whether that is its original, and whether its first copies are marked as quotations."""

    spans: Array  # of each place: bytes from and to, characters from and to
    texts: dict[int, tuple[bool, str]]
    quoted: dict[int, list[bool]]
    held: dict[int, str]  # documents with copies, by number
    units: dict[int, list[UnitOf]]  # of places whose passage may have a varying rim, by row


@dataclass
class Excerpting:
    """Takes them; ``hold`` is changed while batches are read."""

    places: npt.NDArray[np.int64]
    unit: str
    hold: bool = False
    varying: frozenset[int] = frozenset()  # passages of which most copies are edited

    def part(self, begin: int, end: int) -> Excerpting:
        rows = slice(*np.searchsorted(self.places[:, Place.DOCUMENT], (begin, end)))
        return replace(self, places=self.places[rows])

    def __call__(self, first: int, batch: DocumentBatch) -> Excerpts:
        numbers = first + np.arange(batch.records.num_rows + 1)
        ends = np.searchsorted(self.places[:, Place.DOCUMENT], numbers)
        places = self.places[ends[0] : ends[-1]]
        texts = Ragged.of_strings(batch.records.column("text"))
        begin, end = np.ascontiguousarray(
            places[:, Place.BEGIN : Place.END + 1].astype(np.uint32).T
        )
        counts = (ends - ends[0]).astype(np.int64)
        found = _native.text_spans(
            *(texts.values, texts.offsets, Text().native(), begin, end, counts),
            UNITS.index(self.unit),
        )
        excerpts = Excerpts(found.reshape(-1, Span.COUNT), {}, {}, {}, {})
        data = memoryview(texts.values.data)
        for row, ((passage, document, _, _, copy), (at, until, _, _)) in enumerate(
            zip(places.tolist(), excerpts.spans.tolist(), strict=True)
        ):
            if at >= 0:
                whole = data[texts.offsets[document - first] : texts.offsets[document - first + 1]]
                _excerpt(excerpts, passage, copy < 0, whole, at, until)
                if passage in self.varying and until - at <= LONGEST_TEXT:
                    excerpts.units[row] = _units(bytes(whole[at:until]), self.unit)
        if self.hold:
            for number in np.unique(places[places[:, Place.COPY] >= 0, Place.DOCUMENT]).tolist():
                text = texts[number - first].tobytes()
                excerpts.held[number] = text.decode("utf-8", "surrogatepass")
        return excerpts


def _excerpt(
    out: Excerpts, passage: int, original: bool, text: memoryview, begin: int, end: int
) -> None:
    if original or passage not in out.texts:
        part = bytes(text[begin : min(end, begin + LONGEST_TEXT)])
        out.texts[passage] = original, part.decode("utf-8", "ignore")
    if not original and len(quoted := out.quoted.setdefault(passage, [])) < _LOOKED_AT:
        inside = bytes(text[begin : min(end, begin + 2000)])
        before, after = bytes(text[max(0, begin - 40) : begin]), bytes(text[end : end + 8])
        quoted.append(is_quoted(before, inside, after))


def varying_passages(found: Found) -> frozenset[int]:
    """The passages of which at least half of the copies are edited."""
    passage, row = found.places[:, Place.PASSAGE], found.places[:, Place.COPY]
    copies = found.copies[row[row >= 0]].astype(np.int64).reshape(-1, Copied.COUNT)
    own = copies[:, Copied.END] - copies[:, Copied.BEGIN]
    theirs = copies[:, Copied.SOURCE_END] - copies[:, Copied.SOURCE_BEGIN]
    edited = copies[:, Copied.MATCHED] < np.maximum(own, theirs)
    of = passage[row >= 0]
    counts = np.bincount(of)
    many_edited = 2 * np.bincount(of, edited, len(counts)) >= counts
    return frozenset(np.flatnonzero(many_edited & (counts >= 2)).tolist())


def _units(text: bytes, unit: str) -> list[UnitOf]:
    if unit == "sentence":
        ends, _ = _native.sentences(np.frombuffer(text, np.uint8), np.array([0, len(text)]))
        cuts = ends.tolist()
    else:
        end = rb"\n" if unit == "line" else rb"\n[ \t\r]*\n\s*"
        cuts = sorted({0, *(found.end() for found in re.finditer(end, text)), len(text)})
    values, offsets = np.frombuffer(text, np.uint8), np.array(cuts, np.int64)
    hashes = Ragged(*_native.word_hashes(values, offsets, Text().native()))
    out: list[UnitOf] = []
    for i, (begin, end) in enumerate(pairwise(cuts)):
        words = hashes[i]
        size = end - begin, len(text[begin:end].decode("utf-8", "surrogatepass"))
        if out and not len(words):  # an empty line belongs to the one before
            last = out.pop()
            out.append(
                last._replace(bytes=last.bytes + size[0], characters=last.characters + size[1])
            )
        else:
            out.append(UnitOf(blake2b(words.tobytes(), digest_size=8).digest(), len(words), *size))
    return out


def _core(places: list[list[UnitOf]], min_words: int) -> tuple[bytes, ...]:
    """The units with words that four fifths of the places have, if they follow each other in all of
    these and are long enough for a passage; else nothing. What is around them varies."""
    there = Counter(each for units in places for each in {unit.digest for unit in units})
    common = {digest for digest, count in there.items() if 5 * count >= 4 * len(places)}
    runs = Counter(tuple(u.digest for u in units if u.digest in common) for units in places)
    core, _ = max(runs.items(), key=lambda item: (item[1], item[0]))
    sizes = {unit.digest: unit.words for units in places for unit in units}
    enough = sum(sizes[digest] for digest in core) >= min_words
    holding = sum(_at(units, core) is not None for units in places)
    return core if core and enough and 5 * holding >= 4 * len(places) else ()


def _at(units: list[UnitOf], core: tuple[bytes, ...]) -> int | None:
    """Where the core begins among the units."""
    digests = [unit.digest for unit in units]
    starts = range(len(digests) - len(core) + 1)
    return next((i for i in starts if tuple(digests[i : i + len(core)]) == core), None)


class Gathered:
    """The excerpts of all batches, in the order of reading."""

    def __init__(self, found: Found, hold: int) -> None:
        self._room = hold
        self.held: dict[int, str] = {}  # texts that have copies, by number
        self._parts: list[Array] = [np.empty((0, Span.COUNT), np.int64)]
        count = int(found.places[:, Place.PASSAGE].max()) + 1 if len(found.places) else 0
        self.texts: dict[int, str] = {}
        self._units: dict[int, list[UnitOf]] = {}  # by row of places
        self._rows = 0
        self.quoted, self.examined = np.zeros(count, np.int64), np.zeros(count, np.int64)

    def spans(self) -> npt.NDArray[np.int64]:
        return np.concatenate(self._parts)

    def add(self, part: Excerpts) -> bool:
        """Returns whether more texts are to be held."""
        self._parts.append(part.spans)
        self._units |= {self._rows + row: units for row, units in part.units.items()}
        self._rows += len(part.spans)
        for passage, (original, text) in part.texts.items():
            if original or passage not in self.texts:
                self.texts[passage] = text
        for passage, marks in part.quoted.items():
            first = marks[: _LOOKED_AT - int(self.examined[passage])]
            self.examined[passage] += len(first)
            self.quoted[passage] += sum(first)
        if self._room:
            self.held |= part.held
            self._room -= sum(map(len, part.held.values()))
            if self._room <= 0:  # then all of them are read again
                self._room, self.held = 0, {}
        return self._room > 0

    def narrow(self, places: Array, spans: Array, min_words: int) -> npt.NDArray[np.int64]:
        """Narrows the spans to the text that does not vary, its core, where a line that varies was
        bridged beside it. Returns the rows of these places: they are exact."""
        rows: dict[int, list[int]] = {}
        for row in self._units:
            rows.setdefault(int(places[row, Place.PASSAGE]), []).append(row)
        narrowed: list[int] = []
        for passage, some in rows.items():
            first = next((row for row in some if places[row, Place.COPY] < 0), None)
            core = _core([self._units[row] for row in some], min_words)
            # If the original lacks the core, nothing like it would be left.
            if first is None or not core or _at(self._units[first], core) is None:
                continue
            for row in some:
                if (at := _at(self._units[row], core)) is not None:
                    skipped = self._cut(spans[row], self._units[row], at, len(core))
                    narrowed.append(row)
                    if row == first:
                        text = self.texts[passage][skipped:]
                        self.texts[passage] = text[: spans[row, Span.END] - spans[row, Span.BEGIN]]
        return np.array(narrowed, np.int64)

    @staticmethod
    def _cut(span: Array, units: list[UnitOf], at: int, count: int) -> int:
        before, core = units[:at], units[at : at + count]
        skipped = sum(unit.characters for unit in before)
        span[Span.BYTE_BEGIN] += sum(unit.bytes for unit in before)
        span[Span.BYTE_END] = span[Span.BYTE_BEGIN] + sum(unit.bytes for unit in core)
        span[Span.BEGIN] += skipped
        span[Span.END] = span[Span.BEGIN] + sum(unit.characters for unit in core)
        return skipped


def is_quoted(before: bytes, inside: bytes, after: bytes) -> bool:
    """Whether the text is between quotation marks, or in lines that mail programs mark with ``>``
    or ``|``."""
    if any(mark in before or mark in inside for mark in _MARKS):
        line = before.rpartition(b"\n")[2].lstrip()
        lines = [b"%b%b" % (line, inside.partition(b"\n")[0]), *inside.split(b"\n")[1:]]
        full = [each.lstrip() for each in lines if each.strip()]
        if sum(each.startswith(_MARKS) for each in full) * 2 > len(full):
            return True
    left = before.decode("utf-8", "ignore").rstrip()
    right = after.decode("utf-8", "ignore").lstrip(" .,!?")
    text = inside.decode("utf-8", "ignore").strip()
    opened = left[-1:] in _QUOTE or text[:1] in _QUOTE
    return bool(opened and (left[-1:] + text[:1]).strip()) and (
        (bool(right[:1]) and right[:1] in _QUOTE) or (bool(text) and text[-1] in _QUOTE)
    )


@dataclass
class Changed:
    """A document that gets another text, or marks."""

    number: int
    before: int  # characters
    after: int
    spans: list[tuple[int, int]]
    words: int = 0  # that are left


Spans = dict[int, list[tuple[int, int]]]  # of documents, by number, in their order


class Cuts(NamedTuple):
    """Documents that are changed; ``texts`` has what is left of them, if that was asked for."""

    changed: list[Changed]
    texts: list[str]
    untouched: list[str]  # ids of pages, whose text has no place to be written to


@dataclass
class Cutting:
    """Cuts spans out of the documents that are read again."""

    spans: Spans
    annotate: bool
    folders: Mapping[str, FolderSource]
    with_texts: bool

    def __post_init__(self) -> None:
        self._numbers = np.array(list(self.spans), np.int64)

    def numbers(self, begin: int, end: int) -> list[int]:
        """The documents with spans, from ``begin`` to ``end``."""
        chosen = slice(*np.searchsorted(self._numbers, (begin, end)))
        numbers: list[int] = self._numbers[chosen].tolist()
        return numbers

    def part(self, begin: int, end: int) -> Cutting:
        return replace(self, spans={n: self.spans[n] for n in self.numbers(begin, end)})

    def __call__(self, first: int, batch: DocumentBatch) -> Cuts:
        ids, texts = batch.records.column("id"), batch.records.column("text")
        numbers = self.numbers(first, first + batch.records.num_rows)
        writable = {n for n in numbers if self._is_writable(batch, n - first)}
        cuts = self.cuts((n, texts[n - first].as_py()) for n in numbers if n in writable)
        pages = [ids[n - first].as_py() for n in numbers if n not in writable]
        return cuts._replace(untouched=pages)

    def _is_writable(self, batch: DocumentBatch, row: int) -> bool:
        """Whether a document of a folder is a text file: a page would have to be written as one."""
        if (source := self.folders.get(batch.file)) is None:
            return True
        entry = source.entries[batch.records.column("row")[row].as_py() - 1]
        return source.kind_of(entry) is None and not source.reads_xml(entry)

    def cuts(self, documents: Iterable[tuple[int, str]]) -> Cuts:
        changed, texts = [], []
        for number, text in documents:
            rest = self.rest(number, text)
            changed.append(Changed(number, len(text), len(rest), self.spans[number]))
            texts.append(rest)
        offsets = _native.word_hashes(*buffers(texts), Text().native())[1]
        for each, count in zip(changed, np.diff(offsets).tolist(), strict=True):
            each.words = count
        return Cuts(changed, texts if self.with_texts else [], [])

    def rest(self, number: int, text: str) -> str:
        return text if self.annotate else without(text, self.spans[number])


def without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text without these spans, which are sorted and do not overlap."""
    kept, at = [], 0
    for begin, end in spans:
        kept.append(text[at:begin])
        at = end
    return "".join([*kept, text[at:]])
