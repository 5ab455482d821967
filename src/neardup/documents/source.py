"""The contract of a source: one file, one folder or one object in memory, of any format.

A source is read in chunks, reads a few texts again, reports its size, provides pieces for a sample
and parts that several machines can read, and writes the documents that are kept. No other code asks
which format a source has, so that the reader of a format is imported only for a file of it.

``chunk_results`` is the one pass over chunks: the calling thread divides the input, worker threads
turn each chunk into a result, and results come in input order. At most one more chunk than there
are workers is in progress, so memory is bounded. Neither the number of threads nor the size of
chunks affects the results.

``write_all`` writes the kept documents in the form of the input, in order, without holding them in
memory. Several input files become as many outputs of the same names, in one folder. Sources that
share an output (lists, feeds, folders, or all files of a format on request) may alternate, so such
outputs are open at the same time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import pyarrow as pa

from neardup.classes import dataclass
from neardup.documents.clashes import labels_of
from neardup.documents.columns import Chunk, Columns, DocumentBatch, Mask
from neardup.documents.file_formats import SUFFIXES, is_known, list_name
from neardup.documents.open_files import OpenFiles
from neardup.documents.pieces import Piece, Trial
from neardup.documents.streams import packing_of, writing
from neardup.errors import ChangedError, InputError, UsageError
from neardup.schema import Array

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from neardup.documents.extraction.extractor import Extractor
    from neardup.documents.lost import Watch

# Writes the kept documents of a source and returns the number of its documents.
Write: TypeAlias = Callable[[Any, Mask], int]


class Reading(NamedTuple):
    """Settings of reading: the encoding of text files and CSV if it is stated, the extraction of
    pages, and the open files."""

    encoding: str | None
    extractor: Extractor
    files: OpenFiles


class Source:
    """Methods and properties that a format does not define have the defaults of this class, which
    are those of JSON objects in memory that are written as lines."""

    what = "lines"  # what a sentence calls it; only lines can be written to a stream
    is_file = False  # a file of many documents, whose kept ones are a file of the same name
    is_lost = False  # nothing of it can be read
    has_header = True  # a column that it does not have is not delivered
    has_paths = False  # its documents are files by themselves
    has_families = False  # its documents are messages and their attachments
    name_group: ClassVar[str | None] = None  # sources with the same value here are named apart

    if TYPE_CHECKING:  # a dataclass would treat a property as the default of its field

        @property
        def file(self) -> str: ...
        @property
        def form(self) -> str:
            """The file extension of the kept documents; empty if these are files of a folder."""

        @property
        def codec(self) -> str | None: ...
        @property
        def again(self) -> str | None:
            """The address from which objects in memory came, if it can be read again."""

        @property
        def watch(self) -> Watch | None: ...
        @property
        def extractor(self) -> Extractor | None:
            """What makes text of its pages, if it does so itself."""

        @property
        def encodings(self) -> Mapping[str, str]:
            """The encodings of text files that were read, by name."""

        @property
        def passed(self) -> Mapping[str, int]:
            """The number of records and attachments that hold no text, by type."""
    else:
        form = "jsonl"
        encodings = passed = MappingProxyType({})
        codec = again = watch = extractor = None

    # Reading:

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

    def path_of(self, row: int) -> str | None:  # noqa: ARG002 (of files)
        """The path of a document that is a file by itself; None for one of many in a file."""
        return None

    def name_of(self, row: int) -> str:
        """The id of a document that is a file by itself."""
        return str(self.path_of(row))

    def feed_places(self) -> Sequence[Any]:
        """Files of many documents in a folder, which are sources by themselves."""
        return ()

    def name_apart(self, sources: Sequence[Any]) -> None:
        """Names the documents of several sources so that they differ."""

    # Writing back:

    def kept(self, keep: Mask) -> tuple[Any, int]:
        """The kept documents and the number of documents in the source; ``keep`` may be longer."""
        raise NotImplementedError

    def kept_name(self, name: str = "kept") -> str:
        """The name of the file or folder of the kept documents."""
        packing = SUFFIXES.get(packing_of(self.codec) or "", "")
        return f"{name}.{self.form}{packing}" if self.form else name

    def check_together(self, sources: Sequence[Any]) -> None:
        """Raises an error if the sources, of which this is the first, cannot be one kept file."""

    @contextmanager
    def writer(self, sources: Sequence[Any], path: Path) -> Iterator[Write]:
        """Writes the kept documents of the sources, of which this is the first, to one file."""
        self.check_together(sources)
        with writing(path, packing_of(self.codec)) as stream:
            lines = LineWriter(stream)
            yield lambda source, keep: int(source.copy(keep, lines))

    def copy(self, keep: Mask, out: LineWriter) -> int:
        """Writes the kept lines and returns the number of documents."""
        raise NotImplementedError

    # Samples and parts:

    def size(self) -> float:
        """Bytes on disk; for objects in memory, those of a file with the same content."""
        raise UsageError(
            f"{self.file}: there is no estimate for input of this kind.",
            hint="run on a part with --limit, and look at the timings of --json.",
        )

    @property
    def plain_size(self) -> float | None:
        """The bytes of all its batches together; None if these are no plain lines."""
        return None

    def document_size(self) -> float:
        """The average bytes on disk of one document; 0 if only reading the source would show it."""
        return 0.0

    def decoded_size(self) -> int:
        """The uncompressed bytes of a file of row groups, which are decoded as a whole."""
        return 0

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


@dataclass
class LineWriter:
    """Joins the lines of several files. A missing last newline is added only if a line follows, and
    a byte order mark is allowed only at the very start."""

    stream: IO[bytes]
    started: bool = False
    new_file: bool = True  # the next bytes are the first of another file
    _open_line: bool = False

    def write(self, data: bytes) -> None:
        if not data:
            return
        if self.started and self.new_file:
            data = data.removeprefix(b"\xef\xbb\xbf")
        if self._open_line:
            self.stream.write(b"\n")
        self.stream.write(data)
        self._open_line = not data.endswith(b"\n")
        self.started, self.new_file = True, False


S = TypeVar("S")
T = TypeVar("T")


def read_chunk(chunk: Chunk) -> DocumentBatch:
    return chunk.read()


def chunk_results(chunks: Iterable[S], work: Callable[[S], T], workers: int) -> Iterator[T]:
    """The results of ``work`` for each chunk, in order. An error of the source or of ``work`` is
    raised at its place in this order, so a caller that stops at a limit never sees an error beyond
    it."""
    if workers == 1:
        yield from map(work, chunks)
        return
    from concurrent.futures import ThreadPoolExecutor

    waiting: deque[Future[T]] = deque()
    pool, finished = ThreadPoolExecutor(workers), True
    try:
        for future in _submitted(chunks, work, pool):
            waiting.append(future)
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except GeneratorExit:
        # The garbage collector may close this generator, in any thread and even while that thread
        # starts: to wait for other threads there can wait forever.
        finished = False
        raise
    finally:
        pool.shutdown(wait=finished, cancel_futures=True)


def _submitted(
    chunks: Iterable[S], work: Callable[[S], T], pool: ThreadPoolExecutor
) -> Iterator[Future[T]]:
    try:
        for chunk in chunks:
            yield pool.submit(work, chunk)
    except Exception as error:
        from concurrent.futures import Future

        failed: Future[T] = Future()
        failed.set_exception(error)
        yield failed


def groups_of(
    sources: Sequence[Source], name: str = "kept", *, one_file: bool = False
) -> dict[str, list[Any]]:
    """The outputs that will be written, with their sources: if there are several files, a file of
    the same name in a folder for each; else one output for all sources of a format."""
    files = [] if one_file else [source for source in sources if source.is_file]
    folders = any(not source.form for source in sources)
    place = f"{name}.files" if folders else name  # kept files of a folder are in ``kept``
    labels = labels_of([source.file for source in files]) if len(files) > 1 else {}
    groups: dict[str, list[Any]] = {}
    for source in readable(sources):
        label = labels.get(source.file)
        own = source.kept_name(name) if label is None else f"{place}/{_own_name(source, label)}"
        groups.setdefault(own, []).append(source)
    return groups


def _own_name(source: Source, label: str) -> str:
    """The label of a file as a path below a folder; a pipe has no extension of its own."""
    web = source.file.startswith(("http://", "https://"))
    parts = (label.partition("?")[0] if web else label).split("/")
    name = "/".join(part for part in parts if part not in ("", ".", ".."))
    return name if is_known(Path(name)) else source.kept_name(name)


def readable(sources: Sequence[Source]) -> list[Source]:
    return [source for source in sources if not source.is_lost]


def names_of(groups: dict[str, list[Any]]) -> list[str]:
    """The names of everything that is written for the groups."""
    folders = [name for name, some in groups.items() if not some[0].form]
    return [*groups, *map(list_name, folders)]


def alone(path: Path) -> Write:
    """Opens the output for its one source only: there may be more files than can be open."""

    def write(source: Any, keep: Mask) -> int:
        path.parent.mkdir(parents=True, exist_ok=True)
        with source.writer([source], path) as own:
            return int(own(source, keep))

    return write


def write_all(
    sources: Sequence[Source], keep: Mask, limit: int | None, writer_of: Callable[[Source], Write]
) -> None:
    from neardup.documents.lost import check_unchanged

    position = 0
    for source in sources:
        if source.is_lost:
            position += 1
            continue
        position += writer_of(source)(source, keep[position:])
        check_unchanged(source)  # last, so that no change is missed
    check_length(keep, position, limit)


def check_length(keep: Mask, documents: int, limit: int | None) -> None:
    if len(keep) != (documents if limit is None else min(documents, limit)):
        raise ChangedError(
            f"Decisions were made for {len(keep)} documents, but the input now has {documents}.",
            hint="the input changed during the run; run again.",
        )


def joined(parts: list[pa.Table]) -> pa.Table:
    if not parts:  # nothing of the input could be read
        return pa.table({})
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowException as error:
        raise InputError(
            f"The files cannot be one table: {error}.", hint="read them apart, or write the kept."
        ) from error
