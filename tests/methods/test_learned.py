"""A model decides: its word on every pair that meets, on noise, and through the commands."""

from __future__ import annotations

import hashlib
import random
import shlex
from collections.abc import Sequence
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artefacts.models import model as made_by_hand
from engines.index.test_equality import real
from evaluation.training.labelled import collection
from neardup import api as nd
from neardup.artefacts.artefact import Artefacts, resolved
from neardup.artefacts.discriminants import Linear
from neardup.artefacts.frequencies import Frequencies, Grams, SlotCounts
from neardup.artefacts.model import Model
from neardup.cli.summary import lines
from neardup.documents import collect
from neardup.errors import SettingsError
from neardup.evaluation.training.complete_labels import labelled_by_group
from neardup.evaluation.training.training_data import Source, material_of
from neardup.features import similarity
from neardup.methods import profiles
from neardup.methods.base import Prepared
from neardup.methods.learned import LOW_GRAMS, QUOTING, Learned
from neardup.methods.minhash import band_keys
from neardup.methods.rareshingles import COMMON, LONE, RARE
from neardup.methods.registry import read_method, write_method
from neardup.planting.plant import planted
from neardup.progress import Silent
from neardup.schema import Ragged, offsets_of
from neardup.testing import HOSTILE, batch
from neardup.text.text_options import Text
from planting.test_plant import documents
from quality.extraction import rows
from reference import learned as twin
from repeats import examples

MEASURES = ("chars8_known", "words3_jaccard")
LONG = " ".join(f"line{i} of the page" for i in range(30))
CHANGED = LONG.replace("line7 ", "other ")
# Of keys, then of evidence.
GOLDEN = [
    "82478c858bc28b99",
    "baf897c790d37702",
    "5df80d8fd7aff6de",
    "bb2e7c214b6211d7",
]


def model(weights: Sequence[float] = (4.0, 2.0), b: float = -2.5) -> Model:
    return replace(made_by_hand(Linear(np.array(weights), b), MEASURES), threshold=0.7)


@pytest.fixture
def method(tmp_path: Path) -> Learned:
    model().save(tmp_path / "m.arrow")
    return Learned(str(tmp_path / "m.arrow"))


def signed(method: Learned, texts: list[str]) -> tuple[Prepared, Artefacts]:
    artefacts = resolved(method.needs, batch(texts))
    return method.prepare(batch(texts), artefacts), artefacts


def all_pairs(count: int) -> tuple[Any, Any]:
    return np.triu_indices(count, 1)


def test_golden_keys_and_evidence(method: Learned) -> None:
    """Not a bit may change: stored signatures must stay readable."""
    made, _ = signed(method, [LONG, CHANGED])
    digests = [
        hashlib.sha256(part.astype("<u8").tobytes()).hexdigest()[:16]
        for ragged in (made.keys, made.evidence)
        for part in (ragged[0], ragged[1])
    ]
    assert digests == GOLDEN


def test_the_score_is_the_probability_of_the_vector(method: Learned) -> None:
    texts = [doc["text"] for doc in collection()]
    made, _ = signed(method, texts)
    a, b = all_pairs(len(texts))
    x = similarity.vectors(made.evidence, a, b, method.measures)
    x = x[:, [method.measures.index(name) for name in MEASURES]]
    expected = 1 / (1 + np.exp(-(2.0 * (x @ [4.0, 2.0] - 2.5) + 0.5)))
    found = method.score(made.evidence, a, b)
    np.testing.assert_allclose(found.score, expected, rtol=1e-12)
    accepting = replace(method, templates="accept").score(made.evidence, a, b)
    assert (accepting.passed == (found.score >= 0.7)).all()
    assert accepting.passed.any()
    assert not (found.passed & ~accepting.passed).any()
    assert (accepting.passed & ~found.passed).sum() == found.refused


def test_who_shares_a_quotation_only_is_no_duplicate_to_the_general_model() -> None:
    """Without the rule all that is known of the two would be the same."""
    words = [hashlib.sha256(bytes([i])).hexdigest()[:8] for i in range(240)]
    one, quotation, other = (" ".join(words[i:j]) for i, j in ((0, 100), (100, 140), (140, 240)))
    made, _ = signed(Learned(), [f"{one} {quotation}", f"{quotation} {other}"])
    found = Learned().score(made.evidence, np.array([0]), np.array([1]))
    assert not found.passed.any()
    assert (found.score <= QUOTING).all()


