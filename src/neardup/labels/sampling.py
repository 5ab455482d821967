"""Blind samples of the pairs of runs, to be judged by people.

From each treatment (a run) pairs are drawn at random within strata of the score, independently of
the other treatments (Williams and Giles draw 20 a treatment). What an assessor sees are two texts:
no score, no method; sides and order are random. Who drew a pair from which stratum, and which
treatments returned it, is in the key, a file of its own.

The pairs of a run by rising score, in strata, and a random draw from each.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.documents.streams import whole_file
from neardup.errors import InputError, SettingsError
from neardup.labels.label_store import Pair
from neardup.runs.result import Result
from neardup.runs.texts_again import unchanged_texts_of
from neardup.schema import Array
from neardup.settings import check_positive


@dataclass(frozen=True)
class Drawn:
    """``pairs`` are sorted by score and then by name, so that their order in a run does not matter;
    stratum *i* is the rows from ``ends[i]`` to ``ends[i + 1]``, of which ``rows[i]`` were drawn."""

    pairs: pa.Table
    ends: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return int(self.pairs.num_rows)

    def pair(self, row: int) -> Pair:
        return Pair(self.pairs["a"][row].as_py(), self.pairs["b"][row].as_py())

    def digest(self) -> str:
        """Of all pairs with their scores: whether a run is still the one that was sampled."""
        made = hashlib.sha256()
        for name in ("a", "b", "score"):
            for buffer in self.pairs[name].combine_chunks().buffers():
                made.update(buffer or b"")
        return made.hexdigest()[:16]

    def scores(self, stratum: int) -> tuple[float, float]:
        """The lowest and the highest."""
        first, last = self.ends[stratum], self.ends[stratum + 1] - 1
        return tuple(float(self.pairs["score"][i].as_py()) for i in (first, last))  # type: ignore[return-value]

    def places(self, pairs: Collection[Pair]) -> Iterator[tuple[Pair, int]]:
        """Which of these are among its own, and the number of their stratum."""
        firsts = pa.array(sorted({pair.a for pair in pairs}), pa.large_string())
        near = np.flatnonzero(pc.is_in(self.pairs["a"], firsts).to_numpy())
        wanted = set(pairs)
        for row in near.tolist():
            if (pair := self.pair(row)) in wanted:
                yield pair, int(np.searchsorted(self.ends, row, side="right")) - 1


def draw_pairs(result: Result, wanted: int, strata: int, seed: str) -> Drawn:
    table = _sorted(result.pairs)
    ends = cut_strata(table["score"].to_numpy(), strata)
    shares = allocate([b - a for a, b in pairwise(ends)], wanted)
    random = Random(seed)
    rows = [
        tuple(sorted(random.sample(range(a, b), n)))
        for (a, b), n in zip(pairwise(ends), shares, strict=True)
    ]
    return Drawn(table, tuple(ends), tuple(rows))


def _sorted(pairs: pa.Table) -> pa.Table:
    """The smaller id first, as in :class:`Pair`."""
    a, b = pairs["a"], pairs["b"]
    ordered = pc.less_equal(a, b)
    table = pa.table(
        {
            "a": pc.if_else(ordered, a, b),
            "b": pc.if_else(ordered, b, a),
            "score": pairs["score"],
        }
    )
    return table.sort_by([("score", "ascending"), ("a", "ascending"), ("b", "ascending")])


def cut_strata(score: Array, strata: int) -> list[int]:
    """The ends of about ``strata`` parts of sorted scores, of about the same size; equal scores
    stay together, so there may be fewer."""
    edges = np.unique([len(score) * i // strata for i in range(strata + 1)])
    inner = edges[(edges > 0) & (edges < len(score))]
    # To the nearer end of the run of equal scores.
    low, high = (np.searchsorted(score, score[inner], side=side) for side in ("left", "right"))
    moved = np.where(inner - low <= high - inner, low, high)
    found: list[int] = np.unique([0, *moved.tolist(), len(score)]).tolist()
    return found


def allocate(sizes: Sequence[int], wanted: int) -> list[int]:
    """Equal numbers from all strata, as far as they have so many; what is left goes to others, the
    weakest scores first, because that is where a threshold errs."""
    shares = [0] * len(sizes)
    left = min(wanted, sum(sizes))
    while left:
        for i, size in enumerate(sizes):
            if left and shares[i] < size:
                shares[i] += 1
                left -= 1
    return shares


PER_TREATMENT, STRATA = 20, 5
FORMAT = 1


@dataclass(frozen=True)
class Stratum:
    """``pairs`` with scores from ``low`` to ``high``, of which ``items`` were drawn."""

    low: float
    high: float
    pairs: int
    items: tuple[str, ...]


@dataclass(frozen=True)
class Treatment:
    """``returned``: of the items of the whole sample those among its pairs, with the number of the
    stratum that each is in, whoever drew it. ``digest`` is that of all its pairs, where known."""

    name: str
    method: str
    pairs: int
    complete: bool
    strata: tuple[Stratum, ...]
    returned: dict[str, int]
    digest: str | None = None


@dataclass(frozen=True)
class Item:
    """What an assessor sees."""

    item: str
    a: str
    b: str
    text_a: str
    text_b: str

    @property
    def pair(self) -> Pair:
        return Pair.of(self.a, self.b)

    def row(self) -> dict[str, Any]:
        return {**asdict(self), "label": None, "kind": None, "note": None}


@dataclass(frozen=True)
class Key:
    """What an assessor must not see. ``pairs`` are the items by name."""

    seed: int
    treatments: tuple[Treatment, ...]
    pairs: dict[str, Pair]


@dataclass(frozen=True)
class Sample:
    items: tuple[Item, ...]
    key: Key

    def save(self, path: Path) -> Path:
        """The sample, and beside it the key, whose path is returned. The key comes first: a sample
        without one could not be used."""
        place = key_path(path)
        written = {"format": FORMAT, **asdict(self.key)}
        lines = (json.dumps(item.row(), ensure_ascii=False) + "\n" for item in self.items)
        for target, text in ((place, json.dumps(written, indent=1) + "\n"), (path, "".join(lines))):
            with whole_file(target) as part:
                part.write_text(text, "utf-8")
        return place


def key_path(sample: Path) -> Path:
    return sample.with_name(f"{sample.stem}.key.json")


def labels_path(sample: Path) -> Path:
    """Where labels of a sample go unless another store is named."""
    return sample.with_name(f"{sample.stem}.labels.jsonl")


def draw(
    treatments: Mapping[str, Result],
    per_treatment: int = PER_TREATMENT,
    *,
    strata: int = STRATA,
    seed: int = 0,
) -> Sample:
    check_positive("n", per_treatment)
    check_positive("strata", strata)
    if not any(len(result.pairs) for result in treatments.values()):
        raise InputError(
            f"There is no pair to judge in {', '.join(treatments)}.",
            hint="give a run that found some, such as one at a lower threshold.",
        )
    drawn: dict[str, Drawn] = {}
    for name, result in treatments.items():
        check_texts(name, result)
        drawn[name] = draw_pairs(result, per_treatment, strata, f"{seed}:{name}")
    chosen = {
        one.pair(row): name for name, one in drawn.items() for rows in one.rows for row in rows
    }
    names = {pair: item_name(seed, pair) for pair in chosen}
    made = [_treatment(name, result, drawn[name], names) for name, result in treatments.items()]
    key = Key(seed, tuple(made), {names[p]: p for p in sorted(names, key=names.__getitem__)})
    return Sample(_items(treatments, chosen, names, seed), key)


def check_texts(name: str, result: Result) -> None:
    if result.info.get("against"):
        raise SettingsError(
            f"{name} was made against references, whose texts it does not hold.",
            hint="sample a run over both together.",
        )


def judged_texts(name: str, result: Result, ids: Iterable[str]) -> dict[str, str]:
    """Of all of them: whoever judged other texts than the run read would judge another run."""
    wanted = set(ids)
    try:
        found = unchanged_texts_of(result, sorted(wanted))
    except LookupError:  # an input has fewer rows than it had
        found = {}
    if missing := len(wanted - found.keys()):
        raise InputError(
            f"The inputs of {name} were changed since the run: {missing:,} of {len(wanted):,} "
            "texts to judge are not there as it read them.",
            hint="put the inputs back as they were, or run again.",
        )
    return found


def item_name(seed: int, pair: Pair) -> str:
    """Says nothing of the pair, and is the same whoever draws it."""
    written = json.dumps([seed, *pair]).encode("utf-8", "surrogatepass")
    return hashlib.sha256(written).hexdigest()[:12]


def _treatment(name: str, result: Result, drawn: Drawn, names: Mapping[Pair, str]) -> Treatment:
    strata = [
        Stratum(
            *drawn.scores(number),
            pairs=drawn.ends[number + 1] - drawn.ends[number],
            items=tuple(sorted(names[drawn.pair(row)] for row in rows)),
        )
        for number, rows in enumerate(drawn.rows)
    ]
    returned = {names[pair]: stratum for pair, stratum in drawn.places(names)}
    return Treatment(
        name,
        str(result.info["settings"]["method"]),
        len(drawn),
        result.pairs_complete,
        tuple(strata),
        dict(sorted(returned.items())),
        drawn.digest(),
    )


def _items(
    treatments: Mapping[str, Result],
    chosen: Mapping[Pair, str],
    names: Mapping[Pair, str],
    seed: int,
) -> tuple[Item, ...]:
    texts = {
        name: judged_texts(
            name, result, (one for pair in chosen if chosen[pair] == name for one in pair)
        )
        for name, result in treatments.items()
    }
    made = []
    for pair in sorted(chosen, key=names.__getitem__):
        found = texts[chosen[pair]]
        sides = list(pair)
        Random(f"{seed}:{names[pair]}").shuffle(sides)
        made.append(Item(names[pair], *sides, *(found[side] for side in sides)))
    Random(f"{seed}:order").shuffle(made)
    return tuple(made)
