"""The corpus may have any number of documents, each with its own files."""

from __future__ import annotations

import pytest

from benchmarks import corpus


def test_unlike_sizes_have_unlike_files():
    names = [corpus.Corpus(docs).prefix.name for docs in (100_000, 20_000, 1_500, 500)]
    assert names == [corpus.NAME + end for end in ("", "_20k", "_1500", "_500")]


def test_a_foreign_generator_makes_two_sizes(monkeypatch):
    monkeypatch.setattr(corpus, "OTHER", "elsewhere")
    with pytest.raises(corpus.MissingError, match=r"20,000 or 100,000 documents, not 500"):
        corpus.make(500, lambda: pytest.fail("asked for the peers"))
