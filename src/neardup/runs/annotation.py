"""The input with the decision beside each document, instead of with duplicates removed.

``runs/annotated_sources.py`` has the sources that add the columns. A folder of text files becomes a
list of its files, because a text file has no room for more fields. The list has every file,
including rejected ones, but no texts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from neardup.documents.arrow import ArrowSource
from neardup.documents.collection import Collection
from neardup.documents.columns import Chunk, Columns, Mask
from neardup.documents.csv import CsvSource
from neardup.documents.extraction.extractor import Extractor
from neardup.documents.feeds import FeedSource
from neardup.documents.folder import FolderSource
from neardup.documents.jsonl import JsonlChunk, JsonlSource, scan
from neardup.documents.lists import ListSource, json_line
from neardup.documents.memory_tables import TableSource
from neardup.documents.parquet import ParquetSource
from neardup.documents.remote import Place
from neardup.documents.source import LineWriter, Source, readable
from neardup.errors import UsageError
from neardup.runs.annotated_sources import FIELDS, Added, annotated_source, with_columns
from neardup.runs.result import Result

# The name annotated.jsonl is that of JSON Lines, which may be inputs of the same run.
FILE_LIST = "annotated.files.jsonl"


@dataclass(frozen=True)
class AnnotatedFiles(Source):
    """A folder with its decisions; a FolderSource would be written as copies of its files."""

    source: FolderSource
    added: Added

    @property
    def file(self) -> str:
        return self.source.file

    def kept_name(self, name: str = "kept") -> str:  # noqa: ARG002 (one list for all folders)
        return FILE_LIST

    @property
    def path(self) -> Place:
        return self.source.path

    @property
    def extractor(self) -> Extractor:
        return self.source.extractor

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        return iter(self.source.chunks(columns))

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:
        return self.source.texts(rows, columns)

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        """A table with the texts, as Python gets a folder back; a rejected file has none."""
        table, documents = self.source.kept(keep)
        return with_columns(table, self.added.rows(self.added.start(keep), len(table))), documents

    def copy(self, keep: Mask, out: LineWriter) -> int:
        """Write a line per file with its id, the path that opens it, and the fields."""
        entries = self.source.entries[: len(keep)]
        rows = self.added.rows(self.added.start(keep), len(entries)).to_pylist()
        for entry, fields in zip(entries, rows, strict=True):
            path = self.source.locate(entry).as_posix()
            out.write(json_line({"id": self.source.id_of(entry), "path": path, **fields}))
        return len(self.source.entries)


PREFIX = "neardup"
_ANNOTATED = (
    ArrowSource,
    CsvSource,
    FeedSource,
    FolderSource,
    JsonlSource,
    ListSource,
    ParquetSource,
    TableSource,
)


def annotating(result: Result) -> Result:
    """The same result, whose kept documents are all documents with the added columns."""
    collection = AnnotatedCollection(result.collection(), result.decisions)
    annotated = Result(
        result.decisions,
        result.pairs,
        {**result.info, "annotated": collection.added.names},
        rank=result.rank,
        collection=lambda: collection,
        artefacts=result.artefacts,
        text_digests=result.text_digests,
    )
    annotated.signatures = result.signatures
    annotated.known_actions = lambda: result.actions
    return annotated


def check_sources(sources: Sequence[Source]) -> None:
    """Refuse, before any work, an input that has no room for more fields."""
    for source in readable(sources):
        if not isinstance(source, _ANNOTATED):
            raise UsageError(
                f"{source.file} cannot be annotated; lines, records and tables can.",
                hint="decisions.parquet has the same columns by id.",
            )


class AnnotatedCollection(Collection):
    """A collection that writes and returns every document instead of the kept ones."""

    def __init__(self, collection: Collection, decisions: pa.Table) -> None:
        check_sources(collection.sources)
        self.added = Added(decisions, free_prefix(readable(collection.sources)))
        self._original = collection  # keeps its spooled standard input alive
        super().__init__(
            [self._twin(source) for source in collection.sources],
            collection.limit,
            collection.inputs,
            collection.extractor,
        )

    def _twin(self, source: Source) -> Source:
        if isinstance(source, FolderSource):
            return AnnotatedFiles(source, self.added)
        return annotated_source(source, self.added)

    def kept(self, keep: Mask) -> Any:
        return super().kept(np.ones_like(keep))

    def write_kept(
        self, keep: Mask, folder: Path, name: str = "annotated", *, one_file: bool = False
    ) -> list[Path]:
        """Write ``annotated.*`` as others write ``kept.*``, and a list of files for folders."""
        return super().write_kept(np.ones_like(keep), folder, name, one_file=one_file)

    def write_kept_file(self, keep: Mask, path: Path) -> None:
        super().write_kept_file(np.ones_like(keep), path)

    def write_kept_to(self, keep: Mask, stream: IO[bytes]) -> None:
        super().write_kept_to(np.ones_like(keep), stream)


def free_prefix(sources: Sequence[Source]) -> str:
    """ "" or the first prefix that makes all added names new to the input."""
    prefixes = itertools.chain(("", f"{PREFIX}_"), (f"{PREFIX}{n}_" for n in itertools.count(2)))
    return next(
        prefix
        for prefix in prefixes
        if not any(_has_one_of(source, [prefix + n for n in FIELDS.names]) for source in sources)
    )


def _has_one_of(source: Any, names: list[str]) -> bool:
    if isinstance(source, JsonlSource):
        return any(
            field.types.any()
            for chunk in source.chunks(Columns())
            if isinstance(chunk, JsonlChunk)
            for field in scan(chunk.data, names).fields.values()
        )
    if isinstance(source, FolderSource | FeedSource):  # their columns are fixed and differ
        return False
    if isinstance(source, ListSource):
        return any(n in item for item in source.items if isinstance(item, dict) for n in names)
    return not set(names).isdisjoint(_column_names(source))


def _column_names(source: Any) -> Sequence[str]:
    if isinstance(source, CsvSource):
        return source.header.names
    if isinstance(source, TableSource):
        return source.names
    names: list[str] = source.schema().names
    return names
