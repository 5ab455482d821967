"""Collections: the sources of a run as one input, read in chunks and returned in the same form.

``collect`` makes a :class:`Collection` from paths, globs, standard input, lists, data frames, Arrow
tables or any object with the Arrow PyCapsule protocol.
"""

from __future__ import annotations

import itertools
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path, PurePath
from typing import IO, Any

import pyarrow as pa

from neardup.documents.clashes import Book, NamedApart, Naming, Shared
from neardup.documents.columns import Chunk, Columns, Mask
from neardup.documents.extraction.extractor import (
    ExtractedChunk,
    Extraction,
    Extractor,
    extracted_texts,
)
from neardup.documents.file_formats import HTML, JSONL, PARQUET, WARC, named_format
from neardup.documents.inputs import Inputs, gather, mapping_class, named_chunks
from neardup.documents.lost import LostSource, check_unchanged, damaged_kept
from neardup.documents.open_files import Limits
from neardup.documents.remote import Place
from neardup.documents.source import (
    LineWriter,
    Source,
    alone,
    check_length,
    groups_of,
    joined,
    names_of,
    readable,
    write_all,
)
from neardup.documents.streams import wide_of, writing
from neardup.errors import ColumnError, InputError, UnreadableError, UsageError, all_problems
from neardup.files import make_folder


