"""The kept documents of a run, for an index that goes on where the run ended."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from neardup.documents.collection import collect_inputs
from neardup.errors import InputError
from neardup.online.signing import Signer
from neardup.outputs.folder import RUN


def kept_batches(folder: Path, signer: Signer) -> Iterator[pa.RecordBatch]:
    """From the kept files: a run does not always store keys that serve an index."""
    info = json.loads((folder / RUN).read_text("utf-8"))
    names = [name for name in info.get("kept_files", []) if str(name).startswith("kept")]
    if not names:
        raise InputError(
            f"The run {folder} has no kept documents to begin with.",
            hint="make the run with `neardup dedup … -o FOLDER`, without --annotate.",
        )
    given = [(None, folder / name) for name in names]
    collection = collect_inputs(given, encoding=info["settings"].get("encoding"))
    for chunk in collection.chunks(signer.reading):
        records = chunk.read().records
        if records.num_rows:
            yield records
