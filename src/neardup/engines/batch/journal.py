"""What a run has done so far, in a folder beside its output, so that a killed run can go on.

The folder has the tables that were counted, one file for each chunk of documents that was taken in,
and the decisions. Each file appears when it is whole and on the disk. A run that goes on takes what
is there instead of computing it, and its answer is the same. A journal belongs to one collection,
one plan and one version of neardup; others are refused.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import files
from neardup.artefacts.artefact import Artefact, Need
from neardup.artefacts.calibration import Calibration, load_calibration
from neardup.decisions.rule import Decided
from neardup.documents.arrow import ArrowSource
from neardup.documents.block_source import BlockSource
from neardup.documents.collection import Collection
from neardup.documents.columns import Chunk, DocumentBatch, Rejected
from neardup.documents.folder import FolderSource
from neardup.documents.lost import LostSource
from neardup.documents.parquet import ParquetSource
from neardup.documents.remote import Place, Remote
from neardup.engines.batch.threshold_choice import with_calibration
from neardup.errors import InputError, UsageError
from neardup.matching.verify import Pairs
from neardup.methods.base import Prepared
from neardup.plan import Plan
from neardup.runs.checksums import digests_of, file_digest
from neardup.runs.outcome import Intake, Outcome
from neardup.schema import Array, Ragged

Taken = tuple[DocumentBatch, Prepared, Array]
_STATE, _DECIDED = "journal.json", "decided.npz"
# These do not change an answer.
_FREE = ("workers", "memory")
_FOLLOWING = ("parameters", "resolved", "signature", "threshold", "every_pair")


class Journal:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._chunks = 0
        self._lost: set[str] = set()

    def open(self, collection: Collection, plan: Plan) -> Journal:
        """Refuses a journal that was begun with other settings or inputs."""
        state = _state(collection, plan)
        path = self.folder / _STATE
        if path.exists():
            _check_same(json.loads(path.read_bytes()), state, self.folder)
        else:
            files.make_folder(self.folder)
            files.write(path, files.as_json(state))
            files.sync([self.folder])
        self._lost = {s.file for s in collection.sources if isinstance(s, LostSource)}
        return self

    def artefacts(self, needs: Sequence[Need]) -> dict[str, Artefact] | None:
        """What was counted for these needs; None if the count did not come to its end."""
        paths = {need: self.folder / f"{need.name}.arrow" for need in needs}
        if not all(path.exists() for path in paths.values()):
            return None
        return {need.name: need.load(path) for need, path in paths.items()}

    def keep_artefacts(self, artefacts: Mapping[str, Artefact]) -> None:
        for name, artefact in artefacts.items():
            with files.whole_file(self.folder / f"{name}.arrow") as part:
                artefact.save(part)

    def taken(self, collection: Collection, chunks: Iterator[Chunk]) -> Iterator[Taken]:
        """What was taken in before. The chunks that it was made of are passed over, unread."""
        sources = {source.file: source for source in collection.sources}
        if not all(isinstance(s, _PLAIN) for s in sources.values()) or _extracts(collection):
            return  # reading other formats has results beside the documents, such as encodings
        while (path := self._chunk(self._chunks)).exists():
            next(chunks, None)
            taken = _taken(_arrays(path))
            if watch := getattr(sources[taken[0].file], "watch", None):
                for rejected in taken[0].rejected:
                    watch.lose(rejected.row)
            self._chunks += 1
            yield taken

    def keep_taken(self, collection: Collection, taken: Taken) -> Taken:
        self.check_readable(collection)
        batch, prepared, lengths = taken
        about = {"file": batch.file, "rows": batch.rows, "size": batch.size}
        about["rejected"] = [asdict(rejected) for rejected in batch.rejected]
        arrays = {"lengths": lengths, "records": _packed(batch.records), "about": _text(about)}
        for name in _RAGGED:
            arrays |= _ragged_arrays(name, getattr(prepared, name))
        arrays |= {name: getattr(prepared, name) for name in _FLAT}
        _write(self._chunk(self._chunks), arrays)
        self._chunks += 1
        return taken

    def check_readable(self, collection: Collection) -> None:
        """Stops where a run without a journal would count a file that vanished as rejected."""
        for source in collection.sources:
            if isinstance(source, LostSource) and source.file not in self._lost:
                raise InputError(
                    f"{source.file} can no longer be read: {source.error.reason}.",
                    hint="bring it back, and give the same command again: it goes on from here.",
                )

    def _chunk(self, number: int) -> Path:
        return self.folder / f"{number}.npz"

    def decided(self, intake: Intake, plan: Plan) -> tuple[Outcome, Plan] | None:
        if not (self.folder / _DECIDED).exists():
            return None
        found = _arrays(self.folder / _DECIDED)
        if len(found["rank"]) != len(intake):
            return None
        if (path := self.folder / f"{Calibration.kind}.arrow").exists():
            plan = with_calibration(plan, load_calibration(path))
        outcome = Outcome(
            intake=intake,
            rank=found["rank"],
            leader=found["leader"],
            decided=Decided(found["kept_of"], found["score"]),
            cluster=found["cluster"],
            pairs=Pairs(found["pair_a"], found["pair_b"], found["pair_score"]),
            **_data(found["about"]),
        )
        return outcome, plan

    def keep_decided(self, outcome: Outcome, plan: Plan) -> None:
        if calibration := plan.artefacts.get(Calibration.kind):
            self.keep_artefacts({Calibration.kind: calibration})
        about = {name: getattr(outcome, name) for name in _ABOUT}
        pairs, decided = outcome.pairs, outcome.decided
        arrays = {"rank": outcome.rank, "leader": outcome.leader, "cluster": outcome.cluster}
        arrays |= {"kept_of": decided.kept_of, "score": decided.score, "about": _text(about)}
        arrays |= {"pair_a": pairs.a, "pair_b": pairs.b, "pair_score": pairs.score}
        _write(self.folder / _DECIDED, arrays)


_PLAIN = BlockSource | ParquetSource | ArrowSource | LostSource
_RAGGED = ("keys", "evidence")
_FLAT = ("probes", "digests", "text_digests", "normal_digests", "flags")
_ABOUT = ("pairs_complete", "candidates", "timings", "refs", "refused")


def _extracts(collection: Collection) -> bool:
    return collection.extractor.extraction.columns


def _write(path: Path, arrays: Mapping[str, Array]) -> None:
    with files.whole_file(path) as part, part.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _arrays(path: Path) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored)
    except Exception as error:  # a damaged archive fails in many ways
        raise InputError(
            f"{path} is damaged: {error}.",
            hint=f"remove {path.parent}; the run then starts from the beginning.",
        ) from error


def _taken(found: Mapping[str, Array]) -> Taken:
    about = _data(found["about"])
    rejected = [Rejected(**row) for row in about.pop("rejected")]
    with pa.ipc.open_stream(pa.py_buffer(found["records"])) as reader:
        records = reader.read_next_batch()
    parts: dict[str, Any] = {name: found[name] for name in _FLAT}
    for name in _RAGGED:
        parts[name] = Ragged(found[f"{name}_values"], found[f"{name}_offsets"])
    prepared = Prepared(**parts)
    return DocumentBatch(records=records, rejected=rejected, **about), prepared, found["lengths"]


def _ragged_arrays(name: str, ragged: Ragged) -> dict[str, Array]:
    """Without what a kernel's buffer has to spare."""
    offsets = ragged.offsets
    values = ragged.values[offsets[0] : offsets[-1]]
    return {f"{name}_values": values, f"{name}_offsets": offsets - offsets[0]}


