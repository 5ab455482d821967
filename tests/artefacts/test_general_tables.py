"""The tables that come with neardup, for an index that has no documents yet."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from neardup.artefacts.artefact import GENERAL, resolved
from neardup.artefacts.frequencies import (
    UNKNOWN_COUNT,
    FrequencyNeed,
    Grams,
    general_shingles,
    shingle_sets,
)
from neardup.artefacts.idf import FILTERS, IdfNeed, general_words
from neardup.artefacts.outline import OutlineNeed, unlike
from neardup.methods.learned import Learned
from neardup.schema import Ragged
from neardup.text.text_options import Text

TEXTS = pa.array(
    ["if you want to do it in the same way", "crimson walruses juggle seven oboes"],
    pa.large_string(),
)


def test_the_shipped_tables_are_the_ones_that_were_counted() -> None:
    # Indexes name them: new ones are new tables, and a line in the changelog.
    assert general_shingles().digest == "964c5afec82d678e1cfeea29e4a7eb12"
    assert general_words().digest == "26c740de21770b4ff0d10a2cd0b4a713"


def test_what_is_not_known_may_be_in_another_document() -> None:
    """Else nothing that two new documents share would count as shared."""
    table = general_shingles()
    sets = shingle_sets(Ragged.of_strings(TEXTS), 3, Text())
    common, rare = (table.counts_of(features) for features in (sets[0], sets[1]))
    assert np.median(rare) == UNKNOWN_COUNT
    assert np.median(common) > 20
    assert table.counts.unpacked().min() == UNKNOWN_COUNT


@pytest.mark.parametrize("grams", [Grams(1), Grams(5), Grams(8, "characters", 4)])
def test_of_other_features_nothing_is_known(grams: Grams) -> None:
    table = FrequencyNeed(None, grams, Text()).general()
    assert (table.grams, set(table.counts.unpacked().tolist())) == (grams, {UNKNOWN_COUNT})
    stripped = Text(diacritics="strip")
    assert FrequencyNeed(None, Grams(3), stripped).general().text == stripped


@pytest.mark.parametrize("filter_", FILTERS)
def test_words_as_a_filter_takes_them(filter_: str) -> None:
    table = IdfNeed(None, filter_, Text()).general()
    counts = dict(zip(table.terms.to_pylist(), table.counts.tolist(), strict=True))
    assert counts["the"] > counts["would"] > counts["minister"] >= table.min_count > 1
    assert ("in" in counts) == (filter_ != "alpha")
    assert (np.diff(table.counts.astype(np.int64)) >= 0).all()


def test_words_as_other_options_read_them() -> None:
    plain = IdfNeed(None, "words", Text()).general()
    masked = IdfNeed(None, "words", Text(digits="mask", diacritics="strip")).general()
    assert "für" in plain.terms.to_pylist()
    assert "fur" in masked.terms.to_pylist()
    assert not {"für", "2"} & set(masked.terms.to_pylist())
    assert masked.counts.max() <= masked.documents == plain.documents


def test_a_method_names_them_in_the_place_of_a_file() -> None:
    batch = pa.RecordBatch.from_arrays([TEXTS], ["text"])
    words, idf = FrequencyNeed(GENERAL, Grams(3), Text()), IdfNeed(GENERAL, "words", Text())
    found = resolved([words, idf], batch)
    assert found["frequencies"].digest == general_shingles().digest
    assert found["idf"].digest == general_words().digest


def test_no_collection_is_unlike_nothing() -> None:
    outline = OutlineNeed(Text()).general()
    assert not unlike(outline, Learned().discriminant.trained["outline"])
