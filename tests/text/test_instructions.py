"""Every level of instructions that the machine has gives the same bits.

Words are the same at every edge of a block or window; signatures, votes and counts are those of
the slow twins at every level; and the environment chooses the level that a process uses.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.methods.simhash import SimHash
from neardup.schema import LEVELS, VARIABLE
from neardup.testing import batch
from neardup.text.text_options import Text
from neardup.text.words import buffers, words
from reference import minhash, qgrams, shingles, simhash, sketches
from reference import text as reference

BLOCK, WINDOW = 64, 2048
BEST = _native.INSTRUCTIONS[-1]

# Runs of every size around 8, 16 and a block; what separates, joins, changes size or has no spaces.
PIECES = st.one_of(
    st.builds("{}{}".format, st.sampled_from(["x", "Q", "7"]), st.integers(0, 10**20)),
    st.sampled_from(["a", "I", "Abcdefgh", "abcdefghIJKLMNOP", "abcdefghijklmnopq", "z" * 130]),
    st.sampled_from([" ", "  ", ".", "\n", "-", "'", "\0", "@[`{/:"]),
    st.sampled_from(["größe", "é", "İ", "ß", "日本語", "ไทย", "жук", "\u0301", "\u200b", "…"]),
)
FILLERS = st.sampled_from([0, 1, BLOCK - 2, BLOCK, 3 * BLOCK - 1, WINDOW - 70, WINDOW - 1, WINDOW])
TEXTS = st.builds(
    lambda filler, size, pieces: filler * size + "".join(pieces),
    st.sampled_from([" ", "x", "wo ", "ü"]),
    FILLERS,
    st.lists(PIECES, max_size=60),
)
OPTIONS = st.builds(
    reference.Options,
    case=st.sampled_from(["fold", "keep"]),
    digits=st.sampled_from(["keep", "mask", "drop"]),
    punctuation=st.sampled_from(["split", "remove"]),
)


@pytest.fixture(params=_native.INSTRUCTIONS)
def instructions(request: pytest.FixtureRequest) -> Iterator[str]:
    _native.use_instructions(request.param)
    yield request.param
    _native.use_instructions(BEST)


each_instructions = pytest.mark.usefixtures("instructions")


def hashes(texts: list[str], options: Text | None = None) -> list[list[int]]:
    values, ends = _native.word_hashes(*buffers(texts), (options or Text()).native())
    return [values[a:b].tolist() for a, b in pairwise(ends)]


def hashes_of(found: list[str]) -> list[int]:
    listed: list[int] = _native.hash_words(*buffers(found)).tolist()
    return listed


@given(st.lists(TEXTS, min_size=1, max_size=3), OPTIONS)
def test_all_instructions_give_the_words_of_the_twin(
    texts: list[str], twin: reference.Options
) -> None:
    options = Text(twin.case, twin.digits, twin.punctuation)
    expected = [hashes_of(reference.words(text, twin)) for text in texts]
    try:
        for name in _native.INSTRUCTIONS:
            _native.use_instructions(name)
            assert hashes(texts, options) == expected, name
            assert [words(text, options) for text in texts] == [
                reference.words(text, twin) for text in texts
            ], name
    finally:
        _native.use_instructions(BEST)


@each_instructions
@pytest.mark.parametrize("size", [1, 7, 8, 9, 15, 16, 17, 33, 63, 64, 65, 129])
def test_a_word_over_every_border(size: int) -> None:
    """It begins, ends or lies across, alone and among others, at the end of the text or not."""
    word = ("Abcdefghij" * 20)[:size]
    for border in (BLOCK, 2 * BLOCK, WINDOW, WINDOW + BLOCK, 2 * WINDOW):
        starts = range(max(0, border - size - 2), border + 3)
        texts = [" " * start + word for start in starts]
        texts += [("ab " * border)[: start - 1] + " " + word + " end" for start in starts if start]
        assert hashes(texts) == [hashes_of(text.lower().split()) for text in texts]


@each_instructions
@pytest.mark.parametrize("size", [WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW, 3 * WINDOW + 5])
def test_a_run_longer_than_a_window(size: int) -> None:
    for before in ("", "a ", "b" * 100 + " "):
        for after in ("", " ", " c d", "é", " 日本語"):
            text = before + "X" * size + after
            expected = reference.words(text, reference.Options())
            assert hashes([text]) == [hashes_of(expected)]


@each_instructions
def test_every_byte() -> None:
    texts = [f"{'x' * 60}{chr(c)}Y{chr(c)}{'z' * 70}" for c in range(0x250)]
    twin = reference.Options()
    assert hashes(texts) == [hashes_of(reference.words(text, twin)) for text in texts]


@each_instructions
def test_documents_of_every_number_of_words() -> None:
    """Words are hashed eight at a time and the rest alone."""
    texts = [" ".join(f"Word{i}" for i in range(n)) for n in range(70)]
    assert hashes(texts) == [hashes_of(text.lower().split()) for text in texts]


@each_instructions
def test_digests_made_while_hashing_are_those_made_afterwards() -> None:
    """A map, even one that maps nothing, puts the digest off until all words are there."""
    texts = [
        " ".join(f"Word{i}" for i in range(n)) + end for n in range(70) for end in ("", " 日本語")
    ]
    texts += ["word " * n for n in range(400, 450)] + ["x" * (3 * WINDOW) + " y" * 20, "", "!!!"]
    none = np.empty(0, np.uint64)
    given = (*buffers(texts), Text().native())
    while_hashing = _native.read_words(*given, None)
    afterwards = _native.read_words(*given, _native.WordMap(none, none))
    for one, other in zip(while_hashing, afterwards, strict=True):
        assert one.tolist() == other.tolist()


@each_instructions
def test_fingerprints_and_digests_are_the_same() -> None:
    texts = ["The quick brown fox jumps over the lazy dog, " * n for n in range(12)]
    found = SimHash().prepare(batch(texts))
    _native.use_instructions(BEST)
    best = SimHash().prepare(batch(texts))
    assert found.evidence.values.tolist() == best.evidence.values.tolist()
    assert found.normal_digests.tolist() == best.normal_digests.tolist()


HASHES = st.lists(st.integers(0, 2**64 - 1), max_size=200)


def every_level() -> Iterator[str]:
    try:
        for name in _native.INSTRUCTIONS:
            _native.use_instructions(name)
            yield name
    finally:
        _native.use_instructions(BEST)


def some_hashes(size: int, seed: int = 7) -> list[int]:
    drawn = random.Random(seed)
    return [drawn.getrandbits(64) for _ in range(size)]


@given(HASHES, st.sampled_from([16, 48, 64, 112, 128, 144, 272]))
def test_minima_are_those_of_the_twin(hashes: list[int], m: int) -> None:
    """The values of one pass fill registers; what is left over takes smaller steps."""
    a, b = ([x % sketches.PRIME for x in some_hashes(m, seed)] for seed in (1, 2))
    values, multipliers, addends = (
        np.array(hashes, np.uint64),
        *(np.array(x, np.uint32) for x in (a, b)),
    )
    for level in every_level():
        assert _native.minhash(values, multipliers).tolist() == minhash.minima(hashes, a), level
        found = _native.classic_minhash(values, multipliers, addends)
        assert found.tolist() == sketches.classic(hashes, a, b), level


@given(HASHES, st.integers(1, 64))
def test_shingles_are_those_of_the_twin(hashes: list[int], width: int) -> None:
    expected = shingles.shingle_hashes(hashes, width) if hashes else []
    for level in every_level():
        found = _native.shingle_hashes(np.array(hashes, np.uint64), width)
        assert found.tolist() == expected, level


@each_instructions
@pytest.mark.parametrize("size", [255, 256, 257, 1000])
def test_shingles_over_the_border_of_a_tile(size: int) -> None:
    hashes = some_hashes(size + 4)
    found = _native.shingle_hashes(np.array(hashes, np.uint64), 5)
    assert found.tolist() == shingles.shingle_hashes(hashes, 5)


@given(st.lists(st.text("aB 1é日\n", max_size=90), min_size=1, max_size=3), st.integers(1, 9))
def test_qgrams_are_those_of_the_twin(texts: list[str], q: int) -> None:
    expected = [sorted({qgrams.feature(gram) for gram in qgrams.qgrams(text, q)}) for text in texts]
    for level in every_level():
        values, ends, _ = _native.qgram_sets(*buffers(texts), Text().native(), q, 0, 1)
        assert [values[a:b].tolist() for a, b in pairwise(ends)] == expected, level


HEAD = 4  # of a sample of level 0


def some_grams(drawn: random.Random, features: list[int]) -> list[int]:
    """A row of evidence: its head, and for each feature a weight and a class."""
    entries = (
        feature << 32 | drawn.randrange(1 << 8) << 2 | drawn.randrange(4) for feature in features
    )
    return [HEAD, *entries]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 15, 16, 17, 64, 500])
@pytest.mark.parametrize("shared", [0.0, 0.1, 0.9, 1.0])
def test_common_grams_are_those_of_sets(size: int, shared: float) -> None:
    """Eight grams are compared with eight at a time, and the rest one by one."""
    drawn = random.Random(size)
    rows = []
    for other in (size, size // 2, size + 3):
        both = drawn.sample(range(1, 1 << 32), size + other)
        second = [*drawn.sample(both[:size], int(shared * min(size, other))), *both[size:]]
        rows += [some_grams(drawn, sorted(side)) for side in (both[:size], second)]
    values = np.array([entry for row in rows for entry in row], np.uint64)
    offsets = np.cumsum([0, *map(len, rows)])
    a, b = np.array([0, 2, 4, 3, 0]), np.array([1, 3, 5, 2, 0])
    weights = [{entry >> 32: (entry & 0x7FFFFF) >> 2 for entry in row[1:]} for row in rows]
    expected = []
    for one, other in zip(a.tolist(), b.tolist(), strict=True):
        common = weights[one].keys() & weights[other].keys()
        sums = (min(weights[one][gram], weights[other][gram]) for gram in common)
        expected.append((sum(sums), len(common)))
    found = {level: _native.compare_grams(values, offsets, a, b) for level in every_level()}
    for level, sums in found.items():
        columns = sums.reshape(len(a), -1)
        assert list(map(tuple, columns[:, [0, 3]].tolist())) == expected, level
        assert sums.tolist() == found[BEST].tolist(), level


@each_instructions
@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 127, 128, 129, 1000])
def test_votes_are_those_of_the_twin(size: int) -> None:
    """Words are counted 64 at a time, and the rest with zeros."""
    words = [f"word{i}" for i in range(size)]
    votes = [(hash_, 3) for hash_ in hashes_of(words)]
    text = (*buffers([" ".join(words)]), Text().native(), None, 1, 1, False)
    prints, *_ = _native.prepare_simhash(*text, 0)
    assert prints.tolist() == [simhash.fingerprint(votes, 64)]
    sums = _native.simhash_sums(*text, None, np.empty(0, np.uint32), 3)
    bits = [sum(3 if hash_ >> i & 1 else -3 for hash_, _ in votes) for i in range(64)]
    assert sums.tolist() == bits


@each_instructions
@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 64 * 255, 64 * 256 + 7])
def test_lines_and_equal_places_are_counted(size: int) -> None:
    drawn = random.Random(size)
    values = [drawn.randrange(3) for _ in range(2 * size)]
    text = bytes(b"\nab"[value] for value in values[:size])
    assert _native.count_lines(text) == len(text.splitlines())
    given = np.array(values, np.uint32), np.array([0, size, 2 * size])
    found = _native.equal_places(*given, np.array([0]), np.array([1]))
    assert found.tolist() == [sketches.agreeing(values[:size], values[size:])]


def level_in_use(wanted: str) -> subprocess.CompletedProcess[str]:
    program = "from neardup import schema, _native; print(_native.instructions())"
    environment = {**os.environ, VARIABLE: wanted}
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("level", ["", *_native.INSTRUCTIONS])
def test_the_environment_chooses_the_level(level: str) -> None:
    assert level_in_use(level).stdout.strip() == (level or BEST)


@pytest.mark.parametrize("level", ["mmx", *(set(LEVELS) - set(_native.INSTRUCTIONS))])
def test_a_level_that_is_not_there_is_a_sentence(level: str) -> None:
    last = level_in_use(level).stderr.splitlines()[-1]
    assert VARIABLE in last
    assert level in last
    assert "Hint: " in last


def test_unknown_instructions_are_refused() -> None:
    with pytest.raises(ValueError, match="INSTRUCTIONS"):
        _native.use_instructions("mmx")
