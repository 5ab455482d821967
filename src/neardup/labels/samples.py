"""Reads samples and judgements back, and keeps the folder of judgements.

A sample and its key are read from their files; ``read_judged`` reads the labels that assessors
wrote into copies of a sample. ``JudgedFolder`` holds samples with their keys, result lists and one
store of labels. It lies beside what was judged: ``RUN/judging/`` for a run, ``FILE.judging/`` for
the store of an index. A new run into the same folder does not delete it. ``neardup label``,
``evaluate`` and ``train`` read its files directly.

What counts as a duplicate when people judge: the definitions of the papers, by their names.

A guideline is shown beside each pair and stored with each label, so that labels which follow
different definitions can be told apart.
"""

from __future__ import annotations

import functools
import os
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from neardup.errors import InputError, NeardupError, SettingsError
from neardup.files import from_json, make_folder, unwritable
from neardup.labels.label_store import (
    SPELLINGS,
    Label,
    Labels,
    LabelStore,
    Pair,
    read_labels,
)
from neardup.labels.sampling import FORMAT, Item, Key, Sample, Stratum, Treatment, key_path
from neardup.papers.paper import canonical


@dataclass
class JudgedRows:
    """The labels of a judged copy of a sample; ``open`` rows have no label yet."""

    labels: list[Label]
    open: int = 0


