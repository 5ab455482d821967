"""Reference documents (``--against``): kept, before all input, and not decided among themselves.

A reference is a set of files, which are read like input, or the folder of an earlier run. Of a run,
only the signatures of its kept documents are read, or its kept files if it has no signatures. The
references against which that run was made are included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.documents.clashes import tell_apart
from neardup.documents.collection import Collection, collect_inputs
from neardup.documents.columns import Columns
from neardup.documents.inputs import SOURCE
from neardup.engines.batch.intake import empty_intake, joined_prepared, take_in
from neardup.errors import NeardupError
from neardup.matching.evidence import EvidenceStore
from neardup.plan import Plan, as_paths
from neardup.progress import LOG, Progress
from neardup.runs.run_folder import SIGNATURES, kept_file_names, named_as_in_run
from neardup.runs.run_info import check_place, is_run, read_info
from neardup.runs.run_tables import Intake
from neardup.runs.signatures import as_strings, read_signatures
from neardup.runs.texts_again import REFERENCE


def take_references(
    plan: Plan, store: EvidenceStore, progress: Progress, *, offered: bool
) -> Intake:
    """The references of the plan, which has some, in their order; their evidence goes into
    ``store``. If the inputs have names, references need no column ``source`` for an order, but they
    do for groups (``within``), because the name of a reference is that of no input."""
    offered = offered and plan.within != SOURCE
    parts, paths = [], with_their_own(plan.against)
    for path in paths:
        if files_of(path):
            parts.append(_of_files(path, plan, store, progress, offered))
        else:
            parts.append(_of_run(Path(path), plan, store))
    return named(_told_apart(joined(parts, plan), parts, reference_names(paths)))


def reference_names(paths: Sequence[Path | str]) -> list[str]:
    """The names by which references are distinguished if several have the same id."""
    return [path.as_posix() if isinstance(path, Path) else path for path in paths]


def _told_apart(intake: Intake, parts: Sequence[Intake], paths: Sequence[str]) -> Intake:
    number = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])
    names = tell_apart(intake.ids, number, paths)
    return intake if names is None else replace(intake, ids=names.ids)


def files_of(path: Path | str) -> Sequence[Path | str]:
    """The files of a reference; none for a run whose signatures are read."""
    return [path] if not is_run(path) else _kept_files(Path(path))


def joined(parts: Sequence[Intake], plan: Plan) -> Intake:
    """Several intakes into one store, as one; rejections and totals are those of the last."""
    last = parts[-1]
    extra: dict[str, Any] = {}
    if plan.within:
        columns = [as_strings(p.extra[plan.within]) for p in parts if plan.within in p.extra]
        extra[plan.within] = pa.chunked_array(columns, pa.large_string())
    return replace(
        last,
        file=np.concatenate([p.file for p in parts]),
        row=np.concatenate([p.row for p in parts]),
        position=np.concatenate([p.position for p in parts]),
        ids=pa.concat_arrays([p.ids for p in parts]),
        prepared=joined_prepared([p.prepared for p in parts]),
        lengths=np.concatenate([p.lengths for p in parts]),
        extra=extra,
    )


def named(intake: Intake) -> Intake:
    """Ids of references with the prefix that distinguishes them from ids of the input."""
    prefix = pa.scalar(REFERENCE, pa.large_string())
    empty = pa.scalar("", pa.large_string())
    return replace(intake, ids=pc.binary_join_element_wise(prefix, intake.ids, empty))


def reference_texts(plan: Plan) -> list[tuple[Collection, Columns]]:
    """The places from which texts of references can be read again, without those that are gone."""
    inputs = []
    for path in with_their_own(plan.against):
        try:
            inputs.append(_texts_of_run(path) if is_run(path) else _texts_of_files([path], plan))
        except (NeardupError, OSError) as error:
            LOG.warning("the texts of %s cannot be read again: %s", path, error)
    return inputs


def _texts_of_files(paths: Sequence[Path | str], plan: Plan) -> tuple[Collection, Columns]:
    inputs = [(None, path) for path in paths]
    return collect_inputs(inputs, encoding=plan.encoding), Columns(text=plan.columns.text)


def _texts_of_run(folder: Path | str) -> tuple[Collection, Columns]:
    """The documents that the run wrote, kept or annotated; if it wrote none, its input."""
    info = _info(Path(folder))
    written = [Path(folder) / name for name in kept_file_names(info)]
    read = [entry["path"] for entry in info.get("inputs") or [] if entry]
    inputs = [(None, path) for path in [p for p in written if p.exists()] or read]
    settings = info["settings"]
    collection = collect_inputs(inputs, encoding=settings.get("encoding"))
    return collection, Columns(text=settings["text"])


def with_their_own(paths: Sequence[Path | str]) -> list[Path | str]:
    """The references with those against which a run was made before it; each occurs once."""
    references: dict[Path | str, None] = {}
    for path in paths:
        if is_run(path):
            before = _info(Path(path)).get("against") or []
            for place in before:
                check_place(str(place), "reference")
            for own in with_their_own(as_paths(before)):
                references.setdefault(own)
        references.setdefault(path)
    return list(references)


def _info(folder: Path) -> dict[str, Any]:
    return read_info(folder)[0]


def _kept_files(folder: Path) -> list[Path]:
    """The files to read if a run stored no signatures; none if it did."""
    if (folder / SIGNATURES).exists():
        return []
    info, checksums = read_info(folder)
    # Annotated files contain the duplicates too, so they cannot be a reference.
    names = [name for name in kept_file_names(info) if name.startswith("kept")]
    for name in names:
        if (folder / name).is_dir():
            checksums.check_below(name)
        elif (folder / name).exists():
            checksums.check(name)
    return [folder / name for name in names if (folder / name).exists()]


def _of_files(
    path: Path | str,
    plan: Plan,
    store: EvidenceStore,
    progress: Progress,
    offered: bool,
) -> Intake:
    collection = opened(path, plan, offered=offered)
    taken = take_in(collection, replace(plan, limit=None), progress, store)
    check_read(collection)  # a file may have been removed meanwhile
    return taken


def opened(path: Path | str, plan: Plan, *, offered: bool) -> Collection:
    """The files of a reference; those of a run have the document names that the run assigned."""
    collection = collect_inputs(
        [(None, file) for file in files_of(path)],
        offered=offered,
        encoding=plan.encoding,
        extraction=plan.extraction,
        limits=plan.limits,
    )
    check_read(collection)
    if is_run(path):
        run = Path(path)
        return named_as_in_run(collection, run, _info(run), plan.columns)
    return collection


def check_read(collection: Collection) -> None:
    """Refuses a reference with an unreadable file: duplicates of its documents would be kept."""
    for source in collection.sources:
        if source.is_lost:
            raise source.error  # type: ignore[attr-defined]  # of a LostSource


def _of_run(folder: Path, plan: Plan, store: EvidenceStore) -> Intake:
    ids, prepared, within = [], [], []
    for names, some, values in read_signatures(folder / SIGNATURES, plan):
        store.append(some.evidence)
        ids.append(names)
        prepared.append(replace(some, evidence=some.evidence.take(np.empty(0, np.int64))))
        within.append(values)
    count = sum(map(len, ids))
    return replace(
        empty_intake(store),
        file=np.zeros(count, np.int32),
        row=np.zeros(count, np.int64),
        position=np.full(count, -1),
        ids=pa.concat_arrays([pa.array([], pa.large_string()), *ids]),
        prepared=joined_prepared(prepared),
        lengths=np.zeros(count, np.int64),
        extra={plan.within: pa.chunked_array(within, pa.large_string())} if plan.within else {},
    )
