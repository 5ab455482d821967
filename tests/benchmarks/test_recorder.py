"""What was measured takes the place of what was recorded under its name, and of nothing else."""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path

import pytest

from benchmarks import corpus, recorded, recorder

ONE = {"wall": 2.0, "processor": 1.9, "mb_s": 5.04, "docs_s": 10.4, "peak_mb": 7.2, "version": "1"}
USUAL = {"side": "neardup", "level": "avx2", "cores": 1, **ONE}
SLOWER = {**USUAL, "wall": 4.0, "mb_s": 2.5, "docs_s": 5.0}
PORTABLE = {**USUAL, "level": "portable", "wall": 8.0}
PEER = {"side": "gaoya", "level": "", "cores": 1, **ONE, "wall": 20.0}
BROKEN = {"side": "daft", "level": "", "cores": 1, "error": "does not install"}
RESULTS = {"docs": corpus.FULL, "signatures": [BROKEN, PEER, SLOWER, USUAL, PORTABLE]}


def test_sides_levels_and_the_best_of_their_runs():
    made = recorder.sections(RESULTS)["signatures"]
    assert list(made) == ["gaoya", "neardup", "neardup_portable"]
    assert made["neardup"] == {
        "called": "neardup 1",
        "best": 2.0,
        "median": 3.0,
        "mb_s": 5.0,
        "docs_s": 10,
    }
    assert made["neardup_portable"]["called"] == "neardup 1, portable (SSE2)"


def test_commands_are_named_by_method_and_cores():
    runs = [
        {**USUAL, "system": 0.5, "method": ""},
        {**USUAL, "system": 0.5, "method": "", "cores": 2},
        {**USUAL, "system": 0.5, "method": "learned"},
    ]
    made = recorder.sections({"docs": corpus.FULL, "default": runs, "dedup": [PEER, USUAL]})
    assert list(made["default"]) == ["neardup", "two_cores", "learned", "gaoya"]
    assert made["default"]["learned"]["called"] == "neardup 1, `--method learned`"


def test_other_measurements_and_all_comments_stay(tmp_path: Path):
    file = tmp_path / "recorded.toml"
    before = recorded.FILE.read_text("utf-8")
    file.write_text(before, "utf-8")
    recorder.record(file, RESULTS, "epyc_avx2", command='a "b"', beside="load 1")
    old, new = tomllib.loads(before), tomllib.loads(file.read_text("utf-8"))
    assert new["signatures"]["command"] == 'a "b"'
    assert new["signatures"]["date"] == datetime.date.today()
    assert new["signatures"]["neardup"]["best"] == 2.0
    assert {k: v for k, v in new.items() if k != "signatures"} == {
        k: v for k, v in old.items() if k != "signatures"
    }
    comments = [line for line in before.splitlines() if line.startswith("#")]
    after = file.read_text("utf-8").splitlines()
    assert [line for line in after if line.startswith("#")] == comments


def test_a_machine_that_is_not_described_is_refused(tmp_path: Path):
    file = tmp_path / "recorded.toml"
    file.write_text(recorded.FILE.read_text("utf-8"), "utf-8")
    with pytest.raises(SystemExit, match="'abacus'"):
        recorder.record(file, RESULTS, "abacus", command="", beside="")
