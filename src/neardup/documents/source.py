"""The contract of a source: one file, one folder or one object in memory, of any format.

A source is read in chunks, reads a few texts again, reports its size, provides pieces for a sample
and parts that several machines can read, and returns the documents that are kept.

``chunk_results`` is the one pass over chunks: the calling thread divides the input, worker threads
turn each chunk into a result, and results come in input order. At most one more chunk than there
are workers is in progress, so memory is bounded. Neither the number of threads nor the size of
chunks affects the results.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from neardup.documents.columns import Chunk, Columns, DocumentBatch, Mask
from neardup.documents.pieces import Piece, Trial
from neardup.errors import UsageError
from neardup.schema import Array


class Source:
    """Methods that a format does not define have the defaults of this class."""

    if TYPE_CHECKING:  # a dataclass would treat a property as the default of its field

        @property
        def file(self) -> str: ...

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        """All documents in order. Making a chunk is cheap and bounded."""
        raise NotImplementedError

    def chunks_at(self, rows: Array, columns: Columns) -> Iterator[Chunk]:
        """The documents of some rows, which are sorted and distinct, and of others where that is
        as fast. Numbers of rows are not to be relied on."""
        return self.chunks(columns) if len(rows) else iter(())

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:
        """Reads the texts of some rows again; that of a rejected row is empty."""
        raise NotImplementedError

    def kept(self, keep: Mask) -> tuple[Any, int]:
        """The kept documents and the number of documents in the source; ``keep`` may be longer."""
        raise NotImplementedError

    def size(self) -> float:
        """Bytes on disk; for objects in memory, those of a file with the same content."""
        raise UsageError(
            f"{self.file}: there is no estimate for input of this kind.",
            hint="run on a part with --limit, and look at the timings of --json.",
        )

    def document_size(self) -> float:
        """The average bytes on disk of one document; 0 if only reading the source would show it."""
        return 0.0

    def pieces(self, columns: Columns, budget: float) -> Iterator[Piece]:
        """A sample of about ``budget`` unpacked bytes, spread over the source if the format allows
        it; the whole of a smaller source."""
        raise NotImplementedError

    def trial(self, limit: float) -> Trial:
        """Writes about ``limit`` bytes of the source as a run would, to a place that is deleted."""
        raise NotImplementedError

    def parts(self, part_bytes: int) -> Sequence[Any]:  # noqa: ARG002 (formats that can be cut)
        """Sources that together are this one, in order, each of which can be read alone. If the
        ``first_row`` of a part is None, the ``rows()`` of the parts before it must be counted."""
        return [self]


T = TypeVar("T")


def read_chunk(chunk: Chunk) -> DocumentBatch:
    return chunk.read()


def chunk_results(chunks: Iterable[Chunk], work: Callable[[Chunk], T], workers: int) -> Iterator[T]:
    """The results of ``work`` for each chunk, in order. An error of the source or of ``work`` is
    raised at its place in this order, so a caller that stops at a limit never sees an error beyond
    it."""
    if workers == 1:
        yield from map(work, chunks)
        return
    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for future in _submitted(chunks, work, pool):
                waiting.append(future)
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _submitted(
    chunks: Iterable[Chunk], work: Callable[[Chunk], T], pool: ThreadPoolExecutor
) -> Iterator[Future[T]]:
    try:
        for chunk in chunks:
            yield pool.submit(work, chunk)
    except Exception as error:
        failed: Future[T] = Future()
        failed.set_exception(error)
        yield failed
