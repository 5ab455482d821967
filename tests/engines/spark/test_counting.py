"""Counted in parts, on several machines, an artefact is the one that is counted at once."""

from __future__ import annotations

import pyarrow as pa
import pytest

from neardup.artefacts import frequencies
from neardup.artefacts.artefact import Mergeable, Need
from neardup.artefacts.frequencies import FrequencyNeed, Grams
from neardup.artefacts.idf import IdfNeed
from neardup.artefacts.outline import OutlineNeed
from neardup.testing import HOSTILE
from neardup.text.text_options import Text

TEXTS = [*HOSTILE, *(f"word{i} word{i % 7} and word{i % 3} again " * 4 for i in range(60))]
NEEDS = [
    IdfNeed(None, "words", Text()),
    FrequencyNeed(None, Grams(2), Text()),
    FrequencyNeed(None, Grams(1), Text()),
    OutlineNeed(Text()),
]


def counter(need: Need, texts: list[str]) -> Mergeable:
    made = need.counter()
    assert isinstance(made, Mergeable)
    made.add(made.count(pa.record_batch({"text": pa.array(texts, pa.large_string())})))
    return made


@pytest.mark.parametrize("held", [frequencies.HELD, 10])  # features before there is a table
@pytest.mark.parametrize("need", NEEDS, ids=str)
def test_merged_is_counted_at_once(need: Need, held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frequencies, "HELD", held)
    monkeypatch.setattr(frequencies, "MOST_SLOTS", 1 << 20)
    whole = counter(need, TEXTS).finish()
    merged = counter(need, TEXTS[:5])
    between = counter(need, TEXTS[5:30])
    between.merge(counter(need, TEXTS[30:]).partial())
    merged.merge(between.partial())
    assert merged.finish().digest == whole.digest
