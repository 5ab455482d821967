"""Runs to review: the example news, made once; those who change something take a copy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import neardup as nd
from conftest import ROOT
from neardup.web.review.review_source import open_source
from neardup.web.review.review_state import State

NEWS = ROOT / "examples" / "news.jsonl"


@pytest.fixture(scope="session")
def news(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of ``find``: all pairs are listed."""
    policy = {"actions": {"identical": "drop", "normalised": "merge"}, "default": "link"}
    made = nd.find(str(NEWS), policy=policy, kinds="all")
    return made.save(tmp_path_factory.mktemp("news") / "run")


@pytest.fixture
def run(news: Path, tmp_path: Path) -> Path:
    """One that a test may change."""
    return Path(shutil.copytree(news, tmp_path / "run"))


@pytest.fixture(scope="session")
def state(news: Path) -> Iterator[State]:
    """Read, and not to be changed."""
    made = State(open_source(str(news)))
    made.texts.wait()
    yield made
    made.close()
