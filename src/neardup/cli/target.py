"""Where a run goes: a folder that must not hold anything yet, the standard output, or nowhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.errors import UsageError

if TYPE_CHECKING:
    from neardup.outputs.result import Result

STDOUT = Path("-")
RUN = "run.json"


class Target:
    """A folder for one run. ``save`` fills it; until then ``abandon`` leaves no trace."""

    def __init__(self, folder: Path, *, overwrite: bool) -> None:
        self.folder = folder
        self.overwrite = overwrite
        self._made: list[Path] = []
        self._ours = False  # everything in the folder is of this run
        self._saving = False

    def check(self, inputs: Sequence[Path | None]) -> None:
        """Refuses before any work what would write over something."""
        files = [path.resolve() for path in inputs if path]
        place = self.folder.resolve()
        for file in files:
            if place == file or file in place.parents:
                raise UsageError(
                    f"The output {self.folder} is the input {file}, or lies inside it.",
                    hint="name another folder with -o.",
                )
            if file.parent == place:
                raise UsageError(
                    f"The input {file} lies in the output folder {self.folder}, where a run "
                    "could write over it.",
                    hint="name another folder with -o.",
                )
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

    def make(self) -> None:
        missing = [self.folder, *self.folder.parents]
        self._made = [path for path in missing if not path.exists()]
        self.folder.mkdir(parents=True, exist_ok=True)
        self._ours = not any(self.folder.iterdir())

    def save(self, result: Result, *, kept: bool) -> None:
        from neardup.outputs.folder import save

        self._saving = True
        self._forget_earlier_run()
        save(result, self.folder, kept=kept)
        self._made, self._ours = [], False

    def _forget_earlier_run(self) -> None:
        """Files that this run may not write again must not stay beside its own."""
        run = self.folder / RUN
        if not run.exists():
            return
        try:
            earlier = json.loads(run.read_text("utf-8")).get("kept_files", [])
        except (ValueError, AttributeError):
            earlier = []
        run.unlink()
        for name in (*earlier, "report.html"):
            if Path(name).name == name:
                (self.folder / name).unlink(missing_ok=True)

    def abandon(self) -> None:
        """Removes the unfinished run, and the folders that were made for it."""
        import contextlib

        if self._ours:
            for file in self.folder.iterdir():
                file.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            for folder in self._made:
                folder.rmdir()

    def after_interruption(self) -> str:
        if self._saving and not self._ours:
            return f"{self.folder} does not hold a finished run"
        return f"nothing was written to {self.folder}"
