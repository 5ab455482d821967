"""The output of a run: a folder that has to be empty, one file, or the standard output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.draft import Draft, refuse_filled
from neardup.errors import UsageError

if TYPE_CHECKING:
    from neardup.documents.remote import Place
    from neardup.runs.result import Result

STDOUT = Path("-")
_OTHERS = (".txt", ".md", ".xlsx", ".zip", ".db", ".sqlite")
RUN = "run.json"  # as in runs/run_folder.py, which is too heavy to import here


def names_file(out: Path) -> bool:
    """Whether a path has the name of a file, and no folder of that name exists."""
    if out.is_dir() or out == STDOUT:
        return False
    from neardup.documents.file_paths import FORMATS, is_known, named_format

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


class Target:
    """A folder for one run. ``save`` fills it; until then ``abandon`` leaves no trace."""

    def __init__(self, folder: Path, *, overwrite: bool, resume: bool = False) -> None:
        self.folder = folder
        self.overwrite = overwrite
        self._resume = resume
        self._draft: Draft | None = None

    def refuse_filled(self) -> None:
        """Refuses what would be replaced; needs no input, so it comes before anything is loaded."""
        refuse_filled(self.folder, RUN, overwrite=self.overwrite)

    def check(self, inputs: Sequence[Place | None]) -> None:
        """Refuses a folder that holds an input, or a run to which a policy was applied."""
        from neardup.runs.run_folder import spare_applied, spare_inputs

        spare_inputs(self.folder, inputs)
        spare_applied(self.folder)
        self.refuse_filled()

    def make(self) -> Path:
        """Makes the draft of the folder, which is the run's own until it is saved or abandoned."""
        self._draft = Draft(self.folder, RUN).open()
        self.refuse_filled()  # another run may have ended in the meantime
        return self._draft.path

    @property
    def journal(self) -> Path | None:
        """The folder of what an interrupted run has done, if this one is to go on with it."""
        return Draft(self.folder, RUN).journal if self._resume else None

    def save(self, result: Result, *, kept: bool) -> None:
        from neardup.runs.run_folder import write_run

        assert self._draft is not None
        write_run(result, self._draft, kept=kept)
        self._draft.close()

    def abandon(self) -> None:
        """Removes the unfinished run, and the folders that were made for it."""
        if self._draft:
            self._draft.close()

    def after_interruption(self) -> str:
        if self._draft and self._draft.published:
            return f"{self.folder} holds the whole run"
        again = "; the same command goes on from here" if self.journal else ""
        if (self.folder / RUN).exists():
            return f"{self.folder} holds the earlier run{again}"
        return f"nothing was written to {self.folder}{again}"
