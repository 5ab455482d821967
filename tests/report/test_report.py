"""The report of a run says what the tables say, in one bounded file, whatever was read."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neardup import api as nd
from neardup.errors import ColumnError, NeardupError
from neardup.report.html_page import Share, percent
from neardup.report.run_report import report_page
from neardup.runs.result import Result
from neardup.wording import many
from reference import run as twin
from report import runs

LARGEST = 2_000_000
VOID = ("meta",)


class Text(HTMLParser):
    """What a reader sees; fails where tags do not match."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.said: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not any(name.startswith("on") or name == "src" for name, _ in attrs), attrs
        assert all((value or "").startswith("#") for name, value in attrs if name == "href")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "title"):
            self.said.append(data)


def told(page: str) -> str:
    parser = Text()
    parser.feed(page)
    assert parser.open == []
    return re.sub(r"\s+", " ", " ".join(parser.said))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("in") / "in.jsonl"
    docs = twin.collection(np.random.default_rng(1), 80)
    path.write_text("".join(json.dumps(doc) + "\n" for doc in docs) + "broken\n", "utf-8")
    return path


@pytest.mark.parametrize("name", runs.collections())
@pytest.mark.parametrize("verb", [nd.dedup, nd.find])
def test_every_run_has_one(name: str, verb: Any, tmp_path: Path) -> None:
    documents = runs.collections()[name]
    try:
        result = verb(documents, method="shingles", threshold=0.5)
    except NeardupError:
        pytest.fail(f"{name} has no run")
    path = result.report(tmp_path / "report.html")
    page = path.read_text("utf-8")
    assert len(path.read_bytes()) < LARGEST
    counts = result.counts
    said = told(page)
    assert f"{counts.kept:,} kept, {many(counts.duplicates, 'duplicate')}" in said
    assert f"{counts.rejected:,} rejected" in said


def test_a_run_writes_it(source: Path, tmp_path: Path) -> None:
    folder = runs.run(source, set={"words": 2}).save(tmp_path / "out")
    said = told((folder / "report.html").read_text("utf-8"))
    assert "The kept documents are in kept.jsonl" in said
    assert "line is not valid JSON" in said


def test_decisions_that_were_lost_are_missed(source: Path, tmp_path: Path) -> None:
    folder = runs.run(source).save(tmp_path / "out")
    whole = Result.load(folder)
    assert "the counts add up" in told(report_page(whole))
    less = Result(whole.decisions.slice(1), whole.pairs, whole.info)
    assert "THE COUNTS DO NOT ADD UP to the 81 documents" in told(report_page(less))


def test_the_same_run_gives_the_same_bytes(source: Path, tmp_path: Path) -> None:
    """Timings and memory apart."""
    pages = []
    for workers in (1, 2):
        folder = runs.run(source, workers=workers).save(tmp_path / str(workers))
        page = (folder / "report.html").read_text("utf-8")
        parts = re.split(r"(?=<section )", page)
        kept = [p for p in parts if not p.startswith('<section id="timings"')]
        pages.append("".join(kept).replace(f"<td>workers</td><td>{workers}</td>", ""))
    assert pages[0] == pages[1]


def test_read_back_it_is_the_same(source: Path, tmp_path: Path) -> None:
    folder = runs.run(source).save(tmp_path / "out")
    again = Result.load(folder).report(tmp_path / "again.html")
    assert again.read_bytes() == (folder / "report.html").read_bytes()


