"""Columns that hold HTML: the text of each document is extracted after it was read.

The documents themselves stay as they are: kept lines and rows have the HTML that came in. One in
which no text is found is rejected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from neardup.documents.columns import Chunk, DocumentBatch, Rejected
from neardup.documents.extraction.extractor import Extractor, page_of


@dataclass(frozen=True)
class ExtractedChunk:
    chunk: Chunk
    extractor: Extractor

    def read(self) -> DocumentBatch:
        batch = self.chunk.read()
        records = batch.records
        found = self.extractor.texts([page_of(text) for text in records["text"].to_pylist()])
        there = np.array([one.text is not None for one in found], bool)
        place = records.schema.get_field_index("text")
        texts = pa.array([one.text or "" for one in found], pa.large_string())
        records = records.set_column(place, records.schema.field(place), texts)
        lost = [
            Rejected(batch.file, row, found[i].reason or "", name)
            for i, row, name in _rows(records, np.flatnonzero(~there))
        ]
        rejected = sorted([*batch.rejected, *lost], key=lambda one: one.row)
        return replace(batch, records=records.filter(pa.array(there)), rejected=rejected)


def _rows(records: pa.RecordBatch, chosen: np.ndarray) -> list[tuple[int, int, str]]:
    rows, names = records["row"], records["id"]
    return [(i, rows[i].as_py(), names[i].as_py()) for i in chosen.tolist()]


def extracted_texts(texts: Sequence[str], extractor: Extractor) -> list[str]:
    return [one.text or "" for one in extractor.texts([page_of(text) for text in texts])]
