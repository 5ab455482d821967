"""The folder of a run, read back as a Result. Every file is checked before its content is used, and
artefacts are read when they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.artefacts.artefact import Artefact
from neardup.artefacts.calibration import Calibration, load_calibration
from neardup.documents.collection import Collection, collect_inputs
from neardup.documents.extraction.extractor import Extraction
from neardup.documents.inputs import mapping_class
from neardup.documents.open_files import Limits
from neardup.errors import (
    InputError,
    SettingsError,
    SignatureError,
)
from neardup.methods import registry
from neardup.runs.checksums import (
    Checksums,
    damaged,
    read_table,
)
from neardup.runs.result import Result
from neardup.runs.run_folder import ACTIONS, ARTEFACTS, DIGESTS, ORDER, rejected_rows
from neardup.runs.run_info import (
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
    result.folder = folder
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
    mapped = mapping_class({}) if info.get("by_name") else None

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
        return _expecting(collection.renamed(files).limited(limit), rejected_rows(decisions))

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
        if watch := source.watch:
            rows = rejected.filter(pc.equal(rejected["file"], source.file))["row"]
            watch.expect(rows.to_pylist())
    return collection
