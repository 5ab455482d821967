"""``shingles`` on samples: whole runs against all pairs, keys, formats, what is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup import api as nd
from neardup.errors import SettingsError
from neardup.methods import minhash
from neardup.methods.base import Prepared
from neardup.methods.shingles import Shingles
from neardup.testing import batch
from neardup.text.words import buffers, words
from reference import minhash as minhash_twin
from reference import rule
from reference import run as run_twin
from reference import shingles as shingles_twin
from reference import sketches as twin
from repeats import examples

BRODER = Shingles(words=10, sampling="mod", modulus=25, sample_limit=400, threshold=0.5)
WILLIAMS_GILES = Shingles(
    words=5, permutations=84, sampling="minima", family="classic", threshold=0.5, keys="all"
)
METHODS = [
    WILLIAMS_GILES,
    Shingles(words=2, permutations=84, sampling="minima", family="classic", threshold=0.5),
    Shingles(words=3, permutations=20, sampling="minima", threshold=0.35, min_words=1),
    Shingles(words=1, permutations=16, sampling="minima", threshold=1, keys="all"),
    Shingles(words=2, sampling="mod", modulus=3, threshold=0.5, min_words=0),
    Shingles(words=1, sampling="mod", modulus=2, sample_limit=4, threshold=0.5, min_words=1),
    Shingles(words=2, sampling="mod", modulus=4, sample_limit=3, threshold=0.3, keys="all"),
    Shingles(words=2, sampling="mod", modulus=2, sample_limit=0, measure="containment"),
    Shingles(words=1, sampling="mod", modulus=3, sample_limit=0, measure="containment", keys="all"),
    Shingles(words=2, sampling="bottom", sample_limit=8, threshold=0.6),
    Shingles(words=1, sampling="bottom", sample_limit=3, threshold=0.5, keys="all", min_words=0),
]


def hashes_of(text: str, width: int) -> list[int]:
    found = _native.hash_words(*buffers(words(text))).tolist()
    return shingles_twin.shingle_hashes(found, width)


def prepare(method: Shingles, texts: list[str]) -> Prepared:
    return method.prepare(batch(texts))


def minima(method: Shingles, text: str) -> list[int]:
    a, b = minhash.family(method.family, method.permutations)
    hashes = hashes_of(text, method.words)
    made = twin.classic(hashes, a.tolist(), b.tolist()) if len(b) else None
    return (made or minhash_twin.minima(hashes, a.tolist()))[: method.permutations]


def kept(method: Shingles, text: str) -> set[int]:
    modulus = method.modulus if method.sampling == "mod" else 1
    return twin.kept(hashes_of(text, method.words), modulus)


def is_short(method: Shingles, text: str) -> bool:
    nothing = method.sampling != "minima" and not kept(method, text)
    return len(words(text)) < max(method.min_words, 1) or nothing


def score(method: Shingles, one: str, other: str) -> Fraction | None:
    """None below the threshold."""
    if is_short(method, one) or is_short(method, other):
        same = words(one) == words(other) and (words(one) or one.split() == other.split())
        return Fraction(1) if same else None
    if method.sampling == "minima":
        agree = twin.agreeing(minima(method, one), minima(method, other))
        found = Fraction(agree, method.permutations)
    elif method.measure == "containment":
        found = shingles_twin.containment({*kept(method, one)}, {*kept(method, other)})
    else:
        found = twin.estimate(kept(method, one), kept(method, other), method.sample_limit)
    return found if found >= method.fraction else None


@pytest.mark.parametrize("method", METHODS, ids=repr)
@given(st.integers(0, 2**32), st.integers(0, 25))
@examples(5)
def test_a_run_is_the_rule_over_all_pairs(method: Shingles, seed: int, count: int) -> None:
    """Complete: whatever passes on the samples is found."""
    documents = run_twin.collection(np.random.default_rng(seed), count)
    texts = [document["text"] for document in documents]
    pairs = {
        (i, j): found
        for i, j in combinations(range(count), 2)
        if (found := score(method, texts[i], texts[j])) is not None
    }
    decided = rule.decide(range(count), rule.from_scores(pairs))
    result = nd.find(documents, method=method)
    listed = {(p["a"], p["b"]): p["score"] for p in result.pairs.to_pylist()}
    assert listed == {(f"d{i}", f"d{j}"): float(found) for (i, j), found in pairs.items()}
    for i, row in enumerate(result.decisions.to_pylist()):
        best = decided[i]
        assert row["kept_id"] == (None if best is None else f"d{best[0]}")


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_hot_groups_change_nothing(method: Shingles, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sort-and-count is not linear where a value is common: such groups are walked instead."""
    from neardup import plan

    documents = run_twin.collection(np.random.default_rng(3), 120, vocabulary=30)
    usual = nd.dedup(documents, method=method).decisions
    monkeypatch.setattr(plan, "USUAL_PAIRS", 0)
    monkeypatch.setattr(plan, "FEWEST_PAIRS", 0)
    walked = nd.dedup(documents, method=method)
    assert walked.decisions.equals(usual)


