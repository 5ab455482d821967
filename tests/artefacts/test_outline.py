"""What a collection looks like: counted in any parts, and what is outside of a range."""

from __future__ import annotations

import base64
import math
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.artefacts.outline import (
    STATISTICS,
    Outline,
    OutlineNeed,
    load_outline,
    measured,
    ranges,
    unlike,
)
from neardup.errors import InputError, SignatureError
from neardup.schema import Ragged
from neardup.testing import HOSTILE, batch
from neardup.text.text_options import Text
from planting.test_plant import documents
from reference.text import Options, words

PIECES = ("pier", "Pier", "x_y", "2024", "f(a)[0]={1};", "é", "東京", "🙂", ",", "-", "\n", "")


def outlined(texts: list[str], size: int = 1000) -> Outline:
    counter = OutlineNeed(Text()).counter()
    for begin in range(0, len(texts), size):
        counter.add(counter.count(batch(texts[begin : begin + size])))
    return counter.finish()


def expected(text: str) -> list[float] | None:
    """The slow way; a character that is not ASCII is a letter to it."""
    found = words(text, Options())
    if len(found) < 15:
        return None
    visible = [c for c in text if ord(c) > 32 and ord(c) != 127]
    digits = sum(c in "0123456789" for c in visible)
    marks = sum(c in "(){}[]=;_" for c in visible)
    letters = sum(c.isalpha() or ord(c) > 127 for c in visible)
    variety = math.log(len(set(found))) / math.log(len(found))
    shares = [digits / len(visible), marks / len(visible)]
    return [len(found), (letters + digits) / len(found), variety, *shares]


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 200_001])
def test_bytes_are_counted_by_their_kind(size: int) -> None:
    draw = np.random.default_rng(size)
    kinds, texts = draw.integers(0, 5, 256).astype(np.uint8), draw.integers(0, 256, (2, size))
    one = np.full(size, draw.integers(0, 256))
    values = np.concatenate([*texts, one]).astype(np.uint8)
    found = _native.byte_kinds(values, np.arange(4) * size, kinds).reshape(3, 4)
    for row, text in zip(found, [*texts, one], strict=True):
        assert row.tolist() == np.bincount(kinds[text], minlength=5)[1:].tolist()


TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join), max_size=4)


@given(TEXTS)
def test_statistics_equal_twin(texts: list[str]) -> None:
    rows = [row for row in map(expected, texts) if row]
    found = measured(Ragged.of_strings(pa.array(texts, pa.large_string())), Text())
    assert found.shape == (len(rows), len(STATISTICS))
    if rows:
        np.testing.assert_allclose(found, rows, atol=1e-9)


@given(st.integers(1, 5))
def test_parts_do_not_matter(size: int) -> None:
    texts = [*HOSTILE, *(doc["text"] for doc in documents(5))]
    assert outlined(texts, size).digest == outlined(texts).digest


def test_an_outline_is_read_as_it_was_saved_and_another_is_refused(tmp_path: Path) -> None:
    made = outlined([doc["text"] for doc in documents(20)])
    made.save(tmp_path / "o.arrow")
    again = load_outline(tmp_path / "o.arrow")
    assert (again.digest, again.medians()) == (made.digest, made.medians())
    changed = Outline({**made.counts, "words": made.counts["words"] + 1}, 20, made.text)
    object.__setattr__(changed, "digest", made.digest)
    changed.save(tmp_path / "changed.arrow")
    with pytest.raises(SignatureError, match="has changed since it was saved"):
        load_outline(tmp_path / "changed.arrow")
    Path(tmp_path / "none.arrow").write_text("no outline")
    with pytest.raises(InputError, match="is not an outline: it is not an Arrow file"):
        load_outline(tmp_path / "none.arrow")


RANDOM = random.Random(3)
STRANGE: dict[str, tuple[str, Callable[[], str]]] = {
    "base64": ("characters in a word", lambda: base64.encodebytes(RANDOM.randbytes(900)).decode()),
    "letters": ("variety of words", lambda: " ".join(RANDOM.choices("ACGT", k=500))),
    "numbers": ("digits", lambda: " ".join(str(RANDOM.random()) for _ in range(90))),
    "short": ("words in a document", lambda: " ".join(f"a{RANDOM.random()}" for _ in range(8))),
    "one word": ("variety of words", lambda: "spam " * RANDOM.randint(50, 300)),
    "code": ("brackets", lambda: "\n".join(f"x[{i}] = f_{i}(y_{i}, [z]);" for i in range(40))),
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_no_text_is_unlike_texts(name: str) -> None:
    told, make = STRANGE[name]
    trained = ranges([outlined([doc["text"] for doc in documents(60)])])
    said = unlike(outlined([make() for _ in range(40)]), trained)
    assert any(told in one for one in said), said
    assert unlike(outlined([doc["text"] for doc in documents(40, seed=9)]), trained) == ()


def test_collections_weigh_the_same_however_large() -> None:
    few, many = ["word " * 20 + "a"] * 3, [f"{'1' * 9} " * 40] * 400
    wide = ranges([outlined(few), outlined(many)])
    assert wide["digits"][0] < 0.1 < 0.9 < wide["digits"][1]
    assert unlike(outlined(few), wide) == unlike(outlined(many), wide) == ()


@pytest.mark.parametrize(
    "said", [None, 3, [], {"words": None}, {"words": [1]}, {"words": ["a", 2]}]
)
def test_a_model_that_says_nothing_of_use_declines_nothing(said: object) -> None:
    assert unlike(outlined([STRANGE["base64"][1]() for _ in range(5)]), said) == ()


def test_nothing_is_unlike_where_there_is_nothing() -> None:
    empty = outlined(["too short"])
    assert (empty.documents, ranges([empty])) == (0, {})
    assert unlike(empty, {"words": [5, 6]}) == ()
