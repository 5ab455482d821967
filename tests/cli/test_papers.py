from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from neardup.cli import main
from neardup.papers import PAPERS

NEWS = Path(__file__).parents[2] / "examples" / "news.jsonl"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["evaluate", *map(str, arguments)])


def test_experiments_are_listed() -> None:
    done = run("--papers")
    assert done.exit_code == 0
    listed = [line.split()[0] for line in done.stdout.splitlines()[1:] if line]
    assert listed[: len(PAPERS)] == list(PAPERS)
    told = json.loads(run("--papers", "--json").stdout)
    assert {one["name"]: one["shows"] for one in told} == {n: p.says for n, p in PAPERS.items()}


@pytest.mark.parametrize("name", PAPERS)
def test_each_is_one_command(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = ("--group", "story", "--source", "lang", "--date", "date", "-o", out)
    done = run("--paper", name, NEWS, *asked)
    assert done.exit_code == 0, done.output
    assert "74 documents." in done.stdout
    assert "report.html" in done.stderr
    written = {path.suffix for path in out.iterdir() if path.is_file()}
    assert written == {".csv", ".svg", ".html", ".json"}
    again = run("--paper", name, NEWS, *asked, "--json")
    assert again.exit_code == 0, again.output
    told = json.loads(again.stdout)
    assert told["experiment"] == name
    if not told["measured"]:
        assert told == json.loads((out / "evaluation.json").read_text("utf-8"))


def test_labelled_pairs_are_gold_too(tmp_path: Path) -> None:
    """Without a pair that is wrong precision is not judged."""
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("a,b\nen-harbour-1,en-harbour-2\n")
    told = json.loads(run("--paper", "williams-giles", NEWS, "--pairs", pairs, "--json").stdout)
    rows = told["tables"]["figure_1b"]
    assert {row["precision"] for row in rows} == {None}
    assert {row["judged"] for row in rows} <= {0, 1}


def test_a_wrong_name_costs_nothing(tmp_path: Path) -> None:
    done = run("--paper", "broderr", tmp_path / "nowhere.jsonl")
    assert done.exit_code == 2
    assert "did you mean 'broder'" in done.stderr


def test_what_is_missing_is_said() -> None:
    done = run("--paper", "montanari-puglisi", NEWS)
    assert done.exit_code == 2
    assert "--group" in done.stderr
    done = run("--paper", "henzinger", NEWS, "--group", "story")
    assert "--source" in done.stderr
