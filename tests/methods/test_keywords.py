"""The method ``keywords``: its kernel and whole runs against the twin, its keys, its format."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup import api as nd
from neardup.artefacts.artefact import resolved
from neardup.artefacts.idf import IdfCounter, IdfTable
from neardup.errors import SettingsError
from neardup.methods import weighted_sets
from neardup.methods.base import UNRELIABLE
from neardup.methods.keywords import MEASURES, ORDERS, Keywords
from neardup.methods.meeting import Rarity
from neardup.methods.weighted_sets import rare_vector_keys, vector_scores
from neardup.schema import Ragged, offsets_of
from neardup.testing import batch
from neardup.text.text_options import Text
from neardup.text.words import buffers, words
from reference import keywords as twin
from repeats import examples

SIDEWALK = (
    "People rally on the sidewalk as legal arguments over the Patient Protection and Affordable "
    "Care Act take place at the Supreme Court."
)
TOKENS = st.sampled_from([*"abcdefgh", "the", "cat1", "東京都", "größe", ".", "?", "!", "\n\n"])
TEXT = st.lists(TOKENS, max_size=25).map(" ".join)
VECTOR_MEASURES = MEASURES[1:]


def table_of(texts: list[str], filter_: str = "words") -> IdfTable:
    counter = IdfCounter(filter_, Text())
    counter.add(counter.count(batch(texts)))
    return counter.finish()


def as_entries(vector: twin.Vector) -> dict[int, int]:
    """Feature → weight, of words."""
    return {twin.hash_of(str(word)) >> 32: weight for word, weight in vector.items()}


def entries(weights: dict[int, int]) -> list[int]:
    return sorted(feature << 32 | weight for feature, weight in weights.items())


def evidence_of(vectors: list[dict[int, int]]) -> Ragged:
    values = [entry for vector in vectors for entry in entries(vector)]
    return Ragged(np.array(values, np.uint64), offsets_of([len(v) for v in vectors]))


OPTIONS = st.fixed_dictionaries(
    {
        "k": st.sampled_from([1, 2, 4, 50]),
        "per": st.sampled_from(["document", "sentence"]),
        "tf": st.sampled_from(["count", "log"]),
        "terms": st.sampled_from(["words", "alpha"]),
        "min_documents": st.integers(0, 2),
    }
)


@given(st.lists(TEXT, min_size=1, max_size=5), TEXT, OPTIONS)
def test_words_equal_twin(texts: list[str], other: str, options: dict[str, Any]) -> None:
    method = Keywords(**options)
    table = table_of(texts, method.terms)
    found = method.keywords(batch([*texts, other]).column("text"), table)
    for i, text in enumerate([*texts, other]):
        vector = twin.vector(text, texts, twin.Settings(**options))
        assert found[i].tolist() == entries(as_entries(vector))


@given(st.lists(TEXT, min_size=1, max_size=6), OPTIONS)
def test_tuples_equal_twin(texts: list[str], options: dict[str, Any]) -> None:
    method = Keywords(unit="tuple", **options)
    found = method.keywords(batch(texts).column("text"), table_of(texts, method.terms))
    expected = [twin.vector(t, texts, twin.Settings(unit="tuple", **options)) for t in texts]
    for i, vector in enumerate(expected):
        assert (found[i] & np.uint64(0xFFFFFFFF)).tolist() == [1] * len(vector)
        for j in range(i):
            shared = len(np.intersect1d(found[i], found[j]))
            assert shared == len(vector.keys() & expected[j].keys())


@examples(10)
@pytest.mark.parametrize("per", ["document", "sentence"])
@pytest.mark.parametrize("unit", ["word", "tuple"])
@pytest.mark.parametrize("measure", MEASURES)
@given(
    texts=st.lists(TEXT, min_size=2, max_size=8),
    threshold=st.sampled_from([0.1, 0.36, 0.5, 0.6, 0.8, 1.0]),
    k=st.sampled_from([1, 3, 6]),
    common=st.sampled_from([0, 2, weighted_sets.MOST_MEETING]),
)
def test_runs_equal_twin(
    measure: str, unit: str, per: str, texts: list[str], threshold: float, k: int, common: int
) -> None:
    """All pairs in whole numbers against keys chosen by the engine and by each document alone."""
    method = Keywords(
        measure=measure, unit=unit, per=per, threshold=threshold, k=k, tf="count", min_words=1
    )
    options = twin.Settings(k=k, per=per, unit=unit, tf="count")
    expected_vectors = [twin.vector(text, texts, options) for text in texts]
    with mock.patch.object(weighted_sets, "COMMON", common):
        made = method.prepare(batch(texts), resolved(method.needs, batch(texts)))
        result = nd.find(texts, method=method)
    expected = set()
    for i, j in combinations(range(len(texts)), 2):
        x, y = expected_vectors[i], expected_vectors[j]
        if x and y:
            match = twin.passes(measure, Fraction(str(threshold)), x, y)
        else:
            match = words(texts[i]) == words(texts[j]) and texts[i].split() == texts[j].split()
        if match:
            expected.add((i, j))
            assert {*made.keys[i].tolist()} & {*made.keys[j].tolist()}, "no key in common"
    found = {
        (int(p["a"].partition(":")[2]) - 1, int(p["b"].partition(":")[2]) - 1)
        for p in result.pairs.to_pylist()
    }
    assert found == expected


WEIGHT = st.one_of(st.integers(1, 9), st.integers(1, 2**20 - 1))  # alike, or one above all
WEIGHTS = st.dictionaries(st.integers(0, 9), WEIGHT, min_size=1, max_size=8)


@given(
    st.lists(WEIGHTS, min_size=2, max_size=6),
    st.sampled_from(VECTOR_MEASURES),
    st.sampled_from([0.000001, 0.3, 0.9, 0.999999, 1.0]),
    st.booleans(),
)
def test_vectors_of_any_weight(
    given_vectors: list[dict[int, int]], measure: str, threshold: float, pairs: bool
) -> None:
    evidence, t = evidence_of(given_vectors), Fraction(str(threshold))
    a, b = np.triu_indices(len(given_vectors), 1)
    scores = vector_scores(measure, t, evidence, a.astype(np.int64), b.astype(np.int64))
    counts = np.array([2, 5, 40, 99, 3, 2, 200, 77], np.uint32)  # rare or common, none lone
    keys, probes = rare_vector_keys(measure, t, evidence, Rarity(counts), pairs=pairs)
    assert probes.tolist() == keys.lengths.tolist()
    for i, j, passed, score in zip(a, b, scores.passed, scores.score, strict=True):
        assert passed == twin.passes(measure, t, dict(given_vectors[i]), dict(given_vectors[j]))  # type: ignore[arg-type]
        assert passed == (score >= threshold)
        if passed:
            assert np.intersect1d(keys[i], keys[j]).size


def test_exactly_at_the_threshold() -> None:
    evidence = evidence_of([{1: 3, 2: 4}, {1: 5}, {1: 3 * 2**17, 2: 4 * 2**17}])
    a, b = np.array([0, 2]), np.array([1, 1])
    for t, passed in ((Fraction(6, 10), True), (Fraction(600001, 10**6), False)):
        scores = vector_scores("cosine", t, evidence, a, b)
        assert scores.passed.tolist() == [passed] * 2
        assert (scores.score >= float(t)).tolist() == [passed] * 2


def test_prefixes_come_in_one_order_for_all() -> None:
    """Heaviest first, each document in an order of its own, would lose this pair."""
    evidence = evidence_of([{1: 100, 2: 99}, {1: 99, 2: 100}])
    keys, _ = rare_vector_keys("cosine", Fraction(9, 10), evidence, Rarity(np.zeros(8, np.uint32)))
    assert keys.lengths.tolist() == [1, 1]
    assert keys[0].tolist() == keys[1].tolist()


def test_one_word_replaced() -> None:
    """The paper's example: among the four heaviest words, sidewalk and pavement do not count."""
    pavement = SIDEWALK.replace("sidewalk", "pavement")
    common = "people rally sidewalk pavement legal arguments take place act care court"
    others = [f"{common} on the as over and at number{i} of these" for i in range(40)]
    others += [f"{word} of no interest {word}" for word in ("affordable", "supreme")]
    table = table_of([SIDEWALK, pavement, *others])
    tuples = Keywords(k=4, unit="tuple")
    found = tuples.keywords(batch([SIDEWALK, pavement, *others]).column("text"), table)
    assert found[0].tolist() == found[1].tolist()
    assert found[0].tolist() != found[2].tolist()
    chosen = Keywords(k=4).keywords(batch([SIDEWALK]).column("text"), table)
    names = {twin.hash_of(word) >> 32: word for word in words(SIDEWALK)}
    assert {names[int(e) >> 32] for e in chosen[0]} == {
        "protection",
        "patient",
        "affordable",
        "supreme",
    }


