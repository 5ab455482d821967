"""Policies applied to a run folder one after another, and undone in reverse order.

``RUN/applied/1``, ``2`` …: the last one is in effect, the others are its history. Each is written
under a temporary name, and appears and disappears by one rename, so a killed process leaves the
state before or after; the next one removes what was left. After as many undos as applications, the
run folder has the same bytes as before.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from neardup.errors import DataError, InputError
from neardup.files import DRAFT, sync, sync_tree
from neardup.runs.application import APPLIED
from neardup.runs.checksums import CHECKSUMS, Checksums, digests_of
from neardup.runs.run_folder import APPLIED as FOLDER
from neardup.runs.run_folder import only_one_applies
from neardup.runs.run_info import RUN

_GONE = ".gone"


class Step(NamedTuple):
    """One application: its number and the content of its ``applied.json``."""

    number: int
    folder: Path
    info: dict[str, Any]


def steps(run: Path) -> list[Step]:
    """All applications in the folder, the first one first."""
    folder = run / FOLDER
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    numbers = sorted(int(name) for name in names if name.isdecimal())
    return [Step(number, folder / f"{number}", _info(folder / f"{number}")) for number in numbers]


def _info(folder: Path) -> dict[str, Any]:
    try:
        data = (folder / APPLIED).read_bytes()
        info: dict[str, Any] = json.loads(data)
        _ = info["counts"]["documents"], info["policy"]["order"], info.get("files", {}).items()
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{folder / APPLIED} cannot be read: {error}.",
            hint="remove that folder by hand, or make the run again.",
        ) from error
    Checksums(folder).check_bytes(APPLIED, data)
    return info


def next_folder(run: Path) -> Path:
    before = steps(run)
    return run / FOLDER / f"{before[-1].number + 1 if before else 1}"


class Application(Protocol):
    """What a policy made of the documents of a run."""

    def write(self, folder: Path, run: Path | None = None) -> None: ...


A = TypeVar("A", bound=Application)


def apply_to(run: Path, make: Callable[[], A]) -> tuple[Step, A]:
    """Write what ``make`` returns as the application that is in effect from now on. If the last one
    is the same, for example because a command is repeated whose process was killed before it could
    report, then that one stays in effect and none is added."""
    with _alone(run):
        _sweep(run)
        applied, target = make(), next_folder(run)
        unfinished = target.with_name(DRAFT)
        try:
            applied.write(unfinished, run)
            if not _in_effect(run, unfinished):
                sync_tree(unfinished)
                _move(unfinished, target)
            sync([run])
        finally:
            _sweep(run)
        return steps(run)[-1], applied


def _in_effect(run: Path, unfinished: Path) -> bool:
    """Whether the last application is undamaged and the same as this one; then it is synced."""
    last = steps(run)[-1:]
    same = any(step.info == _info(unfinished) for step in last)
    if not same or Checksums(last[0].folder).faults():
        return False
    sync([run / FOLDER])
    return True


def _move(old: Path, new: Path) -> None:
    """A rename in one folder that is on the disk, or did not happen as far as we can help it."""
    os.replace(old, new)
    try:
        sync([new.parent])
    except BaseException:
        os.replace(new, old)
        raise


def undo(run: Path, *, force: bool = False) -> tuple[Step, Step | None]:
    """Undo the last application; return it, and the one that is now in effect, if any. Files that
    somebody has changed or added since are not removed without ``force``."""
    with _alone(run):
        _sweep(run)
        applied = steps(run)
        if not applied:
            raise DataError(
                f"No policy is applied to {run}, so there is nothing to undo.",
                hint="`neardup apply` applies one.",
            )
        if not force:
            _check_untouched(applied[-1])
        _move(applied[-1].folder, applied[-1].folder.with_name(_GONE))
        _sweep(run)
        sync([run])
        return applied[-1], applied[-2] if len(applied) > 1 else None


def _check_untouched(step: Step) -> None:
    now, before = digests_of(step.folder), step.info.get("files", {})
    ours = {APPLIED, CHECKSUMS}
    touched = sorted(name for name in now if name not in ours and before.get(name) != now[name])
    if touched:
        raise DataError(
            f"{step.folder / touched[0]} was written by somebody else since the policy was "
            "applied, and undo would remove it.",
            hint="move it away, or give --force (in Python: force=True).",
        )


def _sweep(run: Path) -> None:
    """Remove applications that were never finished or are undone already."""
    folder = run / FOLDER
    for name in (DRAFT, _GONE):
        if (folder / name).exists():
            shutil.rmtree(folder / name)
    with suppress(OSError):  # not empty, or missing
        folder.rmdir()


@contextmanager
def _alone(run: Path) -> Iterator[None]:
    """Allow one process at a time, by a lock that ends with its process."""
    if not (run / RUN).exists():
        raise InputError(
            f"{run} is not the folder of a finished run: it has no {RUN}.",
            hint="give the folder that `neardup dedup … -o FOLDER` wrote.",
        )
    with only_one_applies(run):
        yield
