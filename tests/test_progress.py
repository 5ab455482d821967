"""The log: stages as INFO, less than whole answers as WARNING, nothing unless asked for."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import neardup as nd
from cli.sample import DOCUMENTS, TEXT
from neardup.progress import Logged, Silent


def messages(log: pytest.LogCaptureFixture, level: int) -> list[str]:
    return [r.getMessage() for r in log.records if r.levelno == level and r.name == "neardup"]


def test_stages_with_counts_and_seconds(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "neardup")
    nd.dedup(DOCUMENTS)
    said = messages(caplog, logging.INFO)
    assert [one.partition(":")[0] for one in said[:3]] == ["reading", "matching", "deciding"]
    assert said[0].startswith("reading: 5 documents in ")
    assert said[-1] == "5 documents = 3 kept + 2 duplicates + 0 rejected; 1 clusters, 3 pairs"
    assert not messages(caplog, logging.WARNING)


def test_what_is_less_than_whole_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    nd.dedup([TEXT, None, TEXT, TEXT, "more"], limit=4, max_pairs=1)
    limit, rejected, partial = messages(caplog, logging.WARNING)
    assert limit == "only the first 4 documents were read: that is the limit"
    assert rejected == "1 documents were rejected; decisions say why"
    assert partial.startswith("pairs are partial")


def test_a_stage_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "neardup")
    logged = Logged(Silent())
    logged.stage("counting", unit="pairs")
    logged.advance(1234)
    logged.finish()
    logged.finish()
    (said,) = messages(caplog, logging.INFO)
    assert said.startswith("counting: 1,234 pairs in 0.")


def test_silent_by_default(tmp_path: Path) -> None:
    code = "import neardup as nd; nd.dedup(['a', None], limit=2)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == ("", "")