def test_stop_words_are_no_keywords() -> None:
    """Not even those that the table does not have, which would otherwise be the rarest."""
    texts = ["the whale and the sea", "whale of whales"]
    table = table_of(["whale sea of of", "the sea", "the whale"])
    plain, without = Keywords(k=9), Keywords(k=9, text=Text(stop_words="english"))
    names = {twin.hash_of(word) >> 32: word for text in texts for word in words(text)}

    def keywords(method: Keywords) -> list[set[str]]:
        found = method.keywords(batch(texts).column("text"), table)
        return [{names[int(entry) >> 32] for entry in row} for row in found]

    assert keywords(plain) == [{"the", "whale", "and", "sea"}, {"whale", "of", "whales"}]
    assert keywords(without) == [{"whale", "sea"}, {"whale", "whales"}]
    assert without.needs == plain.needs


def test_few_keywords_are_said_to_be_few() -> None:
    texts = ["x " * 50, "x y " * 50, " ".join(f"w{i}" for i in range(50)), "12 34 " * 20]
    method = Keywords(terms="alpha", min_words=10)
    flags = method.prepare(batch(texts), resolved(method.needs, batch(texts))).flags.tolist()
    assert flags == [1, 1, 1, 1]  # no word of three letters
    method = Keywords(min_words=10)
    made = method.prepare(batch(texts), resolved(method.needs, batch(texts)))
    assert made.flags.tolist() == [UNRELIABLE, UNRELIABLE, 0, UNRELIABLE]


