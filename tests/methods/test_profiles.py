"""Profiles against plain Python: every family, every script, any batch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.artefacts.artefact import Artefacts
from neardup.artefacts.frequencies import Frequencies
from neardup.features.similarity import (
    FAMILIES,
    KNOWN,
    MADE_OF,
    MEASURES,
    SUMMED,
    VERSION,
    families_of,
    vectors,
)
from neardup.methods.profiles import frequency_name, needs, profiles
from neardup.schema import Ragged
from neardup.testing import HOSTILE, batch, resolved
from neardup.text.text_options import Text
from reference import aligned
from reference import profiles as twin
from reference.similarity import row_of

EVERY = tuple(KNOWN)  # measures, and so all families

PIECES = (
    *("the", "Pier", "pier", "STRASSE", "café", "3", "2024", "x2", "۱۲", "１２", "मेल१२", "3.5"),
    *("東京都", "は", "ไทย", "🙂", "👍", ".", "!", "。", "?", "\n\n", "-"),
)
TEXTS = st.lists(
    st.lists(st.sampled_from(PIECES), max_size=20).flatmap(
        lambda some: st.sampled_from([" ".join(some), "".join(some)])
    ),
    min_size=1,
    max_size=4,
)


def counted(texts: list[str], text: Text | None = None) -> Artefacts:
    return resolved(needs(text or Text(), EVERY), batch(texts))


def made(
    texts: list[str], known: Artefacts, measures: Sequence[str] = EVERY, text: Text | None = None
) -> Ragged:
    return profiles(batch(texts), known, text or Text(), measures)


def rows(made: Ragged) -> list[list[int]]:
    return [made[i].tolist() for i in range(len(made))]


def expected(texts: list[str], collection: list[str], known: Artefacts) -> list[list[int]]:
    tables = {}
    for family in twin.GRAMS:
        table = known[frequency_name(family)]
        assert isinstance(table, Frequencies)
        tables[family] = twin.table(collection, family, len(table.counts))
    return [whole_row(text, tables) for text in texts]


def whole_row(text: str, tables: dict[str, twin.Table]) -> list[int]:
    """Of all families: those that are sets, the words in their order, and no date."""
    sets = row_of([twin.features(text, f, tables.get(f, tables["words1"])) for f in SUMMED])
    in_order = aligned.stored(twin.word_features(text))
    return [*sets[: len(SUMMED)], len(in_order), 0, *sets[len(SUMMED) :], *in_order]


@given(TEXTS, TEXTS)
def test_profiles_equal_twin(collection: list[str], others: list[str]) -> None:
    """Of documents that were counted, and of new ones."""
    known = counted(collection)
    texts = collection + others
    assert rows(made(texts, known)) == expected(texts, collection, known)


def test_what_many_documents_have_is_common() -> None:
    texts = [f"all have this, {['a few', 'some'][i % 2]} this, and one {i}" for i in range(41)]
    known = counted(texts)
    found = made(texts, known)
    assert rows(found) == expected(texts, texts, known)
    begin, sets = len(FAMILIES), int(found[1][: len(SUMMED)].sum())
    classes = {int(entry) & 3 for entry in found[1][begin : begin + sets]}
    assert classes == {0, 1, 2}


def test_only_the_heaviest_words_are_keywords() -> None:
    """More of them than are taken, with ties, in a document and in a sentence."""
    text = " ".join(f"w{i // 2}" for i in range(120)) + ". " + " ".join(f"w{i}" for i in range(60))
    known = counted([text, "w3 w4 w5"])
    assert rows(made([text], known)) == expected([text], [text, "w3 w4 w5"], known)


@pytest.mark.parametrize(
    "text", [Text(), Text(stem="english", stop_words="english", digits="mask")]
)
def test_a_document_alone_has_the_profile_it_has_in_a_batch(text: Text) -> None:
    texts = [*HOSTILE, "after covid19s.", "covid19", "", "x"]
    known = counted(texts, text)
    whole = rows(made(texts, known, text=text))
    assert whole == [rows(made([one], known, text=text))[0] for one in texts]
    halves = [made(part, known, text=text) for part in (texts[:5], texts[5:])]
    assert whole == rows(halves[0]) + rows(halves[1])


def test_stems_of_numbers_are_numbers() -> None:
    text = Text(stem="english")
    texts = ["after covid19s", "covid19", "not then"]
    known = counted(texts, text)
    found = made(texts, known, ("numbers_dice",), text)
    assert vectors(found, np.array([0, 0]), np.array([1, 2]), ("numbers_dice",)).tolist() == [
        [1.0],
        [0.0],
    ]


def test_dates_are_read_from_their_column() -> None:
    table = pa.record_batch(
        {
            "text": pa.array(["a b", "a c", "d"], pa.large_string()),
            "day": ["2024-02-28", "2024-03-01", "soon"],
        }
    )
    names = ("date_day", "aligned_dice")
    found = profiles(table, {}, Text(), names, date="day")
    a, b = np.array([0, 0]), np.array([1, 2])
    assert vectors(found, a, b, names).tolist() == [[1 / 3, 0.5], [0.5, 0.0]]


def test_a_slice_of_a_batch_and_an_empty_one() -> None:
    texts = ["one two three", "four five 6", "seven. eight."]
    known = counted(texts)
    part = profiles(batch(texts).slice(1, 2), known, Text(), EVERY)
    assert rows(part) == rows(made(texts, known))[1:]
    assert rows(made([], known)) == []


@pytest.mark.parametrize(
    ("measure", "tables"),
    [("words3_jaccard", 1), ("numbers_dice", 1), ("length_ratio", 1), ("aligned_dice", 0)],
)
def test_profiles_hold_and_need_only_what_is_asked_for(measure: str, tables: int) -> None:
    texts = ["call 5 ferries on 6 May", "call 5 boats"]
    wanted = needs(Text(), (measure,))
    assert len(wanted) == tables
    found = made(texts, resolved(wanted, batch(texts)), (measure,))
    whole = vectors(made(texts, counted(texts)), np.array([0]), np.array([1]), EVERY)
    assert len(families_of((measure,))) == 1
    alone = vectors(found, np.array([0]), np.array([1]), (measure,))
    assert alone[0, 0] == whole[0, EVERY.index(measure)]


GOLDEN = {
    "words1_idf": 0.617030957991387,
    "words1_known": 0.8214131187262028,
    "words3_jaccard": 0.34782608695652173,
    "words3_idf": 0.33358297413793103,
    "words3_known": 0.7894750264590745,
    "words3_known_containment": 1.0,
    "words3_rare_containment": 1.0,
    "words5_jaccard": 0.22727272727272727,
    "words5_known": 0.8333333333333334,
    "words5_rare_containment": 1.0,
    "chars8_jaccard": 0.55,
    "chars8_of_larger": 0.6470588235294118,
    "chars8_containment": 0.7857142857142857,
    "chars8_idf": 0.527135837306607,
    "chars8_known": 0.8400007752839478,
    "chars8_known_containment": 1.0,
    "chars8_rare": 0.8400007752839478,
    "chars8_rare_containment": 1.0,
    "keywords_cosine": 0.5157824724681164,
    "numbers_dice": 0.5,
    "length_ratio": 0.9444444444444444,
    "aligned_dice": 30 / 35,
    "aligned_containment": 15 / 17,
    "aligned_of_larger": 15 / 18,
    "aligned_run": 9 / 17,  # ferry pier … found
}


def test_golden_vector() -> None:
    """Stored models weigh these numbers: if one moves, VERSION steps and models are refused."""
    assert VERSION == 1
    a = "On 3 May the old ferry pier at Marrow Harbour was closed. Divers found worms in 19 piles."
    b = "On 4 May the ferry pier at Marrow Harbour was closed; divers found shipworm in 19 piles!"
    texts = [
        a,
        b,
        "The old ferry pier at Dun was closed in May: divers found 3.",
        "東京都は19日に発表した。",
    ]
    names = tuple(GOLDEN)
    known = resolved(needs(Text(), names), batch(texts))
    found = vectors(made(texts, known, names), np.array([0]), np.array([1]), names)
    assert {*MEASURES} <= GOLDEN.keys()
    assert dict(zip(names, found[0].tolist(), strict=True)) == pytest.approx(GOLDEN, abs=1e-12)


def test_the_page_names_every_family_and_measure() -> None:
    page = Path(__file__).parents[2].joinpath("docs", "similarity.md").read_text("utf-8")
    assert [name for name in (*FAMILIES, *MADE_OF, *MEASURES) if f"`{name}`" not in page] == []
