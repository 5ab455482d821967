"""Options, recipes and defaults: who wins; and what is wrong is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.sample import Run
from neardup.cli.options import merged
from neardup.methods.registry import parse_assignments, toml_value


def parameters(run: Run, docs: Path, *options: object) -> dict[str, Any]:
    done = run("find", docs, "--json", "--quiet", *options)
    assert done.exit_code == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return {"method": said["method"], **said["parameters"]}


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "recipe.toml"
    path.write_text(
        'keep = "longest"\n[method]\nname = "shingles"\nwords = 3\nthreshold = 0.7\n'
        'text.digits = "mask"\ntext.case = "keep"\n'
    )
    return path


def test_the_recipe_wins_over_defaults(run: Run, docs: Path, recipe: Path) -> None:
    got = parameters(run, docs, "--recipe", recipe)
    assert (got["words"], got["threshold"], got["text"]["digits"]) == (3, 0.7, "mask")
    assert got["permutations"] == 128


def test_options_win_over_the_recipe(run: Run, docs: Path, recipe: Path) -> None:
    got = parameters(
        run, docs, "--recipe", recipe, "--threshold", "0.9", "--set", "text.digits=drop"
    )
    assert (got["words"], got["threshold"]) == (3, 0.9)
    assert (got["text"]["digits"], got["text"]["case"]) == ("drop", "keep")


def test_a_set_threshold_wins_over_the_recipe(run: Run, docs: Path, tmp_path: Path) -> None:
    path = tmp_path / "flat.toml"
    path.write_text('method = "shingles"\nthreshold = 0.7\n')
    assert parameters(run, docs, "--recipe", path, "--set", "threshold=0.95")["threshold"] == 0.95


def test_another_method_leaves_the_parameters_behind(run: Run, docs: Path, recipe: Path) -> None:
    got = parameters(run, docs, "--recipe", recipe, "--method", "exact")
    assert (got["method"], got["threshold"]) == ("exact", 1.0)


def test_merged_does_not_change_the_recipe() -> None:
    recipe = {"method": "shingles", "set": {"text": {"case": "keep"}}}
    merged(recipe, {}, {"text": {"digits": "mask"}})
    assert recipe == {"method": "shingles", "set": {"text": {"case": "keep"}}}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("3", 3),
        ("0.5", 0.5),
        ("true", True),
        ("mask", "mask"),
        ('"3"', "3"),
        ('["a", "b"]', ["a", "b"]),
        ("1\nx = 2", "1\nx = 2"),
        ("", ""),
    ],
)
def test_values(written: str, value: object) -> None:
    assert toml_value(written) == value


def test_dotted_keys() -> None:
    assert parse_assignments(("text.digits=mask", "words=3", "text.case=keep")) == {
        "text": {"digits": "mask", "case": "keep"},
        "words": 3,
    }


WORDS = ("--method", "shingles", "--set")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--method", "shingels"], "did you mean 'shingles'?"),
        (["--method", "join", "--set", "word=3"], "did you mean 'words'?"),
        (["--set", "words"], "expected KEY=VALUE"),
        ([*WORDS, "words=three"], "words is 'three'; expected int"),
        ([*WORDS, "words=true"], "words is True; expected int"),
        ([*WORDS, "words=99"], "expected from 1 to 32"),
        (["--set", "text.digits=hide"], "Text has no digits 'hide'"),
        (["--threshold", "1.5"], "threshold is 1.5"),
        (["--threshold", "high"], "neither a number, such as 0.8, nor auto"),
        (["--keep", "newest"], "needs to know which column is the date"),
        (["--memory", "lots"], "memory is 'lots'"),
        (["--workers", "0"], "workers is 0"),
        (["--limit", "0"], "limit is 0"),
        (["--recipe", "nowhere.toml"], "The recipe nowhere.toml cannot be read"),
        (["--threshold", "2", "--limit", "0", "--keep", "best"], "3 settings are wrong"),
    ],
)
def test_wrong_settings(run: Run, docs: Path, options: list[str], sentence: str) -> None:
    done = run("find", docs, *options)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("treshold = 0.7", "unknown settings: treshold"),
        ("limit = 'ten'", "limit is 'ten'; expected int"),
        ("keep = [", "is not valid TOML"),
        ("[method]\nname = 'shingles'\nwords = '3'", "words is '3'; expected int"),
    ],
)
def test_wrong_recipes(run: Run, docs: Path, tmp_path: Path, written: str, sentence: str) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(written)
    done = run("find", docs, "--recipe", path)
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_boilerplate_comes_from_files(run: Run, tmp_path: Path) -> None:
    notice = " ".join(f"notice{i}" for i in range(60))
    (tmp_path / "notice.txt").write_text("\ufeff" + notice, "utf-8")
    texts = [f"{notice} {' '.join(f'{name}{i}' for i in range(20))}" for name in ("a", "b")]
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(f'{{"text": "{text}"}}\n' for text in texts), "utf-8")
    ask = ["find", path, "--method", "shingles", "--threshold", "0.5", "--json", "--quiet"]
    assert json.loads(run(*ask).stdout)["counts"]["pairs"] == 1
    told = json.loads(run(*ask, "--boilerplate", tmp_path / "notice.txt").stdout)
    assert told["counts"]["pairs"] == 0
    (tmp_path / "notices.jsonl").write_text(json.dumps({"text": notice}) + "\n")
    told = json.loads(run(*ask, "--boilerplate", tmp_path / "notices.jsonl").stdout)
    assert told["counts"]["pairs"] == 0
    missing = run(*ask, "--boilerplate", tmp_path / "nothing.txt")
    assert missing.exit_code == 2
    assert "nothing.txt does not exist" in missing.stderr
