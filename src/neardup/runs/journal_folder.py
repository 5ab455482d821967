"""The folder of what a run has done so far, beside its output, so that a killed run can go on.

It has one file for each chunk of documents that was taken in, and files of its owner
(``engines/batch/journal.py``, ``passages/search.py``). Each file appears when it is whole and on
the disk. A run that goes on takes what is there instead of computing it, and its answer is the
same. A journal belongs to one collection, one set of settings and one version of neardup; others
are refused.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import __version__, files
from neardup.documents.collection import Collection
from neardup.documents.columns import Chunk, DocumentBatch, Rejected
from neardup.documents.remote import Place, Remote
from neardup.documents.source import Source
from neardup.errors import InputError, UsageError
from neardup.runs.checksums import digests_of, file_digest
from neardup.schema import Array, Ragged

STATE = "journal.json"
Settings = dict[str, Any]


class JournalFolder:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._chunks = 0
        self._lost: set[str] = set()

    def begin(
        self,
        collection: Collection,
        state: dict[str, Any],
        written: Callable[[Settings], Settings] = dict,
    ) -> None:
        """Refuses a journal that was begun with other settings or inputs. ``written`` are the
        settings as a user knows them."""
        path = self.folder / STATE
        if path.exists():
            _check_same(json.loads(path.read_bytes()), state, self.folder, written)
        else:
            files.make_folder(self.folder)
            files.write(path, files.as_json(state))
            files.sync([self.folder])
        self._lost = {s.file for s in collection.sources if s.is_lost}

    def chunks_before(
        self, collection: Collection, chunks: Iterator[Chunk]
    ) -> Iterator[tuple[DocumentBatch, dict[str, Array]]]:
        """What was taken in before: the documents, and arrays. The chunks that it was made of are
        passed over, unread."""
        sources = {source.file: source for source in collection.sources}
        if not all(map(_is_plain, sources.values())) or _extracts(collection):
            return  # reading other formats has results beside the documents, such as encodings
        while (path := self._chunk(self._chunks)).exists():
            next(chunks, None)
            found = arrays_in(path)
            batch = _batch(found)
            if watch := sources[batch.file].watch:
                for rejected in batch.rejected:
                    watch.lose(rejected.row)
            self._chunks += 1
            yield batch, found

    def keep_chunk(
        self, collection: Collection, batch: DocumentBatch, arrays: Mapping[str, Array]
    ) -> None:
        self.check_readable(collection)
        about = {"file": batch.file, "rows": batch.rows, "size": batch.size}
        about["rejected"] = [asdict(rejected) for rejected in batch.rejected]
        own = {"records": _packed(batch.records), "about": as_array(about)}
        write_arrays(self._chunk(self._chunks), {**own, **arrays})
        self._chunks += 1

    def check_readable(self, collection: Collection) -> None:
        """Stops where a run without a journal would count a file that vanished as rejected."""
        lost: list[Any] = [source for source in collection.sources if source.is_lost]
        for source in lost:
            if source.file not in self._lost:
                raise InputError(
                    f"{source.file} can no longer be read: {source.error.reason}.",
                    hint="bring it back, and give the same command again: it goes on from here.",
                )

    def _chunk(self, number: int) -> Path:
        return self.folder / f"{number}.npz"


def _is_plain(source: Source) -> bool:
    return source.is_file and source.extractor is None


def _extracts(collection: Collection) -> bool:
    return collection.extractor.extraction.columns


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    with files.whole_file(path) as part, part.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def arrays_in(path: Path) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored)
    except Exception as error:  # a damaged archive fails in many ways
        raise InputError(
            f"{path} is damaged: {error}.",
            hint=f"remove {path.parent}; the run then starts from the beginning.",
        ) from error


def _batch(found: Mapping[str, Array]) -> DocumentBatch:
    about = data_of(found["about"])
    rejected = [Rejected(**row) for row in about.pop("rejected")]
    with pa.ipc.open_stream(pa.py_buffer(found["records"])) as reader:
        records = reader.read_next_batch()
    return DocumentBatch(records=records, rejected=rejected, **about)


def ragged_arrays(name: str, ragged: Ragged) -> dict[str, Array]:
    """The arrays that store the rows, without the unused part of a kernel's buffer."""
    offsets = ragged.offsets
    values = ragged.values[offsets[0] : offsets[-1]]
    return {f"{name}_values": values, f"{name}_offsets": offsets - offsets[0]}


def _packed(records: pa.RecordBatch) -> Array:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, records.schema) as writer:
        writer.write_batch(records)
    return np.frombuffer(sink.getvalue(), np.uint8)


def as_array(data: Any) -> Array:
    return np.frombuffer(json.dumps(data).encode(), np.uint8)


def data_of(text: Array) -> Any:
    return json.loads(text.tobytes())


def state_of(collection: Collection, settings: Settings) -> dict[str, Any]:
    """What must be the same when a run goes on."""
    if None in collection.paths:
        raise UsageError(
            "A run can go on only if its input can be read again, which a pipe cannot.",
            hint="give a file, or leave out --resume.",
        )
    state = {
        "version": __version__,
        "settings": settings,
        "inputs": {source.file: _stamp_of(source) for source in collection.sources},
    }
    return dict(json.loads(json.dumps(state, default=str)))


def _stamp_of(source: Any) -> Any:
    if source.form or not source.path.is_dir():
        return stamp(source.path)
    files = source.files_of(source.entries)
    stamps = [(str(source.place(e)), stamp(source.locate(e))) for e in files]
    return hashlib.sha256(json.dumps(stamps).encode()).hexdigest()


def stamp(*paths: Place | None) -> Any:
    """What the first of the paths that exists holds: digests of files, whose size and time may stay
    the same when they change; size and time of a file in a store, which would be fetched."""
    for path in paths:
        if isinstance(path, Remote):
            return [*(path.now() or ())]
        if path is not None and path.exists():
            return digests_of(path) if path.is_dir() else _digest(path)
    return None


def _digest(path: Path) -> str | None:
    try:
        return file_digest(path)
    except OSError:  # as an input it is rejected, in this run and in the one that goes on
        return None


def _check_same(
    before: dict[str, Any],
    now: dict[str, Any],
    folder: Path,
    written: Callable[[Settings], Settings],
) -> None:
    settings, then = written(now["settings"]), written(before.get("settings", {}))
    differ = [
        f"{name} was {_said(then.get(name))} and is {_said(settings.get(name))}"
        for name in sorted({**then, **settings})
        if then.get(name) != settings.get(name)
    ]
    for part, what in (("inputs", "the input"), ("against", "the reference")):
        names = {**before.get(part, {}), **now.get(part, {})}
        differ += [
            f"{what} {name} is another or has changed"
            for name in names
            if before.get(part, {}).get(name) != now.get(part, {}).get(name)
        ]
    differ += ["the version of neardup"] if before.get("version") != now["version"] else []
    if differ:
        raise UsageError(
            f"The run that was interrupted cannot go on, because of what changed since: "
            f"{'; '.join(differ)}.",
            hint=f"give it as it was, or remove {folder} to start from the beginning.",
        )


def _said(value: Any) -> str:
    return "not given" if value is None else str(value)
