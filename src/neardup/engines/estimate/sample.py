"""A small part of the input, spread over it, that is read as a whole collection would be.

``seen`` counts the bytes on disk that the sample stands for, so that any format scales by size;
``starts`` says with which row each piece begins, counted over the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, cast

from neardup.documents import Chunk, Columns
from neardup.documents.arrow import ArrowSource
from neardup.documents.columns import Mask
from neardup.documents.csv import CsvSource
from neardup.documents.extraction.extractor import ExtractedChunk, Extractor
from neardup.documents.feeds import FeedSource
from neardup.documents.folder import FileSource, FolderSource
from neardup.documents.jsonl import JsonlSource
from neardup.documents.lists import ListSource
from neardup.documents.memory_tables import TableSource
from neardup.documents.parquet import ParquetSource
from neardup.documents.streams import CHUNK_BYTES
from neardup.documents.warc import WarcSource
from neardup.engines.estimate import (
    arrow_sample,
    csv_sample,
    feed_sample,
    folder_sample,
    jsonl_sample,
    memory_sample,
    parquet_sample,
    warc_sample,
)
from neardup.errors import UsageError

SHARE = 0.02
# However large the input is, an estimate stays cheap beside a run; of a packed file these are
# bytes as they are unpacked.
LEAST_BYTES, MOST_BYTES = 2 * CHUNK_BYTES, 8 * CHUNK_BYTES
LEAST_DOCUMENTS = 2000
MOST_FILES = 32
# Each has size, each, pieces and rewrite.
FORMATS: dict[type, ModuleType] = {
    ArrowSource: arrow_sample,
    CsvSource: csv_sample,
    FeedSource: feed_sample,
    FileSource: folder_sample,
    FolderSource: folder_sample,
    JsonlSource: jsonl_sample,
    ListSource: memory_sample,
    ParquetSource: parquet_sample,
    TableSource: memory_sample,
    WarcSource: warc_sample,
}


def format_of(source: Any) -> ModuleType:
    try:
        return FORMATS[type(source)]
    except KeyError:
        raise UsageError(
            f"{source.file}: there is no estimate for input of this kind.",
            hint="run on a part with --limit, and look at the timings of --json.",
        ) from None


def size_of(source: Any) -> float:
    return float(format_of(source).size(source))


@dataclass
class Sample:
    """A source made of pieces of others. Reading it fills ``seen`` and ``starts``."""

    sources: Sequence[Any]
    extractor: Extractor = field(default_factory=Extractor)
    file: str = "sample"
    most: float = MOST_BYTES
    seen: float = 0
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.size = sum(map(size_of, self.sources))

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        chosen = _spread([source for source in self.sources if size_of(source)], MOST_FILES)
        budget = min(_budget(self.size, chosen), self.most) / max(len(chosen), 1)
        row, self.seen, self.starts = 1, 0.0, []
        for source in chosen:
            for i, piece in enumerate(format_of(source).pieces(source, columns, budget)):
                self.seen += piece.size
                # Numbered anew, because pieces do not know their rows, and ids may be made of them.
                chunk = cast(Chunk, replace(piece.chunk, first_row=row))
                yield ExtractedChunk(chunk, self.extractor) if self._has_pages(source) else chunk
                for j, rows in enumerate(piece.parts):
                    if i == 0 or j > 0 or not piece.continues:
                        self.starts.append(row)
                    row += rows

    def _has_pages(self, source: Any) -> bool:
        return self.extractor.extraction.columns and not hasattr(source, "extractor")

    @property
    def factor(self) -> float:
        """How many times as much as the sample there is; sums of what is seen are not exact."""
        times = self.size / self.seen if self.seen else 1.0
        return times if times > 1 + 1e-9 else 1.0

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:
        raise NotImplementedError("a sample is read once")

    def kept(self, keep: Mask) -> tuple[Any, int]:
        raise NotImplementedError("a sample is not written")


def _spread(sources: Sequence[Any], most: int) -> list[Any]:
    step = max(1.0, len(sources) / most)
    return [sources[int(i * step)] for i in range(min(most, len(sources)))]


def _budget(size: float, sources: Sequence[Any]) -> float:
    enough = LEAST_DOCUMENTS * max((format_of(s).each(s) for s in sources[:1]), default=0.0)
    return min(max(SHARE * size, LEAST_BYTES, enough), MOST_BYTES)
