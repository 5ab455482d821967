"""A small collection with every outcome in it, and a way to run commands on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from neardup.cli import main

Run = Callable[..., Result]

TEXT = (
    "the quick brown fox jumps over the lazy dog while the sun is shining on the hills and rivers "
    "of the old country where people walk and talk about bread and the weather all day long"
)
WORDS = TEXT.split()


def edited(place: int) -> str:
    return " ".join([*WORDS[:place], f"edit{place}", *WORDS[place + 1 :]])


DOCUMENTS = [
    {"id": "fox", "text": TEXT, "day": "2003-01-02", "site": "a"},
    {"id": "copy", "text": TEXT, "day": "2003-01-01", "site": "a"},
    {"id": "edited", "text": edited(2), "day": "2003-01-03", "site": "b"},
    {"id": "other", "text": " ".join(f"w{i}" for i in range(30)), "day": "2003-01-04", "site": "b"},
    {"id": "short", "text": "too short", "day": "2003-01-05", "site": "b"},
]


def jsonl(documents: list[dict[str, str]]) -> str:
    return "".join(json.dumps(document) + "\n" for document in documents)


@pytest.fixture
def run() -> Run:
    def invoke(*arguments: object, **options: object) -> Result:
        return CliRunner().invoke(main, [str(a) for a in arguments], **options)  # type: ignore[arg-type]

    return invoke


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_text(jsonl(DOCUMENTS))
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.jsonl"
    bad = '{"id": 1\n{"id": "n", "text": null}\n[]\n"x"\n'
    path.write_text(jsonl(DOCUMENTS[:2]) + bad)
    return path
