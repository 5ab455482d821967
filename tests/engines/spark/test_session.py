"""Machines without Spark."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import neardup as nd
from neardup.engines.spark.session import check_java
from neardup.errors import MissingExtraError

pytestmark = pytest.mark.filterwarnings("ignore")  # of pyspark: pandas is newer than it knows
TEXT = "a text of some words"


def test_without_pyspark_or_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingExtraError, match=r"Spark needs Java 17 .*Hint: install"):
        check_java()
    monkeypatch.setitem(sys.modules, "pyspark", None)
    for ask in (lambda: nd.spark.dedup, lambda: nd.dedup([TEXT], method="exact", engine="spark")):
        with pytest.raises(MissingExtraError, match=r"pip install 'neardup\[spark\]'"):
            ask()


def test_import_neardup_needs_no_spark() -> None:
    import subprocess

    code = "import neardup as nd, sys; nd.spark; print('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
