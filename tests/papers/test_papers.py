from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from neardup import papers
from neardup.errors import SettingsError
from neardup.evaluation.sections import html_page
from neardup.labels.gold import Gold, from_groups
from neardup.papers import paper, paper_pass
from neardup.papers.experiment import Experiment, Options
from neardup.papers.paper_pass import read
from neardup.progress import Silent
from neardup.report.figure_file import save_figure
from neardup.schema import Array
from pages import DOCS, README


def by_group(table: pa.Table, same: Array) -> Gold:
    return from_groups(table["group"], same=same)


FULL = Options(gold=by_group, columns=("group",), source="site", date="day")


def test_every_experiment_is_listed_in_the_docs() -> None:
    written = (DOCS / "papers.md").read_text("utf-8")
    assert all(f"--paper {name}" in written for name in papers.experiments())


TABLE = re.compile(r"(?<=<!-- papers -->\n\n)(?:\|.*\n)*")


def table_of_papers() -> str:
    rows = [("paper", "command", "what it reproduces", "where it differs"), ("---",) * 4]
    for one in paper.papers().values():
        experiments = ", ".join(f"`{name}`" for name in one.experiments)
        how = f" (`neardup evaluate --paper` {experiments})" if experiments else ""
        who = f"**{one.cited_as}**, *{one.title}* (`{one.name}`)"
        rows.append((who, f"`{one.commands[0]}`", f"{one.reproduces}{how}", one.differs))
    return "".join(
        f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |\n" for row in rows
    )


@pytest.mark.parametrize("page", [README, DOCS / "papers.md"], ids=lambda page: page.name)
def test_tables_are_written_from_the_papers(page: Path) -> None:
    """With NEARDUP_UPDATE_DOCS=1 they are written anew."""
    written = page.read_text("utf-8")
    made, count = TABLE.subn(lambda _: table_of_papers(), written)
    assert count == 1
    if os.environ.get("NEARDUP_UPDATE_DOCS"):
        page.write_text(made, "utf-8")
        return
    assert written == made, "run the tests once with NEARDUP_UPDATE_DOCS=1"


def test_the_papers_are_found_by_a_search_for_their_authors() -> None:
    for page in (README, DOCS / "papers.md"):
        written = page.read_text("utf-8")
        surnames = {p.authors[0].split()[-1] for p in paper.papers().values() if p.authors}
        assert all(surname in written for surname in surnames)


def test_every_paper_is_found_as_people_type_its_title_authors_and_year() -> None:
    for one in paper.papers().values():
        plain = one.title.lower().replace("-", " ").replace(":", "")
        assert paper.look_up(one.title) == paper.look_up(plain) == [one]
        assert one in paper.look_up(one.cited_as.replace("ł", "l").replace("í", "i"))
        assert one in paper.look_up(f"the paper by {one.cited_as}")


def test_an_unknown_experiment_is_refused() -> None:
    with pytest.raises(SettingsError, match="did you mean 'broder1997'"):
        papers.run("brodr", [])


@pytest.fixture(scope="module", params=papers.experiments())
def experiment(request: pytest.FixtureRequest, documents: list[dict[str, Any]]) -> Experiment:
    return papers.run(request.param, documents, FULL)


def test_it_has_tables_figures_and_data(experiment: Experiment, tmp_path: Path) -> None:
    assert experiment.documents == 72
    assert json.loads(json.dumps(experiment.data(), allow_nan=False))
    for table in experiment.tables:
        assert table.rows
        assert table.formats.keys() <= {name for row in table.rows for name in row}
        shown = table.section().table
        assert shown is not None
        assert all(len(row) == len(table.formats) for row in shown.rows)
    assert experiment.figures
    for figure in experiment.figures:
        save_figure(figure.draw(), tmp_path / f"{figure.name}.svg")
        assert (tmp_path / f"{figure.name}.svg").stat().st_size > 1000
    page = html_page(experiment.name, experiment.sections())
    panels = sum(
        len(part.panels) for f in experiment.figures for part in [f.draw(), *f.draw().more]
    )
    assert page.count('<svg class="chart') == panels >= len(experiment.figures)
    assert page.count("<table") == len(experiment.tables)


