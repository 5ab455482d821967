"""The folder of a run, which is written completely or not at all, and read back as a Result.

It has ``kept.*`` in the format of the input, ``decisions.parquet``, ``duplicates.parquet``,
``pairs.parquet``, ``rejected.jsonl``, ``report.html`` and ``run.json``. The last file is written
last: without it, the run has not finished. ``checksums.sha256`` has the checksums of all of them,
and every file is checked before its content is used. Artefacts are read when they are needed.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup import schema
from neardup.artefacts.artefact import Artefact, Artefacts
from neardup.artefacts.calibration import Calibration, load_calibration
from neardup.documents import Collection
from neardup.documents.collection import collect_inputs
from neardup.documents.extraction.extractor import Extraction
from neardup.documents.limits import Limits
from neardup.documents.remote import Place, address_of
from neardup.documents.streams import whole_file
from neardup.errors import (
    ChangedError,
    InputError,
    KeptError,
    SettingsError,
    SignatureError,
    StoreError,
    UnreadableError,
    UsageError,
)
from neardup.methods import registry
from neardup.report.html_page import write_page
from neardup.report.run_report import REPORT, run_page
from neardup.runs.checksums import CHECKSUMS, Checksums, damaged, read_table, write_checksums
from neardup.runs.kept_names import KEPT_OF, kept_files_of
from neardup.runs.result import Result
from neardup.runs.run_info import (
    FORMAT,
    RUN,
    TRUST,
    check_place,
    is_trusted,
    read_info,
)
from neardup.schema import Array


class StoredArtefacts(Mapping[str, Artefact]):
    """Artefacts by name. It has only those whose file exists and that can be read; the artefact of
    a method that is not registered here cannot."""

    def __init__(self, checksums: Checksums, info: dict[str, Any]) -> None:
        self._digests = {name: stored["digest"] for name, stored in info["artefacts"].items()}
        self._loaders = _loaders(info["settings"])
        self._checksums = checksums
        files = {name: f"{ARTEFACTS}/{name}.arrow" for name in self._digests}
        self._files = {
            name: file
            for name, file in files.items()
            if name in self._loaders and (checksums.folder / file).exists()
        }
        self._read: dict[str, Artefact] = {}

    def __getitem__(self, name: str) -> Artefact:
        if name not in self._read:
            self._read[name] = self._load(name, self._checksums.check(self._files[name]))
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, name: object) -> bool:
        return name in self._files  # the default of Mapping would read the file

    def _load(self, name: str, path: Path) -> Artefact:
        artefact: Artefact = self._loaders[name](path)
        if artefact.digest != self._digests[name]:
            raise SignatureError(
                f"{path} is not the one that the run was made with: its digest is "
                f"{artefact.digest}, run.json says {self._digests[name]}.",
                hint="restore the folder of the run, or make the run again.",
            )
        return artefact


def _loaders(settings: dict[str, Any]) -> dict[str, Any]:
    loaders: dict[str, Any] = {Calibration.kind: load_calibration}
    try:
        method = registry.build(settings["method"], settings["parameters"])
    except SettingsError:
        return loaders
    return loaders | {need.name: need.load for need in method.needs}


ORDER, SIGNATURES, ARTEFACTS = "order.parquet", "signatures.arrow", "artefacts"
DIGESTS, ACTIONS, APPLIED = "digests.parquet", "actions.parquet", "applied"
_WRITTEN = re.compile(r"(kept|annotated)(\.\w+)*")


def save(result: Result, folder: Path, *, kept: bool = True) -> Path:
    """Write the folder. ``kept=False`` leaves the kept documents out (``find`` removes nothing). If
    an input has changed since it was read, everything except the kept documents is written, and an
    error is raised."""
    collection = result.collection() if kept else None
    artefacts = dict(result.artefacts)  # read before writing: they may be in the same folder
    spare_inputs(folder, collection.paths if collection else [])
    spare_applied(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _forget_earlier_run(folder)
    info = {**result.info, "format": FORMAT}
    fault, files = None, []
    try:
        if info["settings"].get("policy"):
            write_table(result.actions, folder / ACTIONS)
        if collection:
            files = collection.write_kept(result.keep_mask(), folder)
    except (ChangedError, StoreError, UnreadableError) as error:
        fault = error
        info["kept_fault"] = error.message
    if collection:
        info["kept_files"] = [path.name for path in files]
        if "shared_ids" in info:
            info[KEPT_OF] = kept_files_of(collection)
    write_table(result.decisions, folder / "decisions.parquet")
    write_table(result.duplicates, folder / "duplicates.parquet")
    write_table(result.pairs, folder / "pairs.parquet")
    _write_order(result, folder / ORDER)
    if result.text_digests is not None:
        write_table(pa.table({"text": result.text_digests}), folder / DIGESTS)
    if result.signatures:
        result.signatures(folder / SIGNATURES)
    else:
        (folder / SIGNATURES).unlink(missing_ok=True)
    _write_artefacts(artefacts, folder / ARTEFACTS)
    _write_rejected(result.decisions, folder / "rejected.jsonl")
    write_page(folder / REPORT, run_page(result, info))
    described = json.dumps(info, indent=2, ensure_ascii=False) + "\n"
    write_checksums(folder, _named_files(info), {RUN: described.encode()})
    write_text(folder / RUN, described)
    if fault:
        raise KeptError(
            f"{fault.message} The decisions are in {folder}, kept documents are not.",
            hint=fault.hint,
        ) from fault
    return folder


def _named_files(info: dict[str, Any]) -> list[str]:
    """What a run may have written beside ``run.json``; a folder stands for all that is in it."""
    tables = [f"{name}.parquet" for name in ("decisions", "duplicates", "pairs")]
    others = [ORDER, DIGESTS, ACTIONS, SIGNATURES, ARTEFACTS, "rejected.jsonl", REPORT]
    return [*tables, *others, *info.get("kept_files", [])]


def spare_applied(folder: Path) -> None:
    """Refuse to replace a run if its applied policies would be lost."""
    if (folder / APPLIED).is_dir() and any((folder / APPLIED).iterdir()):
        raise UsageError(
            f"A policy is applied to the run in {folder}; replacing the run would lose "
            f"{folder / APPLIED}.",
            hint="take it back with `neardup undo`, or name another folder with -o.",
        )


def spare_inputs(folder: Path, inputs: Sequence[Place | None]) -> None:
    """Refuse an output folder that is not local, or where a run could overwrite its input."""
    if address := address_of(folder):
        raise UsageError(
            f"{address.shown} is in a store; a run is written to a folder of this machine.",
            hint="name a folder here with -o, and copy it there when it is whole.",
        )
    place = folder.resolve()
    for file in (path.resolve() for path in inputs if isinstance(path, Path)):
        if place == file or file in place.parents:
            raise UsageError(
                f"The output {folder} is the input {file}, or lies inside it.",
                hint="name another folder with -o.",
            )
        if file.parent == place or place / APPLIED in file.parents:
            raise UsageError(
                f"The input {file} lies in the output folder {folder}, where a run "
                "could write over it.",
                hint="name another folder with -o.",
            )


def _forget_earlier_run(folder: Path) -> None:
    """Remove the files of an earlier run that this run may not overwrite."""
    run = folder / RUN
    if not run.exists():
        return
    try:
        earlier = json.loads(run.read_text("utf-8")).get("kept_files", [])
    except (ValueError, AttributeError):
        earlier = []
    run.unlink()
    for name in kept_file_names({"kept_files": earlier}):
        remove(folder / name)
    for name in (REPORT, DIGESTS, ACTIONS, APPLIED, ARTEFACTS, CHECKSUMS):
        remove(folder / name)


def kept_file_names(info: dict[str, Any]) -> list[str]:
    """The kept files that ``run.json`` lists. It may come from anywhere, so a name that no run
    writes, such as one that leads out of the folder, is ignored."""
    names = info.get("kept_files")
    listed = names if isinstance(names, list) else []
    return [name for name in listed if isinstance(name, str) and _WRITTEN.fullmatch(name)]


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def load(folder: Path) -> Result:
    info, checksums = read_info(folder)
    decisions = read_table(checksums.check("decisions.parquet"), schema.DECISIONS)
    pairs = read_table(checksums.check("pairs.parquet"), schema.PAIRS)
    digests = _numbers(checksums, DIGESTS, "text", len(decisions))
    result = Result(
        decisions,
        pairs,
        info,
        rank=_numbers(checksums, ORDER, "rank", len(decisions)),
        collection=_reopen(info, decisions, digests=digests is not None),
        text_digests=digests,
        artefacts=StoredArtefacts(checksums, info),
    )
    _check_tables(result, folder)
    if checksums.has(ACTIONS):
        result.known_actions = lambda: read_table(checksums.check(ACTIONS), schema.ACTIONS)
    return result


def _numbers(checksums: Checksums, name: str, column: str, count: int) -> Array | None:
    """A column of numbers, one for each document; None if the run has no such file."""
    if not checksums.has(name):
        return None
    path = checksums.check(name)
    table = read_table(path)
    valid = column in table.column_names and pa.types.is_integer(table[column].type)
    if not valid or table[column].null_count or len(table) != count:
        raise damaged(path, f"expected {count:,} numbers in a column {column!r}")
    return np.asarray(table[column].to_numpy())


def _check_tables(result: Result, folder: Path) -> None:
    """Refuses tables that contradict each other; indices are derived from them."""
    decision = result.decisions["decision"].cast(pa.string())
    known = pa.array([schema.KEPT, schema.DUPLICATE, schema.REJECTED])
    if not pc.all(pc.is_in(decision, known), min_count=0).as_py():
        raise damaged(folder / "decisions.parquet", "a decision is none that a run makes")
    if not np.array_equal(np.sort(result.rank), np.arange(len(decision))):
        raise damaged(folder / ORDER, "it is not an order of the documents")


def _reopen(
    info: dict[str, Any], decisions: pa.Table, *, digests: bool
) -> Callable[[], Collection] | None:
    inputs = info.get("inputs") or []
    if not inputs or any(entry is None for entry in inputs) or "kept_fault" in info:
        return None
    settings = info["settings"]
    limit, encoding = settings.get("limit"), settings.get("encoding")
    extraction = Extraction(settings.get("extract"))
    limits = _limits(settings)
    named_inputs = [(entry["source"], entry["path"]) for entry in inputs]
    files = [entry["file"] for entry in inputs]
    mapped = info.get("by_name", False)

    def reopened() -> Collection:
        for _, path in named_inputs:
            check_place(str(path), "input")
        if not digests and not is_trusted():
            raise InputError(
                "The run has no digests of its texts, so nothing shows that its inputs are those "
                "it was made from.",
                hint=f"make the run again, or set the environment variable {TRUST}=1.",
            )
        collection = collect_inputs(
            named_inputs, mapped=mapped, encoding=encoding, extraction=extraction, limits=limits
        )
        return _expecting(collection.renamed(files).limited(limit), _rejected(decisions))

    return reopened


def _limits(settings: dict[str, Any]) -> Limits | None:
    """The limits of the run, so that the same rows are rejected when it is read again."""
    try:
        return Limits(**settings["limits"])
    except (KeyError, TypeError):  # a run of an earlier version
        return None


def _expecting(collection: Collection, rejected: pa.Table) -> Collection:
    """The collection, in which exactly the rows that the run rejected may be unreadable."""
    for source in collection.sources:
        if watch := getattr(source, "watch", None):
            rows = rejected.filter(pc.equal(rejected["file"], source.file))["row"]
            watch.expect(rows.to_pylist())
    return collection


def _rejected(decisions: pa.Table) -> pa.Table:
    return decisions.filter(pc.equal(decisions["decision"], schema.REJECTED))


def write_table(table: pa.Table, path: Path) -> None:
    with whole_file(path) as part:
        pq.write_table(table, part, compression="zstd")


def write_text(path: Path, text: str) -> None:
    with whole_file(path) as part:
        part.write_text(text, "utf-8")


def _write_order(result: Result, path: Path) -> None:
    """Write the order if it differs from that of the input; a new threshold needs it."""
    if np.array_equal(result.rank, np.arange(len(result.rank))):
        path.unlink(missing_ok=True)
        return
    write_table(pa.table({"rank": result.rank}), path)


def _write_artefacts(artefacts: Artefacts, folder: Path) -> None:
    """Write what was counted from this input, so that a later run can build on this one."""
    for name, artefact in artefacts.items():
        folder.mkdir(exist_ok=True)
        with whole_file(folder / f"{name}.arrow") as part:
            artefact.save(part)


def _write_rejected(decisions: pa.Table, path: Path) -> None:
    rows = _rejected(decisions).select(["file", "row", "id", "reason"]).to_pylist()
    write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
