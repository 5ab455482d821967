"""On a cluster of two workers: a task that runs twice at once, and a worker that is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.usefixtures("data")
def test_a_copy_of_a_task_and_the_loss_of_a_worker() -> None:
    folder = Path(__file__).parents[2]
    command = [sys.executable, "-m", "engines.spark.cluster"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "the answer is the same" in done.stdout
