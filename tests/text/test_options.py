"""Text options: what is refused and how, stop words, stems, and the map they become."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import pytest

from neardup import _native
from neardup.errors import MissingExtraError, SettingsError
from neardup.text.text_options import LANGUAGE_CODES, STOP_WORDS, Text
from neardup.text.words import buffers, word_map, words

OPTIONS = [
    Text(),
    Text(case="keep", digits="mask", punctuation="remove", diacritics="strip"),
    Text(stop_words="english", stem="english"),
    Text(stop_words=("the", "of")),
]


@pytest.mark.parametrize("options", OPTIONS)
def test_repr_and_pickle_round_trip(options: Text) -> None:
    assert eval(repr(options)) == options
    assert pickle.loads(pickle.dumps(options)) == options


@pytest.mark.parametrize(
    "wrong",
    [
        {"case": "lower"},
        {"digits": True},
        {"punctuation": None},
        {"diacritics": ["strip"]},
        {"stop_words": "klingon"},
        {"stop_words": 3},
        {"stop_words": (1, 2)},
        {"stem": "klingon"},
        {"stem": 5},
    ],
)
def test_wrong_options_are_refused_with_a_hint(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="Hint: ") as caught:
        Text(**wrong)
    assert repr(next(iter(wrong.values()))) in str(caught.value)


def test_a_missing_stemmer_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'neardup\[stem\]'"):
        Text(stem="english")


def test_languages_have_names_and_codes() -> None:
    assert Text(stop_words="de", stem="de") == Text(stop_words="German", stem="german")
    assert set(STOP_WORDS) <= set(LANGUAGE_CODES.values())


def test_stop_words_may_be_any_collection() -> None:
    assert Text(stop_words=["of", "the"]) == Text(stop_words={"the", "of"})  # type: ignore[arg-type]


def test_stop_words_are_left_out() -> None:
    assert words("The king of Spain", Text(stop_words="english")) == ["king", "spain"]
    assert words("The king of Spain", Text(stop_words=("KING",))) == ["the", "of", "spain"]
    assert words("Où est l’été", Text(stop_words="fr", diacritics="strip")) == []


def test_stems() -> None:
    options = Text(stop_words="english", stem="english")
    assert words("The ponies were running", options) == ["poni", "run"]
    assert words("Häuser", Text(stem="de")) == ["haus"]


@pytest.mark.parametrize("options", OPTIONS)
def test_the_map_does_what_words_does(options: Text) -> None:
    texts = ["The ponies of the king were running", "", "the the", "Über 12 Häuser the'n"]
    values, offsets = buffers(texts)
    mapped = word_map(values, offsets, options)
    found, ends = _native.word_hashes(values, offsets, options.native(), mapped)
    for i, text in enumerate(texts):
        expected = _native.hash_words(*buffers(words(text, options))).tolist()
        assert found[ends[i] : ends[i + 1]].tolist() == expected


def test_no_map_where_nothing_changes() -> None:
    assert word_map(*buffers(["a"]), Text()) is None


def test_the_map_of_stop_words_is_made_once() -> None:
    options = Text(stop_words="english")
    assert word_map(*buffers(["a"]), options) is word_map(*buffers(["b"]), options)


def test_word_map_with_many_words() -> None:
    values, offsets = buffers([str(i) for i in range(5000)])
    hashes = _native.hash_words(values, offsets)
    mapped = _native.WordMap(hashes[:4000], hashes[1000:])
    assert len(mapped) == 4000
    found = _native.word_hashes(values, offsets, Text().native(), mapped)[0]
    assert found.tolist() == [*hashes[1000:].tolist(), *hashes[4000:].tolist()]


def test_the_package_alone_imports_nothing_heavy() -> None:
    code = "import sys, neardup.text.text_options; print({'numpy', 'pyarrow'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
