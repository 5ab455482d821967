"""Result lists that people judge: they mark sets of duplicates among the first results of a query.

The design follows Conrad, Guo & Schriber (2003): queries, the top 20 results, two assessors and an
arbiter. Sets are stored as labels of all pairs of a list, ``duplicate`` within a set and ``not``
otherwise, so every reader of labels can use them. A *practice* list is left out of all figures.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from neardup.decisions.clusters import components
from neardup.engines.ranked import group
from neardup.engines.ranked_list import ranked_list
from neardup.errors import InputError
from neardup.files import from_json, whole_file
from neardup.labels.label_store import DUPLICATE, NOT, Label, Labels, Pair
from neardup.settings import check_positive

TOP = 20
QUERY, SET, TITLE = "query", "set", "title"
SAMPLE = "lists"  # the ``sample`` of labels that come from lists
NONE = 0  # the set number of a result that is in no set


@dataclass(frozen=True)
class Listed:
    """One result of a list."""

    id: str
    text: str
    title: str | None = None


@dataclass(frozen=True)
class ResultList:
    """``sets`` are known sets to practise on: a number from 1 for each result, 0 for no set."""

    name: str
    query: str
    results: tuple[Listed, ...]
    practice: bool = False
    sets: tuple[int, ...] | None = None

    @property
    def pairs(self) -> list[Pair]:
        return [Pair.of(a.id, b.id) for a, b in combinations(self.results, 2)]

    def labels(
        self, sets: Sequence[int], assessor: str, *, arbiter: bool, seconds: float | None = None
    ) -> list[Label]:
        """Labels of all pairs of the list; the first label holds the time for all of them."""
        labels: list[Label] = []
        for (i, a), (j, b) in combinations(enumerate(self.results), 2):
            label = DUPLICATE if sets[i] == sets[j] != NONE else NOT
            origin = {"sample": SAMPLE, "item": self.name, "arbiter": arbiter}
            labels.append(Label(a.id, b.id, label, assessor, **origin))  # type: ignore[arg-type]
        labels[:1] = [replace(label, seconds=seconds) for label in labels[:1]]
        return labels

    def sets_of(self, labels: Labels, assessor: str) -> tuple[int, ...] | None:
        """The sets that an assessor marked; None unless the assessor has judged the whole list."""
        own_labels = [labels.of(assessor, pair) for pair in self.pairs]
        if not own_labels or not all(own_labels):
            return None
        same = [label is not None and label.label == DUPLICATE for label in own_labels]
        return numbered(len(self.results), same)

    def known_sets(self) -> tuple[int, ...]:
        """The sets to practise on: those of the file, else those that ``neardup group`` finds."""
        if self.sets is not None:
            return self.sets
        numbers = [NONE] * len(self.results)
        rows = [{"id": result.id, "text": result.text} for result in self.results]
        groups = [members for members in group(rows) if len(members) > 1]
        for number, members in enumerate(groups, 1):
            for member in members:
                numbers[member.row] = number
        return tuple(numbers)


def numbered(count: int, same: Sequence[bool]) -> tuple[int, ...]:
    """Set numbers from 1 in the order of first results; ``same`` has a value for each pair."""
    pairs = zip(combinations(range(count), 2), same, strict=True)
    joined = [pair for pair, is_same in pairs if is_same]
    a, b = (np.array([pair[side] for pair in joined], np.int64) for side in (0, 1))
    codes = components(count, a, b).tolist()
    names: dict[int, int] = {}
    return tuple(NONE if code < 0 else names.setdefault(code, len(names) + 1) for code in codes)


def read_lists(
    path: str | Path,
    *,
    query: str = QUERY,
    id: str | None = None,
    text: str = "text",
    title: str = TITLE,
    top: int = TOP,
) -> list[ResultList]:
    """Result lists from a file with a row per result, best first, and the query of each result.
    Without a query column the file is one list with the name of the file. Lists with a column
    ``set`` are for practice; without one, the first of several lists is."""
    check_positive("top", top)
    listed = ranked_list(str(path), text)
    if query != QUERY:
        listed.check(query)
    queries, sets = listed.labels(query), listed.labels(SET)
    columns = zip(
        listed.ids(id),
        listed.texts(text).array.to_pylist(),
        listed.labels(title),
        sets,
        strict=True,
    )
    results: dict[str, list[tuple[Listed, str | None]]] = {}
    for name, (result_id, content, heading, known) in zip(queries, columns, strict=True):
        of_query = results.setdefault(name or Path(path).stem, [])
        if len(of_query) < top:
            of_query.append((Listed(result_id, content or "", heading), known))
    lists = [_list(name, rows, path) for name, rows in results.items() if len(rows) > 1]
    if not lists:
        raise InputError(
            f"{path} has no list of two results or more.",
            hint=f"a row is a result with its {query}, id and text.",
        )
    if len(lists) > 1 and not any(result_list.practice for result_list in lists):
        lists[0] = replace(lists[0], practice=True)
    return lists


def _list(query: str, rows: list[tuple[Listed, str | None]], path: str | Path) -> ResultList:
    results = tuple(result for result, _ in rows)
    ids = [result.id for result in results]
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise InputError(
            f"{path}: {twice!r} is twice in the list of {query!r}.",
            hint="a result stands once in a list.",
        )
    digest = hashlib.sha256(json.dumps([query, ids]).encode()).hexdigest()[:12]
    names: dict[str, int] = {}
    known = [name for _, name in rows]
    if all(name is None for name in known):
        return ResultList(digest, query, results)
    sets = tuple(
        NONE
        if name in (None, "", "0") or known.count(name) < 2
        else names.setdefault(str(name), len(names) + 1)
        for name in known
    )
    return ResultList(digest, query, results, practice=True, sets=sets)


def load_lists(path: Path) -> list[ResultList]:
    """The result lists of a folder of judgements; a missing file holds none."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except FileNotFoundError:
        return []
    try:
        return [_loaded(from_json(line)) for line in lines if line.strip()]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} holds no result lists: {error}.") from error


def _loaded(row: dict[str, Any]) -> ResultList:
    results = tuple(Listed(**result) for result in row["results"])
    sets = None if row["sets"] is None else tuple(row["sets"])
    return ResultList(row["name"], row["query"], results, row["practice"], sets)


def add_lists(path: Path, lists: Iterable[ResultList]) -> int:
    """Add lists and return how many were new. Lists that are stored already stay unchanged: they
    may have been judged."""
    stored = load_lists(path)
    known = {result_list.name for result_list in stored}
    new = [result_list for result_list in lists if result_list.name not in known]
    if new:
        os.makedirs(path.parent, exist_ok=True)
        rows = (
            json.dumps(asdict(result_list), ensure_ascii=False) + "\n"
            for result_list in [*stored, *new]
        )
        with whole_file(path) as part:
            part.write_text("".join(rows), "utf-8")
    return len(new)
