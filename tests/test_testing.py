"""The checks for authors of methods: a good one passes, a broken one is told what is broken."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import neardup as nd
from neardup.cli import main
from neardup.methods import registry
from neardup.methods.base import Prepared, Scores
from neardup.methods.shingles import Shingles
from neardup.schema import Array, Ragged
from neardup.testing import CHECKS, check_method

PAGE = Path(__file__).parents[1] / "docs" / "plugins.md"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The method of the page as another package, found by its entry point."""
    page = PAGE.read_text("utf-8")
    code = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0]
    (tmp_path / "samewords.py").write_text(code, "utf-8")
    info = tmp_path / "samewords-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: samewords\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[neardup.methods]\nsamewords = samewords:SameWords\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield importlib.import_module("samewords")
    del sys.modules["samewords"]


def test_the_method_of_the_page(installed: ModuleType) -> None:
    assert "samewords" in registry.names()
    assert registry.method_class("samewords") is installed.SameWords
    check_method(installed.SameWords())
    result = nd.dedup(["b a", "a  b", "c"], method="samewords")
    assert result.counts.duplicates == 1
    assert result.duplicates["reason"].to_pylist() == ["same words"]


@pytest.mark.usefixtures("installed")
def test_it_has_a_name_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_text('{"text": "b a"}\n{"text": "a b"}\n')
    done = CliRunner().invoke(main, ["find", str(path), "--method", "samewords", "--json"])
    assert json.loads(done.stdout)["counts"]["pairs"] == 1
    assert "samewords" in CliRunner().invoke(main, ["methods"]).stdout


@dataclass(frozen=True)
class Unlike(Shingles):
    """Scores that depend on the order of a pair."""

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        made = super().score(evidence, a, b)
        return Scores(made.passed, np.where(a < b, made.score * 0.99, made.score))


@dataclass(frozen=True)
class Short(Shingles):
    """Loses an entry."""

    def prepare(self, batch: Any, artefacts: Any = None) -> Prepared:
        return super().prepare(batch.slice(0, max(0, batch.num_rows - 1)))


@dataclass(frozen=True)
class Hasty(Shingles):
    """Shows what it has counted when it gives a pair up."""

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        return self.score(evidence, a, b).score


@dataclass(frozen=True)
class Nameless(Shingles):
    name = "nameless"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("method", "check", "sentence"),
    [
        (Unlike(), "scores are symmetric similarities", r"score\(a, b\) is not score\(b, a\)"),
        (Short(), "has one entry a document", "19 entries of keys for 20"),
        (Hasty(), "scores that are shown are whole", "at the threshold 0.1; what gives pairs up"),
        (Nameless(), "is a method", "'nameless' is not registered; add an entry point"),
        (object(), "is a method", "object does not derive from neardup.methods.base.Method"),
    ],
)
def test_a_broken_promise_is_told(method: Any, check: str, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        CHECKS[check](method)


def test_the_sentence_names_the_method_and_the_promise() -> None:
    with pytest.raises(AssertionError, match="Nameless, is a method: 'nameless'"):
        check_method(Nameless())


def test_every_check_is_named() -> None:
    assert len(CHECKS) == 20
