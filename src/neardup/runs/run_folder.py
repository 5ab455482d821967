"""The folder of a run, which is written completely or not at all; ``stored_run.py`` reads it back.

It has ``kept.*`` in the format of the input, ``decisions.parquet``, ``duplicates.parquet``,
``pairs.parquet``, ``rejected.jsonl``, ``report.html`` and ``run.json``. The folder is written as a
draft (``draft.py``), which replaces an earlier run only when it is whole and on the disk.
``checksums.sha256`` has the checksums of all files.

``named_as_in_run`` names the documents of the kept files, whose lines are as they came. Where
several inputs had an id, a kept file has it more than once. The decisions say which document is
which: kept documents stand in a file in the order of the input.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup import schema
from neardup.artefacts.artefact import Artefacts
from neardup.classes import dataclass
from neardup.documents.collection import Collection
from neardup.documents.columns import Columns, Rejected
from neardup.documents.file_formats import address_of
from neardup.documents.lost import damaged_kept
from neardup.documents.remote import Place
from neardup.documents.source import groups_of
from neardup.documents.streams import Digests, digesting, writing
from neardup.draft import Draft, refuse_filled
from neardup.errors import (
    ChangedError,
    DataError,
    KeptError,
    NeardupError,
    StoreError,
    UnreadableError,
    UsageError,
)
from neardup.files import locked, sync, whole_file, write_text
from neardup.report.run_report import REPORT, run_page
from neardup.report.run_view import Run
from neardup.runs.checksums import (
    CHECKSUMS,
    Checksums,
    digests_of,
    read_table,
    write_checksums,
)
from neardup.runs.export import ENDINGS, write_export
from neardup.runs.result import Result
from neardup.runs.run_info import (
    FORMAT,
    RUN,
)
from neardup.schema import Array

ORDER, SIGNATURES, ARTEFACTS = "order.parquet", "signatures.arrow", "artefacts"
DIGESTS, ACTIONS = "digests.parquet", "actions.parquet"
APPLIED, APPLYING = "applied", ".applying"
ONE_FILE = "one_file"  # in run.json: several input files were asked for in one
_WRITTEN = re.compile(r"(kept|annotated)(\.\w+)*(/(?!\.\.?(/|$))[^/\0]+)*")
EXPORT = "export"  # in run.json: the formats of the table for colleagues
_TABLES = ("decisions.parquet", "duplicates.parquet", "pairs.parquet", "rejected.jsonl")
_EXPORTS = tuple(f"{EXPORT}{ending}" for ending in ENDINGS.values())
_FILES = (*_TABLES, *_EXPORTS, ORDER, DIGESTS, ACTIONS, SIGNATURES, ARTEFACTS, REPORT)
_NAMES = (*_FILES, RUN, CHECKSUMS, APPLIED, APPLYING)


def save(result: Result, folder: Path, *, kept: bool = True, overwrite: bool = False) -> Path:
    """Write the folder. ``kept=False`` leaves the kept documents out (``find`` removes nothing). If
    an input has changed since it was read, an error is raised; a new folder then has everything
    except the kept documents, and an earlier run stays as it was."""
    spare_inputs(folder, result.collection().paths if kept else [])
    spare_applied(folder)
    with Draft(folder, RUN) as draft:
        refuse_filled(folder, RUN, overwrite=overwrite)
        write_run(result, draft, kept=kept)
    return folder


class EarlyFiles:
    """Files of a draft that need no kinds: artefacts and kept documents. Threads of their own
    write them from the moment that decisions are made, while kinds are found. When this is closed,
    nothing is written any more."""

    def __init__(self, folder: Path, *, one_file: bool) -> None:
        self._folder, self._one_file = folder, one_file
        self._digests = Digests()
        self._threads = ThreadPoolExecutor(2)
        self._artefacts: Future[None] | None = None
        self._kept: Future[dict[str, Any]] | None = None

    def begin(self, collection: Collection, keep: Array, artefacts: Artefacts) -> None:
        """Kept lines need little memory; kept tables are written when nothing else is."""
        if all(source.what == "lines" and source.is_file for source in collection.sources):
            self._kept = self._threads.submit(self._write_kept, collection, keep)
        self._artefacts = self._threads.submit(_write_artefacts, artefacts, self._folder)

    def _write_kept(self, collection: Collection, keep: Array) -> dict[str, Any]:
        with digesting(self._digests):
            info = _written_kept(collection, keep, self._folder, one_file=self._one_file)
        sync(self._folder / name for name in info["kept_files"])  # the disk works meanwhile
        return info

    def artefacts(self) -> bool:
        """Whether the artefacts are written. Raises what ended it, as ``kept`` does."""
        if self._artefacts:
            self._artefacts.result()
        return self._artefacts is not None

    def kept(self, digests: Digests) -> dict[str, Any] | None:
        """What ``run.json`` says of the kept files; None if they are not written."""
        if self._kept is None:
            return None
        info = self._kept.result()
        digests |= self._digests
        return info

    def __enter__(self) -> EarlyFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self._digests.unwanted = True
        self._threads.shutdown(cancel_futures=True)


def write_run(result: Result, draft: Draft, *, kept: bool, early: EarlyFiles | None = None) -> None:
    spare_applied(draft.folder)
    folder, fault = draft.path, None
    info = {**result.info, "format": FORMAT}
    workers, digests = info["settings"].get("workers") or 1, Digests()
    tables = functools.partial(_write_tables, result, folder, early)
    try:
        if info["settings"].get("policy"):
            write_table(result.actions, folder / ACTIONS)
        with _beside(tables, workers), digesting(digests):
            info |= _kept(result, folder, early, digests) if kept else {}
    except (ChangedError, StoreError, UnreadableError) as error:
        if draft.journal.exists():
            raise _without_kept(error, "Nothing was written.") from error
        if (draft.folder / RUN).exists():
            raise _without_kept(
                error, f"The earlier run in {draft.folder} was not replaced."
            ) from error
        fault = error
        info |= {"kept_fault": error.message, "kept_files": []}
    for form in info.get(EXPORT, ()):
        write_export(result, folder / f"{EXPORT}{ENDINGS[form]}")
    # References are not read for the report: a run against many must not wait.
    write_text(folder / REPORT, run_page(Run(result, info)))
    described = json.dumps(info, indent=2, ensure_ascii=False) + "\n"
    names = [*_FILES, *info.get("kept_files", [])]
    checksums = digests_of(folder, names, digests, workers=workers)
    write_checksums(folder, checksums, {RUN: described.encode()})
    write_text(folder / RUN, described)
    _publish(draft)
    if fault:
        where = f"The decisions are in {draft.folder}, kept documents are not."
        raise _without_kept(fault, where) from fault
    if damage := info.get("kept_damage"):
        raise damaged_kept(damage, f"All other values of all kept documents are in {draft.folder}.")


@contextmanager
def _beside(write: Callable[[], None], workers: int) -> Iterator[None]:
    """Writes the tables before what is inside; with a second worker, at the same time."""
    if workers < 2:
        write()
        yield
        return
    with ThreadPoolExecutor(1) as second:
        written = second.submit(write)
        try:
            yield
        finally:
            written.result()


def _write_artefacts(artefacts: Artefacts, folder: Path) -> None:
    for name, artefact in artefacts.items():  # so that a later run can build on this one
        (folder / ARTEFACTS).mkdir(exist_ok=True)
        with whole_file(folder / ARTEFACTS / f"{name}.arrow") as part:
            artefact.save(part)


def _write_tables(result: Result, folder: Path, early: EarlyFiles | None) -> None:
    """What needs neither the input nor to know whether the kept documents can be written."""
    if not (early and early.artefacts()):
        _write_artefacts(result.artefacts, folder)
    write_table(result.decisions, folder / "decisions.parquet")
    write_table(result.duplicates, folder / "duplicates.parquet")
    write_table(result.pairs, folder / "pairs.parquet")
    in_order = np.arange(len(result.rank), dtype=result.rank.dtype)
    if not np.array_equal(result.rank, in_order):  # a new threshold needs it
        write_table(pa.table({"rank": result.rank.astype(np.int64)}), folder / ORDER)
    if result.text_digests is not None:
        write_table(pa.table({"text": result.text_digests}), folder / DIGESTS)
    rejected = rejected_rows(result.decisions).select(["file", "row", "id", "reason"]).to_pylist()
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rejected)
    write_text(folder / "rejected.jsonl", lines)
    if result.signatures:
        result.signatures(folder / SIGNATURES)


def _publish(draft: Draft) -> None:
    if not (draft.folder / RUN).exists():
        draft.publish(_NAMES)
        return
    with only_one_applies(draft.folder):
        spare_applied(draft.folder)
        draft.publish(_names_of_run(draft.folder))


def only_one_applies(run: Path) -> AbstractContextManager[None]:
    """Keeps others from applying or undoing a policy, and from replacing the run meanwhile."""
    return locked(
        run / APPLYING,
        lambda: DataError(
            f"Another process applies or undoes a policy in {run}.", hint="wait until it is done."
        ),
    )


def _kept(
    result: Result, folder: Path, early: EarlyFiles | None, digests: Digests
) -> dict[str, Any]:
    collection, one_file = result.collection(), result.info.get(ONE_FILE, False)
    written = early.kept(digests) if early else None
    if written is None:
        written = _written_kept(collection, result.keep_mask(), folder, one_file=one_file)
    if "shared_ids" in result.info:
        groups = groups_of(collection.sources, one_file=one_file)
        output = {source.file: name for name, some in groups.items() for source in some}
        written[KEPT_OF] = {file: output[file] for file in collection.files if file in output}
    return written


def _written_kept(
    collection: Collection, keep: Array, folder: Path, *, one_file: bool
) -> dict[str, Any]:
    files = collection.write_kept(keep, folder, one_file=one_file)
    damage = {"kept_damage": damage} if (damage := collection.damage()) else {}
    return {"kept_files": [path.relative_to(folder).as_posix() for path in files], **damage}


def _without_kept(fault: NeardupError, where: str) -> KeptError:
    return KeptError(f"{fault.message} {where}", hint=fault.hint)


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
        below = file.relative_to(place).parts if place in file.parents else ()
        if len(below) == 1 or (below and (below[0] in _NAMES or _WRITTEN.fullmatch(below[0]))):
            raise UsageError(
                f"The input {file} lies in the output folder {folder}, where a run "
                "could write over it.",
                hint="name another folder with -o.",
            )


def _names_of_run(folder: Path) -> set[str]:
    """The entries of the folder that belong to the earlier run in it, if there is one."""
    try:
        info = json.loads((folder / RUN).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        info = None
    kept = kept_file_names(info if isinstance(info, dict) else {})
    return {*_NAMES, *(PurePath(name).parts[0] for name in kept)}


def kept_file_names(info: dict[str, Any]) -> list[str]:
    """The kept files that ``run.json`` lists. It may come from anywhere, so a name that no run
    writes, such as one that leads out of the folder, is ignored."""
    names = info.get("kept_files")
    listed = names if isinstance(names, list) else []
    return [name for name in listed if isinstance(name, str) and _WRITTEN.fullmatch(name)]


def rejected_rows(decisions: pa.Table) -> pa.Table:
    return decisions.filter(pc.equal(decisions["decision"], schema.REJECTED))


def write_table(table: pa.Table, path: Path) -> None:
    with writing(path, None) as file:
        pq.write_table(table, file, compression="zstd")


KEPT_OF = "kept_of"  # in run.json: the kept file of each input


def named_as_in_run(
    collection: Collection, folder: Path, info: Mapping[str, Any], columns: Columns
) -> Collection:
    """``collection``: kept files of the run in ``folder``."""
    if "shared_ids" not in info:
        return collection
    table = read_table(Checksums(folder).check("decisions.parquet"), schema.DECISIONS)
    table = table.filter(pc.equal(table["decision"].cast(pa.string()), schema.KEPT))
    files = table["file"].cast(pa.large_string())
    known: dict[str, tuple[Array, pa.Array]] = {}
    for source in collection.sources:
        name = PurePath(source.file).relative_to(folder.as_posix()).as_posix()
        inputs = [file for file, to in info[KEPT_OF].items() if to == name]
        here = pc.is_in(files, pa.array(inputs, pa.large_string()))
        ids = table["id"].filter(here).combine_chunks().cast(pa.large_string())
        rows = _rows(Collection([source]), columns)
        if len(rows) == len(ids):  # else the file is not what the run wrote
            known[source.file] = rows, ids
    return collection.named(_KeptNames(known))


def _rows(collection: Collection, columns: Columns) -> Array:
    parts = [chunk.read().records.column("row").to_numpy() for chunk in collection.chunks(columns)]
    return np.concatenate([np.empty(0, np.int64), *parts])


@dataclass(frozen=True)
class _KeptNames:
    """The names of kept documents: for each file the rows of its documents, ascending, and what the
    run calls them."""

    known: Mapping[str, tuple[Array, pa.Array]]

    def names(self, records: pa.RecordBatch, file: str) -> pa.Array:
        if file not in self.known:
            return records.column("id")
        rows, ids = self.known[file]
        return ids.take(pa.array(np.searchsorted(rows, records.column("row").to_numpy())))

    def renamed(self, rejected: Sequence[Rejected]) -> list[Rejected]:
        return list(rejected)
