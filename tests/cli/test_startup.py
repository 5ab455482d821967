"""How light a command is: what a plain run may not load, and what a refusal may not."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import neardup
from cli.sample import DOCUMENTS, jsonl

# The modules that are loaded when the command is done, after what it wrote itself.
CODE = """
import json, sys
from neardup.cli import main
try:
    main()
except SystemExit as end:
    print(json.dumps({"code": end.code or 0, "modules": list(sys.modules)}), file=sys.stderr)
"""
HEAVY = ("numpy", "pyarrow", "rapidfuzz", "rich")
NOT_IN_A_RUN = (
    *("pandas", "polars", "altair", "sklearn", "scipy", "rich", "trafilatura", "fastapi", "jinja2"),
    *(
        "urllib.request",
        "importlib.metadata",
        "multiprocessing",
        "asyncio",
        "numpy.ma",
        "neardup.planting",
        "neardup.web",
        "neardup.evaluation",
    ),
)
READERS = ("arrow", "csv", "database", "feeds", "folder", "lists", "mail", "parquet", "warc")
MOST_MODULES = 420  # 486 before readers were loaded by format


def command(*arguments: object) -> tuple[int, set[str], str]:
    """Exit code, loaded modules and what was written to stderr."""
    line = [sys.executable, "-c", CODE, *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    *shown, last = done.stderr.splitlines()
    found = json.loads(last)
    return found["code"], set(found["modules"]), "\n".join(shown)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_text(jsonl(DOCUMENTS))
    return path


def test_a_plain_run_loads_nothing_that_it_does_not_need(docs: Path, tmp_path: Path) -> None:
    pytest.importorskip("pandas")  # pyarrow imports it by itself, if it is installed
    code, modules, _ = command("dedup", docs, "-o", tmp_path / "out")
    assert code == 0
    assert {"numpy", "pyarrow"} <= modules
    assert modules.isdisjoint(NOT_IN_A_RUN)
    assert modules.isdisjoint(f"neardup.documents.{name}" for name in READERS)
    assert len(modules) <= MOST_MODULES


def test_the_version_is_that_of_the_package() -> None:
    assert neardup.__version__ == version("neardup")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["-o", "FULL"], "already holds files"),
        (["-o", "OUT", "--method", "shingels"], "did you mean 'shingles'?"),
        (["-o", "OUT", "--clusters", "some"], "expected rule or components"),
        (["-o", "OUT", "--memory", "lots", "--limit", "0"], "2 settings are wrong"),
        (["-o", "OUT", "--threshold", "high"], "neither a number"),
        (["-o", "OUT", "--set", "words"], "expected KEY=VALUE"),
        (["-o", "OUT", "--recipe", "nowhere.toml"], "cannot be read"),
        ([], "Missing option '-o'"),
    ],
)
def test_a_refusal_comes_before_numpy(
    docs: Path, tmp_path: Path, options: list[str], sentence: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    places = {"FULL": str(tmp_path / "full"), "OUT": str(tmp_path / "out")}
    code, modules, shown = command("dedup", docs, *(places.get(one, one) for one in options))
    assert (code, sentence in shown) == (2, True), shown
    assert modules.isdisjoint(HEAVY)


def test_pandas_frames_still_convert_in_a_command() -> None:
    """pyarrow was kept from importing pandas, and imports it where it is asked for a frame."""
    pytest.importorskip("pandas")
    code = (
        "import sys; from neardup.cli import command; command.OWN_PROCESS.append(True); "
        "command.load_arrow(); import pyarrow as pa; assert 'pandas' not in sys.modules; "
        "frame = pa.table({'a': [1, None]}).to_pandas(); "
        "print(pa.Table.from_pandas(frame)['a'].to_pylist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[1.0, None]\n"


def test_every_function_of_arrow_still_works_in_a_command() -> None:
    """pyarrow.compute wraps its functions when they are asked for, by its users and by itself."""
    code = (
        "from neardup.cli import command; command.OWN_PROCESS.append(True); command.load_arrow(); "
        "import pyarrow as pa, pyarrow.compute as pc; a = pa.array([True, None]); "
        "from pyarrow.compute import invert; assert not hasattr(pc, 'nothing_of_this_name'); "
        "print(pc.and_(a, a), pc.sum([1, 2]), a.is_null(), pc.utf8_upper('a'), invert(a), "
        "pc.binary_join_element_wise('a', 'b', '-'), sep='')"
    )
    plain = code.replace("command.load_arrow(); ", "")
    lines = [subprocess.check_output([sys.executable, "-c", one]) for one in (code, plain)]
    assert lines[0] == lines[1]


def test_sections_hold_every_option_once() -> None:
    from cli.every import every_command
    from neardup.cli.command import Sectioned

    grouped = {n: c for n, c in every_command().items() if isinstance(c, Sectioned)}
    assert {"dedup", "find", "evaluate"} <= grouped.keys()
    for name, found in grouped.items():
        listed = [option for options in found.sections.values() for option in options]
        declared = [p.opts[-1] for p in found.params if p.param_type_name == "option"]
        assert sorted(listed) == sorted([*declared, "--help"]), name
        first, *_, last = found.sections
        assert (first, last) == ("Common", "Advanced")
        assert (found.epilog or "").count("neardup ") == 2


def test_a_pyarrow_that_is_made_otherwise_is_loaded_as_it_is() -> None:
    """Such as the oldest that is allowed, 17."""
    script = """
from neardup.cli import command
command.OWN_PROCESS.append(True)
del command._Functions.list_functions
command.load_arrow()
import pyarrow as pa, pyarrow.compute as pc
print(pc.utf8_length(pa.array(["ab"])).to_pylist())
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "[2]\n"