def test_clean_texts_stand_out_where_one_has_half_of_the_other() -> None:
    """Every phrase is in some twelve documents: nothing is lone, and nothing is boilerplate."""
    draw = random.Random(8)
    words = ["".join(draw.choices("aeioulmnrst", k=draw.randint(3, 8))) for _ in range(700)]
    phrases = [" ".join(draw.choices(words, k=6)) for _ in range(2000)]
    texts = [draw.sample(phrases, 40) for _ in range(600)]
    grown = [*texts[0][:26], *draw.sample(phrases, 34)]
    quoting = [*texts[1][:14], *draw.sample(phrases, 34)]
    docs = [". ".join(one) for one in (*texts, grown, quoting)]
    found = nd.find(docs, method="learned").pairs.to_pylist()
    assert [(one["a"], one["b"]) for one in found] == [("input:1", "input:601")]
    assert found[0]["score"] < 0.5
    assert nd.find(docs, method="learned", calibrate=False).counts.pairs == 0


def test_who_names_a_threshold_means_it() -> None:
    assert Learned().calibrate
    assert not Learned(threshold=0.6).calibrate
    assert Learned(threshold=0.6, calibrate=True).calibrate


def test_a_model_of_dates_is_written_and_read_with_their_column(tmp_path: Path) -> None:
    file = tmp_path / "dated.arrow"
    made = made_by_hand(Linear(np.array([4.0, 2.0]), -2.5), ("words3_jaccard", "date_month"))
    made.save(file)
    dated = read_method(f"learned model={file}", date="published")
    assert dated == Learned(str(file), date="published")
    assert read_method(write_method(dated)) == dated
    assert read_method("learned", {"model": str(file)}, date="published") == dated
    assert read_method(f"learned model={file} date=own", date="published").date == "own"  # type: ignore[attr-defined]  # it is learned


def test_a_model_that_was_trained_again_is_read_again(method: Learned) -> None:
    assert method.model is not None
    model(weights=(4.0, 2.5)).save(Path(method.model))
    again = Learned(method.model)
    assert again.discriminant.digest != method.discriminant.digest
    assert again.discriminant is Learned(method.model).discriminant


def test_filled_templates_are_refused_and_copies_are_not() -> None:
    notice = " ".join(f"notice{i}" for i in range(60))
    stubs = [f"{notice} {' '.join(f'story{d}word{i}' for i in range(12))}" for d in range(30)]
    article = [f"line{i}" for i in range(80)]
    copies = [" ".join([*article[:d], f"other{d}", *article[d + 1 :]]) for d in range(30)]
    refused = nd.dedup([*stubs, *copies], method="learned")
    assert set(refused.duplicates["kept_id"].to_pylist()) == {"input:31"}
    assert refused.counts.duplicates == 29
    accepting = Learned(calibrate=False, templates="accept")
    assert nd.dedup([*stubs, *copies], method=accepting).counts.duplicates == 58


def numbers(count: int, copies: int) -> list[str]:
    """What is no text: lists of long numbers, some once more with every fifth digit wrong."""
    draw = random.Random(4)
    known = [f"{draw.randint(10**5, 10**9)}x" for _ in range(4 * count)]
    lists = [" ".join(draw.choices(known, k=150)) for _ in range(count)]

    def misread(text: str) -> str:
        wrong = (c != " " and draw.random() < 0.2 for c in text)
        both = zip(text, wrong, strict=True)
        return "".join(draw.choice("0123456789") if bad else c for c, bad in both)

    return [*lists, *map(misread, lists[:copies])]


def test_where_a_collection_is_unlike_the_training_it_is_told_and_nothing_stands_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    docs = numbers(1000, 40)
    result = nd.dedup(docs, method="learned")
    assert any("characters in a word" in one for one in result.info["unlike"])
    made = result.info["artefacts"]["calibration"]
    assert (made["by"], made["own_cuts"], made["clear"]) == ("unlike", 0, False)
    said = "\n".join(lines(result, None, 1.0, None))
    assert "unlike what the model was trained on: " in said
    assert "no lower-scoring pair is accepted" in said
    plain = nd.dedup(docs, method="learned", calibrate=False)
    assert plain.pairs.equals(result.pairs)
    assert "Nothing passes" not in "\n".join(lines(plain, None, 1.0, None))
    monkeypatch.setattr(Learned, "unlike", lambda *_: ())
    assert nd.dedup(docs, method="learned").counts.pairs > result.counts.pairs