def _packed(records: pa.RecordBatch) -> Array:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, records.schema) as writer:
        writer.write_batch(records)
    return np.frombuffer(sink.getvalue(), np.uint8)


def _text(data: Any) -> Array:
    return np.frombuffer(json.dumps(data).encode(), np.uint8)


def _data(text: Array) -> Any:
    return json.loads(text.tobytes())


def _state(collection: Collection, plan: Plan) -> dict[str, Any]:
    if None in collection.paths:
        raise UsageError(
            "A run can go on only if its input can be read again, which a pipe cannot.",
            hint="give a file, or leave out --resume.",
        )
    settings = {name: value for name, value in plan.describe().items() if name not in _FREE}
    against = [Path(path) if isinstance(path, str) else path for path in plan.against]
    state = {
        "version": version("neardup"),
        "settings": settings | {"signatures": plan.signatures, "every_pair": plan.every_pair},
        "inputs": {source.file: _stamp_of(source) for source in collection.sources},
        "against": {str(path): _stamp(path / "run.json", path) for path in against},
    }
    return dict(json.loads(json.dumps(state, default=str)))


def _stamp_of(source: Any) -> Any:
    if not isinstance(source, FolderSource):
        return _stamp(source.path)
    stamps = [(str(source.place(e)), _stamp(source.locate(e))) for e in source.entries]
    return hashlib.sha256(json.dumps(stamps).encode()).hexdigest()


def _stamp(*paths: Place | None) -> Any:
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


def _check_same(before: dict[str, Any], now: dict[str, Any], folder: Path) -> None:
    settings, then = _written(now["settings"]), _written(before.get("settings", {}))
    differ = [
        f"{name} was {_said(then.get(name))} and is {_said(settings.get(name))}"
        for name in sorted({**then, **settings})
        if then.get(name) != settings.get(name)
    ]
    for part, what in (("inputs", "the input"), ("against", "the reference")):
        names = {**before.get(part, {}), **now[part]}
        differ += [
            f"{what} {name} is another or has changed"
            for name in names
            if before.get(part, {}).get(name) != now[part].get(name)
        ]
    differ += ["the version of neardup"] if before.get("version") != now["version"] else []
    if differ:
        raise UsageError(
            f"The run that was interrupted cannot go on, because of what changed since: "
            f"{'; '.join(differ)}.",
            hint=f"give it as it was, or remove {folder} to start from the beginning.",
        )


def _written(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings as a user writes them: parameters by their names, nothing that follows from
    them."""
    plain = {name: value for name, value in settings.items() if name not in _FOLLOWING}
    parameters = dict(settings.get("parameters", {}))
    if parameters.pop("calibrate", False):
        parameters["threshold"] = "auto"
    command = "find" if settings.get("every_pair") else "dedup"
    return {**plain, **parameters, "the command": command}


def _said(value: Any) -> str:
    return "not given" if value is None else str(value)
