"""The folder of judgements: samples with their keys, result lists, and one store of labels.

It lies beside what was judged: ``RUN/judging/`` of a run, ``FILE.judging/`` of the store of an
index. Making the run again leaves it there. ``neardup label``, ``evaluate`` and ``train`` read its
files as they are.
"""

from __future__ import annotations

import functools
import os
import re
import threading
from pathlib import Path

from neardup.documents.appended import unwritable
from neardup.errors import InputError
from neardup.evaluation.labels import Labels, LabelStore, read_labels
from neardup.evaluation.samples import read_items, read_key
from neardup.evaluation.sampling import Item, Key, Sample

FOLDER, LABELS, LISTS = "judging", "labels.jsonl", "lists.jsonl"
DRAWN, SUGGESTED = "sample", "suggested"  # what the names of samples begin with
_NAME = re.compile(rf"({DRAWN}|{SUGGESTED})-(\d{{1,6}})\.jsonl")


def judging_folder(target: Path) -> Path:
    if target.is_dir():
        return target / FOLDER
    return target.with_name(f"{target.name}.{FOLDER}")


class JudgedFolder:
    """Safe to be used by several threads; what was read is kept while its file stays the same."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._read: tuple[tuple[int, int], Labels] | None = None
        self._key = functools.lru_cache(maxsize=64)(lambda name: read_key(self.sample(name)))
        self._items = functools.lru_cache(maxsize=16)(
            lambda name: tuple(read_items(self.sample(name)))
        )

    @property
    def labels_path(self) -> Path:
        return self.path / LABELS

    @property
    def lists_path(self) -> Path:
        return self.path / LISTS

    @property
    def store(self) -> LabelStore:
        self._make()
        return LabelStore(self.labels_path)

    def labels(self) -> Labels:
        with self._lock:
            now = _state(self.labels_path)
            if self._read is None or self._read[0] != now:
                self._read = now, read_labels(self.labels_path)
            return self._read[1]

    def samples(self) -> list[str]:
        """Their names, those drawn at random before those suggested, the oldest first."""
        try:
            found = [match for name in os.listdir(self.path) if (match := _NAME.fullmatch(name))]
        except (FileNotFoundError, NotADirectoryError):
            return []
        ordered = sorted(found, key=lambda match: (match[1], int(match[2])))
        return [Path(match[0]).stem for match in ordered]

    def sample(self, name: str) -> Path:
        """The file of one of ``samples``: never a path that somebody else made up."""
        if name not in self.samples():
            raise InputError(f"There is no sample {name!r} here.", hint="begin one.")
        return self.path / f"{name}.jsonl"

    def key(self, name: str) -> Key:
        return self._key(name)

    def items(self, name: str) -> tuple[Item, ...]:
        return self._items(name)

    def add(self, sample: Sample, kind: str = DRAWN) -> str:
        """Under the next free name, unless this very sample is there."""
        with self._lock:
            there = [name for name in self.samples() if name.startswith(f"{kind}-")]
            for name in there:
                if self.key(name) == sample.key:
                    return name
            number = 1 + max((int(name.rpartition("-")[2]) for name in there), default=0)
            self._make()
            try:
                sample.save(self.path / f"{kind}-{number}.jsonl")
            except OSError as error:
                raise unwritable(self.path, error) from error
            return f"{kind}-{number}"

    def _make(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(self.path, error) from error


def _state(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return (0, -1)
    return found.st_mtime_ns, found.st_size