def test_a_collection_like_the_training_is_not_told() -> None:
    news = Path(__file__).parents[2] / "examples" / "news.jsonl"
    result = nd.dedup(news, method="learned")
    assert result.info["unlike"] == []
    assert result.info["artefacts"]["calibration"]["by"] == "usual"
    assert "Threshold 0.5 (that of the model)." in "\n".join(lines(result, None, 1.0, None))


def test_a_model_of_ones_own_tells_what_is_unlike_its_documents(tmp_path: Path) -> None:
    docs, file = collection(), tmp_path / "m.arrow"
    source = Source(collect(docs), measures=MEASURES)
    about = material_of(source, labelled_by_group(source, "set", 0, Silent()), Silent()).about
    replace(model(), trained=about).save(file)
    assert nd.dedup(docs, method=Learned(str(file))).info["unlike"] == []
    other = nd.dedup(numbers(40, 0), method=Learned(str(file)))
    assert other.info["unlike"]
    assert "probabilities may be wrong." in "\n".join(lines(other, None, 1.0, None))


def test_the_collection_moves_the_cut_of_a_model_to_where_few_duplicates_are_in_doubt(
    data: Path, tmp_path: Path
) -> None:
    """A run with a threshold is not calibrated, and at that of the other it finds the same."""
    model().save(tmp_path / "m.arrow")
    docs = real(data, "licences", 700)
    settings: dict[str, Any] = {"method": "learned", "model": str(tmp_path / "m.arrow")}
    result = nd.find(docs, **settings, kinds="none")
    said = result.info["artefacts"]["calibration"]
    assert said["by"] == "least doubt"
    assert said["own_cuts"] == 0
    assert 0.24 < said["threshold"] < 0.95
    shown = "\n".join(lines(result, None, 1.0, None))
    assert "moved to where the fewest duplicates are in doubt" in shown
    fixed = nd.find(docs, **settings, threshold=said["threshold"], kinds="none")
    assert "calibration" not in fixed.info["artefacts"]
    assert fixed.pairs.equals(result.pairs)
    assert nd.find(docs, **settings, threshold=0.7, kinds="none").counts != result.counts


def test_a_model_is_written_without_what_follows_from_it(tmp_path: Path) -> None:
    """Its cut is not repeated beside its name: that would be a threshold of the user."""
    file = str(tmp_path / "m.arrow")
    model().save(Path(file))
    assert write_method(Learned(file)) == shlex.join(["learned", f'model="{file}"'])
    for method in (Learned(file), Learned(file, threshold=0.4, calibrate=False), Learned()):
        assert read_method(write_method(method)) == method


def test_short_documents_are_duplicates_of_equal_ones_only() -> None:
    short = "a note of a few words"
    texts = [short, short, f"{short} more", LONG, LONG.upper(), "", " "]
    pairs = nd.find(texts, method="learned").pairs.to_pylist()
    assert {(row["a"], row["b"], row["score"]) for row in pairs} == {
        ("input:1", "input:2", 1.0),
        ("input:4", "input:5", 1.0),
        ("input:6", "input:7", 1.0),
    }


def ragged(parts: list[Any], dtype: Any) -> Ragged:
    return Ragged(np.concatenate(parts).astype(dtype), offsets_of(np.array([*map(len, parts)])))


def with_gram(profile: Any, families: tuple[str, ...], weight: int, sort: int) -> Any:
    """The profile and one gram more, the last one of the last family."""
    heads = profile[: len(families)].copy()
    heads[-1] += 1
    last = np.array([0xFFFFFFFF << 32 | weight << 2 | sort], np.uint64)
    return np.concatenate([heads, profile[len(families) :], last])


some_words = st.lists(st.sampled_from([f"word{i}" for i in range(12)]), min_size=1, max_size=40)


@given(some_words, some_words, st.integers(1, 1 << 20), st.sampled_from([RARE, COMMON, LONE]))
@examples(15)
def test_one_more_gram_in_common_never_scores_lower(
    one: list[str], other: list[str], weight: int, sort: int
) -> None:
    method = Learned(min_words=0)
    assert method.families[-1] == "chars8"
    evidence = signed(method, [" ".join(one), " ".join(other)])[0].evidence
    nearer = [with_gram(evidence[i], method.families, weight, sort) for i in (0, 1)]
    both = Ragged.concat([evidence, ragged(nearer, np.uint64)], np.uint64)
    before, after = method.score(both, np.array([0, 2]), np.array([1, 3])).score
    assert after >= before


