"""Profiles: the features of several families of a document in one list; and their keys.

A profile holds what the measures of the similarity vector are computed from
(``features/similarity.py``). A feature weighs its idf in the collection, a keyword tf·idf; its
class records whether many, a few or no other documents have it. Of the character grams a few are
chosen by their hash, so that a profile stays small. Words in their order and dates are held only
where a measure asks for them, and need no table.

Documents that are worth comparing share character grams, whatever noise or revision lies between
them. The grams of smallest hash are keys (a bottom sketch; Broder 1997), of rare, of less rare and
of unknown grams apart, so that neither boilerplate nor noise takes all places. One common gram may
be a rare word, so documents meet that share ``LEAST_SHARED`` keys. Where two documents have a share
J of their grams in common, each of n keys is a common one with that chance, so they share too few
with the probability of the binomial tail P(X < LEAST_SHARED). What more than a hundred documents
have is no key: bands of four minima bring large groups of near copies together. One band suffices,
so it counts as that many keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import Artefacts
from neardup.artefacts.frequencies import Frequencies, FrequencyNeed, Grams, sets_of_words
from neardup.errors import SettingsError
from neardup.features import similarity
from neardup.features.dates import NO_DATE, days
from neardup.features.similarity import MEASURES, families_of, needs_date
from neardup.methods.minhash import Bands, multipliers
from neardup.methods.weighted_sets import (
    COMMON,
    LEAST,
    LONE,
    NOISY,
    NOISY_DOCUMENTS,
    NOISY_WORDS,
    RARE,
    UNIT,
)
from neardup.schema import Array, Ragged, offsets_of
from neardup.text.text_options import Text
from neardup.text.words import word_map

GRAMS_OF = {
    "words1": Grams(1),
    "words2": Grams(2),
    "words3": Grams(3),
    "words5": Grams(5),
    "chars3": Grams(3, "characters"),
    "chars5": Grams(5, "characters", 2),
    "chars8": Grams(8, "characters", 4),
}
VOCABULARY = "words1"  # keywords and numbers are words, so their frequencies are known with these
FEW = 20  # in more documents than this a feature is what many have
KEYWORDS, SENTENCE_KEYWORDS = 20, 4  # the heaviest of a document, of each sentence
_WORD, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
_TUPLE = np.uint64(0x9E3779B97F4A7C15)  # its powers tell places apart


def frequency_name(family: str) -> str:
    return f"{family}-frequencies"


def needs(text: Text, measures: Sequence[str] = MEASURES) -> tuple[FrequencyNeed, ...]:
    """The frequencies of every family that has any."""
    families = [name for name in families_of(measures) if name not in _COUNTLESS]
    tables = dict.fromkeys(name if name in GRAMS_OF else VOCABULARY for name in families)
    return tuple(
        FrequencyNeed(None, GRAMS_OF[name], text, name=frequency_name(name)) for name in tables
    )


def check_date(measures: Sequence[str], date: str | None, who: str) -> None:
    """Refuses measures of dates where no column of dates is named."""
    if date is None and needs_date(measures):
        asking = next(name for name in measures if needs_date((name,)))
        raise SettingsError(
            f"{who} takes the measure {asking}, which compares dates; no column of dates is named.",
            hint="name it with --date COL (in Python date=COL).",
        )


def profiles(
    batch: pa.RecordBatch,
    artefacts: Artefacts,
    text: Text,
    measures: Sequence[str] = MEASURES,
    *,
    date: str | None = None,
) -> Ragged:
    """The profile of each document: how many entries each family has, then the entries. ``date`` is
    the column that measures of dates read; without one no document has a date."""
    reading = _read(batch, text, date)
    rows = [_entries(name, reading, artefacts) for name in families_of(measures)]
    counts = np.stack([row.lengths for row in rows], axis=1).astype(np.uint64)
    heads = Ragged(counts.reshape(-1), np.arange(len(counts) + 1, dtype=np.int64) * len(rows))
    return side_by_side([heads, *rows])


def side_by_side(parts: Sequence[Ragged]) -> Ragged:
    """Row by row what the parts have in it."""
    count = len(parts[0])
    order = np.arange(count)[:, None] + np.arange(len(parts)) * count
    taken = Ragged.concat(list(parts), np.uint64).take(order.reshape(-1))
    return Ragged(taken.values, taken.offsets[:: len(parts)].copy())


@dataclass(frozen=True)
class _Reading:
    texts: Ragged
    words: Ragged  # hashes, in order
    text: Text
    days: Array


def _read(batch: pa.RecordBatch, text: Text, date: str | None) -> _Reading:
    texts = Ragged.of_strings(batch.column("text"))
    since = np.full(len(texts), NO_DATE, np.int32) if date is None else days(batch[date], date)
    return _Reading(texts, _words(texts, text), text, since)


def _words(texts: Ragged, text: Text) -> Ragged:
    known = word_map(texts.values, texts.offsets, text)
    return Ragged(*_native.word_hashes(texts.values, texts.offsets, text.native(), known))


def _entries(family: str, reading: _Reading, artefacts: Artefacts) -> Ragged:
    if family in _COUNTLESS:
        return _COUNTLESS[family](reading)
    table = artefacts[frequency_name(family if family in GRAMS_OF else VOCABULARY)]
    assert isinstance(table, Frequencies)
    if family in GRAMS_OF:
        return table.entries(_grams(GRAMS_OF[family], reading), _weights(table))
    return _OTHERS[family](reading, table)


def _grams(grams: Grams, reading: _Reading) -> Ragged:
    if grams.unit == "words":
        return sets_of_words(reading.words, grams.width)
    return grams.sets(reading.texts, reading.text)


def _weights(table: Frequencies) -> Array:
    """The weight of a feature by how many documents have it: its idf, and the class below it."""

    def made() -> Array:
        classes = np.full(len(table.idf), COMMON, np.uint32)
        classes[: FEW + 1] = RARE
        classes[:2] = LONE
        weights = np.rint(UNIT * np.maximum(table.idf, LEAST)).astype(np.uint32)
        return np.asarray(weights << np.uint32(2) | classes)

    return table.derived("profile", made)


def _keywords(reading: _Reading, table: Frequencies) -> Ragged:
    """The terms of greatest tf·idf of each document."""
    return _heaviest(reading.words, table, KEYWORDS)


def _sentence_keywords(reading: _Reading, table: Frequencies) -> Ragged:
    """The keywords of all sentences of each document, together."""
    chosen, sentences = _of_sentences(reading, table)
    return _united(chosen.values, np.diff(chosen.offsets[sentences]))


def _sentence_tuples(reading: _Reading, table: Frequencies) -> Ragged:
    """The keywords of each sentence as one feature, heaviest first: a tuple differs if one of its
    words is heavier elsewhere. All tuples weigh the same, as no table counts them."""
    chosen, sentences = _of_sentences(reading, table)
    row = np.repeat(np.arange(len(chosen)), chosen.lengths)
    heavy = np.lexsort((chosen.values >> _WORD, -(chosen.values & _LOW).astype(np.int64), row))
    place = (np.arange(len(row)) - chosen.offsets[row] + 1).astype(np.uint64)
    terms = ((chosen.values[heavy] >> _WORD) + np.uint64(1)) * _TUPLE**place
    ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
    sums = ends[chosen.offsets]
    features = np.diff(sums)[chosen.lengths > 1] & ~_LOW
    lengths = np.concatenate([[0], np.cumsum(chosen.lengths > 1)])[sentences]
    return _united(features | np.uint64(UNIT << 2 | RARE), np.diff(lengths))


def _of_sentences(reading: _Reading, table: Frequencies) -> tuple[Ragged, Array]:
    """Keywords of every sentence, and where the sentences of each document end."""
    texts = reading.texts
    ends, sentences = _native.sentences(texts.values, texts.offsets)
    begin = texts.offsets[0]  # a slice begins later, and ends are counted from there
    words = _words(Ragged(texts.values[begin:], ends), reading.text)
    return _heaviest(words, table, SENTENCE_KEYWORDS), sentences


def _united(values: Array, lengths: Array) -> Ragged:
    """Each feature of a document once: the heaviest of its entries."""
    documents = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((values, documents))
    values, documents = values[order], documents[order]
    last = np.ones(len(values), np.bool_)
    last[:-1] = (values[1:] >> _WORD != values[:-1] >> _WORD) | (documents[1:] != documents[:-1])
    return Ragged(values[last], offsets_of(np.bincount(documents[last], minlength=len(lengths))))


def _heaviest(words: Ragged, table: Frequencies, most: int) -> Ragged:
    features = _native.shingle_hashes(words.values, 1) >> _WORD
    row = np.repeat(np.arange(len(words), dtype=np.uint64), words.lengths)
    distinct, counts = np.unique(row << _WORD | features, return_counts=True)
    of = distinct >> _WORD
    feature = (distinct & _LOW).astype(np.uint32)
    entry = _weights(table)[table.counts_of(feature)]
    weight = np.rint((entry >> np.uint32(2)) * (1 + np.log(counts))).astype(np.uint64)
    weight = weight << np.uint64(2) | entry & np.uint32(3)
    ends = offsets_of(np.bincount(of.astype(np.int64), minlength=len(words)))
    chosen = np.flatnonzero(_greatest(Ragged(weight, ends), of, most))
    values = distinct[chosen] << _WORD | weight[chosen]
    return Ragged(values, np.searchsorted(chosen, ends))


def _greatest(weights: Ragged, of: Array, most: int) -> Array:
    """Which are the greatest of their row; of equal ones the first. Sorting plain numbers and
    looking up the last that is taken costs a tenth of sorting places."""
    ends = weights.offsets[1:]
    falling = np.sort(of << _WORD | (_LOW - weights.values))
    last = np.minimum(weights.offsets[:-1] + most, ends) - 1
    least = (_LOW - (falling[last] & _LOW))[of] if len(falling) else weights.values
    surely, perhaps = weights.values > least, np.flatnonzero(weights.values == least)
    places = most - np.diff(np.searchsorted(np.flatnonzero(surely), weights.offsets))
    before = np.searchsorted(perhaps, weights.offsets[:-1])
    rank = np.arange(len(perhaps)) - before[of[perhaps]]
    surely[perhaps[rank < places[of[perhaps]]]] = True
    return surely


def _numbers(reading: _Reading, table: Frequencies) -> Ragged:
    """Words in which there is a digit of any script."""
    words = reading.words
    taken = np.flatnonzero(np.isin(words.values, _number_hashes(reading)))
    kept = np.searchsorted(taken, words.offsets)
    sets = sets_of_words(Ragged(words.values[taken], kept), 1)
    return table.entries(sets, _weights(table))


def _number_hashes(reading: _Reading) -> Array:
    """Hashes of the distinct numbers, as stems where there are stems."""
    texts, text = reading.texts, reading.text
    values, ends, _ = _native.unique_words(texts.values, texts.offsets, text.native())
    masked = Ragged(*_native.normal_forms(values, ends, replace(text, digits="mask").native()))
    zeros = np.concatenate([[0], np.cumsum(masked.values == ord("0"))])[masked.offsets]
    return _words(Ragged(values, ends).take(np.flatnonzero(np.diff(zeros))), text).values


def _in_place(reading: _Reading) -> Ragged:
    """Every word with its position, by word."""
    words = reading.words
    features = _native.shingle_hashes(words.values, 1) >> _WORD
    row = np.repeat(np.arange(len(words)), words.lengths)
    entries = features << _WORD | (np.arange(len(row)) - words.offsets[row]).astype(np.uint64)
    return Ragged(entries[np.lexsort((entries, row))], words.offsets)


_COUNTLESS: dict[str, Callable[[_Reading], Ragged]] = {
    similarity.ORDER_FAMILY: _in_place,
    similarity.DATE_FAMILY: lambda reading: similarity.date_entries(reading.days),
}
_OTHERS: dict[str, Callable[[_Reading, Frequencies], Ragged]] = {
    "keywords": _keywords,
    "sentences": _sentence_keywords,
    "tuples": _sentence_tuples,
    "numbers": _numbers,
}


FEW_MORE = 100  # in more documents than this a gram is no key
RARE_KEYS, LESS_RARE_KEYS, UNKNOWN_KEYS = 48, 8, 32
LEAST_SHARED = 3
BANDS = Bands(16, 4)
LEAST_SHARE = 0.2  # of grams in common at the threshold of the general model
MISS_RATE = sum(
    comb(RARE_KEYS, n) * LEAST_SHARE**n * (1 - LEAST_SHARE) ** (RARE_KEYS - n)
    for n in range(LEAST_SHARED)
)
# Of each class how many grams are taken, and the least and the most documents that have one.
_CLASSES = ((RARE_KEYS, 2, FEW), (LESS_RARE_KEYS, FEW + 1, FEW_MORE), (UNKNOWN_KEYS, 0, 1))


def _key_settings(*, closed: bool = False) -> tuple[Any, ...]:
    """The settings that the kernels take. ``closed``: grams that one document alone has cannot be
    shared."""
    classes = np.array(_CLASSES[:-1] if closed else _CLASSES, np.int64).reshape(-1)
    return classes, multipliers(BANDS.values), *BANDS, LEAST_SHARED


def keys_of(grams: Ragged, table: Frequencies) -> tuple[Ragged, Array]:
    """Keys of sets of 32-bit features, and how many of them look: all."""
    slots = table.counts.low, table.counts.high
    keys = Ragged(*_native.profile_keys(grams.values, grams.offsets, *slots, *_key_settings()))
    return keys, keys.lengths.astype(np.int32)


def weighs_last(families: Sequence[str]) -> bool:
    """Whether the features of all families can be read before their tables are known: a table
    chooses keywords, and finds numbers."""
    return all(name in GRAMS_OF for name in families)


def feature_sets(
    batch: pa.RecordBatch, words: Ragged, text: Text, families: Sequence[str]
) -> dict[str, Ragged]:
    """The features of families that ``weighs_last`` accepts; ``words`` are the hashes in order."""
    reading = _Reading(Ragged.of_strings(batch.column("text")), words, text, np.empty(0))
    return {name: _grams(GRAMS_OF[name], reading) for name in families}


def unweighed(sets: Mapping[str, Ragged]) -> Ragged:
    """Profiles of these families without weights: the features alone."""
    columns = [(rows.values, rows.offsets) for rows in sets.values()]
    return Ragged(*_native.profile_rows(columns))


def weigh(
    rows: Ragged, families: Sequence[str], artefacts: Artefacts, grams: str, *, closed: bool
) -> tuple[Ragged, Ragged]:
    """Profiles with weights, noise marked, from those without; and the keys, made of the family
    ``grams``."""
    tables = []
    for name in families:
        table = artefacts[frequency_name(name)]
        assert isinstance(table, Frequencies)
        tables.append((table.counts.low, table.counts.high, _weights(table)))
    at = families.index(VOCABULARY), families.index(grams)
    rule = NOISY_WORDS, NOISY if marks_noise(artefacts) else _NEVER
    values, keys, ends = _native.weigh_profiles(
        rows.values, rows.offsets, tables, at[0], *rule, at[1], *_key_settings(closed=closed)
    )
    return Ragged(values, rows.offsets), Ragged(keys, ends)


_NEVER = 2.0  # no share is as large


def marks_noise(artefacts: Artefacts) -> bool:
    """Whether unique words count as noise: in a small collection every document has many of them,
    so none does."""
    table = artefacts[frequency_name(VOCABULARY)]
    assert isinstance(table, Frequencies)
    return table.documents >= NOISY_DOCUMENTS
