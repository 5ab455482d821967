"""``label suggest``: candidate pairs → a sample of those that would teach most.

The sample is blind as those that are drawn at random, and is judged and imported in the same way.
But it says nothing of precision or recall: its pairs were chosen, so its key names no treatment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from neardup.artefacts.model import Model
from neardup.documents import Columns
from neardup.errors import InputError
from neardup.evaluation.labels import Pair
from neardup.evaluation.sampling import Item, Key, Sample, check_texts, item_name, judged_texts
from neardup.evaluation.strata import draw_pairs
from neardup.evaluation.training.material import Profiles, Source, profiles_of, told_apart
from neardup.evaluation.training.material import texts_of as texts_of_documents
from neardup.evaluation.training.teaching import Candidates, teaching
from neardup.outputs.result import Result
from neardup.plan import check_positive
from neardup.progress import Progress, Silent

MOST_CANDIDATES = 20_000
STRATA = 20  # of scores, from which they are drawn where there are more
WANTED = 30


@dataclass(frozen=True)
class Pool:
    """Pairs to choose from, with their documents."""

    pairs: Sequence[Pair]
    source: Source
    texts: Callable[[Iterable[str]], dict[str, str]]


def pool_of_run(name: str, result: Result, model: Model | None, seed: int) -> Pool:
    check_texts(name, result)
    settings = result.info["settings"]
    drawn = draw_pairs(result, MOST_CANDIDATES, STRATA, f"{seed}:{name}")
    pairs = [drawn.pair(row) for rows in drawn.rows for row in rows]
    columns = Columns(settings["text"], settings["id"])
    source = Source(
        result.collection(), columns, limit=settings.get("limit"), date=settings.get("date")
    )
    source = told_apart(as_model_reads(source, model))
    return Pool(pairs, source, lambda ids: judged_texts(name, result, ids))


def as_model_reads(source: Source, model: Model | None) -> Source:
    """With its text options, and its measures alone."""
    if model is None:
        return source
    return replace(source, text=model.text, measures=model.measures)


def pool_of_pairs(pairs: Iterable[Pair], source: Source, seed: int) -> Pool:
    listed = sorted({pair for pair in pairs if pair.a != pair.b})
    if len(listed) > MOST_CANDIDATES:
        listed = sorted(Random(f"{seed}:pairs").sample(listed, MOST_CANDIDATES))
    return Pool(listed, source, lambda ids: texts_of_documents(source, ids, Silent()))


def suggest(
    pools: Mapping[str, Pool],
    wanted: int = WANTED,
    *,
    model: Model | None = None,
    labelled: Iterable[Pair] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> Sample:
    """``labelled`` pairs are not asked again."""
    check_positive("n", wanted)
    chosen: dict[Pair, Pool] = {}
    known, told = set(labelled), progress or Silent()
    for pool in pools.values():
        fresh = [pair for pair in pool.pairs if pair not in known]
        for pair in _chosen(pool, fresh, known, -(-wanted // len(pools)), model, told):
            if len(chosen) < wanted:
                chosen[pair] = pool
        known |= chosen.keys()
    if not chosen:
        raise InputError(
            f"There is no pair left to judge in {', '.join(pools)}.",
            hint="give a run at a lower threshold: it has more pairs, and harder ones.",
        )
    names = {pair: item_name(seed, pair) for pair in chosen}
    key = Key(seed, (), {names[pair]: pair for pair in sorted(names, key=names.__getitem__)})
    return Sample(_items(chosen, names, seed), key)


def _chosen(
    pool: Pool,
    fresh: Sequence[Pair],
    known: set[Pair],
    wanted: int,
    model: Model | None,
    told: Progress,
) -> list[Pair]:
    judged = sorted(known & set(pool.pairs))
    profiles = profiles_of(pool.source, (one for pair in (*fresh, *judged) for one in pair), told)
    there = [pair for pair in fresh if {*pair} <= profiles.place.keys()]
    before = _candidates(profiles, [p for p in judged if {*p} <= profiles.place.keys()])
    rows = teaching(_candidates(profiles, there), wanted, model=model, known=before.x)
    return [there[row] for row in rows.tolist()]


def _candidates(profiles: Profiles, pairs: Sequence[Pair]) -> Candidates:
    a, b = (profiles.places(pair[side] for pair in pairs) for side in (0, 1))
    return Candidates(a, b, profiles.vectors(a, b))


def _items(chosen: Mapping[Pair, Pool], names: Mapping[Pair, str], seed: int) -> tuple[Item, ...]:
    texts: dict[int, dict[str, str]] = {}
    for pool in {id(pool): pool for pool in chosen.values()}.values():
        wanted = sorted({one for pair, of in chosen.items() if of is pool for one in pair})
        texts[id(pool)] = pool.texts(wanted)
    made = []
    for pair in sorted(chosen, key=names.__getitem__):
        found, sides = texts[id(chosen[pair])], list(pair)
        Random(f"{seed}:{names[pair]}").shuffle(sides)
        made.append(Item(names[pair], *sides, *(found[side] for side in sides)))
    Random(f"{seed}:order").shuffle(made)
    return tuple(made)
