"""The contract of a source: one file, one folder or one object in memory, whatever its format.

A source is read in chunks, gives a few texts again, says how large it is, gives pieces of itself
for a sample and parts that several machines can read, and gives back the documents that are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from neardup.documents.columns import Chunk, Columns, Mask
from neardup.documents.pieces import Piece, Trial
from neardup.errors import UsageError


class Source:
    """What a format does not define has the default that is written here."""

    if TYPE_CHECKING:  # a dataclass would take a property for the default of its field

        @property
        def file(self) -> str: ...

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        """All documents in order. Cutting a chunk is cheap and bounded."""
        raise NotImplementedError

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:
        """The texts of some rows again; that of a rejected row is empty."""
        raise NotImplementedError

    def kept(self, keep: Mask) -> tuple[Any, int]:
        """The kept documents and how many documents the source has; ``keep`` may go on beyond."""
        raise NotImplementedError

    def size(self) -> float:
        """Bytes on disk; of objects in memory, what they would take as a file."""
        raise UsageError(
            f"{self.file}: there is no estimate for input of this kind.",
            hint="run on a part with --limit, and look at the timings of --json.",
        )

    def document_size(self) -> float:
        """Bytes on disk of one document on average; 0 where only reading the source would tell."""
        return 0.0

    def pieces(self, columns: Columns, budget: float) -> Iterator[Piece]:
        """A sample of about ``budget`` bytes, unpacked, spread over the source where the format
        allows it; all of a source that is smaller."""
        raise NotImplementedError

    def trial(self, limit: float) -> Trial:
        """Writes about ``limit`` bytes of the source as a run would, to a place that goes away."""
        raise NotImplementedError

    def parts(self, part_bytes: int) -> Sequence[Any]:  # noqa: ARG002 (formats that can be cut)
        """Sources that together are this one, in order, each read without the others. If the
        ``first_row`` of a part is None, the ``rows()`` of the parts before it must be counted."""
        return [self]