def test_a_word_that_is_everywhere_is_light_but_there() -> None:
    texts = ["same words in both", "same words in both"]
    found = Keywords().keywords(batch(texts).column("text"), table_of(texts * 10**4))
    assert (found[0] & np.uint64(0xFFFFFFFF) > 0).all()
    assert len(found[0]) == 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 0},
        {"k": 10_001},
        {"per": "paragraph"},
        {"unit": "shingle"},
        {"measure": "overlap"},
        {"tf": "binary"},
        {"terms": "letters"},
        {"min_documents": -1},
        {"min_words": -1},
        {"threshold": 0},
    ],
)
def test_wrong_parameters_are_explained(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"Hint: |expected"):
        Keywords(**wrong)


# A change of any number below is a change of the format; see tests/methods/test_shingles.py.
GOLDEN_TEXT = (
    "Größe & café: the ﬁrst naïve Ⅷ test, 2024! 東京都は日本の首都である。 "
    "Москва — столица России, القاهرة هي عاصمة مصر 😀 ประเทศไทย"
)
GOLDEN: dict[str, list[int]] = {
    "word document": [4700816893445990231, 6467019849150293847, 7030758998517278551],
    "word document keys": [1847807652463751790, 7879889265291607240, 15544600569995500933],
    "word sentence": [
        906985836082423639,
        4700816893445990231,
        6467019849150293847,
        7030758998517278551,
        13198449142151571287,
        13303412829991266135,
        15679546840179599191,
        17258341934464821079,
        17673461531624400727,
    ],
    "word sentence keys": [
        3271416697523607715,
        1847807652463751790,
        7879889265291607240,
        15544600569995500933,
        13102212297704626535,
        13359911625588985695,
    ],
    "tuple sentence": [6925641013977415681, 7069084550772555777, 15318302423722754049],
    "tuple sentence keys": [6838484633385472084, 757072178582792851, 9189992205436649737],
    "pair keys": [837311998527300068],
}


