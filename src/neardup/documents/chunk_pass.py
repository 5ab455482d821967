"""One pass over the chunks of an input: worker threads read ahead, results come in input order.

The calling thread divides the input into chunks, and worker threads turn each of them into a
result. At most one more chunk than there are workers is in progress, so memory is bounded. Neither
the number of threads nor the size of chunks affects the results or their order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from neardup.documents.columns import Chunk, DocumentBatch

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
