"""Keyword arguments that an editor completes and a type checker checks: names, defaults, docs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from mypy import api as mypy

import neardup as nd
from neardup import arguments
from neardup.engines.index.index_settings import IndexSettings
from neardup.engines.ranked import SETTINGS as OF_LISTS
from neardup.engines.ranked import Listing
from neardup.evaluation.evaluation import SETTINGS as OF_EVALUATIONS
from neardup.methods import registry
from neardup.settings import Settings

ROOT = Path(__file__).parents[1]
FUNCTIONS: dict[Callable[..., Any], type[Any]] = {
    nd.dedup: Settings,
    nd.find: Settings,
    nd.group: Listing,
    nd.Index.open: IndexSettings,
}


def names(holder: type[Any]) -> set[str]:
    return {field.name for field in fields(holder)}


def own_names(typed: Any) -> set[str]:
    return set(typed.__annotations__) - set(arguments.MethodArguments.__annotations__)


def test_typed_names_are_those_of_the_settings() -> None:
    assert own_names(arguments.RunArguments) == {*names(Settings), "recipe"}
    assert own_names(arguments.IndexArguments) == names(IndexSettings)
    assert own_names(arguments.GroupArguments) == {*names(Listing), *OF_LISTS, "artefacts"}
    assert own_names(arguments.ReadingArguments) == set(OF_EVALUATIONS)


def test_typed_parameters_are_those_of_the_methods() -> None:
    classes = [registry.method_class(name) for name in registry.METHODS]
    parameters = {name for cls in classes for name in registry.parameter_names(cls)}
    typed = set(arguments.MethodArguments.__annotations__)
    assert typed == (parameters | registry.ALIASES.keys()) - names(Settings)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__qualname__)
def test_signature_and_docstring_list_every_keyword(function: Callable[..., Any]) -> None:
    shown = inspect.signature(function).parameters
    written = inspect.getdoc(function) or ""
    for field in fields(FUNCTIONS[function]):
        default = field.default_factory() if callable(field.default_factory) else field.default
        assert shown[field.name].default == default
        line = written.partition(f"``{field.name}``: ")[2].partition("\n    ``")[0]
        assert f"default {default!r})" in " ".join(line.split()), field.name


def test_evaluate_lists_every_keyword() -> None:
    written = inspect.getdoc(nd.evaluate) or ""
    shown = inspect.signature(nd.evaluate).parameters
    assert {*OF_EVALUATIONS, "positive", "sweep"} <= shown.keys()
    assert [name for name in shown if f"``{name}``: " not in written] == []


SNIPPET = """
import neardup as nd
docs = ["a", "b"]
nd.dedup(docs, threshold=0.8, keep="longest", words=3, num_perm=64, set={"min_words": 2})
nd.find(docs, method=nd.SimHash(distance=3), against=["ref.jsonl"], recipe="broder1997")
nd.group(docs, representative="longest", method="termvector", threshold=0.6)
nd.Index.open("memory:", method=["exact", "shingles"], window="24h", words=3)
nd.evaluate(docs, pairs=[], positive=[3, 4], method="shingles", sweep=True, text="body")
nd.dedup(docs, treshold=0.8)
nd.find(docs, wrods=3)
nd.group(docs, representive="longest")
nd.Index.open("memory:", windows="24h")
nd.evaluate(docs, group="story", txet="body")
nd.dedup(docs, limit="ten")
"""
WRONG = ("treshold", "wrods", "representive", "windows", "txet", "limit")


def test_a_type_checker_catches_a_misspelt_keyword(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)  # the settings and the cache of the project
    monkeypatch.delenv("MYPYPATH", raising=False)
    path = tmp_path / "snippet.py"
    path.write_text(SNIPPET)
    report, failure, _ = mypy.run([str(path), "--no-error-summary"])
    assert failure == ""
    errors = [line.partition("snippet.py:")[2] for line in report.splitlines() if "error:" in line]
    first = SNIPPET.count("\n", 0, SNIPPET.index("nd.dedup(docs, treshold")) + 1
    for error, (number, name) in zip(errors, enumerate(WRONG, first), strict=True):
        assert error.startswith(f"{number}: "), report
        assert name in error, report


def test_labels_may_be_numbers() -> None:
    docs = [{"id": name, "text": "the same words in each of these texts"} for name in "abc"]
    rows = [{"a": "a", "b": "b", "label": 4}, {"a": "a", "b": "c", "label": 0}]
    for positive in ([3, 4], ["3", "4"], (4.0,)):
        found = nd.evaluate(docs, pairs=rows, positive=positive, method="exact")
        assert found.data()["gold"]["positives"] == 1
    with pytest.raises(nd.NeardupError, match="expected a list of labels"):
        nd.evaluate(docs, pairs=rows, positive="4", method="exact")
