"""The benchmark corpus is the same everywhere, is what it says, and its truth is the truth."""

from __future__ import annotations

import hashlib
import itertools
import re

import numpy as np
import pytest

from benchmarks import generate, truth

DIGEST = "0f257151274b2a23ac074f5e7546cfc22b3719b7c60151f9472ec8bbed69539f"


@pytest.fixture(scope="module")
def documents() -> list[generate.Document]:
    return list(itertools.islice(generate.documents(), 200))


def test_the_same_bytes_every_time(documents):
    digest = hashlib.sha256("\0".join(map(str, documents)).encode()).hexdigest()
    assert digest == DIGEST


def test_groups_name_the_original(documents):
    assert [d.id for d in documents] == list(range(200))
    for document in documents:
        if document.kind == generate.ORIGINAL:
            assert document.group == document.id
        else:
            assert document.kind in generate.KINDS
            assert document.group < document.id
            assert documents[document.group].kind == generate.ORIGINAL


def test_copies_resemble_their_original(documents):
    sets = [shingles(d.text) for d in documents]
    copies = [d for d in documents if d.kind != generate.ORIGINAL]
    assert {d.kind for d in copies} == set(generate.KINDS)
    assert 20 < len(copies) < 60
    for copy in copies:
        shared = sets[copy.id] & sets[copy.group]
        assert len(shared) > 0.3 * len(sets[copy.group]), copy.kind
        if copy.kind in ("paragraph", "boilerplate"):
            assert len(shared) > 0.97 * len(sets[copy.group]), copy.kind
        if copy.kind == "excerpt":
            assert sets[copy.id] <= sets[copy.group]


@pytest.mark.parametrize("extra", [[], ["", "two words", "two words", "Two, WORDS!", "", "one"]])
def test_truth_equals_brute_force(documents, extra):
    texts = [*(d.text for d in documents), *extra]
    a, b, jaccard = truth.exact_pairs(texts)
    found = dict(zip(zip(a.tolist(), b.tolist(), strict=True), jaccard.tolist(), strict=True))
    sets = [shingles(text) for text in texts]
    wanted = {}
    for (i, x), (j, y) in itertools.combinations(enumerate(sets), 2):
        shared = len(x & y)
        if shared and shared / len(x | y) >= truth.AT_LEAST:
            wanted[i, j] = shared / len(x | y)
    assert found == pytest.approx(wanted)
    assert len(found) >= 20


def test_truth_of_nothing():
    assert [len(part) for part in truth.exact_pairs([])] == [0, 0, 0]
    assert np.size(truth.exact_pairs(["", ""])) == 0


def shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    if not words:
        return set()
    return {tuple(words[i : i + 5]) for i in range(max(1, len(words) - 4))}
