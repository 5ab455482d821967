"""A run of the example, as a folder that each test may judge."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import neardup as nd
from web.judging_pages import EXAMPLE


@pytest.fixture(scope="session")
def made_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("judged") / "out"
    nd.dedup(str(EXAMPLE)).save(out)
    return out


@pytest.fixture
def run_folder(made_run: Path, tmp_path: Path) -> Path:
    shutil.copytree(made_run, tmp_path / "out")
    return tmp_path / "out"
