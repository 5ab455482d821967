"""A figure stands in one place: every page that shows it shows the same.

Speed comes from ``benchmarks/recorded.toml``, quality from ``tests/quality/floors.toml``.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest

from benchmarks import recorded
from neardup.methods import registry
from pages import DOCS, PAGES, README, ROOT
from quality import floors, peers
from quality.sets import AVERAGED
from quality.table import short
from recorded import PAGE, SUMMARY, summary, written

QUALITY = re.compile(r"(?<![\d.])\.\d{3}\b")  # .904, as docs/quality.md writes shares
NAMES = {  # what the pages of methods call the labelled sets
    "licence texts": "licences",
    "manual pages in versions": "manpages_versions",
    "German laws in versions": "laws_de",
    "internet standards and their successors": "rfc_lineage",
    "sections of US bills": "bill_pairs",
    "scans and their transcriptions": "ocr_pairs",
    "answers copied and reworded": "clough_stevenson",
}
# Tables of method pages: where the figures of the defaults stand in a row.
DEFAULTS = {
    "shingles": {"precision": 1, "recall": 2, "f1": 3},
    "simhash": {"precision": 1, "recall": 2, "f1": 3},
    "keywords": {"precision": 1, "recall": 2, "f1": 5},
}
LEARNED = DOCS / "methods" / "learned.md"
NUMBER = re.compile(r"\d[\d.,]*\d|\d|(?<!\d)\.\d+")
SPEED = re.compile(r"([\d.,]*\d) ?(?:MB/s|µs|documents/s)\b")
WITH_FIGURES = [page for page in PAGES if recorded.BLOCK.search(page.read_text("utf-8"))]


@pytest.mark.parametrize("page", WITH_FIGURES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_tables_show_what_was_recorded(page: Path) -> None:
    """With NEARDUP_UPDATE_DOCS=1 they are made to; read the difference."""
    written = page.read_text("utf-8")
    made = recorded.with_figures(written, recorded.read())
    if os.environ.get("NEARDUP_UPDATE_DOCS"):
        page.write_text(made, "utf-8")
        return
    assert written == made, "run the tests once with NEARDUP_UPDATE_DOCS=1"


def test_every_recorded_table_is_shown_once() -> None:
    named = [name for page in WITH_FIGURES for name in recorded.BLOCK.findall(page.read_text())]
    assert sorted(named) == sorted(recorded.TABLES)


def test_a_measurement_says_how_and_where() -> None:
    every = recorded.read()
    for name, one in every.items():
        if name == "machines":
            continue
        assert {"command", "machine", "date", "beside"} <= one.keys(), name
        assert every["machines"][one["machine"]]["instructions"], name


def test_the_readme_has_no_speed_of_its_own() -> None:
    """What is beside the recorded table would be a second place for a figure."""
    assert SPEED.findall(recorded.BLOCK.sub("", README.read_text("utf-8"))) == []


def test_the_summary_of_reliability_is_that_of_its_page() -> None:
    made = written(SUMMARY, "sure", summary(PAGE.read_text("utf-8")))
    if os.environ.get("NEARDUP_UPDATE_DOCS"):
        SUMMARY.write_text(made, "utf-8")
        return
    assert SUMMARY.read_text("utf-8") == made, "run the tests once with NEARDUP_UPDATE_DOCS=1"


def test_the_summary_has_no_figure_of_its_own() -> None:
    """A number in a sentence of docs/how-good.md stands in a page that the same line links to."""
    for line in SUMMARY.read_text("utf-8").splitlines():
        if line.startswith(("|", "*Measured", "<!--")):
            continue  # made of what was recorded
        said = re.sub(r"\]\([^)]*\)|`[^`]*`|AVX2|AVX-512|F1|3-shingles", "", line)
        linked = [DOCS / name for name in re.findall(r"\]\(([\w./-]+\.md)", line)]
        there = {number for page in linked for number in NUMBER.findall(page.read_text("utf-8"))}
        assert {*NUMBER.findall(said)} <= there, line


pinned_sets = cache(floors.read)


def pinned(name: str, method: str) -> dict[str, float]:
    return dict(pinned_sets()[name].measured[method])


def pinned_mean(method: str) -> float:
    return sum(pinned(name, method)["f1"] for name in AVERAGED) / len(AVERAGED)


def pinned_figures() -> set[str]:
    """All that the tables of docs/quality.md show."""
    each = {
        short(value)
        for one in (*pinned_sets().values(), *floors.read(peers.FILE).values())
        for figures in one.measured.values()
        for value in figures.values()
    }
    methods = pinned_sets()[AVERAGED[0]].measured
    return each | {short(pinned_mean(method)) for method in methods} | peer_means()


def peer_means() -> set[str]:
    measured = floors.read(peers.FILE)
    sets = [measured[name].measured for name in AVERAGED if name in measured]
    names = [name for name in (sets[0] if sets else {}) if all(name in one for one in sets)]
    return {short(sum(one[name].get("f1", 0) for one in sets) / len(sets)) for name in names}


@pytest.mark.parametrize(
    "page",
    [README, *(DOCS / f"{name}.md" for name in ("features", "how-good", "quality")), LEARNED],
)
def test_quality_that_is_quoted_is_what_was_pinned(page: Path) -> None:
    assert {*QUALITY.findall(page.read_text("utf-8"))} <= pinned_figures()


def test_the_means_that_the_first_pages_compare() -> None:
    learned, usual = short(pinned_mean("learned")), short(pinned_mean(registry.DEFAULT))
    features = (DOCS / "features.md").read_text("utf-8")
    sets = "seven [labelled sets](quality.md)"
    assert f"with a mean F1 of {learned} on {sets} (the default: {usual})" in features
    sets = "seven [labelled sets](docs/quality.md)"
    assert f"Its mean F1 on {sets} is {usual}." in README.read_text("utf-8")


@pytest.mark.parametrize("method", DEFAULTS)
def test_pages_of_methods_agree_with_what_was_pinned(method: str) -> None:
    page = (DOCS / "methods" / f"{method}.md").read_text("utf-8")
    rows = page.partition("## What it finds on labelled sets")[2].splitlines()
    shown = {row.split("|")[1].strip(): re.split(r"[|/]", row) for row in rows if "|" in row}
    for called, name in NAMES.items():
        for figure, place in DEFAULTS[method].items():
            written = float(shown[called][place + 1])
            assert abs(written - pinned(name, method)[figure]) <= 0.0051, (called, figure)


def test_decisions_that_compare_defaults_agree_with_what_was_pinned() -> None:
    usual = (DOCS / "decisions" / "0014-the-usual-method.md").read_text("utf-8")
    rows = re.findall(r"^\| [\w ]+ \| (\.\d+) \| (\.\d+) \| (\.\d+) \|$", usual, re.MULTILINE)
    methods = ("shingles", "shingles threshold=0.5", "rareshingles")
    sets = [name for name in AVERAGED if name != "terms_versions"]  # measured later
    each = [tuple(short(pinned(name, one)["f1"]) for one in methods) for name in sets]
    means = (sum(pinned(name, one)["f1"] for name in sets) / len(sets) for one in methods)
    assert rows == [*each, tuple(map(short, means))]
    known = (DOCS / "decisions" / "0015-known-answers.md").read_text("utf-8")
    # spotsigs has .717 there and .714 pinned; its row is of one run, so it is not mended by halves.
    for method in ("shingles, 5 words", "qgrams", "keywords"):
        cells = known.partition(f"| {method} |")[2].partition("\n")[0].split("|")
        name = method.partition(",")[0]
        mean = sum(pinned(one, name)["f1"] for one in sets) / len(sets)
        assert cells[-3].strip() == short(mean), method
