"""A folder of text files with what was decided about each: a list of files, since a text has no
place for more fields.

The list has every file, the rejected ones too, and no texts: they stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from neardup.documents import Chunk, Columns
from neardup.documents.columns import Mask
from neardup.documents.extraction.extractor import Extractor
from neardup.documents.folder import FolderSource
from neardup.documents.jsonl import LineWriter
from neardup.documents.lists import json_line
from neardup.documents.remote import Place
from neardup.outputs.annotated import Added
from neardup.outputs.frames import with_columns

# Not annotated.jsonl: that is the name for JSON Lines, which may be read beside a folder.
FILE_LIST = "annotated.files.jsonl"


@dataclass(frozen=True)
class AnnotatedFiles:
    """Not a kind of FolderSource, because those are written as copies of their files."""

    source: FolderSource
    added: Added

    @property
    def file(self) -> str:
        return self.source.file

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
        """With the texts, as a folder is given back in Python; a rejected file has none."""
        table, documents = self.source.kept(keep)
        return with_columns(table, self.added.rows(self.added.start(keep), len(table))), documents

    def copy(self, keep: Mask, out: LineWriter) -> int:
        """A line a file: its id, the path that opens it, and the fields."""
        entries = self.source.entries[: len(keep)]
        rows = self.added.rows(self.added.start(keep), len(entries)).to_pylist()
        for entry, fields in zip(entries, rows, strict=True):
            path = self.source.locate(entry).as_posix()
            out.write(json_line({"id": self.source.id_of(entry), "path": path, **fields}))
        return len(self.source.entries)