def test_without_the_input_the_numbers_stand(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    text = runs.WORDS
    path.write_text("".join(json.dumps({"text": t}) + "\n" for t in (text, text + " more")))
    folder = runs.run(path).save(tmp_path / "out")
    path.unlink()
    said = told(report_page(Result.load(folder)))
    assert "The texts could not be read again" in said
    assert "1 duplicate" in said
    assert text[:60] not in said


def test_a_run_in_memory_read_back_has_no_texts(tmp_path: Path) -> None:
    folder = runs.run([runs.WORDS, runs.WORDS]).save(tmp_path / "out")
    assert "they were in memory" in told(report_page(Result.load(folder)))
    assert "they were in memory" not in told((folder / "report.html").read_text("utf-8"))


def test_an_input_that_was_changed_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": runs.WORDS}) + "\n" for _ in range(2)))
    result = nd.find(path, method="shingles")
    path.write_text("".join(json.dumps({"text": "other words"}) + "\n" for _ in range(2)))
    said = told(report_page(result))
    assert "was changed" in said
    assert "other words" not in said


def groups(page: str) -> list[list[str]]:
    table = page.partition('<section id="sources">')[2].partition("</section>")[0]
    rows = re.findall(r"<tr.*?</tr>", table.partition("<tbody>")[2])
    return [[told(cell) for cell in re.findall(r"<td.*?</td>", row)] for row in rows]


def test_shares_by_source_add_up(source: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(source.read_bytes().replace(b'"id": "', b'"id": "o'))
    result = runs.run({"one": source, "two": other}, set={"words": 2})
    rows = groups(report_page(result))
    assert {row[0] for row in rows} == {"one", "two", "all"}
    numbers = [[int(n.replace(",", "")) for n in row[1:6]] for row in rows]
    assert np.array_equal(np.sum(numbers[:-1], axis=0), numbers[-1])
    counts = result.counts
    documents, kept, aside, same, rejected = numbers[-1]
    assert (documents, kept, aside) == (counts.documents, counts.kept, counts.duplicates)
    assert rejected == counts.rejected == 2
    decided = {row["id"]: row for row in result.decisions.to_pylist()}
    duplicates = [row for row in decided.values() if row["decision"] == "duplicate"]
    assert same == sum(decided[row["kept_id"]]["source"] == row["source"] for row in duplicates)


def test_shares_by_a_column_are_those_of_the_documents() -> None:
    sites = ["a", "b", None, "a", "<b>"]
    docs = [{"text": runs.WORDS, "site": site} for site in sites] + [{"text": None, "site": "a"}]
    result = runs.run(docs)
    rows = groups(report_page(result, by="site"))
    told_of = {row[0]: [int(n) for n in row[1:4]] for row in rows}
    expected = {"a": [2, 1, 1], "b": [1, 0, 1], "<b>": [1, 0, 1], "no value": [2, 0, 1]}
    assert told_of == {**expected, "all": [6, 1, 4]}
    with pytest.raises(ColumnError, match="nowhere"):
        report_page(result, by="nowhere")


def test_many_sources_are_cut_and_still_add_up() -> None:
    docs = [{"text": f"{runs.WORDS} {i}", "site": f"site {i:03}"} for i in range(100)]
    rows = groups(report_page(runs.run(docs), by="site"))
    assert len(rows) == 22
    assert rows[-2][0] == "80 others"
    assert sum(int(row[1]) for row in rows[:-1]) == int(rows[-1][1]) == 100


def test_bins_of_the_histogram_hold_every_pair(source: Path) -> None:
    result = nd.find(source, method="shingles", threshold=0.35, words=1)
    page = report_page(result)
    part = page.partition('<section id="scores">')[2].partition("</section>")[0]
    counts = re.findall(r"<td class=n>([\d,]+)</td>", part)
    assert sum(int(n.replace(",", "")) for n in counts) == result.counts.pairs
    assert "threshold 0.35" in part


def test_a_calibrated_run_says_how_sure_its_threshold_is() -> None:
    news = Path(__file__).parents[2] / "examples" / "news.jsonl"
    said = told(report_page(nd.dedup(news, method="rareshingles")))
    assert "Threshold 0.4 (default;" in said
    assert "show no natural gap" in said
    assert "would not change 92% of the pairs" in said


def test_a_reference_is_read_only_on_request(tmp_path: Path) -> None:
    for name, text in (("old", runs.WORDS), ("new", runs.WORDS + " and more")):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": name, "text": text}))
    result = runs.run(tmp_path / "new.jsonl", against=[tmp_path / "old.jsonl"])
    assert result.counts.duplicates == 1
    folder = result.save(tmp_path / "out")
    assert "The kept document is a reference" in told((folder / "report.html").read_text("utf-8"))
    assert "kept: ref:old" in told(report_page(Result.load(folder)))


@pytest.mark.parametrize("clusters", ["rule", "components"])
def test_a_long_id_and_many_members_stay_short(clusters: str) -> None:
    docs = [{"id": "i" * 100_000 + str(i), "text": runs.WORDS} for i in range(30)]
    page = report_page(runs.run(docs, clusters=clusters))
    assert len(page) < 100_000
    assert "… and 22 more, in decisions.parquet." in told(page)


def test_dates_of_members_are_shown_and_nothing_that_is_none(tmp_path: Path) -> None:
    docs = [{"text": runs.WORDS, "date": "2003-11-03T10:00"}, {"text": runs.WORDS, "date": "soon"}]
    said = told(report_page(runs.run(docs)))
    assert "2003-11-03T10:00" in said
    assert "soon" not in said
    (tmp_path / "folder").mkdir()
    for name in "ab":
        (tmp_path / "folder" / f"{name}.txt").write_text("2003-11-03 only this")
    assert "2003" not in groups_of_dates(report_page(runs.run(tmp_path / "folder")))


def groups_of_dates(page: str) -> str:
    table = page.partition('<section id="largest">')[2].partition("</table>")[0]
    return " ".join(re.findall(r"<tr.*?</tr>", table)[1:])


def test_shares_never_lie_about_nothing_and_all() -> None:
    shown = [percent(Share(*one)) for one in ((0, 9), (9, 9), (1, 10**6), (10**6 - 1, 10**6))]
    assert shown == ["0.0 %", "100.0 %", "< 0.1 %", "> 99.9 %"]
    assert percent(Share(0, 0)) == "–"


def test_documents_are_called_by_their_titles(tmp_path: Path) -> None:
    """With the id behind it; what is as long as a text is no title."""
    text = "The ferry pier at Marrow Harbour will be rebuilt in stone, the council has decided. "
    documents = [
        {"id": "a", "title": "A pier\nof stone", "text": text * 3},
        {"id": "b", "title": "word " * 100, "text": text * 3 + "It begins in April."},
    ]
    path = tmp_path / "titled.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in documents))
    page = told(report_page(nd.dedup(str(path))))
    assert "kept: A pier of stone" in page
    assert "A pier of stone ( a )" in page
    assert "word word" not in page
