"""Damaged run folders and indexes: commands answer with a sentence, never with a raw error."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.sample import Run
from neardup.runs.checksums import write_checksums

SEED = 24
VALUES = (None, {}, [], "x", -1, 1e300, True)


@pytest.fixture
def whole(run: Run, docs: Path, tmp_path: Path) -> Path:
    options = ("--method", "shingles", "--keep", "longest", "--action", "identical=drop")
    assert run("dedup", docs, "-o", tmp_path / "whole", *options).exit_code == 0
    assert run("apply", tmp_path / "whole").exit_code == 0
    return tmp_path / "whole"


def commands(folder: Path, docs: Path, tmp_path: Path) -> list[tuple[Any, ...]]:
    out = ("-o", tmp_path / "o", "--overwrite")
    return [
        ("compare", "fox", "--run", folder),
        ("report", folder, "-o", tmp_path / "r.html"),
        ("apply", folder, "--dry-run"),
        ("undo", folder),
        ("dedup", docs, "--against", folder, "--method", "shingles", *out),
        ("label", "sample", folder, "-o", tmp_path / "s.jsonl", "--overwrite"),
        ("evaluate", "--run", folder, "--group", "site"),
        ("verify", folder),
    ]


def check(run: Run, asked: tuple[Any, ...], what: object) -> None:
    done = run(*asked)
    assert done.exception is None or isinstance(done.exception, SystemExit), (asked[0], what)
    assert "unexpected" not in done.stderr, (asked[0], what, done.stderr)
    assert done.exit_code == 0 or "Hint:" in done.stderr or asked[0] == "verify", (asked, what)


def flipped(data: bytes, chosen: random.Random) -> bytes:
    damaged = bytearray(data or b"\0")
    for _ in range(chosen.choice((1, 8))):
        damaged[chosen.randrange(len(damaged))] ^= 1 << chosen.randrange(8)
    return bytes(damaged)


def cut(data: bytes, chosen: random.Random) -> bytes:
    return data[: chosen.randrange(len(data))] if data else b"more"


@pytest.mark.parametrize("change", [flipped, cut])
def test_damaged_files_of_a_run(
    change: Callable[[bytes, random.Random], bytes],
    run: Run,
    docs: Path,
    whole: Path,
    tmp_path: Path,
) -> None:
    chosen = random.Random(SEED)
    names = sorted(p.relative_to(whole) for p in whole.rglob("*") if p.is_file())
    for name in names:
        copy = shutil.copytree(whole, tmp_path / "copy", dirs_exist_ok=True)
        (copy / name).write_bytes(change((copy / name).read_bytes(), chosen))
        check(run, chosen.choice(commands(copy, docs, tmp_path)), name)
        shutil.rmtree(copy)


def test_a_run_of_somebody_else(run: Run, docs: Path, whole: Path, tmp_path: Path) -> None:
    """``run.json`` has any values, and checksums that fit."""
    chosen = random.Random(SEED)
    info = json.loads((whole / "run.json").read_text("utf-8"))
    for _ in range(30):
        copy = shutil.copytree(whole, tmp_path / "copy")
        changed = json.loads(json.dumps(info))
        place, value = chosen.choice([*_places(info)]), chosen.choice(VALUES)
        holder = changed
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = value
        (copy / "run.json").write_text(json.dumps(changed), "utf-8")
        write_checksums(copy)
        check(run, chosen.choice(commands(copy, docs, tmp_path)), (place, value))
        shutil.rmtree(copy)


def _places(value: Any, *above: Any) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*above, key)
        if isinstance(inner, dict | list):
            yield from _places(inner, *above, key)


@pytest.mark.parametrize("change", [flipped, cut])
def test_a_damaged_index(
    change: Callable[[bytes, random.Random], bytes], run: Run, docs: Path, tmp_path: Path
) -> None:
    assert run("index", "build", tmp_path / "whole.db", docs, "--method", "shingles").exit_code == 0
    data, chosen = (tmp_path / "whole.db").read_bytes(), random.Random(SEED)
    for number in range(12):
        store = tmp_path / f"{number}.db"
        store.write_bytes(change(data, chosen))
        for asked in (
            ("index", "stats", store),
            ("index", "check", store, docs),
            ("index", "add", store, docs),
            ("index", "refresh", store, tmp_path / f"new{number}.db"),
            ("verify", store),
        ):
            check(run, asked, number)
