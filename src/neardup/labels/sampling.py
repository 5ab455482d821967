"""Draws blind samples of the pairs of runs, for people to judge.

Pairs are drawn at random within strata of the score, from each treatment (a run) independently of
the other treatments (Williams and Giles draw 20 per treatment). An assessor sees two texts but
neither score nor method; sides and order are random. The key, a separate file, records from which
stratum a pair was drawn and which treatments returned it.
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

from neardup.errors import InputError, SettingsError
from neardup.files import whole_file
from neardup.labels.label_store import Pair
from neardup.runs.result import Result
from neardup.runs.texts_again import texts_of
from neardup.schema import Array
from neardup.settings import check_positive


@dataclass(frozen=True)
class Drawn:
    """Pairs of a run and the ones drawn. ``pairs`` are sorted by score and then by ids, so that
    their order in the run does not matter. Stratum *i* has the rows from ``ends[i]`` to ``ends[i +
    1]``, of which ``rows[i]`` were drawn."""

    pairs: pa.Table
    ends: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return int(self.pairs.num_rows)

    def pair(self, row: int) -> Pair:
        return Pair(self.pairs["a"][row].as_py(), self.pairs["b"][row].as_py())

    def digest(self) -> str:
        """A digest of all pairs and scores: it shows whether a run has changed since the sample."""
        digest = hashlib.sha256()
        for name in ("a", "b", "score"):
            for buffer in self.pairs[name].combine_chunks().buffers():
                digest.update(buffer or b"")
        return digest.hexdigest()[:16]

    def scores(self, stratum: int) -> tuple[float, float]:
        """The lowest and the highest score of a stratum."""
        first, last = self.ends[stratum], self.ends[stratum + 1] - 1
        return tuple(float(self.pairs["score"][i].as_py()) for i in (first, last))  # type: ignore[return-value]

    def places(self, pairs: Collection[Pair]) -> Iterator[tuple[Pair, int]]:
        """The pairs among ``pairs`` that belong to the run, each with the number of its stratum."""
        firsts = pa.array(sorted({pair.a for pair in pairs}), pa.large_string())
        likely = np.flatnonzero(pc.is_in(self.pairs["a"], firsts).to_numpy())
        wanted = set(pairs)
        for row in likely.tolist():
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
    """The pairs by rising score, the smaller id of each pair first as in :class:`Pair`."""
    a, b = pairs["a"], pairs["b"]
    ordered = pc.less_equal(a, b)
    table = pa.table(
        {"a": pc.if_else(ordered, a, b), "b": pc.if_else(ordered, b, a), "score": pairs["score"]}
    )
    return table.sort_by([("score", "ascending"), ("a", "ascending"), ("b", "ascending")])


def cut_strata(score: Array, strata: int) -> list[int]:
    """Bounds of about ``strata`` parts of the sorted scores, of about the same size. Equal scores
    stay in one part, so there may be fewer."""
    edges = np.unique([len(score) * i // strata for i in range(strata + 1)])
    inner = edges[(edges > 0) & (edges < len(score))]
    # Each bound moves to the nearer end of its run of equal scores.
    low, high = (np.searchsorted(score, score[inner], side=side) for side in ("left", "right"))
    moved = np.where(inner - low <= high - inner, low, high)
    bounds: list[int] = np.unique([0, *moved.tolist(), len(score)]).tolist()
    return bounds


def allocate(sizes: Sequence[int], wanted: int) -> list[int]:
    """Sample sizes for strata of these sizes: equal as far as the strata allow. The remainder goes
    to the lowest scores first, because thresholds err there."""
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
    """``pairs`` counts the pairs with scores from ``low`` to ``high``; ``items`` were drawn."""

    low: float
    high: float
    pairs: int
    items: tuple[str, ...]


@dataclass(frozen=True)
class Treatment:
    """A run in a sample. ``returned`` has the items of the whole sample that the run returned, with
    the number of their stratum, whichever treatment drew them. ``digest`` is that of all its pairs,
    if known."""

    name: str
    method: str
    pairs: int
    complete: bool
    strata: tuple[Stratum, ...]
    returned: dict[str, int]
    digest: str | None = None


@dataclass(frozen=True)
class Item:
    """What an assessor sees of a pair."""

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
    """What an assessor must not see. ``pairs`` maps the names of items to their pairs."""

    seed: int
    treatments: tuple[Treatment, ...]
    pairs: dict[str, Pair]


@dataclass(frozen=True)
class Sample:
    items: tuple[Item, ...]
    key: Key

    def save(self, path: Path) -> Path:
        """Write the sample and its key, and return the path of the key. The key is written first,
        because a sample without its key is useless."""
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
    """The default store for labels of a sample."""
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
        from_run.pair(row): name
        for name, from_run in drawn.items()
        for rows in from_run.rows
        for row in rows
    }
    names = {pair: item_name(seed, pair) for pair in chosen}
    described = tuple(_treatment(name, run, drawn[name], names) for name, run in treatments.items())
    key = Key(seed, described, {names[p]: p for p in sorted(names, key=names.__getitem__)})
    return Sample(_items(treatments, chosen, names, seed), key)


def check_texts(name: str, result: Result) -> None:
    if result.info.get("against"):
        raise SettingsError(
            f"{name} was made against references, whose texts it does not hold.",
            hint="sample a run over both together.",
        )


def judged_texts(name: str, result: Result, ids: Iterable[str]) -> dict[str, str]:
    """The texts of all ``ids``. It is an error if any has changed: people would then judge texts
    that the run never compared."""
    wanted = set(ids)
    try:
        texts = texts_of(result, sorted(wanted))
    except LookupError:  # an input has lost rows since the run
        texts = {}
    if missing := len(wanted - texts.keys()):
        raise InputError(
            f"The inputs of {name} were changed since the run: {missing:,} of {len(wanted):,} "
            "texts to judge are not there as it read them.",
            hint="put the inputs back as they were, or run again.",
        )
    return texts


def item_name(seed: int, pair: Pair) -> str:
    """A name that reveals nothing about the pair and is the same for every treatment."""
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
            name, result, (id for pair in chosen if chosen[pair] == name for id in pair)
        )
        for name, result in treatments.items()
    }
    return blind_items({pair: texts[chosen[pair]] for pair in chosen}, names, seed)


def blind_items(
    texts: Mapping[Pair, Mapping[str, str]], names: Mapping[Pair, str], seed: int
) -> tuple[Item, ...]:
    """Items in random order with random sides; ``texts`` has the texts of each pair by id."""
    items = []
    for pair in sorted(texts, key=names.__getitem__):
        sides = list(pair)
        Random(f"{seed}:{names[pair]}").shuffle(sides)
        items.append(Item(names[pair], *sides, *(texts[pair][side] for side in sides)))
    Random(f"{seed}:order").shuffle(items)
    return tuple(items)
