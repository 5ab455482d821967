"""The method ``shingles``: its kernel against the twins, its keys, its format."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup import api as nd
from neardup.engines.index.index import Index
from neardup.errors import SettingsError
from neardup.methods import minhash
from neardup.methods.base import Prepared
from neardup.methods.minhash import multipliers
from neardup.methods.set_measures import prefix_sizes
from neardup.methods.shingles import Shingles
from neardup.schema import Ragged
from neardup.text.words import buffers, words
from reference import minhash as minhash_twin
from reference import shingles as twin

TEXT = st.lists(
    st.sampled_from(["a", "b", "c", "d", "e", "f", "東京", "1", "2", "été"]), max_size=40
).map(" ".join)


def hashes_of(text: str, width: int) -> list[int]:
    from neardup import _native

    found = _native.hash_words(*buffers(words(text))).tolist()
    return twin.shingle_hashes(found, width)


def prepare(method: Shingles, texts: list[str]) -> Prepared:
    count = len(texts)
    return method.prepare(
        pa.record_batch(
            {
                "row": pa.array(range(count), pa.int64()),
                "id": pa.array(map(str, range(count)), pa.large_string()),
                "text": pa.array(texts, pa.large_string()),
            }
        )
    )


@given(st.lists(TEXT, max_size=6), st.integers(1, 8), st.sampled_from([0, 1, 3, 15]))
def test_evidence_equals_twin(texts: list[str], width: int, min_words: int) -> None:
    prepared = prepare(Shingles(words=width, min_words=min_words), texts)
    for i, text in enumerate(texts):
        count = len(words(text))
        assert prepared.too_short[i] == (count < max(min_words, 1))
        if not prepared.too_short[i]:
            expected = sorted({hash_ >> 32 for hash_ in hashes_of(text, width)})
            assert prepared.evidence[i].tolist() == expected


@given(st.lists(TEXT, max_size=5), st.integers(1, 6), st.sampled_from([16, 84, 128]))
def test_signatures_equal_twin(texts: list[str], width: int, count: int) -> None:
    made = Shingles(words=width, permutations=count).signatures(pa.array(texts, pa.large_string()))
    assert made.shape == (len(texts), count)
    family = multipliers(count).tolist()[:count]
    for row, text in zip(made, texts, strict=True):
        assert row.tolist() == minhash_twin.minima(hashes_of(text, width), family)


@given(st.lists(TEXT, min_size=2, max_size=8), st.sampled_from([0.4, 0.7, 0.8, 0.9]))
def test_band_keys_say_no_more_and_no_less_than_the_minima(
    texts: list[str], threshold: float
) -> None:
    method = Shingles(words=2, threshold=threshold, min_words=1)
    assert method.bands is not None
    prepared = prepare(method, texts)
    family = multipliers(method.bands.values).tolist()
    names: dict[int, tuple[int, ...]] = {}
    for i, text in enumerate(texts):
        if prepared.too_short[i]:
            continue
        minima = minhash_twin.minima(hashes_of(text, 2), family)
        bands = minhash_twin.bands(minima, *method.bands)
        assert len(prepared.keys[i]) == method.bands.bands == prepared.probes[i]
        for key, band in zip(prepared.keys[i].tolist(), bands, strict=True):
            assert names.setdefault(key, band) == band  # one key, one band of values
    assert len(set(names.values())) == len(names)  # and one band of values, one key


@given(st.lists(TEXT, max_size=6), st.sampled_from([0.3, 0.5, 0.8, 1.0]), st.booleans())
def test_prefixes_are_the_head_of_the_set(texts: list[str], t: float, contain: bool) -> None:
    measure = "containment" if contain else "resemblance"
    method = Shingles(words=2, threshold=t, keys="prefix", measure=measure, min_words=1)
    prepared = prepare(method, texts)
    for i in np.flatnonzero(~prepared.too_short):
        size = len(prepared.evidence[i])
        needed = -(-size * method.fraction // 1)
        assert prepared.probes[i] == size - needed + 1
        assert len(prepared.keys[i]) == (size if contain else prepared.probes[i])


def test_short_documents_meet_only_their_equals() -> None:
    texts = ["One two three.", "one, TWO three", "one two three four", "!!", "!!", "??"]
    result = nd.dedup(texts, method="shingles")
    assert result.decisions["kept_id"].to_pylist() == [None, "input:1", None, None, "input:4", None]
    reasons = ["too_short", "equal", "too_short", "too_short", "equal", "too_short"]
    assert result.decisions["reason"].to_pylist() == reasons


def test_the_last_of_twenty_one_words_changed() -> None:
    one, other = (f"{' '.join('abcdefghijklmnopqrst')} {w}" for w in ("x", "y"))
    found = nd.find([one, other], method="shingles", threshold=0.8, words=2)
    assert found.pairs["score"].to_pylist() == [pytest.approx(19 / 21)]


@pytest.mark.parametrize(
    "wrong",
    [
        {"words": 0},
        {"words": 33},
        {"measure": "jaccard"},
        {"keys": "lsh"},
        {"permutations": 4},
        {"permutations": 5000},
        {"miss_rate_limit": 0},
        {"min_words": -1},
        {"threshold": 0},
        {"threshold": 1.5},
        {"keys": "bands", "threshold": 0.1},
        {"keys": "bands", "measure": "containment"},
    ],
)
def test_wrong_parameters_are_explained(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=r"Hint: |expected"):
        Shingles(**wrong)  # type: ignore[arg-type]


# A change of any number below is a change of the format: signatures, keys and digests stored
# before cannot be compared with new ones. It needs a step of the format version and a line in the
# changelog.
GOLDEN_TEXT = (
    "Größe & café: the ﬁrst naïve Ⅷ test, 2024! 東京都は日本の首都である。 "
    "Москва — столица России, القاهرة هي عاصمة مصر 😀 ประเทศไทย"
)
GOLDEN = {
    "features": [295742215, 459313283, 535032874],
    "minima": [234400740, 261392729, 193937194, 21397594],
    "band keys": [14351419144987693294, 434823514639871858, 7249385042678651535],
    "prefix keys": [18246246767494609647, 5909624935515179276, 15050593590144313116],
    "digests": [18245352057158021828, 15674110587907211037],
    "text digest": [11605222203704041139],
    "normal digest": [418973517507532305],
    "short features": [418958732, 491599103, 520552866, 3599350434],
    "short key": [15396259018334268581],
    "short digests": [3938185699677449119, 16879315709739131601],
}


def golden() -> dict[str, list[int]]:
    method = Shingles(threshold=0.8)
    bands = prepare(method, [GOLDEN_TEXT])
    prefix = prepare(Shingles(threshold=0.8, keys="prefix"), [GOLDEN_TEXT])
    short = prepare(method, ["Größe"])
    return {
        "features": bands.evidence[0][:3].tolist(),
        "minima": method.signatures(pa.array([GOLDEN_TEXT], pa.large_string()))[0][:4].tolist(),
        "band keys": bands.keys[0][:3].tolist(),
        "prefix keys": prefix.keys[0][:3].tolist(),
        "digests": bands.digests[0].tolist(),
        "text digest": bands.text_digests.tolist(),
        "normal digest": bands.normal_digests.tolist(),
        "short features": short.evidence[0].tolist(),
        "short key": short.keys[0].tolist(),
        "short digests": short.digests[0].tolist(),
    }


def test_golden_vectors() -> None:
    assert golden() == GOLDEN


def test_the_needed_share_is_counted_in_integers() -> None:
    assert Shingles(threshold=0.7).fraction == Fraction(7, 10)
    sizes = np.array([1, 2, 9, 10, 11, 1000])
    prefix = prefix_sizes("jaccard", Shingles(threshold=0.7).fraction, sizes)
    assert prefix is not None
    assert prefix.tolist() == [1, 1, 3, 4, 4, 301]


@given(
    st.lists(st.sampled_from([*"abcdefg", "größe", "日本語のテスト", "😀", "\n", "…"]), max_size=80)
)
def test_long_texts_in_pieces_give_what_the_whole_gives(words: list[str]) -> None:
    """Pieces of a few bytes against one piece, over every kind of key."""
    texts = Ragged.of_texts([" ".join(words), "  ".join(words) + " "])
    for method in (Shingles(min_words=3), Shingles(keys="prefix"), Shingles(words=1, min_words=0)):
        bands = method.bands or minhash.Bands(0, 0)
        arguments = (
            texts.values,
            texts.offsets,
            method.text.native(),
            None,
            method.words,
            method.min_words,
            method.scheme,
            minhash.multipliers(bands.values),
            bands.bands,
            bands.rows,
            method.fraction.numerator,
            method.fraction.denominator,
            method.ignored,
        )
        whole = _native.prepare_shingles(*arguments)
        for size in (0, 1, 7, 40):
            pieces = _native.prepare_shingles(*arguments, piece_bytes=size)
            assert {k: v.tolist() for k, v in pieces.items()} == {
                k: v.tolist() for k, v in whole.items()
            }


def test_boilerplate_does_not_count() -> None:
    notice = " ".join(f"notice{i}" for i in range(60))
    one, other = (" ".join(f"{name}{i}" for i in range(20)) for name in ("one", "other"))
    texts = [f"{one} {notice}", f"{notice} {other}", notice, notice.upper(), f"{notice}! {one}"]
    plain, cleaned = (
        nd.dedup(texts, method="shingles", threshold=0.5, set={"boilerplate": given})
        for given in ([], [notice])
    )
    assert plain.decisions["decision"].to_pylist().count("kept") == 1
    kept_ids = cleaned.decisions["kept_id"].to_pylist()
    # Nothing but boilerplate: only its equal is a duplicate.
    assert kept_ids == [None, None, None, "input:3", "input:1"]
    assert cleaned.decisions["reason"].to_pylist()[2:4] == ["too_short", "equal"]


@given(st.lists(st.sampled_from("abc"), min_size=3, max_size=9), TEXT)
def test_ignored_shingles_are_those_of_the_boilerplate(notice: list[str], text: str) -> None:
    method = Shingles(words=2, min_words=0, boilerplate=(" ".join(notice),))
    made = prepare(method, [text])
    left = set(hashes_of(text, 2)) - set(hashes_of(" ".join(notice), 2))
    if left and words(text):
        assert made.evidence[0].tolist() == sorted({h >> 32 for h in left})
    else:
        assert made.too_short.tolist() == [True]


def test_fields_count_by_their_weight() -> None:
    """A title of five words has one shingle: weight w adds w common or w + w different features."""
    text = " ".join(f"word{i}" for i in range(14))
    own = " ".join(f"else{i}" for i in range(14))
    same, other = "one two three four five", "six seven eight nine ten"
    rows = [
        {"id": "a", "text": f"{text} {own}", "title": same},
        {"id": "b", "text": text + " rest", "title": same},
        {"id": "c", "text": text + " rest", "title": other},
    ]
    for weight in (1, 7):
        method = Shingles(fields={"title": weight}, threshold=0.1)  # type: ignore[arg-type]
        pairs = nd.find(rows, method=method).pairs.to_pylist()
        scores = {(pair["a"], pair["b"]): pair["score"] for pair in pairs}
        assert scores["a", "b"] == pytest.approx((10 + weight) / (24 + 11 - 10 + weight))
        assert scores["a", "c"] == pytest.approx(10 / (24 + 11 - 10 + 2 * weight))
        with Index.open("memory:", method=method) as index:
            assert [index.add(row) for row in rows[:2]][1].score == pytest.approx(scores["a", "b"])  # type: ignore[union-attr]


def test_a_clipped_index_answers_as_a_run(tmp_path: Path) -> None:
    footer = " ".join(f"footer{i}" for i in range(40))
    rows = [
        {"id": str(n), "text": " ".join(f"w{n}x{i}" for i in range(30)) + " " + footer}
        for n in range(40)
    ]
    run = nd.dedup(rows, method=Shingles(clip=20, threshold=0.5))
    run.save(tmp_path / "run")
    assert run.counts.duplicates == 0
    counted = next((tmp_path / "run").rglob("frequencies*"))
    method = Shingles(clip=20, threshold=0.5, frequencies=str(counted))
    with Index.open("memory:", method=method) as index:
        assert [index.add(row) for row in rows] == [None] * 40
