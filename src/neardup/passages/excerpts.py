"""What is taken from the texts of documents that are read again: the place of each passage in
characters, its text, and whether its copies are marked as quotations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.documents import DocumentBatch
from neardup.passages.passage_settings import UNITS
from neardup.passages.search import Found, Place, Span
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text

LONGEST_TEXT = 20_000  # bytes of a passage that the table shows
_LOOKED_AT = 8  # occurrences of a passage whose surroundings are examined
_MARKS = (b">", b"|", b":")  # of quoted lines
_QUOTE = '"“”„«»‹›「」『』'


class Excerpts(NamedTuple):
    """What is taken from the texts of a batch: the span of each place, the text of each passage and
    whether that is its original, and whether its first copies are marked as quotations."""

    spans: Array  # of each place: bytes from and to, characters from and to
    texts: dict[int, tuple[bool, str]]
    quoted: dict[int, list[bool]]
    held: dict[int, str]  # documents with copies, by number


@dataclass
class Excerpting:
    """Takes them; ``hold`` is changed while batches are read."""

    places: npt.NDArray[np.int64]
    unit: str
    hold: bool = False

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
        excerpts = Excerpts(found.reshape(-1, Span.COUNT), {}, {}, {})
        data = memoryview(texts.values.data)
        for (passage, document, _, _, copy), (at, until, _, _) in zip(
            places.tolist(), excerpts.spans.tolist(), strict=True
        ):
            if at >= 0:
                whole = data[texts.offsets[document - first] : texts.offsets[document - first + 1]]
                _excerpt(excerpts, passage, copy < 0, whole, at, until)
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
        out.texts[passage] = original, part.decode("utf-8", "ignore").strip()
    if not original and len(quoted := out.quoted.setdefault(passage, [])) < _LOOKED_AT:
        inside = bytes(text[begin : min(end, begin + 2000)])
        before, after = bytes(text[max(0, begin - 40) : begin]), bytes(text[end : end + 8])
        quoted.append(is_quoted(before, inside, after))


class Gathered:
    """The excerpts of all batches, in the order of reading."""

    def __init__(self, found: Found, hold: int) -> None:
        self._room = hold
        self.held: dict[int, str] = {}  # texts that have copies, by number
        self._parts: list[Array] = [np.empty((0, Span.COUNT), np.int64)]
        count = int(found.places[:, Place.PASSAGE].max()) + 1 if len(found.places) else 0
        self.texts: dict[int, str] = {}
        self.quoted, self.examined = np.zeros(count, np.int64), np.zeros(count, np.int64)

    def spans(self) -> npt.NDArray[np.int64]:
        return np.concatenate(self._parts)

    def add(self, part: Excerpts) -> bool:
        """Returns whether more texts are to be held."""
        self._parts.append(part.spans)
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


def is_quoted(before: bytes, inside: bytes, after: bytes) -> bool:
    """Between quotation marks, or in lines that mail programs mark with ``>`` or ``|``."""
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
