"""idf tables: the papers' numbers, the twin, and that a frozen table stays what it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.artefacts.frequencies import normalised_idf
from neardup.artefacts.idf import (
    ALL_TERMS,
    FILTERS,
    IdfCounter,
    IdfNeed,
    IdfTable,
    load_idf,
    merge_idf,
)
from neardup.errors import InputError, SettingsError, SignatureError
from neardup.methods.preparation import read_words
from neardup.testing import batch
from neardup.text.text_options import Text
from reference import terms as twin

ASCII = st.lists(
    st.sampled_from(
        ["the", "cat", "at&t", "e-mail", "a1b", "x", "don't", "3.14", "c++", "--", "I/O"]
    ),
    max_size=12,
).map(" ".join)
ANY = st.one_of(
    ASCII, st.text(max_size=20), st.sampled_from(["東京都は日本", "größe Größe", "ประเทศไทย"])
)


def built(texts: list[str], filter_: str = "words", parts: int = 1) -> IdfTable:
    counter = IdfCounter(filter_, Text())
    for part in np.array_split(np.arange(len(texts)), parts):
        counter.add(counter.count(batch([texts[i] for i in part])))
    return counter.finish()


def rows(table: IdfTable) -> list[tuple[str, int]]:
    return list(zip(table.terms.to_pylist(), table.counts.tolist(), strict=True))


@pytest.mark.parametrize(("n", "idf"), [(20, 0.79958), (19, 0.80301), (5, 0.89232)])
def test_the_printed_idf(n: int, idf: float) -> None:
    assert normalised_idf(n, 3_100_000) == pytest.approx(idf, abs=5e-6)


@given(st.lists(ANY, max_size=8), st.sampled_from(["words", "alpha"]), st.integers(1, 4))
def test_tables_equal_twin(texts: list[str], filter_: str, parts: int) -> None:
    table = built(texts, filter_, parts)
    assert rows(table) == twin.table(texts, filter_)
    assert table.documents == len(texts)


@given(st.lists(ASCII, max_size=8), st.integers(1, 3))
def test_joined_terms_equal_twin(texts: list[str], parts: int) -> None:
    assert rows(built(texts, "alnum+", parts)) == twin.table(texts, "alnum+")


@given(st.lists(ASCII, min_size=1, max_size=8), st.sampled_from(FILTERS), st.data())
def test_terms_of_a_document_equal_twin(
    texts: list[str], filter_: str, data: st.DataObject
) -> None:
    table = built(texts, filter_)
    low = data.draw(st.integers(0, len(table)))
    high = data.draw(st.integers(low, len(table)))
    found = table.terms_of(pa.array(texts, pa.large_string()), range(low, high))
    ranks = {term: rank for rank, term in enumerate(table.terms.to_pylist())}
    for i, text in enumerate(texts):
        begin, end = found.ranks.offsets[i : i + 2]
        columns = (found.ranks.values, found.counts, found.first)
        mine = list(zip(*(c[begin:end].tolist() for c in columns), strict=True))
        expected = twin.document_terms(text, filter_, ranks)
        assert mine == [row for row in expected if low <= row[0] < high]
        assert found.tokens[i] == len(twin.tokens(text, filter_))


@given(st.lists(ANY, min_size=1, max_size=8), st.sampled_from(["words", "alpha"]), st.data())
def test_terms_from_words_are_those_of_the_text(
    texts: list[str], filter_: str, data: st.DataObject
) -> None:
    table = built(texts, filter_)
    low = data.draw(st.integers(0, len(table)))
    ranks = range(low, data.draw(st.integers(low, len(table))))
    most = data.draw(st.sampled_from([1, 3, ALL_TERMS]))
    words = read_words(batch(texts), Text()).words
    quick, slow = (
        table.terms_of_words(words, ranks, most),
        table.terms_of(pa.array(texts, pa.large_string()), ranks),
    )
    assert quick is not None
    assert quick.tokens.tolist() == slow.tokens.tolist()
    for i in range(len(texts)):
        begin, end = slow.ranks.offsets[i : i + 2]
        head = slice(begin, min(end, begin + most))
        mine = slice(*quick.ranks.offsets[i : i + 2])
        assert quick.ranks.values[mine].tolist() == slow.ranks.values[head].tolist()
        assert quick.counts[mine].tolist() == slow.counts[head].tolist()
        assert quick.first[mine].tolist() == slow.first[head].tolist()


@given(st.lists(ANY, max_size=9), st.integers(1, 4))
def test_merging_is_counting_together(texts: list[str], parts: int) -> None:
    split = [
        built([texts[i] for i in part]) for part in np.array_split(np.arange(len(texts)), parts)
    ]
    assert merge_idf(split).digest == built(texts).digest


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    table = built(["the cat sat", "the dog", "größe"])
    table.save(tmp_path / "t.arrow")
    again = load_idf(tmp_path / "t.arrow")
    assert again.digest == table.digest
    assert rows(again) == rows(table)
    assert again.text == table.text


def test_ranks_by_idf_and_count() -> None:
    table = built(["a b c", "a b", "a", "a"])
    assert table.terms.to_pylist() == ["c", "b", "a"]
    assert list(table.ranks()) == [0, 1, 2]
    assert list(table.ranks(min_count=2)) == [1, 2]
    assert list(table.ranks(idf_max=0.9)) == [1, 2]  # c: log(4.5)/log(5) = .93
    assert list(table.ranks(idf_min=0.5)) == [0, 1]
    assert list(table.ranks(idf_min=0.8, idf_max=0.9)) == []


def test_a_changed_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    built(["alpha beta"]).save(path)
    path.write_bytes(path.read_bytes().replace(b"alphabeta", b"alphabetb"))
    with pytest.raises(SignatureError, match="has changed since it was saved"):
        load_idf(path)


@pytest.mark.parametrize("content", [None, b"", b"text", b"ARROW1\0\0"])
def test_a_file_that_is_no_table_is_a_sentence(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "t.arrow"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match="idf build"):
        load_idf(path)


def test_a_need_refuses_other_options(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    built(["alpha beta"]).save(path)
    assert len(IdfNeed(str(path), "words", Text()).load(path)) == 2
    with pytest.raises(SignatureError, match="'alpha'"):
        IdfNeed(None, "alpha", Text()).load(path)
    with pytest.raises(SignatureError, match="keep"):
        IdfNeed(None, "words", Text(case="keep")).load(path)
    with pytest.raises(SettingsError, match="stemmed"):
        IdfNeed(None, "words", Text(stop_words="english"))
    empty = tmp_path / "empty.arrow"
    built([]).save(empty)
    with pytest.raises(InputError, match="empty"):
        IdfNeed(None, "words", Text()).load(empty)
