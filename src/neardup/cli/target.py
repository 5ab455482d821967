"""The output of a run: a folder that has to be empty, one file, or the standard output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.errors import KeptError, UsageError

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

    def __init__(self, folder: Path, *, overwrite: bool) -> None:
        self.folder = folder
        self.overwrite = overwrite
        self._made: list[Path] = []
        self._ours = False  # everything in the folder is of this run
        self._saving = False

    def refuse_filled(self) -> None:
        """Refuses what would be replaced; needs no input, so it comes before anything is loaded."""
        if self.folder.exists() and not self.folder.is_dir():
            raise UsageError(
                f"{self.folder} is a file; -o names a folder.", hint="name another folder with -o."
            )
        if not self.overwrite and self.folder.is_dir() and any(self.folder.iterdir()):
            what = "a finished run" if (self.folder / RUN).exists() else "files"
            raise UsageError(
                f"The output folder {self.folder} already holds {what}.",
                hint="name another folder with -o, or give --overwrite.",
            )

    def check(self, inputs: Sequence[Place | None]) -> None:
        """Refuses a folder that holds an input, or a run to which a policy was applied."""
        from neardup.runs.run_folder import spare_applied, spare_inputs

        spare_inputs(self.folder, inputs)
        spare_applied(self.folder)
        self.refuse_filled()

    def make(self) -> None:
        missing = [self.folder, *self.folder.parents]
        self._made = [path for path in missing if not path.exists()]
        self.folder.mkdir(parents=True, exist_ok=True)
        self._ours = not any(self.folder.iterdir())

    def save(self, result: Result, *, kept: bool) -> None:
        from neardup.runs.run_folder import save

        self._saving = True
        try:
            save(result, self.folder, kept=kept)
        except KeptError:
            self._made, self._ours = [], False  # the decisions stay
            raise
        self._made, self._ours = [], False

    def abandon(self) -> None:
        """Removes the unfinished run, and the folders that were made for it."""
        import contextlib

        if self._ours:
            from neardup.runs.run_folder import remove

            for path in self.folder.iterdir():
                remove(path)
        with contextlib.suppress(OSError):
            for folder in self._made:
                folder.rmdir()

    def after_interruption(self) -> str:
        if self._saving and not self._ours:
            return f"{self.folder} does not hold a finished run"
        return f"nothing was written to {self.folder}"