def scored_pairs(method: Learned, texts: list[str]) -> set[tuple[int, int]]:
    """Twin of a run: every pair is scored."""
    evidence = signed(method, texts)[0].evidence
    a, b = all_pairs(len(texts))
    passed = method.score(evidence, a, b).passed
    return {*zip(a[passed].tolist(), b[passed].tolist(), strict=True)}


def found_pairs(method: Learned, texts: list[str]) -> set[tuple[int, int]]:
    pairs = nd.find(texts, method=method).pairs
    sides = (pairs[side].to_pylist() for side in ("a", "b"))
    numbers = [[int(id.removeprefix("input:")) - 1 for id in side] for side in sides]
    return {(min(pair), max(pair)) for pair in zip(*numbers, strict=True)}


def test_documents_that_should_meet_do() -> None:
    """Whatever was done to a copy: of pairs that share what is stated none is missed, and hardly
    one of the others."""
    docs = documents(150)
    texts = [*(doc["text"] for doc in docs), *planted(docs, per_edit=4)["text"].to_pylist()]
    method = Learned(calibrate=False)
    there, found = scored_pairs(method, texts), found_pairs(method, texts)
    assert len(there) > 200
    assert found <= there
    assert len(there - found) <= 0.01 * len(there)
    evidence = signed(method, texts)[0].evidence
    for a, b in there - found:
        families = similarity.compared(evidence, np.array([a]), np.array([b]), method.families)
        assert similarity.measured(families, ["chars8_jaccard"])[0, 0] < profiles.LEAST_SHARE


@pytest.mark.parametrize("share", [profiles.LEAST_SHARE, 0.1, 0.05])
def test_the_miss_rate_is_at_most_the_stated_one(share: float) -> None:
    """Pairs of sets of rare grams, of which a known share is common."""
    draw, trials, size = np.random.default_rng(2), 600, 300
    common = round(size * 2 * share / (1 + share))
    table = Frequencies(
        SlotCounts.of(np.full(1 << 12, 2, np.uint16)), 1000, Grams(8, "characters", 4), Text()
    )
    sets = []
    for _ in range(trials):
        grams = draw.integers(0, 1 << 32, 2 * size - common, np.uint32)
        sets += [np.sort(grams[:size]), np.sort(grams[size - common :])]
    keys, _ = profiles.keys_of(ragged(sets, np.uint32), table)
    shared = [len(np.intersect1d(keys[i], keys[i + 1])) for i in range(0, 2 * trials, 2)]
    missed = np.mean(np.array(shared) < profiles.LEAST_SHARED)
    stated = sum(
        comb(profiles.RARE_KEYS, n) * share**n * (1 - share) ** (profiles.RARE_KEYS - n)
        for n in range(profiles.LEAST_SHARED)
    )
    assert missed <= stated + 3 * (stated / trials) ** 0.5
    assert share != profiles.LEAST_SHARE or stated == pytest.approx(Learned.miss_rate)


def table_of(counts: Sequence[int], documents: int = 2000) -> Frequencies:
    slots = SlotCounts.of(np.array(counts, np.uint16))
    return Frequencies(slots, documents, Grams(8, "characters", 4), Text())


@given(st.integers(0, 2**32 - 1), st.integers(1, 900), st.sampled_from([1, 3, 30, 300]))
@examples(20)
def test_keys_are_those_of_the_twin(seed: int, size: int, most: int) -> None:
    draw = np.random.default_rng(seed)
    table = table_of(draw.integers(0, most, 1 << 12).tolist())
    sets = [np.unique(draw.integers(0, 1 << 32, n, np.uint32)) for n in (size, 2, 0)]
    keys, probes = profiles.keys_of(ragged(sets, np.uint32), table)
    bands, _ = band_keys(ragged(sets, np.uint32), profiles.BANDS)
    for row, grams in enumerate(sets):
        counts = dict(zip(grams.tolist(), table.counts_of(grams).tolist(), strict=True))
        assert keys[row].tolist() == twin.keys(counts, bands[row].tolist())
    assert probes.tolist() == keys.lengths.tolist()


def copied(count: int) -> list[str]:
    """Short documents of few words, some with many words of their own, and some copies."""
    draw = random.Random(5)
    words = ["".join(draw.choices("aeioulmnrst", k=6)) for _ in range(300)]
    texts = []
    for i in range(count):
        own = [f"{draw.getrandbits(60):x}" for _ in range(draw.choice([0, 0, 8]))]
        text = " ".join([*draw.choices(words, k=40), *own])
        texts.append(draw.choice(texts) if i % 9 == 8 else text)
    return [*texts, "too short", "", *HOSTILE[:4]]


