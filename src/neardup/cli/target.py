"""The output of a run: a folder that has to be empty, one file, or the standard output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from neardup.draft import Draft, refuse_filled
from neardup.errors import UsageError

if TYPE_CHECKING:
    from neardup.documents.remote import Place

STDOUT = Path("-")
_OTHERS = (".txt", ".md", ".xlsx", ".zip", ".db", ".sqlite")
RUN = "run.json"  # as in runs/run_folder.py, which is too heavy to import here


def names_file(out: Path) -> bool:
    """Whether a path has the name of a file, and no folder of that name exists."""
    if out.is_dir() or out == STDOUT:
        return False
    from neardup.documents.file_formats import FORMATS, is_known, named_format

    if (is_known(out) and named_format(out)[0] not in FORMATS) or out.suffix.lower() in _OTHERS:
        raise UsageError(
            f"{out} has the name of a file in a format that runs do not write.",
            hint="name a folder with -o, or a file in the format of the input.",
        )
    return is_known(out)


def check_file(file: Path, inputs: Sequence[Place | None], *, overwrite: bool) -> None:
    """Refuses a file that would replace an input or, without ``overwrite``, anything else."""
    from neardup.runs.run_folder import spare_inputs

    spare_inputs(file, inputs)
    if file.exists() and not overwrite:
        raise UsageError(
            f"{file} already exists.", hint="name another file with -o, or give --overwrite."
        )


def check_folder(folder: Path, inputs: Sequence[Place | None], *, overwrite: bool) -> None:
    """Refuses a folder that holds an input, a run to which a policy was applied or, without
    ``overwrite``, anything else."""
    from neardup.runs.run_folder import spare_applied, spare_inputs

    spare_inputs(folder, inputs)
    spare_applied(folder)
    refuse_filled(folder, RUN, overwrite=overwrite)


class Target(NamedTuple):
    """An output folder with the answer to whether it may hold something."""

    folder: Path
    overwrite: bool
    resume: bool = False

    @property
    def journal(self) -> Path | None:
        """The folder of what an interrupted run has done, if this one is to go on with it."""
        return Draft(self.folder, RUN).journal if self.resume else None

    def refuse_filled(self) -> None:
        refuse_filled(self.folder, RUN, overwrite=self.overwrite)

    def check(self, inputs: Sequence[Place | None]) -> None:
        check_folder(self.folder, inputs, overwrite=self.overwrite)


def after_interruption(folder: Path, draft: Draft | None = None, *, resume: bool) -> str:
    """What an interrupted command tells of its output folder."""
    if draft is not None and draft.published:
        return f"{folder} holds the whole run"
    again = "; the same command goes on from here" if resume else ""
    if (folder / RUN).exists():
        return f"{folder} holds the earlier run{again}"
    return f"nothing was written to {folder}{again}"
