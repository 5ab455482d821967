"""The reason of a document is the same in the table of a run and in the entry of an index."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.rule import duplicate_reason, kept_reason, notes, reasons, with_notes
from neardup.methods.base import MOSTLY_NUMBERS, TOO_SHORT, UNDATED
from neardup.methods.rareshingles import Rareshingles

FLAGS = st.integers(0, 15)
DOCUMENT = st.tuples(st.booleans(), FLAGS, st.booleans(), st.sampled_from([0.1, 0.4, 0.9]))


@given(st.lists(DOCUMENT, max_size=20))
def test_a_table_gives_the_reasons_of_single_documents(
    documents: list[tuple[bool, int, bool, float]],
) -> None:
    method = Rareshingles()
    kept, copies = (np.array([one[at] for one in documents], bool) for at in (0, 2))
    flags = np.array([one[1] for one in documents], np.uint8)
    score = np.array([one[3] for one in documents])
    short = (flags & TOO_SHORT) != 0
    made = with_notes(reasons(method, kept, short, copies, score), notes(flags)).to_pylist()
    for (is_kept, flag, has_copies, value), reason in zip(documents, made, strict=True):
        one = kept_reason(flag, has_copies) if is_kept else duplicate_reason(method, flag, value)
        assert reason == one


def test_the_words() -> None:
    method = Rareshingles()
    assert kept_reason(0, 0) == "unique"
    assert kept_reason(UNDATED | MOSTLY_NUMBERS, 2) == "representative (undated, mostly_numbers)"
    assert kept_reason(TOO_SHORT, 1) == "too_short"
    assert duplicate_reason(method, TOO_SHORT, 1.0) == "equal"
    assert duplicate_reason(method, UNDATED, 0.4) == f"{method.reason} (undated)"
    assert duplicate_reason(method, 0, 0.39) == method.exception_reason