@pytest.mark.parametrize("count", [60, 1100])  # noise is marked in a collection of 1,000
def test_documents_that_are_weighed_last_are_as_others(count: int) -> None:
    method, texts = Learned(), copied(count)
    artefacts = resolved(method.needs, batch(texts))
    once = method.prepare(batch(texts), artefacts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Learned, "weighs_last", False)
        twice = Learned().prepare(batch(texts), artefacts)
    words = similarity.section(once.evidence, method.families, "words1").values & np.uint64(3)
    assert (words == twin.NOISE).any() == (count > 1000)
    assert once.too_short.any()
    for field in ("keys", "evidence"):
        one, other = getattr(once, field), getattr(twice, field)
        assert one.values.tolist() == other.values.tolist()
        assert one.offsets.tolist() == other.offsets.tolist()
    for field in ("probes", "digests", "text_digests", "normal_digests", "flags"):
        assert (getattr(once, field) == getattr(twice, field)).all()


def test_keys_of_a_closed_collection_lack_what_nobody_shares() -> None:
    method, texts = Learned(), copied(60)
    artefacts = resolved(method.needs, batch(texts))
    read = method.read_unweighed(batch(texts))
    whole = method.prepare(batch(texts), artefacts)
    closed = method.weigh(read.prepared, artefacts, closed=True)
    numbers, counts = np.unique(whole.keys.values, return_counts=True)
    shared = numbers[counts > 1]
    assert len(closed.keys.values) < len(whole.keys.values)
    for row in range(len(texts)):
        assert set(closed.keys[row].tolist()) <= set(whole.keys[row].tolist())
        assert (np.isin(shared, whole.keys[row]) == np.isin(shared, closed.keys[row])).all()


def test_what_is_counted_while_reading_is_what_is_counted_before() -> None:
    method, texts = Learned(), copied(60)
    counted = method.read_unweighed(batch(texts)).counted
    for need in method.needs:
        counter = need.counter()
        counter.add(counted[need.name])
        assert counter.finish().digest == resolved([need], batch(texts))[need.name].digest


@pytest.mark.parametrize("every", [1, 3])
def test_rare_grams_and_noise_are_those_of_the_twin(every: int) -> None:
    method, texts = Learned(), copied(1100)
    evidence = signed(method, texts)[0].evidence
    grams = similarity.section(evidence, method.families, "chars8")
    words = similarity.section(evidence, method.families, "words1")
    found = method.rare_entries(evidence, every)
    for row in range(len(texts)):
        own = grams[row].tolist()
        assert found.entries[row].tolist() == twin.rare(own, LOW_GRAMS, every)
        assert found.weights[row] == 4 * twin.known(own)
        plain = [entry & ~1 if entry % 4 == twin.NOISE else entry for entry in words[row].tolist()]
        assert words[row].tolist() == twin.marked(plain)
    long = grams.lengths >= LOW_GRAMS
    assert found.may.tolist() == long.tolist() == method.may_be_exceptions(evidence).tolist()


def press(data: Path, count: int) -> list[dict[str, str]]:
    """Articles of which none is known to resemble another by 0.3 or more."""
    folder = data / "press_de"
    alike = {row[side] for row in rows(folder / "silver_jaccard.jsonl.zst") for side in "ab"}
    alone = [doc for doc in rows(folder / "docs.jsonl.zst") if doc["id"] not in alike]
    return [{"id": doc["id"], "text": doc["text"]} for doc in alone[:: len(alone) // count][:count]]


def test_copies_with_every_fifth_character_wrong_are_found(data: Path) -> None:
    docs = press(data, 1000)
    copies = planted(docs, ["ocr=0.2", "scan=0.2", "typing=0.2"], 30).to_pylist()
    of = {copy["id"]: copy["of"] for copy in copies}
    given = [*docs, *({"id": copy["id"], "text": copy["text"]} for copy in copies)]
    pairs = nd.find(given, method="learned").pairs.to_pylist()
    about = [(row["a"], row["b"]) for row in pairs if row["a"] in of or row["b"] in of]
    right = sum(of.get(a, a) == of.get(b, b) for a, b in about)
    assert right >= 0.9 * len(of)
    assert right >= 0.9 * len(about)


def test_parameters_that_cannot_be() -> None:
    for wrong in ({"templates": "maybe"}, {"min_words": -1}, {"threshold": 1.5}):
        with pytest.raises(SettingsError):
            Learned(**wrong)  # type: ignore[arg-type]