def test_it_is_saved(experiment: Experiment, tmp_path: Path) -> None:
    folder = experiment.save(tmp_path / "out")
    saved = json.loads((folder / "evaluation.json").read_text("utf-8"))
    assert saved == json.loads(json.dumps(experiment.data()))
    assert "<svg" in (folder / "report.html").read_text("utf-8")
    assert {path.stem for path in folder.glob("*.svg")} == {f.name for f in experiment.figures}
    for table in experiment.tables:
        lines = (folder / f"{table.name}.csv").read_text("utf-8").splitlines()
        assert len(lines) == 1 + len(table.rows)
        assert lines[0].split(",") == list(table.formats)


def test_it_is_the_same_every_time(experiment: Experiment, documents: list[dict[str, Any]]) -> None:
    again = papers.run(experiment.name, documents, FULL)
    if experiment.measured:
        assert again.data().keys() == experiment.data().keys()
    else:
        assert again.data() == experiment.data()


@pytest.mark.parametrize("name", ["conrad2003-sets", "williams2013", "montanari2012"])
def test_scored_pairs_are_found_again(
    name: str, documents: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = replace(FULL, folder=tmp_path)
    made = papers.run(name, documents, options).data()
    assert made == papers.run(name, documents, FULL).data()
    with monkeypatch.context() as patch:
        patch.delattr(paper_pass, "execute")
        assert papers.run(name, documents, options).data() == made
        with pytest.raises(NameError):
            papers.run(name, documents[1:], options)
    for lost in ("*.kinds.parquet", "*.parquet"):
        for path in tmp_path.glob(lost):
            path.write_bytes(b"PAR1")  # cut off
        assert papers.run(name, documents, options).data() == made


def test_lists_that_were_cut_are_told(documents: list[dict[str, Any]]) -> None:
    found = read(documents, Options(), Silent()).find(method="shingles")
    assert paper_pass.partial_notes([found, found]) == []
    cut = replace(found, pairs=replace(found.pairs, complete=False))
    (note,) = paper_pass.partial_notes([found, cut])
    assert note.startswith("WARNING: the pairs of shingles are partial")


def test_inputs_may_have_a_column_in_several_types() -> None:
    tables = {
        "one": pa.table({"text": ["a b c"], "year": pa.array([1900], pa.int32())}),
        "other": [{"text": "d e f", "year": "1901"}, {"text": "g h i"}, {"year": "1902"}],
    }
    made = read(tables, Options(date="year"), Silent())
    assert made.table["year"].to_pylist() == ["1900", "1901", None]
    assert made.table.column_names == ["id", "text", "year"]
    assert made.rejected == 1
    told = papers.run("broder1997", tables, Options(date="year")).notes[0]
    assert told == "1 documents could not be read and were left out."


@pytest.mark.parametrize("name", [n for n in papers.experiments() if n not in ("henzinger2006",)])
def test_bare_texts_are_enough(name: str, documents: list[dict[str, Any]]) -> None:
    """Without ids, columns and gold, except where gold is what it is about."""
    texts = [row["text"] for row in documents]
    if name in ("montanari2012", "raveena2014"):
        with pytest.raises(SettingsError, match=r"needs (gold|labelled)"):
            papers.run(name, texts)
    else:
        assert papers.run(name, texts).documents == len(texts)


def test_henzinger_asks_for_a_source(documents: list[dict[str, Any]]) -> None:
    with pytest.raises(SettingsError, match="column with the source"):
        papers.run("henzinger2006", documents, Options(gold=by_group, columns=("group",)))


@pytest.mark.parametrize("name", papers.experiments())
def test_nothing_to_look_at_is_no_accident(name: str) -> None:
    """Two unlike documents: no pairs, no sets, and nothing breaks."""
    rows = [
        {"id": str(i), "text": text, "group": str(i), "site": "s", "day": "2003-11-03"}
        for i, text in enumerate(["one two three", "four five six"])
    ]
    made = papers.run(name, rows, FULL)
    assert json.dumps(made.data(), allow_nan=False)
    assert made.sections()
