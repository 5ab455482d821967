"""Seeded faults in commands that write; ``make faults`` makes many more."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from faults.injection import SCENARIOS, built, preloaded

POINTS = 20


@pytest.mark.kills
@pytest.mark.skipif(sys.platform != "linux", reason="the shim is for Linux")
@pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="no C compiler")
def test_faults_at_seeded_calls(tmp_path: Path) -> None:
    done = preloaded(["--points", str(POINTS), "--seed", "24"], built(tmp_path))
    assert done.returncode == 0, done.stdout
    counts = json.loads(done.stdout)
    assert sum(counts.values()) == POINTS
    assert {name.partition(":")[0] for name in counts} == {each.name for each in SCENARIOS}
