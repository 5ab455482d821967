"""Counts and lists that the pages state are those of the code: sixteen methods, 22 measures."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from engines.index.test_equality import VARIANTS
from neardup.artefacts import boilerplate, calibration, encoders, frequencies, idf, model, outline
from neardup.decisions.kinds import KINDS
from neardup.engines.batch import threshold_choice
from neardup.engines.index import store
from neardup.features import similarity
from neardup.features.similarity import FAMILIES, MADE_OF, MEASURES, SUMMED
from neardup.methods import registry
from neardup.methods.base import SIGNATURE_FORMAT
from neardup.methods.join import MEASURES as OF_JOIN
from neardup.methods.minhash import choose_bands
from neardup.papers import experiments
from neardup.planting.edits import EDITS
from neardup.runs import run_info
from neardup.settings import Settings
from neardup.text.text_options import STOP_WORDS
from neardup.web.limits import Limits
from pages import DOCS, PAGES, ROOT
from quality.kinds.edits import changes
from quality.sets import AVERAGED, SETS

WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
NUMBER = rf"(\d[\d,]*|{'|'.join(WORDS)})"
NEWS = (ROOT / "examples" / "news.jsonl").read_text("utf-8")
EXAMPLES = [json.loads(line) for line in NEWS.rstrip("\n").split("\n")]
EQUAL = {"identical", "normalised"}  # kinds that are told without both texts
LANGUAGES = {document["lang"] for document in EXAMPLES} - {"und"}
OF_SETS = len(SUMMED) * len(MADE_OF)
ALL_MEASURES = OF_SETS + len(similarity.MADE_OF_ORDER) + len(similarity.HALF_AT) + 1  # length_ratio

# Page, what it says with N in the place of the number, and the number.
CLAIMS = [
    ("README.md", r"\*\*N methods, one rule", len(registry.METHODS)),
    ("docs/features.md", r"\*\*N methods, one rule", len(registry.METHODS)),
    ("docs/features.md", r"on N \[labelled sets\]", len(AVERAGED)),
    ("README.md", r"\[N news items in", len(EXAMPLES)),
    ("README.md", r"news items in N languages", len(LANGUAGES)),
    ("README.md", r"on N \[labelled sets\]", len(AVERAGED)),
    ("CHANGELOG.md", r"N measures of a pair by name", ALL_MEASURES),
    ("CHANGELOG.md", r"N of them unless others are named", len(MEASURES)),
    ("CHANGELOG.md", r"`join` \(N measures, complete\)", len(OF_JOIN)),
    ("CHANGELOG.md", r"N edits of the own documents", len(EDITS)),
    ("CHANGELOG.md", r"on N labelled sets", len(SETS)),
    ("CHANGELOG.md", r"Signature format N\.", SIGNATURE_FORMAT),
    ("CHANGELOG.md", r"Run folder format N\.", run_info.FORMAT),
    ("CHANGELOG.md", r"\. idf table format N\.", idf.FORMAT),
    ("CHANGELOG.md", r"\. Frequencies format N\. Cal", frequencies.FORMAT),
    ("CHANGELOG.md", r"\. Calibration format N\.", calibration.FORMAT),
    ("CHANGELOG.md", r"\. Boilerplate format N\.", boilerplate.FORMAT),
    ("CHANGELOG.md", r"\. Encoder format N\. Model", encoders.FORMAT),
    ("CHANGELOG.md", r"\. Model format N\.", model.FORMAT),
    ("CHANGELOG.md", r"\. Outline format N\.", outline.FORMAT),
    ("CHANGELOG.md", r"\. Index format N\.\n", store.FORMAT),
    ("examples/README.md", r"N documents, 20 stories", len(EXAMPLES)),
    ("examples/README.md", r"N stories", len({document["story"] for document in EXAMPLES})),
    ("examples/README.md", r"N languages", len(LANGUAGES)),
    ("docs/coming-from.md", r"the N news items", len(EXAMPLES)),
    ("docs/how-it-works.md", r"one of \[N other kinds\]", len({*KINDS} - EQUAL)),
    ("docs/kinds.md", r"There are N edits and pairs of edits", len(changes())),
    ("docs/kinds.md", r"in N languages, they agree", len(LANGUAGES)),
    ("docs/learning.md", r"all N measures", len(MEASURES)),
    ("docs/learning.md", r"is the best of N that were tested", len(MEASURES)),
    ("docs/learning.md", r"with N measures \(without `aligned_dice`\)", len(MEASURES) - 1),
    ("docs/methods/learned.md", r"On N labelled sets", len(AVERAGED)),
    ("docs/methods/learned.md", r"All N \[labelled sets\]", len(SETS)),
    ("docs/methods/spotsigs.md", r"There are lists for N languages", len(STOP_WORDS)),
    (
        "docs/methods/rareshingles.md",
        r"N edited copies",
        threshold_choice.PER_EDIT * len(threshold_choice.EDITS),
    ),
    ("docs/performance.md", r"the N usual measures", len(MEASURES)),
    ("docs/planting.md", r"copies of each of N edits", len(threshold_choice.EDITS)),
    ("docs/planting.md", r"N copies of each of", threshold_choice.PER_EDIT),
    ("docs/spark.md", r"N settings on four sets each", len(VARIANTS)),
    ("docs/spark.md", r"sets each, N comparisons", 4 * len(VARIANTS)),
]


def number(written: str) -> int:
    word = written.lower()
    return WORDS.index(word) if word in WORDS else int(word.replace(",", ""))


def counts(pattern: str, page: str) -> list[int]:
    """What stands for N, everywhere in the page."""
    sought = re.compile(pattern.replace("N", NUMBER, 1), re.IGNORECASE)
    return [number(found) for found in sought.findall((ROOT / page).read_text("utf-8"))]


@pytest.mark.parametrize(("page", "pattern", "count"), CLAIMS)
def test_counts_are_those_of_the_code(page: str, pattern: str, count: int) -> None:
    assert {*counts(pattern, page)} == {count}, (
        "mend the page, or this list if it says it otherwise"
    )


def everywhere(noun: str) -> Iterator[tuple[str, int]]:
    """Page and number, wherever a page says how many of them there are."""
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        for count in counts(rf"\bN (?:usual |of the )?\[?{noun}\b(?! \(without)", name):
            yield name, count


@pytest.mark.parametrize(
    ("noun", "from_", "right"),
    [
        ("methods", 10, {len(registry.METHODS)}),
        ("measures", 12, {len(MEASURES), ALL_MEASURES}),
        ("labelled sets", 1, {len(SETS), len(AVERAGED)}),
        ("edits", 12, {len(EDITS), len(changes())}),
    ],
)
def test_no_page_counts_otherwise(noun: str, from_: int, right: set[int]) -> None:
    """Smaller numbers are of parts: four methods of a paper, three measures of a model."""
    assert [one for one in everywhere(noun) if one[1] >= from_ and one[1] not in right] == []


def first_cells(page: str, heading: str) -> list[str]:
    """What stands between backquotes in the first column of the first table below a heading."""
    below = f"\n{(DOCS / page).read_text('utf-8')}".partition(f"\n{heading}\n")[2]
    table = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    assert table, heading
    cells = [row.split("|")[1] for row in table[0].splitlines()[2:]]
    return [name for cell in cells for name in re.findall(r"[`\[]([\w-]+)[`\]]", cell)]


@pytest.mark.parametrize(
    ("page", "heading", "names"),
    [
        ("methods/README.md", "# Methods", registry.METHODS),
        ("how-it-works.md", "## Other keys", registry.METHODS),
        ("kinds.md", "# Kinds of duplicates", KINDS),
        ("similarity.md", "## Families", FAMILIES),
        ("similarity.md", "## Measures", MADE_OF),
        ("planting.md", "## What is planted", EDITS),
    ],
)
def test_tables_name_everything_there_is(page: str, heading: str, names: object) -> None:
    assert {*first_cells(page, heading)} == {*names}  # type: ignore[misc]


def test_the_experiments_are_listed() -> None:
    page = (DOCS / "papers.md").read_text("utf-8")
    assert re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE) == [*experiments()]


def test_the_usual_measures_are_listed() -> None:
    page = (DOCS / "similarity.md").read_text("utf-8")
    listed = page.partition("taken unless others are named: ")[2].partition("\n")[0]
    assert re.findall(r"`(\w+)`", listed) == [*MEASURES]


@pytest.mark.parametrize(
    ("page", "before"), [("glossary.md", "two documents are: "), ("policies.md", "names kinds: ")]
)
def test_kinds_are_listed_in_full(page: str, before: str) -> None:
    listed = (DOCS / page).read_text("utf-8").partition(before)[2][:200]
    assert re.findall(r"[a-z]+", listed.replace(" or ", " "))[: len(KINDS)] == [*KINDS]


def test_rates_of_edits_are_those_of_the_code() -> None:
    page = (DOCS / "planting.md").read_text("utf-8")
    for name, edit in EDITS.items():
        rates = ", ".join(f"{100 * rate:g}" for rate in edit.rates)
        assert f"| `{name}` | {rates} % |" in page


def test_settings_of_the_api_are_listed() -> None:
    page = (DOCS / "python-api.md").read_text("utf-8")
    listed = page.partition(" They are ")[2].partition(", and mean the same")[0]
    assert {*re.findall(r"`(\w+)`", listed)} == {
        field.name for field in dataclasses.fields(Settings)
    }


def test_limits_of_the_service_are_those_of_the_code() -> None:
    page = (DOCS / "service.md").read_text("utf-8").partition("## Limits")[2]
    limits = Limits()
    at_once = f"{limits.requests:,}; {limits.bodies:,}"
    for beginning, limit in {
        "bytes of a request, or of a line of a stream": f"{limits.body:,}",
        "characters of a text": f"{limits.text:,}",
        "characters of an id": f"{limits.id:,}",
        "documents of a batch, results of a list": f"{limits.batch:,}",
        "documents that wait to be written": f"{limits.waiting:,}",
        "seconds for a body to come, for an answer to be made": f"{limits.seconds:g}",
        "requests at one time; bytes of all their bodies": at_once,
    }.items():
        assert f"| {beginning} | {limit} |" in page


def test_the_miss_rate_that_is_quoted() -> None:
    chosen = choose_bands(0.8, 128, 0.001)
    assert chosen is not None
    rate = f"{chosen.miss_rate(0.8):.5f}"
    for page in (DOCS / "features.md", DOCS / "methods" / "README.md"):
        assert rate in page.read_text("utf-8")


def test_a_word_of_the_glossary_has_one_meaning() -> None:
    """Two need their context: **Original** (of a planted copy)."""
    page = (DOCS / "glossary.md").read_text("utf-8")
    defined = Counter(re.findall(r"\*\*([^*]+\*\*(?: \([^)]*\)| of an? \w+)?)[:,]", page))
    assert [word for word, times in defined.items() if times > 1] == []


@pytest.mark.parametrize(
    ("page", "heading"),
    [("performance.md", "## Every method, one core"), ("online.md", "## Speed and memory")],
)
def test_tables_of_all_methods_say_what_they_lack(page: str, heading: str) -> None:
    """A method that was not measured is named below the table."""
    part = (DOCS / page).read_text("utf-8").partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    assert [name for name in registry.METHODS if not re.search(rf"\b{name}\b", part)] == []


def test_decisions_are_numbered_as_their_files() -> None:
    for page in sorted((DOCS / "decisions").glob("[0-9]*.md")):
        number = page.name[:4]
        assert page.read_text("utf-8").startswith(f"# {number}: "), page.name
        assert f"| [{number}]({page.name}) |" in (DOCS / "decisions" / "README.md").read_text()
