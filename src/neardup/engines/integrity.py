"""Checks everything that a run folder or the store of an index holds against its checksums."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from neardup.engines.index.index_settings import IndexSettings, opened
from neardup.engines.index.passage_index import PassageIndex
from neardup.engines.index.signing import stored_signature
from neardup.engines.index.store import Row, Store, no_index, open_store
from neardup.errors import InputError, NeardupError
from neardup.runs.changes import read_changes
from neardup.runs.checksums import Checksums
from neardup.runs.history import steps
from neardup.runs.run_info import is_passage_run
from neardup.runs.stored_run import load

RUN, INDEX = "run", "index"
T = TypeVar("T")


class Verification(NamedTuple):
    """``checked`` counts files of a run or documents of an index. ``checksums`` is False for a run
    that an earlier version wrote without any."""

    place: str
    kind: str
    checked: int
    faults: list[str]
    checksums: bool = True


def verify(place: str | Path) -> Verification:
    """Check a run folder or the store of an index; whatever is damaged is in ``faults``."""
    if isinstance(place, Path) or "://" not in place:
        if Path(place).is_dir():
            return _verify_run(Path(place))
        if not Path(place).exists() and ":" not in str(place):
            raise InputError(
                f"{place} does not exist.",
                hint="give the folder of a run, or the store of an index.",
            )
    return _verify_index(str(place))


def _verify_run(folder: Path) -> Verification:
    faults: list[str] = []
    folders = [folder, *_collected(lambda: [step.folder for step in steps(folder)], faults)]
    checked, known = 0, False
    for each in folders:
        for checksums in _collected(partial(_checksums, each), faults):
            faults += checksums.faults()
            checked += len(checksums.digests or ())
            known |= each == folder and checksums.digests is not None
    if not faults and not is_passage_run(folder):
        _collected(lambda: list(load(folder).artefacts.values()), faults)
        _collected(lambda: [read_changes(folder)], faults)
    return Verification(str(folder), RUN, checked, faults, known)


def _checksums(folder: Path) -> list[Checksums]:
    return [Checksums(folder)]


def _collected(parts: Callable[[], list[T]], faults: list[str]) -> list[T]:
    try:
        return parts()
    except NeardupError as error:
        faults += [] if error.message in faults else [error.message]
        return []


def _verify_index(url: str) -> Verification:
    store = open_store(url, create=False)
    try:
        faults: list[str] = []
        faults += [f"{store.url}: {each}." for each in _collected(store.structure_faults, faults)]
        (documents,) = _collected(lambda: [_documents(store)], faults) or [0]
        return Verification(store.url, INDEX, documents, faults)
    finally:
        store.close()


def _documents(store: Store) -> int:
    if store.description() is None:
        raise no_index(store.url)
    method = opened(store, IndexSettings())[1].method
    count = 0
    for row in store.changes(0, duplicates=True):
        if isinstance(row, Row):
            stored_signature(row, method, store.url)
            count += 1
    for _ in store.changes(1, duplicates=False):  # the log too; no entry has the first number
        pass
    PassageIndex(store).check()
    return count
