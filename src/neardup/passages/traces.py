"""Traced documents: their parts with the sources of each, and how much of each is covered.

``trace_page`` draws them as a page: each text beside its sources, every source in its own colour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from neardup.documents import Rejected
from neardup.passages.search import mostly_rejected
from neardup.report.html_page import Cell, Html, Table, card, html, name, page, prose, table_html
from neardup.runs.rejections import Reading
from neardup.wording import many

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
    id: str
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
        return sum(end - begin for begin, end in union_of((p.begin, p.end) for p in self.parts))

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
        return trace_page([self])


def union_of(spans: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if out and begin <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((begin, end))
    return out


class Traces(list[Trace]):
    """The traced documents, in their order; ``rejected`` have no text to trace, ``unread`` are
    documents of the collection that are no sources because they cannot be read."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self.rejected: list[Rejected] = []
        self.unread: list[Rejected] = []
        self._read: Counter[str] = Counter()  # documents of each file of the collection
        self._reading = reading

    def mostly_rejected(self) -> list[dict[str, Any]]:
        own = mostly_rejected(self.rejected, ((each.file, 1) for each in self), self._reading)
        return own + mostly_rejected(self.unread, self._read.items(), self._reading)

    def tally(self, file: str, documents: int, rejected: Sequence[Rejected]) -> None:
        """Counts documents of the collection."""
        self._read[file] += documents
        self.unread += rejected

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


COLOURS = 7
LONGEST = 200_000  # characters of a text that are shown


def trace_page(traces: Sequence[Trace]) -> str:
    parts = [Html("<h1>Where the passages come from</h1>"), *map(traced_document, traces)]
    return page("Where the passages come from", parts, "passages")


def traced_document(trace: Trace) -> Html:
    sources = trace.sources()
    number = {source: i for i, (source, _, _) in enumerate(sources)}
    rows: list[list[Cell]] = [
        [f"{i + 1}", source, count, f"{100 * share:.1f} %"]
        for i, (source, count, share) in enumerate(sources)
    ]
    table = table_html(Table(("", "source", "passages", "share"), rows)) if rows else Html("")
    text = Html(f"<div>{_marked(trace, number)}</div>")
    quoted = Html("".join(_source(part, number[part.source]) for part in trace.parts))
    beside = Html(f"<div class=traced>{text}<div>{quoted}</div></div>")
    return card(trace.id, prose(f"{trace.sentence()}.", "lead"), table, beside)


def _marked(trace: Trace, number: dict[str, int]) -> Html:
    """The text with its parts marked; where parts overlap, the first one is."""
    out, at = [], 0
    for part in trace.parts:
        begin = max(part.begin, at)
        if begin >= part.end or part.end > LONGEST:
            continue
        out.append(html(trace.text[at:begin]))
        out.append(_mark(trace.text[begin : part.end], number[part.source]))
        at = part.end
    rest = trace.text[at : max(at, LONGEST)]
    more = "…" if len(trace.text) > max(at, LONGEST) else ""
    return Html("".join([*out, html(rest + more)]))


def _mark(text: str, number: int) -> Html:
    return Html(f"<mark class=s{number % COLOURS}>{html(text)}<sup>{number + 1}</sup></mark>")


def _source(part: Part, number: int) -> Html:
    also = f" · also in {part.also_in:,} more" if part.also_in else ""
    return Html(
        f"<div class=place><small>{number + 1} · {name(part.source)} · characters "
        f"{part.source_begin:,} to {part.source_end:,} · {part.similarity:.0%} of the words"
        f"{also}</small>{_mark(part.text, number)}</div>"
    )