def read_key(sample: Path) -> Key:
    path = key_path(sample)
    try:
        written = from_json(path.read_text("utf-8"))
        if written.get("format") != FORMAT:
            raise InputError(
                f"{path} has format {written.get('format')!r}; this version reads {FORMAT}.",
                hint="draw the sample again.",
            )
        return Key(
            written["seed"],
            tuple(_treatment(treatment) for treatment in written["treatments"]),
            {item: Pair(*pair) for item, pair in written["pairs"].items()},
        )
    except FileNotFoundError:
        raise InputError(
            f"{sample} has no key: {path} is not there.",
            hint="`neardup label sample` writes both; keep them together.",
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is no key of a sample: {error}.") from error


def _treatment(written: dict[str, Any]) -> Treatment:
    strata = tuple(
        Stratum(**{**stratum, "items": tuple(stratum["items"])}) for stratum in written["strata"]
    )
    return Treatment(**{**written, "strata": strata})


def sample_rows(path: Path) -> list[dict[str, Any]]:
    return [row for _, row in _rows(_text(path), str(path)) if isinstance(row, dict)]


def read_items(path: Path) -> list[Item]:
    names = [f.name for f in fields(Item)]
    try:
        return [Item(**{name: str(row[name]) for name in names}) for row in sample_rows(path)]
    except KeyError as error:
        raise InputError(
            f"A row of {path} has no {error.args[0]}.", hint="give a sample as it was drawn."
        ) from error


def read_judged(
    path: Path,
    pairs: Mapping[str, Pair],
    assessor: str,
    *,
    arbiter: bool = False,
    sample: str | None = None,
    guideline: str | None = None,
) -> JudgedRows:
    how: dict[str, Any] = {"arbiter": arbiter, "sample": sample, "guideline": guideline}
    return read_judged_text(_text(path), str(path), pairs, assessor, **how)


def read_judged_text(
    text: str,
    file: str,
    pairs: Mapping[str, Pair],
    assessor: str | None,
    *,
    arbiter: bool = False,
    sample: str | None = None,
    guideline: str | None = None,
) -> JudgedRows:
    """Labels from the rows of a judged sample. ``pairs`` are the items of the sample; a row names
    an item, or the ids a and b of one. All errors are reported together, before anything is stored.
    Without ``assessor`` each row must name its own, as the rows of a store do."""
    judged, problems = JudgedRows([]), []
    known = set(pairs.values())
    for number, row in _rows(text, file):
        try:
            name, decides = (assessor, arbiter) if assessor is not None else _named(row)
            label = _judged(
                row, pairs, known, name, arbiter=decides, sample=sample, guideline=guideline
            )
        except NeardupError as error:
            problems.append(f"{file}, line {number}: {error}")
            continue
        if label is None:
            judged.open += 1
        else:
            judged.labels.append(label)
    if problems:
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        raise InputError(" ".join(problems[:3]) + more, hint="nothing was stored.")
    return judged


def _named(row: Any) -> tuple[str, bool]:
    name = row.get("assessor") if isinstance(row, dict) else None
    if not isinstance(name, str) or not name.strip():
        raise InputError("there is no assessor.", hint="say who judged.")
    return name.strip(), row.get("arbiter") is True


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError(
            f"Cannot read {path}: {reason}.", hint="give a JSON Lines file."
        ) from error


def _rows(text: str, file: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):  # splitlines() would split inside texts
        if not line.strip():
            continue
        try:
            yield number, from_json(line)
        except ValueError as error:
            raise InputError(f"{file}, line {number} is no JSON: {error}.") from error


def _judged(
    row: Any,
    pairs: Mapping[str, Pair],
    known: set[Pair],
    assessor: str,
    *,
    arbiter: bool,
    sample: str | None,
    guideline: str | None = None,
) -> Label | None:
    if not isinstance(row, dict):
        raise InputError("expected an object with item and label.")
    pair = _pair(row, pairs, known)
    written = row.get("label")
    if written is None or str(written).strip() == "":
        return None
    label = SPELLINGS.get(str(written).strip().lower())
    if label is None:
        raise InputError(f"the label is {written!r}.", hint="expected duplicate, not or undecided.")
    kind, note, item = (
        str(row[k]).strip() if row.get(k) else None for k in ("kind", "note", "item")
    )
    return Label(
        pair.a,
        pair.b,
        label,
        assessor,
        kind=kind,
        note=note,
        item=item,
        arbiter=arbiter,
        sample=sample,
        guideline=guideline or row.get("guideline"),
        seconds=row.get("seconds"),
    )


def _pair(row: dict[str, Any], pairs: Mapping[str, Pair], known: set[Pair]) -> Pair:
    item = row.get("item")
    if item in pairs:
        return pairs[str(item)]
    if item is None and "a" in row and "b" in row:
        pair = Pair.of(row["a"], row["b"])
        if pair in known:
            return pair
        raise InputError(f"the pair {pair.a!r}, {pair.b!r} is not in the sample.")
    raise InputError(
        f"the item {item!r} is not in the sample.", hint="keep the rows' item as it is."
    )


FOLDER, LABELS_FILE, LISTS = "judging", "labels.jsonl", "lists.jsonl"
DRAWN, SUGGESTED = "sample", "suggested"  # prefixes of the names of samples
_NAME = re.compile(rf"({DRAWN}|{SUGGESTED})-(\d{{1,6}})\.jsonl")


def judging_folder(target: Path) -> Path:
    """The folder of judgements that belongs to a run folder or to the store of an index."""
    if target.is_dir():
        return target / FOLDER
    return target.with_name(f"{target.name}.{FOLDER}")


class JudgedFolder:
    """A folder of judgements, safe for several threads; unchanged files are read once."""

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
        return self.path / LABELS_FILE

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
        """Names of the samples: random ones before suggested ones, oldest first."""
        try:
            matches = [match for name in os.listdir(self.path) if (match := _NAME.fullmatch(name))]
        except (FileNotFoundError, NotADirectoryError):
            return []
        ordered = sorted(matches, key=lambda match: (match[1], int(match[2])))
        return [Path(match[0]).stem for match in ordered]

    def sample(self, name: str) -> Path:
        """The file of one of ``samples``; other names are refused: they may come from a request."""
        if name not in self.samples():
            raise InputError(f"There is no sample {name!r} here.", hint="begin one.")
        return self.path / f"{name}.jsonl"

    def key(self, name: str) -> Key:
        return self._key(name)

    def items(self, name: str) -> tuple[Item, ...]:
        return self._items(name)

    def add(self, sample: Sample, kind: str = DRAWN) -> str:
        """Save a sample under the next free name, unless it is stored already; return its name."""
        with self._lock:
            stored = [name for name in self.samples() if name.startswith(f"{kind}-")]
            for name in stored:
                if self.key(name) == sample.key:
                    return name
            number = 1 + max((int(name.rpartition("-")[2]) for name in stored), default=0)
            self._make()
            try:
                sample.save(self.path / f"{kind}-{number}.jsonl")
            except OSError as error:
                raise unwritable(self.path, error) from error
            return f"{kind}-{number}"

    def _make(self) -> None:
        try:
            make_folder(self.path)
        except OSError as error:
            raise unwritable(self.path, error) from error


def _state(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return (0, -1)
    return status.st_mtime_ns, status.st_size


class Guideline(NamedTuple):
    """``criteria`` are sentences; ``source`` cites the paper."""

    name: str
    source: str
    question: str
    criteria: tuple[str, ...]

    def data(self) -> dict[str, object]:
        return {**self._asdict(), "criteria": list(self.criteria)}


_ALL = (
    Guideline(
        "williams2013",
        "Williams & Giles 2013, §4",
        "Are these two near duplicates of one paper? All of these must be true:",
        (
            "The titles and authors are the same, or very similar.",
            "The texts overlap significantly: at most a paragraph is different.",
            "The citations overlap significantly.",
        ),
    ),
    Guideline(
        "conrad2003",
        "Conrad, Guo & Schriber 2003, §7.2: the definition of 25 research librarians",
        "Are these two duplicates?",
        (
            "They retain much of the same language.",
            "They are at least 80 % similar: 80 % of the words in one document are contained in "
            "the other, as a vocabulary, however often a word occurs.",
        ),
    ),
    Guideline(
        "henzinger2006",
        "Henzinger 2006, by the lecture",
        "Are these two pages correct near duplicates? Duplicate stands for correct, Not a "
        "duplicate for incorrect. One of these is enough to be correct:",
        (
            "Their text differs only by a session id, a timestamp, an execution time, a message "
            "id, a visitor count, a server name, or all or part of their URL.",
            "The difference is invisible to visitors of the pages.",
            "The difference is a combination of these.",
            "They are entry pages to the same site.",
            "Incorrect: the main item or items of the pages are different. All others are "
            "undecided.",
        ),
    ),
)
GUIDELINES = {one.name: one for one in _ALL}


def guideline_of(name: str) -> Guideline:
    """The guideline with the name of its paper; ``lecture`` is that of Henzinger, which the lecture
    has."""
    full = "henzinger2006" if name == "lecture" else canonical(name)
    if full not in GUIDELINES:
        raise SettingsError(
            f"There is no guideline {name!r}.", hint=f"there are {', '.join(GUIDELINES)}."
        )
    return GUIDELINES[full]
