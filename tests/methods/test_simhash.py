"""SimHash: fingerprints against the twin, tables that miss nothing, weights that move bits."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup import api as nd
from neardup.artefacts.idf import IdfCounter
from neardup.errors import SettingsError
from neardup.methods.meeting import choose_tables, table_masks
from neardup.methods.simhash import SimHash
from neardup.schema import Ragged
from neardup.testing import batch, prepare
from neardup.text.text_options import Text
from neardup.text.words import buffers, words
from reference import simhash as twin

TEXT = st.lists(st.sampled_from([*"abcdefgh", "größe", "日本語", "the", "The"]), max_size=40).map(
    " ".join
)


def hashes(text: str) -> list[int]:
    found: list[int] = _native.hash_words(*buffers(words(text))).tolist()
    return found


def prints(method: SimHash, texts: list[str], **columns: list[str]) -> list[int]:
    records = batch(texts)
    for name, values in columns.items():
        records = records.append_column(name, pa.array(values, pa.large_string()))
    evidence = method.prepare(records).evidence
    return [sum(int(v) << 64 * i for i, v in enumerate(evidence[d])) for d in range(len(texts))]


@given(st.lists(TEXT, max_size=5), st.booleans())
def test_fingerprints_equal_twin(texts: list[str], distinct: bool) -> None:
    method = SimHash(weights="set" if distinct else "tf", min_words=0)
    for text, found in zip(texts, prints(method, texts), strict=True):
        features = hashes(text)
        votes = [(h, 1) for h in (sorted(set(features)) if distinct else features)]
        if votes:
            assert found == twin.fingerprint(votes, 64)


@given(st.integers(1, 300), st.integers(0, 2**32))
def test_counting_bits_equals_twin_at_any_length(size: int, seed: int) -> None:
    """Ties, carries and planes: documents of every number of words."""
    rng = np.random.default_rng(seed)
    text = " ".join(f"w{i}" for i in rng.integers(0, 5, size))
    assert prints(SimHash(min_words=0), [text]) == [
        twin.fingerprint([(h, 1) for h in hashes(text)], 64)
    ]


@given(st.lists(TEXT, min_size=1, max_size=5))
def test_wide_and_narrow_fingerprints_extend_each_other(texts: list[str]) -> None:
    """The first 32 and 64 bits are the same in all sizes."""
    narrow, usual, wide = (
        prints(SimHash(bits=b, distance=3, min_words=0), texts) for b in (32, 64, 128)
    )
    for text, a, b, c in zip(texts, narrow, usual, wide, strict=True):
        if hashes(text):
            assert a == b & 0xFFFFFFFF
            assert b == c & (1 << 64) - 1


def test_fields_vote_with_their_weight() -> None:
    text, title = "one two three four five", "Six Seven"
    method = SimHash(fields={"title": 4}, min_words=0)  # type: ignore[arg-type]
    votes = [(h, 1) for h in hashes(text)] + [(h, 4) for h in hashes(title)]
    assert prints(method, [text], title=[title]) == [twin.fingerprint(votes, 64)]
    assert prints(method, [text], title=[title]) != prints(SimHash(min_words=0), [text])


def test_rare_words_vote_more_by_idf() -> None:
    texts = ["the cat sat on the mat", "the dog sat on the rug", "the the the mat"]
    records = batch(texts)
    counter = IdfCounter("words", Text())
    counter.add(counter.count(records))
    table = counter.finish()
    weight = {
        term: round(idf * 1024)
        for term, idf in zip(table.terms.to_pylist(), table.idf.tolist(), strict=True)
    }
    method = SimHash(weights="idf", min_words=0)
    evidence = method.prepare(records, {"idf": table}).evidence
    for i, text in enumerate(texts):
        votes = [(h, weight[w]) for h, w in zip(hashes(text), words(text), strict=True)]
        assert int(evidence[i][0]) == twin.fingerprint(votes, 64)


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("distance", range(8))
@pytest.mark.parametrize("documents", [100, 10**5, 10**7])
def test_every_choice_of_tables_is_complete(bits: int, distance: int, documents: int) -> None:
    """Whatever ``distance`` blocks are touched, some table looks only at the others."""
    if bits == 32 and distance > 5:
        documents = min(documents, 10**5)  # more are refused
    tables = choose_tables(bits, distance, documents)
    rows = [sum(int(w) << 64 * i for i, w in enumerate(row)) for row in table_masks(tables)]
    assert len(rows) == comb(tables.blocks, distance)
    rng = np.random.default_rng(distance)
    for _ in range(200):
        changed = sum(1 << int(bit) for bit in rng.choice(bits, distance, replace=False))
        assert any(changed & row == 0 for row in rows)


def test_tables_follow_manku() -> None:
    """k + 1 tables for few documents; wider keys and more tables for many."""
    assert choose_tables(64, 3, 1000).count == 4
    assert choose_tables(64, 3, 10**7).count == 10
    assert choose_tables(64, 3, 10**7).key_bits >= 24
    small, large = (choose_tables(64, 6, n).comparisons(n) for n in (10**5, 10**7))
    assert large < 400 * small  # near-linear: a hundred times the documents


def test_too_much_work_is_refused_with_a_hint() -> None:
    with pytest.raises(SettingsError, match=r"comparisons.*Hint: take a smaller distance"):
        choose_tables(64, 10, 10**8)


@st.composite
def crowds(draw: st.DrawFn) -> list[int]:
    """Fingerprints around a few centres, so that many are near each other."""
    centres = draw(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=3))
    flips = st.lists(st.integers(0, 63), max_size=5)
    chosen = draw(st.lists(st.tuples(st.sampled_from(centres), flips), max_size=60))
    made = []
    for centre, bits in chosen:
        for bit in bits:
            centre ^= 1 << bit
        made.append(centre)
    return made


def table_pairs(values: list[int], distance: int, documents: int, codes: Any = None) -> Any:
    """(pairs of all tables, members of crowds), with so many tables as for ``documents``."""
    masks = SimHash(distance=distance).masks(documents)
    pairs: list[tuple[int, int]] = []
    crowded: set[int] = set()
    given_codes = np.array(codes if codes is not None else [], np.int64)
    for table in range(len(masks)):
        a, b, members, _ = _native.near_pairs(
            np.array(values, np.uint64), given_codes, masks.reshape(-1), 1, distance, table, 10**6
        )
        pairs += zip(a.tolist(), b.tolist(), strict=True)
        crowded |= {*members.tolist()}
    return pairs, crowded


@given(crowds(), st.integers(0, 5), st.sampled_from([10, 10**5, 10**7]))
def test_all_pairs_within_the_distance_once(
    values: list[int], distance: int, documents: int
) -> None:
    pairs, crowded = table_pairs(values, distance, documents)
    assert not crowded
    assert sorted(pairs) == sorted(twin.near(values, distance))


def test_long_runs_are_divided_and_still_complete() -> None:
    """Thousands under one key, few of them near."""
    rng = np.random.default_rng(5)
    low = rng.integers(0, 2**48, 3000, dtype=np.uint64)
    low[1500:1600] = low[:100] ^ np.uint64(0b1011)
    values = low.tolist()
    pairs, crowded = table_pairs(values, 3, 100)
    assert not crowded
    expected = {(i, i + 1500) for i in range(100)}
    assert expected <= {*pairs}
    assert len(pairs) == len({*pairs})
    assert {*pairs} == twin.near(values, 3)


def test_only_equal_codes_meet() -> None:
    values = [7] * 6
    pairs, _ = table_pairs(values, 0, 10, codes=[0, 1, 0, 1, 2, 0])
    assert sorted(pairs) == [(0, 2), (0, 5), (1, 3), (2, 5)]


def test_a_crowd_is_walked_and_decided_alike() -> None:
    """A thousand versions of one text: one is kept, whoever is near it is set aside."""
    rng = np.random.default_rng(3)
    base = [f"word{i}" for i in range(400)]
    texts = []
    for _ in range(1000):
        some = list(base)
        for at in rng.integers(0, 400, 2):
            some[at] = f"other{rng.integers(10**6)}"
        texts.append(" ".join(some))
    result = nd.dedup(texts, method="simhash", distance=6)
    found = [int(p) for p in SimHash().prepare(batch(texts)).evidence.values]
    kept: list[int] = []
    for i, one in enumerate(found):
        if not any((one ^ found[j]).bit_count() <= 6 for j in kept):
            kept.append(i)
    decided = result.decisions["decision"].to_pylist()
    assert [i for i, d in enumerate(decided) if d == "kept"] == kept


@given(st.lists(TEXT, max_size=12), st.integers(0, 8), st.sampled_from(["tf", "set"]))
def test_runs_equal_brute_force(texts: list[str], distance: int, weights: str) -> None:
    method = SimHash(distance=distance, weights=weights, min_words=2)
    result = nd.find(texts, method=method)
    made = prepare(method, texts)
    long = [i for i in range(len(texts)) if not made.too_short[i]]
    values = [int(made.evidence[i][0]) for i in long]
    expected = {(long[i], long[j]) for i, j in twin.near(values, distance)}
    for i in range(len(texts)):
        for j in range(i + 1, len(texts)):
            if (
                made.too_short[i]
                and made.too_short[j]
                and (made.digests[i] == made.digests[j]).all()
            ):
                expected.add((i, j))
    ids = result.decisions["id"].to_pylist()
    found = {
        (ids.index(p["a"]), ids.index(p["b"])) for p in result.pairs.select(["a", "b"]).to_pylist()
    }
    assert {tuple(sorted(p)) for p in found} == expected


def test_scores_are_shares_of_equal_bits() -> None:
    values = np.array([0, 0b111, 0b1111], np.uint64)
    scores = SimHash().score(Ragged(values, np.arange(4)), np.array([0, 0, 1]), np.array([1, 2, 2]))
    assert scores.passed.tolist() == [True, False, True]
    assert scores.score.tolist() == [61 / 64, 60 / 64, 63 / 64]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"bits": 48}, "32, 64 or 128"),
        ({"distance": 17}, "from 0 to 16"),
        ({"bits": 32, "distance": 9}, "from 0 to 8"),
        ({"weights": "bm25"}, "'tf'"),
        ({"weights": "idf", "words": 2}, "1 where words are weighted"),
        ({"idf": "table.arrow"}, "add weights='idf'"),
        ({"fields": {"title": 0}}, "fields.title=4"),
        ({"fields": "title"}, "fields.title=4"),
    ],
)
def test_wrong_parameters_are_sentences(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        SimHash(**parameters)


def test_golden_fingerprints() -> None:
    """Part of the signature format: a change here needs a step of the format version."""
    text = "Die Größe der Stadt am Fluss wurde im Jahr 1999 gemessen, und 日本語 kam dazu. One two."
    made = SimHash().prepare(batch([text]))
    wide = SimHash(bits=128).prepare(batch([text]))
    assert made.evidence[0].tolist() == [6646787544133180545]
    assert wide.evidence[0].tolist() == [6646787544133180545, 12737504958732273978]
    assert made.keys[0].tolist()[:2] == [4550359858983055245, 15964817433034985115]


def test_probing_meets_where_the_weakest_bits_differ() -> None:
    """Copies with a word replaced: probing finds nearly all pairs within the distance."""
    rng = np.random.default_rng(5)
    texts = []
    for _ in range(150):
        own = [f"w{n}" for n in rng.integers(0, 5000, 300)]
        other = own.copy()
        other[int(rng.integers(300))] = "replaced"
        texts += [" ".join(own), " ".join(other)]
    everyone = {(p["a"], p["b"]) for p in nd.find(texts, method=SimHash()).pairs.to_pylist()}
    for weak, most in ((12, 0.05), (16, 0.02)):
        method = SimHash(weak_bits=weak)
        found = {(p["a"], p["b"]) for p in nd.find(texts, method=method).pairs.to_pylist()}
        assert found <= everyone
        assert len(everyone - found) <= most * len(everyone)
    assert 0.004 < SimHash(weak_bits=12).miss_rate < 0.008
    assert SimHash(weak_bits=30, distance=1).miss_rate > 0  # no search by likely bits is complete


def test_too_many_probes_are_refused() -> None:
    with pytest.raises(SettingsError, match="at most 1,000 keys"):
        SimHash(distance=5, weak_bits=24)
