"""Sampled grams by their rarity against plain Python; nested samples; templates; thin pairs."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import api as nd
from neardup.artefacts.artefact import Artefacts
from neardup.artefacts.frequencies import Frequencies, FrequencyCounter, Grams, load_frequencies
from neardup.engines.index.index import Index
from neardup.errors import SettingsError
from neardup.features.qgrams import sampled_grams
from neardup.methods.minhash import multipliers
from neardup.methods.raregrams import BANDS, OTHER_FIGURES, THIN, Raregrams
from neardup.schema import Ragged
from neardup.testing import batch, resolved
from neardup.text.text_options import Text
from reference import raregrams as twin
from repeats import examples

PLAIN = Raregrams(calibrate=False)
PIECES = (
    "the pier of ",
    "Grand Hotel, ",
    "東京都",
    "は首都である。",
    "café 3.5 ",
    "naïve ",
    "ไทย ",
    "москва ",
    "٠١٢٣٤ ",
    "x2 ",
)


@st.composite
def collections(draw: st.DrawFn) -> list[str]:
    """Texts of shared and of own pieces, some of them long enough to be sampled coarsely."""
    long = " ".join(f"sentence{i} of the common text" for i in range(draw(st.integers(0, 200))))
    texts = []
    for d in range(draw(st.integers(1, 5))):
        some = "".join(draw(st.lists(st.sampled_from(PIECES), max_size=25)))
        own = " ".join(f"own{d}word{i}" for i in range(draw(st.sampled_from([0, 3, 30]))))
        begins = draw(st.integers(0, len(long)))
        texts.append(f"{long[:begins]} {some} {own}")
    return texts


def counted(method: Raregrams, texts: list[str]) -> Artefacts:
    return resolved(method.needs, batch(texts))


def table_of(known: Artefacts) -> Frequencies:
    table = known["frequencies"]
    assert isinstance(table, Frequencies)
    return table


@given(collections(), collections(), st.booleans())
@examples(20)
def test_evidence_keys_and_scores_equal_the_twin(
    texts: list[str], others: list[str], refuse: bool
) -> None:
    """With a table of these texts, and with one that does not know half of them."""
    method = Raregrams(
        calibrate=False, templates="refuse" if refuse else "accept", min_words=0, threshold=0.3
    )
    known = counted(method, texts)
    every = [*texts, *others]
    prepared = method.prepare(batch(every), known)
    table = twin.table(texts, len(table_of(known).counts))
    documents = [twin.document(text, table) for text in every]
    functions = multipliers(BANDS.values)[: BANDS.values].tolist()
    compared = [i for i, made in enumerate(documents) if len(made.grams) >= 8]
    for i in compared:
        assert prepared.evidence[i].tolist() == twin.entries(documents[i])
        keys, looking = twin.keys(documents[i], functions, refuse=refuse)
        assert prepared.keys[i].tolist() == keys
        assert prepared.probes[i] == looking
    for i in compared:
        for j in compared:
            pair = np.array([i]), np.array([j])
            answer = twin.compared(documents[i], documents[j])
            found = method.comparisons(prepared.evidence, *pair)
            assert found.score[0] == pytest.approx(float(answer.score), abs=1e-12)
            assert found.thin[0] == answer.thin
            assert found.refused[0] == (answer.template and refuse)
            passes = answer.score >= Fraction(3, 10) and not answer.thin
            passes = passes and not (answer.template and refuse)
            assert method.score(prepared.evidence, *pair).passed[0] == passes


@given(st.integers(0, 4000), st.sampled_from([16, 100, 1024]))
@examples(15)
def test_a_coarser_sample_is_part_of_a_finer_one(words: int, most: int) -> None:
    text = " ".join(f"word{i * i}" for i in range(words))
    texts = Ragged.of_strings(batch([text]).column("text"))
    fine, coarse = (sampled_grams(texts, 8, Text(), m).values for m in (1 << 20, most))
    level = int(coarse[0] >> np.uint64(2)) - 1
    levels = fine[1:] >> np.uint64(24) & np.uint64(31)
    assert coarse[1:].tolist() == fine[1:][levels >= level].tolist()
    assert len(coarse) <= 2 * most + 10


def test_a_text_that_repeats_itself_for_megabytes_has_a_small_sample() -> None:
    texts = Ragged.of_strings(batch(["ab" * 2_000_000]).column("text"))
    assert len(sampled_grams(texts, 8, Text(), 1024).values) <= 3


def test_golden_evidence_and_keys() -> None:
    text = "a golden text of nine words, and a bit more"
    counter = FrequencyCounter(Grams(8, "characters", sample=512), Text())
    counter.add(counter.count(batch([text, "a golden text of five", "a golden one"])))
    prepared = Raregrams(min_words=0).prepare(batch([text]), {"frequencies": counter.finish()})
    assert prepared.evidence.values[:4].tolist() == GOLDEN_EVIDENCE
    assert prepared.keys.values[:3].tolist() == GOLDEN_KEYS


GOLDEN_EVIDENCE = [4, 472588591814425046, 951057672327674326, 1497443285591931350]
GOLDEN_KEYS = [294506995853339199, 307662649878123751, 581441551600451139]

TEMPLATE = " ".join(f"notice{i}" for i in range(60))
STUBS = [f"{TEMPLATE} {' '.join(f'story{d}word{i}' for i in range(20))}" for d in range(30)]
ARTICLE = [f"line{i * 7919}" for i in range(80)]
COPIES = [" ".join([*ARTICLE[:d], f"other{d}", *ARTICLE[d + 1 :]]) for d in range(30)]


def test_filled_templates_are_no_duplicates_and_copies_are() -> None:
    assert nd.dedup(STUBS, method=PLAIN).counts.duplicates == 0
    both = nd.dedup([*STUBS, *COPIES], method=PLAIN)
    assert both.counts.duplicates == 29
    assert set(both.duplicates["kept_id"].to_pylist()) == {"input:31"}


def test_templates_can_be_accepted() -> None:
    accepting = Raregrams(calibrate=False, templates="accept")
    assert nd.dedup(STUBS, method=accepting).counts.duplicates == 29


def test_a_shared_passage_is_no_duplicate_where_all_else_is_unknown() -> None:
    """In a small collection only the passage is known, so the score alone would be near 1."""
    passage = " ".join(f"passage{i}" for i in range(20))
    texts = [f"{' '.join(f'own{d}word{i}' for i in range(80))} {passage}" for d in range(2)]
    assert nd.dedup(texts, method=PLAIN).counts.duplicates == 0
    evidence = PLAIN.prepare(batch(texts), counted(PLAIN, texts)).evidence
    pair = np.array([0]), np.array([1])
    assert PLAIN.whole_score(evidence, *pair)[0] > 0.9
    assert PLAIN.refusals(evidence, *pair) == [THIN]


def test_a_long_document_meets_its_longer_version() -> None:
    """They are sampled at different rates."""
    words = [f"word{i * 31 % 9973}" for i in range(4000)]
    texts = [" ".join(words[:2200]), " ".join(words[:3200])]
    assert nd.dedup(texts, method=PLAIN).counts.duplicates == 1


def test_versions_of_what_the_table_does_not_know_meet(tmp_path: Path) -> None:
    old = [" ".join(f"old{d}word{i}" for i in range(40)) for d in range(10)]
    nd.dedup(old, method=PLAIN).save(tmp_path / "old")
    table = str(tmp_path / "old" / "artefacts" / "frequencies.arrow")
    assert load_frequencies(Path(table)).grams == Grams(8, "characters", sample=512)
    decided = nd.dedup(COPIES[:2], method=Raregrams(calibrate=False, frequencies=table))
    assert decided.counts.duplicates == 1


def test_an_empty_index_decides_by_a_general_table() -> None:
    with Index.open("memory:", method=Raregrams(calibrate=False, frequencies="general")) as index:
        index.add_many([{"id": str(i), "text": text} for i, text in enumerate(COPIES[:5])])
        index.add({"id": "other", "text": STUBS[0]})
        decided = index.decisions()["decision"].to_pylist()
    assert decided == ["kept", *["duplicate"] * 4, "kept"]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"templates": "maybe"}, "templates is 'maybe'; expected 'refuse' or 'accept'"),
        ({"min_words": -1}, "min_words is -1"),
        ({"threshold": 0}, "threshold"),
        ({"text": Text(stem="english")}, "text.stem"),
    ],
)
def test_what_has_no_meaning_is_refused(parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        Raregrams(**parameters)


def test_documents_that_fill_one_template_do_not_all_meet() -> None:
    template = " ".join(f"notice{i}" for i in range(60))
    rng = np.random.default_rng(6)
    stories = [" ".join(map(str, rng.integers(10**8, 10**9, 60))) for _ in range(300)]
    stubs = [f"{template} {story}" for story in stories]
    assert nd.dedup(stubs, method=PLAIN).info["candidates"] < 10 * len(stubs)


def test_reports_in_series_are_refused_and_copies_of_one_are_not() -> None:
    """The same sentences with all figures changed; the copy has other words and the figures."""
    draw = random.Random(7)
    words = ["".join(draw.choices("abdeghiklmnorstu", k=7)) for _ in range(80)]

    def report(day: int) -> str:
        figures = (
            f"{word} {day * 7919 * i % 90_000 + 10_000}" for i, word in enumerate(words[:16])
        )
        return " ".join([*figures, *words[16:]])

    texts = [report(day) for day in range(1, 6)]
    copy = texts[0].replace(words[40], "else").replace(words[60], "different")
    assert nd.dedup(texts, method=PLAIN).counts.duplicates == 0
    assert nd.dedup([*texts, copy], method=PLAIN).counts.duplicates == 1
    accepting = Raregrams(calibrate=False, templates="accept")
    assert nd.dedup(texts, method=accepting).counts.duplicates == 4
    evidence = PLAIN.prepare(batch(texts), counted(PLAIN, texts)).evidence
    assert PLAIN.refusals(evidence, np.array([0]), np.array([1])) == [OTHER_FIGURES]


@pytest.mark.parametrize("count", [24, 150])
def test_versions_of_a_large_family_are_no_template(count: int) -> None:
    """Versions differ in what many of them have; a headline takes the place of nothing."""
    draw = random.Random(count)
    words = ["".join(draw.choices("abdeghiklmnorstu", k=6)) for _ in range(400)]
    page = draw.choices(words, k=250)
    others = [" ".join(draw.choices(words, k=120)) for _ in range(50)]
    slots = draw.sample(range(250), 30)

    def version() -> str:
        """One of two wordings in many places, and three words of its own."""
        made = [*page]
        for at in slots:
            made[at] = draw.choice([page[at], words[at]])
        for at in draw.sample(range(250), 3):
            made[at] = "".join(draw.choices("abdeghik", k=8))
        return " ".join(made)

    versions = [version() for _ in range(count)]
    headlines = [
        " ".join([*("".join(draw.choices("abdeghik", k=8)) for _ in range(8)), *page])
        for _ in range(count)
    ]
    assert nd.dedup([*others, *versions]).counts.duplicates >= 0.95 * (count - 1)
    assert nd.dedup([*others, *headlines]).counts.duplicates == 0
