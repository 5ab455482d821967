"""Policies applied to a run folder, one after the other, and taken back in turn.

``RUN/applied/1``, ``2`` …: the last one counts, the others are its history. Each is written aside
and gets its name by one rename, and goes by one rename, so whoever is killed leaves the state from
before or after; what lies aside is swept by the next one. A run folder after as many undos as
applications has the bytes that it had before.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from neardup.errors import DataError, InputError
from neardup.runs.application import APPLIED, Applied, digests_of
from neardup.runs.run_folder import APPLIED as FOLDER
from neardup.runs.run_folder import RUN

LOCK = ".applying"
_ASIDE, _GONE = ".part", ".gone"


class Step(NamedTuple):
    """One application: its number and what its ``applied.json`` says."""

    number: int
    folder: Path
    info: dict[str, Any]


def steps(run: Path) -> list[Step]:
    """All applications that count, the first one first."""
    folder = run / FOLDER
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    numbers = sorted(int(name) for name in names if name.isdecimal())
    return [Step(number, folder / f"{number}", _info(folder / f"{number}")) for number in numbers]


def _info(folder: Path) -> dict[str, Any]:
    try:
        made: dict[str, Any] = json.loads((folder / APPLIED).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{folder / APPLIED} cannot be read: {error}.",
            hint="remove that folder by hand, or make the run again.",
        ) from error
    return made


def next_folder(run: Path) -> Path:
    before = steps(run)
    return run / FOLDER / f"{before[-1].number + 1 if before else 1}"


def apply_to(run: Path, make: Callable[[], Applied]) -> tuple[Step, Applied]:
    """What is made, as the application that counts from now on."""
    with _alone(run):
        _sweep(run)
        made, target = make(), next_folder(run)
        aside = target.with_name(_ASIDE)
        try:
            made.write(aside, run)
            os.replace(aside, target)
        except BaseException:
            _sweep(run)
            raise
        return steps(run)[-1], made


def undo(run: Path, *, force: bool = False) -> tuple[Step, Step | None]:
    """Takes the last application back: it, and the one that counts now, if there is one. Files
    that somebody has changed or added since are not removed without ``force``."""
    with _alone(run):
        _sweep(run)
        there = steps(run)
        if not there:
            raise DataError(
                f"No policy is applied to {run}, so there is nothing to undo.",
                hint="`neardup apply` applies one.",
            )
        if not force:
            _check_untouched(there[-1])
        os.replace(there[-1].folder, there[-1].folder.with_name(_GONE))
        _sweep(run)
        return there[-1], there[-2] if len(there) > 1 else None


def _check_untouched(step: Step) -> None:
    now = {name: digest for name, digest in digests_of(step.folder).items() if name != APPLIED}
    before = step.info.get("files", {})
    touched = sorted(name for name in now if before.get(name) != now[name])
    if touched:
        raise DataError(
            f"{step.folder / touched[0]} was written by somebody else since the policy was "
            "applied, and undo would remove it.",
            hint="move it away, or give --force (in Python: force=True).",
        )


def _sweep(run: Path) -> None:
    """Removes what was never finished or is already taken back."""
    folder = run / FOLDER
    for name in (_ASIDE, _GONE):
        if (folder / name).exists():
            shutil.rmtree(folder / name)
    with suppress(OSError):  # not empty, or not there
        folder.rmdir()


@contextmanager
def _alone(run: Path) -> Iterator[None]:
    """One process at a time. The lock is the system's, so one that is killed leaves none."""
    if not (run / RUN).exists():
        raise InputError(
            f"{run} is not the folder of a finished run: it has no {RUN}.",
            hint="give the folder that `neardup dedup … -o FOLDER` wrote.",
        )
    path = run / LOCK
    file = _locked(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(file)


def _locked(path: Path) -> int:
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT)
        try:
            _lock(file)
        except OSError as error:
            os.close(file)
            raise DataError(
                f"Another process applies or undoes a policy in {path.parent}.",
                hint="wait until it is done.",
            ) from error
        # Who held it before has removed it: then this is the lock of a file that is gone.
        with suppress(OSError):
            if os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        os.close(file)


def _lock(file: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: one writer at a time is up to the user
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
