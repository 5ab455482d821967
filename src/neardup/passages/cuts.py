"""Cuts spans of characters out of the documents that are read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from neardup import _native
from neardup.documents import DocumentBatch
from neardup.documents.folder import FolderSource
from neardup.text.text_options import Text
from neardup.text.words import buffers


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