@pytest.mark.parametrize("family", minhash.FAMILIES)
def test_evidence_is_the_minima_in_their_places(family: str) -> None:
    method = Shingles(words=2, permutations=84, sampling="minima", family=family, min_words=1)
    texts = ["a rose is a rose is a rose", "one two three four"]
    made = prepare(method, texts)
    signatures = method.signatures(pa.array(texts, pa.large_string()))
    for i, text in enumerate(texts):
        assert signatures[i].tolist() == minima(method, text)
        assert (made.evidence[i] ^ minhash.salts(84)).tolist() == minima(method, text)


def test_every_value_is_a_key_when_all_are_counted() -> None:
    texts = [" ".join(f"w{i}" for i in range(start, start + 300)) for start in (0, 20)]
    for method, needed in ((WILLIAMS_GILES, 84), (Shingles(sampling="bottom", keys="all"), 296)):
        made = prepare(method, texts)
        assert made.keys.lengths.tolist() == made.probes.tolist() == [needed] * 2
        shared = len(np.intersect1d(made.keys[0], made.keys[1]))
        scored = method.score(made.evidence, np.array([0]), np.array([1]))
        if method.sampling == "minima":
            assert scored.score[0] == shared / 84
    halved = prepare(Shingles(permutations=84, sampling="minima", threshold=0.5), texts)
    assert halved.keys.lengths.tolist() == [43, 43]  # 84 − 42 + 1


def test_small_samples_are_flagged() -> None:
    text = " ".join(f"w{i}" for i in range(120))
    result = nd.dedup([text, text + " end", "too short"], method=BRODER)
    reasons = result.decisions["reason"].to_pylist()
    assert reasons[1] == "estimated resemblance >= 0.5 (unreliable)"
    assert reasons[2] == "too_short"


def test_the_estimate_states_its_error() -> None:
    assert WILLIAMS_GILES.resolved()["standard_error"] == pytest.approx((0.25 / 84) ** 0.5)
    assert "standard_error" not in BRODER.resolved()
    assert "standard_error" not in Shingles().resolved()
    assert WILLIAMS_GILES.miss_rate == BRODER.miss_rate == 0


def test_boilerplate_is_not_sampled() -> None:
    notice = " ".join(f"notice{i}" for i in range(60))
    own = " ".join(f"own{i}" for i in range(40))
    for given_ in ({"sampling": "minima"}, {"sampling": "mod", "modulus": 2}):
        method = Shingles(words=1, boilerplate=(notice,), **given_)  # type: ignore[arg-type]
        made = prepare(method, [own, f"{notice} {own}", notice])
        assert made.evidence[0].tolist() == made.evidence[1].tolist()
        assert made.too_short.tolist() == [False, False, True]


@pytest.mark.parametrize(
    "wrong",
    [
        {"sampling": "all"},
        {"family": "affine"},
        {"family": "classic"},
        {"family": "classic", "sampling": "mod"},
        {"keys": "all"},
        {"keys": "bands", "sampling": "minima"},
        {"sampling": "bottom", "sample_limit": 0},
        {"sampling": "bottom", "measure": "containment"},
        {"sampling": "mod", "measure": "containment"},
        {"sampling": "minima", "measure": "containment"},
        {"sampling": "mod", "modulus": 0},
        {"sampling": "mod", "sample_limit": -1},
    ],
)
def test_what_has_no_meaning_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="Hint: "):
        Shingles(**wrong)


# A change of any number below is a change of the format: see tests/methods/test_shingles.py.
GOLDEN_TEXT = " ".join(f"word{i}" for i in range(200))
GOLDEN = {
    "classic evidence": [1387386560, 3925478669, 779583418],
    "classic keys": [17478601307317815748, 8381469866278396826],
    "classic digests": [4477041451094040818, 16002128075820085579],
    "fast evidence": [1454796380, 3914204641, 802135421],
    "fast keys": [10663828127331750526, 4458619297566594456],
    "fast digests": [8169960362411335890, 13368293061480433762],
    "mod evidence": [8672550, 211291525, 609973800],
    "mod keys": [14897924758290124357, 303090636730003667],
    "mod digests": [8323820125192311234, 15799168382259933332],
    "bottom evidence": [22421746, 28340245, 52073860],
    "bottom keys": [4160537163362997087, 869757832863928429],
    "bottom digests": [6613827868441260919, 6845438851664375019],
}


def golden() -> dict[str, list[int]]:
    made: dict[str, list[int]] = {}
    for name, method in {
        "classic": WILLIAMS_GILES,
        "fast": Shingles(permutations=84, sampling="minima", threshold=0.5),
        "mod": BRODER,
        "bottom": Shingles(sampling="bottom", sample_limit=50),
    }.items():
        one = prepare(method, [GOLDEN_TEXT])
        made[f"{name} evidence"] = one.evidence[0][:3].tolist()
        made[f"{name} keys"] = one.keys[0][:2].tolist()
        made[f"{name} digests"] = one.digests[0].tolist()
    return made


def test_golden_vectors() -> None:
    assert golden() == GOLDEN
