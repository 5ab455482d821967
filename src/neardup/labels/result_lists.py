"""Result lists for people to judge: of each query the first results, in which they mark the sets of
duplicates (Conrad, Guo & Schriber 2003: queries, the top 20, two assessors and an arbiter).

Sets are stored as labels of pairs: all pairs of a list, ``duplicate`` within a set and ``not``
otherwise, so that all that reads labels reads them. A list for *practice* does not count.
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
from neardup.documents.streams import whole_file
from neardup.engines.ranked import group
from neardup.engines.ranked_list import ranked_list
from neardup.errors import InputError
from neardup.labels.label_store import DUPLICATE, NOT, Label, Labels, Pair
from neardup.settings import check_positive

TOP = 20
QUERY, SET, TITLE = "query", "set", "title"
SAMPLE = "lists"  # what labels of lists say they are from
NONE = 0  # the set of what is in none


@dataclass(frozen=True)
class Listed:
    id: str
    text: str
    title: str | None = None


@dataclass(frozen=True)
class ResultList:
    """``sets``: known ones, to practise on; numbers from 1, a result each, 0 for none."""

    name: str
    query: str
    results: tuple[Listed, ...]
    practice: bool = False
    sets: tuple[int, ...] | None = None

    @property
    def pairs(self) -> list[Pair]:
        return [Pair.of(a.id, b.id) for a, b in combinations(self.results, 2)]

    def labels(
        self, sets: Sequence[int], who: str, *, arbiter: bool, seconds: float | None = None
    ) -> list[Label]:
        """Of all its pairs; the time stands with the first."""
        made: list[Label] = []
        for (i, a), (j, b) in combinations(enumerate(self.results), 2):
            same = sets[i] == sets[j] != NONE
            given = {"sample": SAMPLE, "item": self.name, "arbiter": arbiter}
            label = Label(a.id, b.id, DUPLICATE if same else NOT, who, **given)  # type: ignore[arg-type]
            made.append(label if made else replace(label, seconds=seconds))
        return made

    def sets_of(self, labels: Labels, who: str) -> tuple[int, ...] | None:
        """What somebody marked; None where it has not judged the whole list."""
        said = [labels.of(who, pair) for pair in self.pairs]
        if not said or not all(said):
            return None
        return numbered(
            len(self.results), [one is not None and one.label == DUPLICATE for one in said]
        )

    def known_sets(self) -> tuple[int, ...]:
        """To practise on: those of the file, else what ``neardup group`` finds."""
        if self.sets is not None:
            return self.sets
        found = [NONE] * len(self.results)
        rows = [{"id": one.id, "text": one.text} for one in self.results]
        sets = [one for one in group(rows) if len(one) > 1]
        for number, one in enumerate(sets, 1):
            for member in one:
                found[member.row] = number
        return tuple(found)


def numbered(count: int, same: Sequence[bool]) -> tuple[int, ...]:
    """Sets from 1 in the order of their first results, from what is said of all pairs in turn."""
    both = [pair for pair, one in zip(combinations(range(count), 2), same, strict=True) if one]
    a, b = (np.array([pair[side] for pair in both], np.int64) for side in (0, 1))
    found = components(count, a, b).tolist()
    names: dict[int, int] = {}
    return tuple(NONE if one < 0 else names.setdefault(one, len(names) + 1) for one in found)


def read_lists(
    path: str | Path,
    *,
    query: str = QUERY,
    id: str | None = None,
    text: str = "text",
    title: str = TITLE,
    top: int = TOP,
) -> list[ResultList]:
    """A row a result, the best first, with the query it was found by; without such a column it is
    one list, called like its file. Lists with a column ``set`` are for practice; where there is
    none, the first of several lists is."""
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
    found: dict[str, list[tuple[Listed, str | None]]] = {}
    for name, (one, written, called, known) in zip(queries, columns, strict=True):
        of_query = found.setdefault(name or Path(path).stem, [])
        if len(of_query) < top:
            of_query.append((Listed(one, written or "", called), known))
    made = [_list(name, rows, path) for name, rows in found.items() if len(rows) > 1]
    if not made:
        raise InputError(
            f"{path} has no list of two results or more.",
            hint=f"a row is a result with its {query}, id and text.",
        )
    if len(made) > 1 and not any(one.practice for one in made):
        made[0] = replace(made[0], practice=True)
    return made


def _list(query: str, rows: list[tuple[Listed, str | None]], path: str | Path) -> ResultList:
    results = tuple(one for one, _ in rows)
    ids = [one.id for one in results]
    if len(set(ids)) < len(ids):
        twice = next(one for one in ids if ids.count(one) > 1)
        raise InputError(
            f"{path}: {twice!r} is twice in the list of {query!r}.",
            hint="a result stands once in a list.",
        )
    digest = hashlib.sha256(json.dumps([query, ids]).encode()).hexdigest()[:12]
    names: dict[str, int] = {}
    known = [one for _, one in rows]
    if all(one is None for one in known):
        return ResultList(digest, query, results)
    sets = tuple(
        NONE
        if one in (None, "", "0") or known.count(one) < 2
        else names.setdefault(str(one), len(names) + 1)
        for one in known
    )
    return ResultList(digest, query, results, practice=True, sets=sets)


def load_lists(path: Path) -> list[ResultList]:
    """From the folder of judgements; a file that is not there holds none."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except FileNotFoundError:
        return []
    try:
        return [_loaded(json.loads(line)) for line in lines if line.strip()]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} holds no result lists: {error}.") from error


def _loaded(row: dict[str, Any]) -> ResultList:
    results = tuple(Listed(**one) for one in row["results"])
    sets = None if row["sets"] is None else tuple(row["sets"])
    return ResultList(row["name"], row["query"], results, row["practice"], sets)


def add_lists(path: Path, lists: Iterable[ResultList]) -> int:
    """How many were not there yet. Lists that are there stay: they may have been judged."""
    there = load_lists(path)
    known = {one.name for one in there}
    new = [one for one in lists if one.name not in known]
    if new:
        os.makedirs(path.parent, exist_ok=True)
        rows = (json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in [*there, *new])
        with whole_file(path) as part:
            part.write_text("".join(rows), "utf-8")
    return len(new)