def golden() -> dict[str, list[int]]:
    table = table_of([GOLDEN_TEXT, SIDEWALK, "the test 日本"])
    made: dict[str, list[int]] = {}
    for per, unit in (("document", "word"), ("sentence", "word"), ("sentence", "tuple")):
        method = Keywords(per=per, unit=unit, k=3, min_words=1, measure="cosine", threshold=0.6)
        one = method.prepare(batch([GOLDEN_TEXT]), {"idf": table})
        made[f"{unit} {per}"] = one.evidence[0].tolist()
        made[f"{unit} {per} keys"] = one.keys[0].tolist()
    often = Rarity(np.full(8, 1000, np.uint32))
    vector = evidence_of([{1: 3, 2: 3, 3: 3}])
    pairs, _ = rare_vector_keys("cosine", Fraction(9, 10), vector, often, pairs=True)
    made["pair keys"] = pairs[0].tolist()
    return made


def test_golden_vectors() -> None:
    assert golden() == GOLDEN


def test_the_largest_weight() -> None:
    """tf stops where its fixed point would: at 1,023 occurrences, or 65,535 by the logarithm."""
    for tf, count in (("count", 1023), ("log", 65535)):
        texts = ["x " * count, "x " * (count + 1000), "y"]
        found = Keywords(tf=tf).keywords(batch(texts).column("text"), table_of(texts * 2))
        assert found[0].tolist() == found[1].tolist()
        assert int(found[0][0]) & 0xFFFFFFFF < 2**20


def test_native_takes_no_texts() -> None:
    table = table_of(["a b"])
    assert len(Keywords().keywords(batch([]).column("text"), table)) == 0
    assert _native.sentences(np.empty(0, np.uint8), np.zeros(1, np.int64))[0].tolist() == [0]


@pytest.mark.parametrize("order", ORDERS)
def test_lexical_signatures(order: str) -> None:
    """By the formulas, with ties left open: the weights of the chosen are the greatest."""
    rng = np.random.default_rng(3)
    vocabulary = [f"term{a}{b}" for a in "abcdefghij" for b in "klmnopqrst"]
    share = 1 / np.arange(1, 101)
    texts = [" ".join(rng.choice(vocabulary, 60, p=share / share.sum())) for _ in range(40)]
    method = Keywords(order=order, tf="count", k=None if "+" in order else 5)
    records = batch(texts)
    table = resolved(method.needs, records)["idf"]
    names = dict(zip((_hash(word) for word in vocabulary), vocabulary, strict=True))
    df = Counter(word for text in texts for word in {*text.split()})
    first, count, rare = ORDERS[order]
    weight = {"tf": lambda tf, _: tf, "df": lambda _, n: -n, "tf-idf": _tf_idf}[first]
    for text, entries in zip(texts, method.keywords(records.column("text"), table), strict=True):
        tf = Counter(text.split())
        chosen = [names[int(entry) >> 32] for entry in entries]
        assert len(chosen) == 5
        heavy = sorted((weight(tf[w], df[w]) for w in tf), reverse=True)[: count or 5]
        if not rare:
            assert sorted((weight(tf[w], df[w]) for w in chosen), reverse=True) == pytest.approx(
                heavy, rel=0.01
            )
        else:
            rarest = sorted(df[w] for w in chosen)[:rare]
            assert rarest == sorted(df[w] for w in tf)[:rare] or first == "tf-idf"


def _hash(word: str) -> int:
    return int(_native.hash_words(*buffers([word]))[0]) >> 32


def _tf_idf(tf: int, n: int) -> float:
    return tf * math.log((40 + 0.5) / n)
