"""The method ``imatch``: signatures against the twin, whole runs against all pairs, its format."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup import api as nd
from neardup.artefacts.artefact import resolved
from neardup.artefacts.idf import IdfCounter
from neardup.errors import SettingsError
from neardup.methods.base import Prepared
from neardup.methods.imatch import IMatch
from neardup.testing import batch
from neardup.text.text_options import Text
from neardup.text.words import buffers
from reference import term_methods as twin
from reference import terms as terms_twin

WORDS = [f"{a}{b}term" for a in "abcdef" for b in "xyz"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)


def prepare(method: IMatch, texts: list[str]) -> Prepared:
    given = batch(texts)
    return method.prepare(given, resolved(method.needs, given))


@given(
    st.lists(st.sets(st.integers(0, 60)).map(sorted), max_size=6),
    st.integers(0, 5),
    st.sampled_from([0.1, 0.33, 0.9]),
    st.integers(0, 2**64 - 1),
    st.integers(1, 4),
)
def test_signatures_equal_twin(
    sets: list[list[int]], lexicons: int, dropped: float, seed: int, min_terms: int
) -> None:
    hashes = _native.hash_words(*buffers([f"term{i}" for i in range(61)]))
    limit = int(Fraction(str(dropped)) * 2**64)
    offsets = np.cumsum([0, *map(len, sets)]).astype(np.int64)
    made = _native.imatch_signatures(
        np.array([rank for one in sets for rank in one], np.uint32),
        offsets,
        hashes,
        lexicons,
        limit,
        seed,
        min_terms,
    ).reshape(len(sets), lexicons + 1, 2)
    for row, one in zip(made.tolist(), sets, strict=True):
        settings = (hashes.tolist(), lexicons, limit, seed, min_terms)
        assert [tuple(x) for x in row] == twin.imatch_signatures(one, *settings)


@given(
    st.lists(TEXT, min_size=2, max_size=8),
    st.sampled_from([(0.0, 1.0), (0.3, 1.0), (0.2, 0.8), (0.0, 0.6)]),
    st.integers(1, 4),
    st.sampled_from([(0, 1), (3, 1), (3, 2), (4, 5)]),
)
def test_a_run_equals_all_pairs(
    texts: list[str], limits: tuple[float, float], min_terms: int, agree: tuple[int, int]
) -> None:
    lexicons, min_equal = agree
    method = IMatch(
        idf_min=limits[0],
        idf_max=limits[1],
        min_terms=min_terms,
        lexicons=lexicons,
        dropped=0.5,
        min_equal=min_equal,
    )
    whole = twin.Collection(texts, "words")
    names = [term for term, _ in whole.table]
    hashes = _native.hash_words(*buffers(names)).tolist() if names else []
    sets = [
        [r for r, _ in whole.terms(text, lambda r: limits[0] <= whole.idf(r) <= limits[1])]
        for text in texts
    ]
    signed = [twin.imatch_signatures(s, hashes, lexicons, 1 << 63, 0, min_terms) for s in sets]

    def score(i: int, j: int) -> float | None:
        if min(len(sets[i]), len(sets[j])) < min_terms:
            same = terms_twin.tokens(texts[i], "words") == terms_twin.tokens(texts[j], "words")
            return 1.0 if same else None
        equal = sum(a == b for a, b in zip(signed[i], signed[j], strict=True))
        return equal / (lexicons + 1) if equal >= min_equal else None

    result = nd.find(texts, method=method)
    assert found(result) == twin.all_pairs(len(texts), score)


def found(result: Any) -> dict[tuple[int, int], float]:
    """Pairs by place; ids are ``input:1`` and so on."""
    pairs = {}
    for pair in result.pairs.to_pylist():
        a, b = sorted(int(pair[side].partition(":")[2]) - 1 for side in ("a", "b"))
        pairs[a, b] = pair["score"]
    return pairs


def story(name: str, *changed: str) -> str:
    words = [f"{name}{i}" for i in range(30)]
    return " ".join([*words[: 30 - len(changed)], *changed])


def test_order_repetition_and_common_words_do_not_matter() -> None:
    others = [f"and the {story(f'other{i}x')}" for i in range(20)]
    backwards = " ".join(reversed(story("news").split()))
    texts = [story("news"), f"and the {backwards} news3 the", *others]
    result = nd.dedup(texts, method=IMatch())
    assert result.decisions["kept_id"].to_pylist()[1] == "input:1"
    assert result.counts.duplicates == 1
    assert result.duplicates["reason"].to_pylist() == ["equal signature"]


def test_more_lexicons_forgive_a_changed_term() -> None:
    """One term of thirty: a lexicon without it, and without its replacement, agrees."""
    texts = [story("news"), story("news", "changed"), *(story(f"other{i}x") for i in range(20))]
    assert nd.dedup(texts, method=IMatch()).counts.duplicates == 0
    result = nd.find(texts, method=IMatch(lexicons=20))
    assert len(result.pairs) == 1
    equal = round(result.pairs["score"][0].as_py() * 21)
    assert 1 <= equal < 15
    assert len(nd.find(texts, method=IMatch(lexicons=20, min_equal=equal)).pairs) == 1
    assert len(nd.find(texts, method=IMatch(lexicons=20, min_equal=equal + 1)).pairs) == 0


def test_too_few_terms_give_no_signature() -> None:
    texts = ["rare words only", "only rare words", "Rare words: only", *map(story, "abcdefghij")]
    result = nd.dedup(texts, method=IMatch(min_terms=4))
    assert result.decisions["reason"].to_pylist()[:3] == ["too_short", "too_short", "equal"]


def test_a_lexicon_that_is_empty_is_a_sentence(tmp_path: Path) -> None:
    texts = [story("same")] * 40
    with pytest.raises(SettingsError, match=r"none of the 30 terms of 40 documents.*Hint: widen"):
        nd.dedup(texts, method=IMatch())
    counter = IdfCounter("words", Text())
    counter.add(counter.count(batch(texts)))
    counter.finish().save(tmp_path / "idf.arrow")
    with pytest.raises(SettingsError, match="Hint: widen"):
        nd.dedup(["one"], method="imatch", set={"idf": str(tmp_path / "idf.arrow")})


def test_the_threshold_follows_from_the_signatures(tmp_path: Path) -> None:
    run = nd.dedup([story("a"), story("b")], method=IMatch(lexicons=4, min_equal=2))
    run = nd.Result.load(run.save(tmp_path / "run"))
    assert run.threshold == 0.4
    assert "imatch" in repr(run)
    with pytest.raises(SettingsError, match="no threshold to change"):
        run.rethreshold(0.6)
    with pytest.raises(SettingsError, match="'threshold'"):
        nd.dedup([], method="imatch", threshold=0.5)


def test_the_table_is_named_in_the_run() -> None:
    result = nd.dedup([story("a"), story("b")], method="imatch")
    assert result.info["artefacts"]["idf"]["terms"] == 60
    digest = result.info["artefacts"]["idf"]["digest"]
    assert result.info["settings"]["signature"]["artefacts"] == {"idf": digest}


@pytest.mark.parametrize(
    "wrong",
    [
        {"idf_min": -0.1},
        {"idf_min": 0.8, "idf_max": 0.8},
        {"idf_max": 1.1},
        {"min_terms": 0},
        {"lexicons": -1},
        {"lexicons": 101},
        {"dropped": 0},
        {"dropped": 1},
        {"min_equal": 0},
        {"lexicons": 3, "min_equal": 5},
        {"seed": -1},
        {"terms": "stems"},
        {"text": Text(stop_words="english")},
    ],
)
def test_wrong_parameters_are_explained(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"Hint: |expected"):
        IMatch(**wrong)


GOLDEN = [17980594679351260962, 17240297601732759874, 3835562254183664639, 13885143290809949791]


def test_golden_vectors() -> None:
    """A change of these numbers is a change of the format."""
    made = prepare(IMatch(lexicons=1, min_terms=3), ["Größe café one two", "a b c d", "e f g h"])
    assert made.evidence[0].tolist() == GOLDEN
    assert made.keys[0].tolist() == GOLDEN[::2]