class Collection:
    """One or more sources in order. ``keep`` has one entry for each document, by position: all rows
    of all sources in order, including rejected ones, but not blank lines of JSON Lines files."""

    def __init__(
        self,
        sources: Sequence[Source],
        limit: int | None = None,
        inputs: Inputs | None = None,
        extractor: Extractor | None = None,
        naming: Naming | None = None,
    ) -> None:
        self.sources = list(sources)
        self.limit = limit
        self.inputs = inputs or Inputs(tuple(self.files))
        self.extractor = extractor or Extractor()
        self.naming = naming
        self._columns = Columns()

    def renamed(self, names: Sequence[str]) -> Collection:
        """The same collection with different names for its files: those of an earlier run."""
        pairs = zip(self.sources, names, strict=True)
        renamed = [replace(s, file=n) for s, n in pairs]  # type: ignore[type-var]
        return Collection(renamed, self.limit, self.inputs, self.extractor, self.naming)

    def limited(self, limit: int | None) -> Collection:
        """The same collection without documents after the first ``limit``."""
        return Collection(self.sources, limit, self.inputs, self.extractor, self.naming)

    def alone(self, i: int) -> Collection:
        """The collection of one of the sources."""
        inputs = replace(self.inputs, names=(self.inputs.names[i],))
        return Collection([self.sources[i]], None, inputs, self.extractor, self.naming)

    def named(self, naming: Naming | None) -> Collection:
        """The same collection with different names for its documents."""
        return Collection(self.sources, self.limit, self.inputs, self.extractor, naming)

    def told_apart(self, columns: Columns) -> tuple[Collection, Shared | None]:
        """The same collection with the names that a run gives to documents whose id several files
        have. All files are read, but for a single folder, whose ids are its paths."""
        book = Book(self.files, self.limit)
        alone = len(self.sources) == 1 and self.sources[0].has_paths
        for chunk in () if alone else self.chunks(columns):
            book.add(chunk.read())
            if book.full:
                break
        names = book.names()
        return (self.named(names.clashes), names.shared) if names else (self, None)

    @property
    def files(self) -> list[str]:
        return [source.file for source in self.sources]

    @property
    def source_names(self) -> dict[str, str]:
        """The name of the input of each file."""
        return dict(zip(self.files, self.inputs.names, strict=True))

    @property
    def paths(self) -> list[Place | None]:
        """The paths from which sources can be read again; None for objects in memory and pipes."""
        paths = [getattr(source, "path", None) for source in self.sources]
        # A pipe was copied to a file of a different name, which is deleted with the process.
        return [
            p if p and p.as_posix() == f else None for p, f in zip(paths, self.files, strict=True)
        ]

    def chunks(self, columns: Columns | None = None) -> Iterator[Chunk]:
        """Chunks that any thread can read; making them is cheap, bounded and in order."""
        self._columns = columns or Columns()
        for source in self.sources:
            if source.watch:
                source.watch.begin(source.path, self._columns)  # type: ignore[attr-defined]
        return itertools.chain.from_iterable(map(self._chunks_of, range(len(self.sources))))

    def _chunks_of(self, i: int) -> Iterator[Chunk]:
        """The chunks of a source. A file that existed when the run began and can no longer be read
        counts as lost; if it is the only one, that is an error."""
        source = self.sources[i]
        try:
            yield from self._named(source)
        except UnreadableError as error:
            if len(readable(self.sources)) == 1:
                raise
            self.sources[i] = LostSource(source.path, source.file, error)  # type: ignore[attr-defined]
            yield from self._named(self.sources[i])

    def _named(self, source: Source) -> Iterator[Chunk]:
        columns = self._columns
        named = named_chunks(source, columns) if self.inputs.offered else source.chunks(columns)
        named = self.page_texts(source, named)
        naming = self.naming
        return named if naming is None else (NamedApart(chunk, naming) for chunk in named)

    def page_texts(self, source: Source, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """The chunks of a source with the pages of its text column as text."""
        if not self._has_pages(source):
            return chunks
        return (ExtractedChunk(chunk, self.extractor) for chunk in chunks)

    def _has_pages(self, source: Source) -> bool:
        """Whether the text column contains pages; those of a folder are extracted as they are
        read."""
        return self.extractor.extraction.columns and source.extractor is None

    def check_columns(self, columns: Columns, somewhere: Sequence[str] = ()) -> None:
        """Raises now an error that reading would raise later: a column that a file lacks, or one
        that must be ``somewhere`` and is in no file. Only the first chunk of each file is read."""
        extra = (*columns.extra, *somewhere)
        self._columns = replace(columns, extra=extra, optional=tuple(somewhere))
        missing = dict.fromkeys(somewhere)
        for source in readable(self.sources):
            with suppress(UnreadableError):  # it is reported when the file is read
                for chunk in itertools.islice(self._named(source), 1):
                    records = chunk.read().records
                    missing = {name: None for name in missing if not _has(source, records, name)}
        if missing:
            hint = "name columns that at least one of them has."
            sentences = (f"Column {name!r} is in none of the inputs." for name in missing)
            raise all_problems([ColumnError(sentence, hint=hint) for sentence in sentences])

    def texts(self, file: str, rows: Sequence[int], columns: Columns | None = None) -> list[str]:
        """Reads a few texts again; ``columns`` are those of the last call of ``chunks``. The text
        of a rejected row is empty."""
        for source in self.sources:
            if source.file == file:
                texts = source.texts(rows, columns or self._columns)
                return extracted_texts(texts, self.extractor) if self._has_pages(source) else texts
        raise KeyError(f"{file} is not among the inputs")

    def path_of(self, file: str, row: int) -> str | None:
        """The path of a document that is a file by itself; None for one of many in a file."""
        source = next((source for source in self.sources if source.file == file), None)
        return source.path_of(row) if source and source.has_paths else None

    def name_of(self, file: str, row: int) -> str:
        """The id of a document that is a file by itself."""
        return next(s for s in self.sources if s.file == file).name_of(row)

    def noticed(self) -> dict[str, dict[str, int]]:
        """What reading has shown, for ``run.json``, the most common first: text files by their
        ``encodings``, different pages by extractor, and what is ``passed_over``: records in WARC
        files that are no pages, and attachments that hold no text, by type."""
        encodings, passed_over = Counter[str](), Counter[str]()
        for source in self.sources:
            encodings.update(source.encodings.values())
            if source.codec and (wide := wide_of(source.codec)):
                encodings[wide] += 1
            passed_over.update(source.passed)
        counts = {
            "encodings": encodings,
            "extracted": self.extractor.counts(),
            "passed_over": passed_over,
        }
        return {
            name: dict(sorted(some.items(), key=lambda item: (-item[1], item[0])))
            for name, some in counts.items()
        }

    def plain_size(self) -> int | None:
        """The bytes of all batches together; None if a source is not plain lines."""
        try:
            sizes = [source.plain_size for source in readable(self.sources)]
        except OSError:  # a file is gone, which is reported when it is read
            return None
        known = [size for size in sizes if size is not None]
        return int(sum(known)) if len(known) == len(sizes) and self.limit is None else None

    def read_in(self, chunk_bytes: int) -> None:
        """Has chunks be at most so large, where the format allows to choose."""
        for source in self.sources:
            if (usual := getattr(source, "chunk_bytes", None)) is not None:
                source.chunk_bytes = min(usual, chunk_bytes)  # type: ignore[attr-defined]

    def check_kept(self, *, one_file: bool = False) -> None:
        """Raises now an error that would make writing the kept documents impossible later."""
        for group in groups_of(self.sources, one_file=one_file).values():
            group[0].check_together(group)

    def kept(self, keep: Mask) -> Any:
        """The kept documents in the type of the input; for files, one Arrow table; for named
        inputs, a dict."""
        parts: dict[str, list[Any]] = {}
        position = 0
        for source, name in zip(self.sources, self.inputs.names, strict=True):
            part, count = source.kept(keep[position:])
            check_unchanged(source)
            of_name = parts.setdefault(name if self.inputs.mapped else "", [])
            of_name += [] if source.is_lost else [part]
            position += count
        check_length(keep, position, self.limit)
        if damage := self.damage():
            raise damaged_kept(damage, "`save` writes all other values of all kept documents.")
        kept = {name: some[0] if len(some) == 1 else joined(some) for name, some in parts.items()}
        return self.inputs.mapped(kept) if self.inputs.mapped else kept[""]

    def write_kept(
        self, keep: Mask, folder: Path, name: str = "kept", *, one_file: bool = False
    ) -> list[Path]:
        """Writes kept.jsonl, kept.csv, kept.parquet … for one input file, and a folder ``kept``
        with files of the same names for several, or with ``one_file`` one for each format. Folders
        of texts are copied into a folder ``kept``, with a list. Returns what was written."""
        folder.mkdir(parents=True, exist_ok=True)
        groups = groups_of(self.sources, name, one_file=one_file)
        output = {source.file: name for name, some in groups.items() for source in some}
        apart = {name: folder / name for name in groups if "/" in name}
        with ExitStack() as stack:
            writers = {
                name: stack.enter_context(some[0].writer(some, folder / name))
                for name, some in groups.items()
                if name not in apart
            } | {name: alone(path) for name, path in apart.items()}
            try:
                write_all(
                    self.sources, keep, self.limit, lambda source: writers[output[source.file]]
                )
            except BaseException:  # nothing at all is written then
                for place in {PurePath(name).parts[0] for name in apart}:
                    shutil.rmtree(folder / place, ignore_errors=True)
                raise
        return [folder / file for file in names_of(groups)]

    def damage(self) -> list[str]:
        """What could not be written, in sentences, although its documents are kept."""
        watches = (source.watch for source in self.sources)
        return [sentence for watch in watches if watch for sentence in watch.damage]

    def check_kept_file(self, path: Path) -> None:
        """Raises now an error that would make ``write_kept_file`` impossible later."""
        ending, codec = named_format(path)
        same = next((some[0] for some in (JSONL, PARQUET, WARC) if ending in some), ending)
        packed = codec is not None and same in (".parquet", ".arrow", ".feather")
        sources = readable(self.sources)
        for source in sources:
            form = f".{source.form}" if source.form else ""
            if form != same or packed:
                raise _other_form(path, source, form)
        sources[0].check_together(sources)

    def write_kept_file(self, keep: Mask, path: Path) -> None:
        """Writes the kept documents to one file, in the format of the input; it appears only when
        it is complete."""
        self.check_kept_file(path)
        make_folder(path.parent)
        sources, codec = readable(self.sources), named_format(path)[1]
        if sources[0].what == "lines":
            with writing(path, codec) as stream:
                self.write_kept_to(keep, stream)
            return
        with sources[0].writer(sources, path) as write:
            write_all(self.sources, keep, self.limit, lambda _: write)

    def check_stream(self) -> None:
        """Raises now an error that would make ``write_kept_to`` impossible later."""
        for source in readable(self.sources):
            if source.what != "lines":
                raise UsageError(
                    f"{source.file} is {source.what}; only lines (JSON, CSV) can be written to a "
                    "stream.",
                    hint="give a folder with -o.",
                )
        sources = readable(self.sources)
        if len({source.form for source in sources}) > 1:
            raise UsageError(
                "JSON Lines, CSV and TSV cannot be written to one stream.",
                hint="give a folder with -o.",
            )
        if sources:
            sources[0].check_together(sources)

    def write_kept_to(self, keep: Mask, stream: IO[bytes]) -> None:
        """Writes the kept lines to a stream, which is impossible for tables."""
        self.check_stream()
        lines = LineWriter(stream)
        write_all(self.sources, keep, self.limit, lambda _: lambda s, part: s.copy(part, lines))


def _has(source: Source, records: pa.RecordBatch, name: str) -> bool:
    if name not in records.schema.names:
        return False
    # Lines have no header, so a field that no line has is delivered nevertheless.
    return source.has_header or bool(records.column(name).null_count < records.num_rows)


def _other_form(path: Path, source: Source, form: str) -> UsageError:
    if not form:
        return UsageError(
            f"{source.file} holds files, of which the kept ones are copied into a folder; "
            f"{path} is named as a file.",
            hint="name a folder with -o.",
        )
    return UsageError(
        f"The kept documents of {source.file} are written as they came, as {form}; {path} is named "
        "as another format.",
        hint=f"name a file that ends in {form}, or a folder, with -o.",
    )


def collect(
    inputs: Any,
    encoding: str | None = None,
    extraction: Extraction | None = None,
    limits: Limits | None = None,
) -> Collection:
    """A single string is a path, a glob, an address such as ``s3://…``, or ``"-"``; a list of
    strings is texts; a list of ``Path`` objects is files and globs; a dict names its inputs.
    ``encoding`` is that of text files and CSV; ``extraction`` defines how pages become text."""
    if isinstance(inputs, Collection):
        return inputs
    how: dict[str, Any] = {"encoding": encoding, "extraction": extraction, "limits": limits}
    if mapped := mapping_class(inputs):
        _check_mapping(inputs)
        named = list(inputs.items())
        return collect_inputs(named, mapped=mapped, **how)
    if isinstance(inputs, list | tuple) and inputs and all(isinstance(i, Path) for i in inputs):
        given = [(None, one) for one in inputs]
        return collect_inputs(given, **how)
    return collect_inputs([(None, inputs)], **how)


def _check_mapping(inputs: dict[Any, Any]) -> None:
    """Refuses a document, or a table as a dict of columns, in place of inputs: a common mistake."""
    if "text" in inputs or not all(isinstance(name, str) for name in inputs):
        raise InputError(
            "Cannot read a dict that is a document or a table; a dict names inputs, as in "
            "{'wire': 'wire.jsonl', 'archive': frame}.",
            hint="put a document into a list; make a table with pandas, polars or pyarrow.",
        )


def collect_inputs(
    given: Sequence[tuple[str | None, Any]],
    *,
    encoding: str | None = None,
    extraction: Extraction | None = None,
    offered: bool | None = None,
    mapped: type[dict[str, Any]] | None = None,
    limits: Limits | None = None,
) -> Collection:
    """Several inputs, each with its name or None. By default the names are available as the column
    ``source`` if there are several inputs or one was named."""
    extractor = Extractor(extraction)
    if extractor.extraction.columns:
        extractor.extraction.check((HTML,), "The text column")
    sources, names = gather(given, encoding, extractor, limits)
    if offered is None:
        offered = len(set(names)) > 1 or any(name is not None for name, _ in given)
    return Collection(sources, None, Inputs(tuple(names), offered, mapped), extractor)
