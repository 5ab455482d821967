"""SHA-256 checksums of the files of a run folder, in a file that ``sha256sum -c`` can read.

``checksums.sha256`` lists every file that a run or an applied policy wrote. A reader checks a file
before it uses the content, so that a damaged file is reported and never changes a decision.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.documents.streams import cause
from neardup.errors import InputError
from neardup.files import whole_file

CHECKSUMS = "checksums.sha256"
_DIGITS = 64


def file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests_of(
    folder: Path,
    names: Iterable[str] = ("",),
    known: Mapping[Path, str] | None = None,
    *,
    workers: int = 1,
) -> dict[str, str]:
    """Digests of these files, and of all files below these folders, by relative path. Files whose
    digests are ``known`` are not read."""
    known = known or {}
    places = [folder / name for name in names]
    found = [sorted(place.rglob("*")) if place.is_dir() else [place] for place in places]
    files = [path for group in found for path in group if path.is_file()]
    with ThreadPoolExecutor(workers) as pool:
        digests = list(pool.map(lambda path: known.get(path) or file_digest(path), files))
    return {path.relative_to(folder).as_posix(): d for path, d in zip(files, digests, strict=True)}


def write_checksums(
    folder: Path,
    digests: Mapping[str, str] | None = None,
    more: Mapping[str, bytes] | None = None,
) -> None:
    """Write the digests of existing files, by default of all, and of those of ``more``, which are
    written later. As in ``sha256sum``, a backslash at the start of a line announces an escaped
    name."""
    later = {name: hashlib.sha256(data).hexdigest() for name, data in (more or {}).items()}
    listed = {**(digests_of(folder) if digests is None else digests), **later}
    lines = []
    for name, digest in sorted(listed.items()):
        if name != CHECKSUMS:
            escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
            lines.append(f"{'' if escaped == name else chr(92)}{digest}  {escaped}\n")
    with whole_file(folder / CHECKSUMS) as part:
        part.write_bytes(os.fsencode("".join(lines)))


@contextmanager
def replacing(path: Path, *, again: bool = False) -> Iterator[None]:
    """Keeps the checksum right while a file is replaced on purpose, if the folder has a checksum of
    it, or had one (``again``). The checksum goes before and the new one comes after, so that an
    interruption leaves a file that is not checked, and never one that looks damaged."""
    digests = Checksums(path.parent).digests or {}
    known = digests.pop(path.name, None) is not None
    if known:
        write_checksums(path.parent, digests)
    yield
    if known or (again and digests):
        write_checksums(path.parent, digests | {path.name: file_digest(path)})


class Checksums:
    """The checksums of a folder. ``digests`` is None if it has none, because an earlier version
    wrote it; then nothing is checked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.digests: dict[str, str] | None = None
        try:
            data = (folder / CHECKSUMS).read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise damaged(folder / CHECKSUMS, f"it cannot be read ({error.strerror})") from error
        self.digests = dict(map(self._parsed, os.fsdecode(data).split("\n")[:-1]))
        if not data.endswith(b"\n"):
            raise damaged(folder / CHECKSUMS, "its last line is incomplete")

    def _parsed(self, line: str) -> tuple[str, str]:
        plain = line.removeprefix("\\")
        digest, name = plain[:_DIGITS], plain[_DIGITS + 2 :]
        hexadecimal = all(digit in "0123456789abcdef" for digit in digest)
        if len(digest) < _DIGITS or not hexadecimal or plain[_DIGITS:][:2] != "  " or not name:
            raise damaged(self.folder / CHECKSUMS, "a line is no checksum")
        return (_unescaped(name) if plain != line else name), digest

    def has(self, name: str) -> bool:
        """Whether the run wrote such a file, which may be missing now."""
        there = (self.folder / name).exists()
        return there if self.digests is None else there or name in self.digests

    def check(self, name: str) -> Path:
        """The path of a file whose content is what was written, or of a folder of such files."""
        path = self.folder / name
        if path.is_dir():
            self.check_below(name)
        elif fault := self._fault(name):
            raise damaged(path, fault)
        return path

    def check_bytes(self, name: str, data: bytes) -> None:
        """Checks the content of a file that was read already."""
        if self.digests is None:
            return
        if self.digests.get(name) != hashlib.sha256(data).hexdigest():
            raise damaged(self.folder / name, _CHANGED)

    def check_below(self, name: str) -> None:
        """Checks all files of a folder within the folder. Spark leaves files whose names begin with
        ``_`` or a dot, which no reader of tables opens."""
        if self.digests is None:
            return
        known = {each for each in self.digests if each.startswith(f"{name}/")}
        visible = (path for path in (self.folder / name).rglob("[!_.]*") if path.is_file())
        for each in known | {path.relative_to(self.folder).as_posix() for path in visible}:
            self.check(each)

    def faults(self) -> list[str]:
        """One sentence for each file that is damaged or missing."""
        found = ((name, self._fault(name)) for name in self.digests or ())
        return [f"{self.folder / name}: {fault}." for name, fault in found if fault]

    def _fault(self, name: str) -> str | None:
        if self.digests is None:
            return None
        if name not in self.digests:
            return f"{CHECKSUMS} has no checksum of it"
        try:
            same = file_digest(self.folder / name) == self.digests[name]
        except FileNotFoundError:
            return "it is missing"
        except OSError as error:
            return f"it cannot be read ({error.strerror})"
        return None if same else _CHANGED


_CHANGED = "its content is not what was written"


def _unescaped(name: str) -> str:
    parts = name.split("\\\\")
    return "\\".join(part.replace("\\n", "\n").replace("\\r", "\r") for part in parts)


def read_table(path: Path, layout: pa.Schema | None = None) -> pa.Table:
    """A table whose offsets and indices are valid, with the columns of ``layout``."""
    try:
        table = pq.read_table(path)
        table.validate(full=True)
        return table if layout is None else table.select(layout.names).cast(layout)
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        raise damaged(path, cause(error)) from error


def damaged(path: Path, fault: str) -> InputError:
    return InputError(
        f"{path} is damaged: {fault}.",
        hint=f"restore it from a copy, or make the run again; `neardup verify {path.parent}` "
        "lists all damaged files.",
    )
