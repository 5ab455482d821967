"""What a notebook shows is one block with its own style, and hostile ids are only text in it."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import neardup as nd
from neardup import progress
from neardup.errors import UsageError

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202e"
TEXT = "The old ferry pier at Marrow Harbour will be rebuilt in stone after the council voted. "
DOCUMENTS = [
    {"id": f"{number}{HOSTILE}", "text": f"{TEXT * 3}{HOSTILE} {number}", "story": HOSTILE}
    for number in range(14)
]


def result() -> Any:
    return nd.dedup(DOCUMENTS, method="shingles", threshold=0.5)


SHOWN: dict[str, Callable[[], Any]] = {
    "Result": result,
    "Comparison": lambda: result().show(DOCUMENTS[1]["id"]),
    "Explanation": lambda: result().explain(DOCUMENTS[1]["id"]),
    "Grouped": lambda: nd.group(DOCUMENTS, method="shingles", threshold=0.5),
    "Evaluation": lambda: nd.evaluate(DOCUMENTS, group="story", method="shingles", sweep=True),
}


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.depth, self.blocks = 0, 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.blocks += self.depth == 0
        self.depth += 1
        self.tags.add(tag)
        assert not any(name.startswith("on") or name == "src" for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self.depth -= 1


@pytest.mark.parametrize("kind", SHOWN)
def test_a_notebook_shows_it_safely(kind: str) -> None:
    shown = SHOWN[kind]()
    assert type(shown).__name__ == kind
    page = shown._repr_html_()
    found = Tags(page)
    assert (found.depth, found.blocks) == (0, 1)
    assert not {"script", "img", "html", "body"} & found.tags
    assert "\u202e" not in page
    assert len(page) < 60_000


def test_what_is_left_out_is_counted() -> None:
    assert "… and 3 more" in result()._repr_html_()


def test_a_saved_run_is_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = result()
    assert "<a " not in made._repr_html_()
    made.save("runs/a <b>")
    for shown in (made, nd.Result.load(tmp_path / "runs" / "a <b>")):
        assert '<a href="runs/a%20%3Cb%3E/report.html">' in shown._repr_html_()


def test_a_pair_is_shown_side_by_side_however_it_is_named() -> None:
    texts = [TEXT * 3, f"{TEXT * 3}It begins in April.", "A different one."]
    made = nd.dedup(texts)
    row = made.duplicates.to_pylist()[0]
    for pair in (row["id"], row, (row["kept_id"], row["id"]), made.pairs.to_pylist()[0]):
        shown = made.show(pair)
        assert [shown.a, shown.b] == texts[:2]
        assert "<ins>" in shown._repr_html_()
    with pytest.raises(UsageError, match="is no duplicate"):
        made.show(row["kept_id"])
    for pair in ([row["id"]], {"a": row["id"]}, 7):
        with pytest.raises(UsageError, match="expected two ids, or a row"):
            made.show(pair)


CODE = """
import neardup.progress
neardup.progress.AFTER = 0
import neardup as nd
print(nd.dedup(["one two three four"] * 3).counts.sentence())
"""


@pytest.mark.filterwarnings("ignore")  # of the packages that run a notebook
def test_a_bar_of_progress_comes_and_goes() -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CODE)])
    NotebookClient(notebook, timeout=120).execute()
    bar, said = notebook.cells[0].outputs
    assert bar.data["text/html"] == ""  # as it was left
    assert said.text == "3 documents = 1 kept + 2 duplicates + 0 rejected\n"


def test_a_bar_counts_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "AFTER", 0)
    monkeypatch.setattr(progress, "EVERY", 0)
    shown: list[str] = []
    monkeypatch.setattr(progress.Cell, "_write", lambda _, markup: shown.append(markup))
    bar = progress.Cell()
    bar.stage("reading", total_bytes=200)
    bar.advance(1_000, 50)
    bar.stage("matching")
    assert shown == [
        '<progress value="0.000"></progress> reading',
        '<progress value="0.250"></progress> reading: 1,000 documents',
        "<progress></progress> matching",
    ]
    assert isinstance(progress.usual(), progress.Silent)  # this is no notebook


def test_nothing_found_is_a_sentence() -> None:
    assert "<table" not in nd.dedup(["one", "two"])._repr_html_()


@pytest.mark.parametrize("kind", SHOWN)
def test_its_style_stays_inside(kind: str) -> None:
    style = SHOWN[kind]()._repr_html_().partition("<style>")[2].partition("</style>")[0]
    rules = [line for line in style.splitlines() if line.endswith("}") and " { " in line]
    assert all(line.strip().startswith((".nd-", "/*", "@media")) for line in rules)
