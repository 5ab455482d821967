from __future__ import annotations

import json
import re
import shlex
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from neardup.cli import main
from neardup.papers import experiments, paper

NEWS = Path(__file__).parents[2] / "examples" / "news.jsonl"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["evaluate", *map(str, arguments)])


def papers(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["papers", *arguments])


def test_papers_are_listed() -> None:
    listed = papers().stdout
    for one in paper.papers().values():
        assert f"{one.name} " in listed
        assert one.title in listed
    data = json.loads(papers("--json").stdout)
    assert [one["name"] for one in data] == list(paper.papers())


@pytest.mark.parametrize("name", paper.papers())
def test_a_paper_is_shown(name: str) -> None:
    one, shown = paper.papers()[name], " ".join(papers(name).stdout.split())
    for part in (one.title, one.about, *one.commands, *one.recipes, *one.experiment_commands):
        assert part in shown
    assert all(" ".join(difference.split()) in shown for difference in one.differences)
    cited = papers(name, "--bibtex").stdout
    assert cited.startswith("@")
    assert f"{{{name}," in cited
    assert one.title in cited
    assert json.loads(papers(name, "--json").stdout)["bibtex"] == cited.strip()


def test_several_papers_are_cited_in_one_call() -> None:
    cited = papers("williams2013", "charikar2002", "--bibtex").stdout
    assert re.findall(r"@\w+{(\w+),", cited) == ["williams2013", "charikar2002"]
    assert "charikar2002" in papers("broder", "charikar").stdout


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Conrad", "conrad2003"),
        ("giles", "williams2013"),
        ("Puglisi", "montanari2012"),
        ("I-Match", "chowdhury2002"),
        ("Kołcz", "kolcz2004"),
        ("altavista", "broder1997"),
        ("Detecting Near-Duplicates for Web Crawling", "manku2007"),
        ("conrad2003-growth", "conrad2003"),
    ],
)
def test_words_lead_to_a_paper(words: str, name: str) -> None:
    """An author may have written several; the seed comes first."""
    shown = json.loads(papers(*words.split(), "--json").stdout)
    assert (shown[0] if isinstance(shown, list) else shown)["name"] == name


def test_what_has_no_recipe_says_so() -> None:
    assert "It has no recipe" in papers("lakkaraju").stdout
    unknown = papers("xyzzy")
    assert unknown.exit_code == 2
    assert "`neardup papers` lists all" in unknown.stderr


STANDING = {"INPUT": str(NEWS), "NEW": str(NEWS), "RESULTS": str(NEWS.parent / "results.jsonl")}
STANDING |= {
    "GROUP": "story",
    "SOURCE": "lang",
    "DATE": "date",
    "TITLE": "title",
    "RECORD": "title",
}
MADE = ("OUT", "STORE", "IN", "FORWARD", "ASIDE", "MODEL")
COMMANDS = [command for one in paper.papers().values() for command in one.commands]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_a_paper_runs(command: str, tmp_path: Path) -> None:
    (tmp_path / "IN").mkdir()
    (tmp_path / "IN" / "item.txt").write_text("a story of some length " * 5)
    places = {**STANDING, **{name: str(tmp_path / name) for name in MADE}}
    for name in "AB":
        (tmp_path / name).write_text(f"a rose is {name}")
        places[name] = str(tmp_path / name)
    places["PAIRS"] = str(tmp_path / "pairs.csv")
    (tmp_path / "pairs.csv").write_text(_pairs_of_stories())
    first = {"model=MODEL": " train ", "index check STORE": "index build STORE"}
    before = [next(each for each in COMMANDS if first[n] in each) for n in first if n in command]
    for each in (*before, command):
        _run_command(each, places)


def _pairs_of_stories() -> str:
    """The news of one story are duplicates, and each is compared with one of another story."""
    rows = [json.loads(line) for line in NEWS.read_text("utf-8").splitlines()]
    told = [row for row in rows if row.get("story")]
    same = [(a, b) for a, b in combinations(told, 2) if a["story"] == b["story"]]
    others = [(a, b) for a, b in zip(told, told[30:], strict=False) if a["story"] != b["story"]]
    pairs = [(*pair, label) for pairs, label in ((same, 1), (others, 0)) for pair in pairs]
    return "a,b,label\n" + "".join(f"{a['id']},{b['id']},{label}\n" for a, b, label in pairs)


def _run_command(command: str, places: dict[str, str]) -> None:
    parts = [re.split(r"(=)", word) for word in shlex.split(command)]
    words = ["".join(places.get(part, part) for part in word) for word in parts]
    assert words[0] == "neardup"
    words += ["--once"] if "watch" in words else []
    done = CliRunner().invoke(main, words[1:])
    assert done.exit_code == 0, done.output


def test_experiments_are_listed() -> None:
    done = run("--papers")
    assert done.exit_code == 0
    listed = [line.split()[0] for line in done.stdout.splitlines()[1:] if line]
    assert listed[: len(experiments())] == list(experiments())
    told = json.loads(run("--papers", "--json").stdout)
    assert {one["name"]: one["shows"] for one in told} == {
        n: p.shows for n, p in experiments().items()
    }


@pytest.mark.parametrize("name", experiments())
def test_each_is_one_command(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = ("--group", "story", "--source", "lang", "--date", "date", "-o", out)
    done = run("--paper", name, NEWS, *asked)
    assert done.exit_code == 0, done.output
    assert "74 documents." in done.stdout
    assert "report.html" in done.stderr
    written = {path.suffix for path in out.iterdir() if path.is_file()}
    assert written - {".jsonl"} == {".csv", ".svg", ".html", ".json"}
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
    told = json.loads(run("--paper", "williams2013", NEWS, "--pairs", pairs, "--json").stdout)
    rows = told["tables"]["figure_1b"]
    assert {row["precision"] for row in rows} == {None}
    assert {row["judged"] for row in rows} <= {0, 1}


def test_a_wrong_name_costs_nothing(tmp_path: Path) -> None:
    done = run("--paper", "broderr", tmp_path / "nowhere.jsonl")
    assert done.exit_code == 2
    assert "did you mean 'broder1997'" in done.stderr


def test_what_is_missing_is_said() -> None:
    for name in ("montanari2012", "raveena2014"):
        done = run("--paper", name, NEWS)
        assert (done.exit_code, "--group" in done.stderr) == (2, True)
    done = run("--paper", "montanari2012", NEWS)
    assert done.exit_code == 2
    assert "--group" in done.stderr
    done = run("--paper", "henzinger2006", NEWS, "--group", "story")
    assert "--source" in done.stderr
