"""The systems of the papers by name, with exactly the papers' parameters; recipes of users.

Which papers there have to be is read from the papers themselves: their titles, and their lists of
references.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli.every import every_command
from conftest import DATA
from neardup import api as nd
from neardup.cli import main
from neardup.cli.index_options import opened_or_new
from neardup.engines.index.index import Index
from neardup.engines.ranked import group
from neardup.errors import SettingsError
from neardup.papers.paper import CITED, SOURCES, SYSTEMS, papers
from neardup.papers.recipe import papers as recipes
from neardup.papers.recipe import read_index, read_recipe
from neardup.plan import resolve
from neardup.settings import Settings

ROOT = Path(__file__).parent.parent
NEWS = ROOT / "examples" / "news.jsonl"
# What the papers print (METHODS names the sections).
PRINTED: dict[str, dict[str, Any]] = {
    "williams2013-simhash": {"distance": 3, "bits": 64, "weights": "tf", "words": 1},
    "williams2013-shingles": {"words": 5, "permutations": 84, "threshold": 0.5, "keys": "all"},
    "broder1997": {"words": 10, "modulus": 25, "sample_limit": 400, "threshold": 0.5},
    "conrad2003-identical": {"size": 6, "idf_max": 0.8, "terms": "alpha"},
    "conrad2003-nonidentical": {"size": 60, "threshold": 0.8, "max_days": 42, "min_count": 5},
    "raveena2014": {"k": 4, "unit": "word"},
    "montanari2012": {"q": 4, "threshold": 0.7},
    "lecture-sketch": {"permutations": 20, "words": 4, "keys": "all"},
    "lecture-containment": {"measure": "containment"},
    "lecture-supershingles": {"variant": "broder"},
    "henzinger2006-supershingles": {"words": 8, "permutations": 84, "size": 14},
    "henzinger2006": {"rule": "agreement"},
    "manku2007": {"distance": 3, "bits": 64},
    "charikar2002": {"distance": 3, "bits": 64, "weights": "tf"},
    "kolcz2004": {"lexicons": 10, "min_equal": 1},
    "theobald2008": {"chain": 2, "distance": 1},
}
NAMES = [recipe.name for recipe in recipes()]
ABOUT = re.compile(r"duplicat|replica|similar|fingerprint|copy|clustering of the web|signature")


def plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


@pytest.fixture(scope="module")
def seeds() -> list[str]:
    """The texts of the papers themselves, beside the labelled sets."""
    found = sorted((DATA.parent / "seeds").glob("*.txt"))
    if not found:
        pytest.skip(f"{DATA.parent / 'seeds'} is not there")
    return [path.read_text("utf-8") for path in found]


def test_every_source_is_a_paper_here(seeds: list[str]) -> None:
    sources = [papers()[name] for name in SOURCES]
    assert len(seeds) == len(sources)
    for seed, paper in zip(seeds, sources, strict=True):
        head = plain(seed[:4000])
        assert plain(paper.title) in head
        assert all(plain(author.split()[-1]) in head for author in paper.authors)


def references(seed: str) -> Iterator[str]:
    after = re.split(r"REFERENCES|## References", seed)
    if len(after) > 1:
        yield from re.findall(r"^(?:- )?(?:\[\d+\]|\d+\.) (.*)$", after[-1], re.MULTILINE)


def test_every_cited_system_has_a_recipe_or_a_reason(seeds: list[str]) -> None:
    titles = [re.split(r"[:(]", paper.title)[-1] for paper in papers().values()]
    titles += [re.split(r"\d{4}, |\(", cited.work)[1] for cited in CITED]
    titles += ["Finding Near-Duplicate Web Pages"]
    known = [plain(title).replace(" ", "") for title in titles]
    cited = [plain(one).replace(" ", "") for seed in seeds for one in references(seed)]
    assert len(cited) == 54
    about = [one for one in cited if ABOUT.search(one)]
    assert len(about) > 30
    assert [one for one in about if not any(title in one for title in known)] == []


def test_every_system_is_cited_by_a_source(seeds: list[str]) -> None:
    together = plain(" ".join(seeds)).replace(" ", "")
    for name in SYSTEMS:
        title = re.split(r"[:(]", papers()[name].title)[0]
        assert plain(title).replace(" ", "") in together, name


def test_the_recipes_of_a_paper_have_its_name() -> None:
    files = {path.stem for path in (ROOT / "src/neardup/papers").glob("*.toml")}
    assert files == {*SOURCES, *SYSTEMS} == papers().keys()
    assert all(papers()[name].recipes for name in files)
    assert [name for paper in papers().values() for name in paper.recipes] == NAMES
    assert all(name.split("-")[0] in files for name in NAMES)


@pytest.mark.parametrize("name", PRINTED)
def test_a_recipe_has_the_parameters_of_its_paper(name: str) -> None:
    method = resolve(Settings(**read_recipe(name))).method
    assert {key: getattr(method, key) for key in PRINTED[name]} == PRINTED[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_runs(name: str) -> None:
    counts = nd.dedup(NEWS, recipe=name, kinds="none").counts
    assert counts.documents == 74
    assert counts.duplicates > 0
    assert counts.documents == counts.kept + counts.duplicates + counts.rejected


def test_arguments_win_over_the_recipe() -> None:
    settings = nd.dedup(NEWS, recipe="broder1997", words=3, threshold=0.4).info["settings"]
    assert settings["parameters"]["words"] == 3
    assert settings["parameters"]["threshold"] == 0.4
    assert settings["parameters"]["modulus"] == 25
    assert settings["clusters"] == "components"
    other = nd.dedup(NEWS, recipe="broder", method="simhash").info["settings"]
    assert (other["method"], other["clusters"]) == ("simhash", "components")


def test_a_file_is_a_recipe_too(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[method]\nname = "simhash"\ndistance = 5\n[index]\nwindow = "6h"\n')
    settings = nd.dedup(NEWS, recipe=file).info["settings"]
    assert settings["parameters"]["distance"] == 5
    assert read_index(file) == {"window": "6h"}
    file.write_text("[index]\nwindows = 3\n")
    with pytest.raises(SettingsError, match=r"\[index\] of .* unknown settings: windows"):
        read_recipe(file)


def test_an_index_and_a_list_take_a_recipe() -> None:
    with Index.open("memory:", recipe="montanari-puglisi", window="6h") as index:
        made = index.described()
    assert (made["method"], made["window"], made["against"]) == ("qgrams", "6h", "seen")
    assert made["parameters"]["text"]["case"] == "keep"
    texts = [json.loads(line)["text"] for line in NEWS.read_text("utf-8").splitlines()]
    assert len(group(texts, recipe="williams2013-shingles")) < len(texts)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("brodr", "did you mean 'broder1997'"),
        ("conrad2003", "'conrad2003-identical' or 'conrad2003-nonidentical'"),
        ("nothing", "neardup papers"),
        ("no.toml", "cannot be read"),
    ],
)
def test_a_recipe_that_is_not_there(name: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        read_recipe(name)


def test_names_that_recipes_had_before_are_still_taken() -> None:
    assert read_recipe("montanari-puglisi") == read_recipe("montanari2012")
    assert read_recipe("williams-giles-simhash") == read_recipe("williams2013-simhash")
    assert read_recipe("conrad-identical") == read_recipe("conrad2003-identical")


A, B = "one two three four five six seven eight", "one two three four five six seven nine"
COMMANDS = {
    "dedup": f"dedup {NEWS} -o OUT/run --recipe charikar2002 --quiet",
    "find": f"find {NEWS} -o OUT/run --recipe charikar2002 --quiet",
    "index": f"index build OUT/made.db {NEWS} --recipe charikar2002 --quiet",
    "compare": f"compare --strings '{A}' '{B}' --recipe lecture-sketch --set min_words=0",
    "group": f"group {ROOT}/examples/results.jsonl --recipe charikar2002",
    "evaluate": f"evaluate {NEWS} --group story --recipe charikar2002 --recipe manku2007 --quiet",
}


WITH_SETTINGS = (
    *("dedup", "find", "index build", "watch", "serve"),
    *("compare", "group", "evaluate", "train"),
)


@pytest.mark.parametrize("name", WITH_SETTINGS)
def test_every_command_with_settings_has_the_option(name: str) -> None:
    assert "--recipe" in {option for one in every_command()[name].params for option in one.opts}


def test_watch_and_serve_open_an_index_by_a_recipe() -> None:
    options = {"recipe": "montanari2012", "assignments": (), "whose": None, "against": "kept"}
    with opened_or_new("memory:", options) as index:
        made = index.described()
    assert (made["method"], made["window"], made["against"]) == ("qgrams", "24h", "kept")


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_take_a_recipe(name: str, tmp_path: Path) -> None:
    command = COMMANDS[name].replace("OUT", str(tmp_path))
    done = CliRunner().invoke(main, shlex.split(command))
    assert done.exit_code == 0, done.output
    if name == "compare":
        assert "method      shingles ≥ 0.8" in done.output
    if name == "evaluate":
        assert "charikar2002" in done.output
        assert "manku2007" in done.output
        assert "rareshingles" not in done.output


def test_a_recipe_wants_no_second_setting_with_a_run(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["compare", "a", "--run", str(tmp_path), "--recipe", "broder"])
    assert done.exit_code == 2
    assert "--recipe" in done.stderr
