"""The kernel of passages: what it finds is exact, complete, and bounded on hostile input."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.schema import Ragged, offsets_of
from neardup.text.text_options import Text
from reference.passages import covered

# document, begin, end, source, begin and end there, words that agree
Copy = tuple[int, int, int, int, int, int, int]


def finder(words: int, gap: int = 0, gram: int = 2, window: int = 3) -> _native.Copies:
    return _native.Copies(words, min(gram, words), window, gap, 1000, 75)


def held(found: _native.Copies, documents: Sequence[Sequence[int]]) -> _native.Copies:
    flat = np.array([word + 1 for document in documents for word in document], np.uint64)
    found.hold(flat, offsets_of(np.array([len(document) for document in documents], np.int64)))
    return found


def copies_of(found: _native.Copies) -> list[Copy]:
    return [tuple(row) for row in found.copies().reshape(-1, 7).tolist()]


def in_order(found: _native.Copies, documents: Sequence[Sequence[int]]) -> list[Copy]:
    held(found, documents)
    found.find(np.arange(len(documents), dtype=np.uint32))
    return copies_of(found)


few_words = st.lists(st.lists(st.integers(0, 3), max_size=60), max_size=6)


@given(few_words, st.integers(4, 9))
def test_exactly_what_stands_earlier_is_found(documents: list[list[int]], words: int) -> None:
    found: list[set[int]] = [set() for _ in documents]
    for document, begin, end, source, at, until, matched in in_order(finder(words), documents):
        assert documents[document][begin:end] == documents[source][at:until]
        assert end - begin == matched >= words
        assert (source, at) < (document, begin)
        found[document] |= set(range(begin, end))
    assert found == covered(documents, words)


@given(few_words, st.integers(5, 9))
def test_copies_with_gaps_have_everything_that_exact_ones_have(
    documents: list[list[int]], words: int
) -> None:
    found: list[set[int]] = [set() for _ in documents]
    for document, begin, end, _, at, until, matched in in_order(finder(words, gap=3), documents):
        assert matched * 100 >= 75 * max(end - begin, until - at)
        found[document] |= set(range(begin, end))
    exact = covered(documents, words)
    assert all(inside <= more for inside, more in zip(exact, found, strict=True))


@given(few_words)
def test_an_index_finds_the_copies_of_other_documents(documents: list[list[int]]) -> None:
    found = held(finder(5), documents[:3])
    found.index()
    others = documents[3:]
    flat = np.array([word + 1 for document in others for word in document], np.uint64)
    offsets = offsets_of(np.array([len(document) for document in others], np.int64))
    rows = found.against(flat, offsets).reshape(-1, 7).tolist()
    for number, document in enumerate(others):
        inside = {i for row in rows if row[0] == number for i in range(row[1], row[2])}
        runs = {tuple(old[i : i + 5]) for old in documents[:3] for i in range(len(old) - 4)}
        there = [i for i in range(len(document) - 4) if tuple(document[i : i + 5]) in runs]
        assert inside == {i + j for i in there for j in range(5)}


def test_a_copy_with_a_changed_a_lost_and_a_new_word_is_one_copy() -> None:
    text = list(range(100, 160))
    edited = [*text[:20], 7, *text[21:35], *text[36:50], 8, *text[50:]]
    (copy,) = in_order(finder(10, gap=4, gram=5, window=4), [text, [1, 2, 3, *edited, 4]])
    assert copy == (1, 3, 3 + len(edited), 0, 0, 60, 58)


def test_one_word_a_million_times_is_one_copy() -> None:
    (copy,) = in_order(finder(20, gap=8, gram=6, window=8), [[5] * 1_000_000])
    assert copy[1:3] == (20, 1_000_000)


def test_a_document_that_is_its_own_copy_is_one_copy() -> None:
    words = np.random.default_rng(1).integers(0, 50_000, 100_000).tolist()
    (copy,) = in_order(finder(20, gap=8, gram=6, window=8), [[*words, *words[:-30]]])
    assert copy[:3] == (0, 100_000, 199_970)


def test_a_page_that_many_documents_share_is_one_passage() -> None:
    random = np.random.default_rng(2)
    page = random.integers(0, 50_000, 300).tolist()
    documents = [[*random.integers(0, 50_000, 20).tolist(), *page] for _ in range(1000)]
    found = finder(20, gap=8, gram=6, window=8)
    assert len(in_order(found, documents)) == 999
    places = found.places().reshape(-1, 5)
    assert set(places[:, 0].tolist()) == {0}
    assert len(places) == 1000


def apart(
    made: Callable[[], _native.Copies], documents: Sequence[Sequence[int]], gram: int
) -> list[Copy]:
    """The copies when documents are compared apart from each other, again until the lists of stored
    grams stay the same."""
    around, found = _native.CONTEXT_WORDS, made()
    words = np.array([word + 1 for document in documents for word in document], np.uint32)
    offsets = offsets_of(np.array([len(document) for document in documents], np.int64))
    positions, tags, ends = found.seeds(words, offsets)
    of = np.repeat(np.arange(len(documents)), np.diff(ends))
    order = np.lexsort((positions, of, tags))
    positions, tags, of = positions[order].astype(np.int64), tags[order], of[order]
    behind = np.diff(offsets)[of] - positions
    places = (offsets[of] + positions)[:, None] + np.arange(-around, gram + around)
    contexts = words[np.clip(places, 0, max(len(words) - 1, 0))] if len(of) else words[:0]
    known = np.minimum(positions, around), np.minimum(behind, around + gram)
    edges = positions <= around, behind <= around + gram
    grams = np.stack([tags, of, positions, *known, *edges], 1).astype(np.uint32)
    keys, stored = of << 32 | positions, None
    before, kernel = None, made()
    while True:
        lists = found.seed_lists(grams.reshape(-1), contexts.reshape(-1), stored).reshape(-1, 4)
        lists = lists[np.lexsort((lists[:, 1], lists[:, 0]))]
        if lists.tolist() == before:
            return copies_of(kernel)
        kernel = made()
        kernel.borrow(words, offsets)
        numbers = np.arange(len(documents), dtype=np.uint32)
        gone = kernel.listed(lists.reshape(-1), numbers).reshape(-1, 3).astype(np.int64)
        stored = np.isin(keys, gone[:, 0] << 32 | gone[:, 1]).view(np.uint8)
        before = lists.tolist()


@given(few_words, st.integers(4, 9), st.integers(0, 4))
def test_documents_compared_apart_have_the_same_copies(
    documents: list[list[int]], words: int, gap: int
) -> None:
    """As on several machines: a document meets only lists of what others stored before it."""

    def kernel() -> _native.Copies:
        return _native.Copies(words, 2, 3, gap, 3, 75)

    assert apart(kernel, documents, 2) == in_order(kernel(), documents)


def spans(text: str, words: Sequence[tuple[int, int]], unit: int) -> list[str | None]:
    texts = Ragged.of_texts([text])
    begins, ends = (np.array(side, np.uint32) for side in zip(*words, strict=True))
    offsets = np.array([0, len(words)], np.int64)
    rows = _native.text_spans(
        texts.values, texts.offsets, Text().native(), begins, ends, offsets, unit
    ).reshape(-1, 4)
    data = text.encode()
    for first, last, begin, end in rows.tolist():
        assert begin < 0 or data[first:last].decode() == text[begin:end]
    return [text[begin:end] if begin >= 0 else None for _, _, begin, end in rows.tolist()]


TEXT = "Äpfel sind rund. Sie rollen weit!\n\nEin neuer Absatz\nmit zwei Zeilen. Ende."


@pytest.mark.parametrize(
    ("unit", "words", "expected"),
    [
        (0, (1, 4), "sind rund. Sie"),
        (1, (0, 4), "Äpfel sind rund. "),
        (1, (0, 6), "Äpfel sind rund. Sie rollen weit!\n\n"),
        (1, (1, 5), None),
        (1, (3, 13), TEXT[17:]),
        (2, (6, 12), "Ein neuer Absatz\n"),
        (2, (0, 13), TEXT),
        (3, (5, 13), TEXT[35:]),
        (3, (0, 12), "Äpfel sind rund. Sie rollen weit!\n\n"),
    ],
)
def test_spans_are_cut_to_whole_units(
    unit: int, words: tuple[int, int], expected: str | None
) -> None:
    assert spans(TEXT, [words], unit) == [expected]


@given(
    st.text("ab .\n。字", max_size=60), st.integers(0, 20), st.integers(0, 20), st.integers(0, 3)
)
def test_spans_lie_in_the_text(text: str, begin: int, more: int, unit: int) -> None:
    for part in spans(text, [(begin, begin + more)], unit):
        assert part is None or part in text
