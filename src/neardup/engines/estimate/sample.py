"""A sample: a small part of the input, spread over it, that is read like a whole collection.

``seen`` is the number of bytes on disk that the sample represents, so that estimates for any format
scale by size. ``starts`` has the row with which each piece begins, counted over the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from neardup.documents.columns import Chunk, Columns
from neardup.documents.extraction.extractor import ExtractedChunk, Extractor
from neardup.documents.source import Source
from neardup.documents.streams import CHUNK_BYTES

SHARE = 0.02
# The limit keeps an estimate cheap in comparison with a run on any input. For a packed file it
# counts unpacked bytes.
LEAST_BYTES, MOST_BYTES = 2 * CHUNK_BYTES, 8 * CHUNK_BYTES
LEAST_DOCUMENTS = 2000
MOST_FILES = 32


@dataclass
class Sample(Source):
    """A source that consists of pieces of other sources. Reading all of it fills ``seen`` and
    ``starts``; later readings that end early, because they have the texts they need, leave both
    unchanged."""

    sources: Sequence[Source]
    extractor: Extractor = field(default_factory=Extractor)
    file: str = "sample"
    most: float = MOST_BYTES
    seen: float = 0
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.whole_size = sum(source.size() for source in self.sources)

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        chosen = _spread([source for source in self.sources if source.size()], MOST_FILES)
        budget = min(_budget(self.whole_size, chosen), self.most) / max(len(chosen), 1)
        row, seen, starts = 1, 0.0, list[int]()
        for source in chosen:
            for i, piece in enumerate(source.pieces(columns, budget)):
                # Pieces do not know their rows, from which ids may be made: rows are renumbered.
                chunk = cast("Chunk", replace(cast("Any", piece.chunk), first_row=row))
                seen += piece.size
                for j, rows in enumerate(piece.parts):
                    if i == 0 or j > 0 or not piece.continues:
                        starts.append(row)
                    row += rows
                yield ExtractedChunk(chunk, self.extractor) if self._has_pages(source) else chunk
        self.seen, self.starts = seen, starts

    def _has_pages(self, source: Source) -> bool:
        return self.extractor.extraction.columns and source.extractor is None

    @property
    def factor(self) -> float:
        """The size of the input divided by that of the sample; the sums are not exact."""
        times = self.whole_size / self.seen if self.seen else 1.0
        return times if times > 1 + 1e-9 else 1.0


def _spread(sources: Sequence[Source], most: int) -> list[Source]:
    step = max(1.0, len(sources) / most)
    return [sources[int(i * step)] for i in range(min(most, len(sources)))]


def _budget(size: float, sources: Sequence[Source]) -> float:
    enough = LEAST_DOCUMENTS * max((source.document_size() for source in sources[:1]), default=0.0)
    return min(max(SHARE * size, LEAST_BYTES, enough), MOST_BYTES)
