"""Damage: a flipped bit in any file of a run folder or in an index is noticed by ``verify``, and by
every reader before it changes an answer."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from neardup import Index, Result, dedup
from neardup.engines.integrity import verify
from neardup.errors import NeardupError
from neardup.files import read_lines
from neardup.runs.checksums import CHECKSUMS
from neardup.runs.history import apply_to
from reference.scans import COLLECTION

SEED = 24
FLIPS_A_FILE = 12
FLIPS_OF_INDEX = 60


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import json

    path = tmp_path_factory.mktemp("damage") / "documents.jsonl"
    rows = [{"id": f"d{n}", "text": text} for n, text in enumerate(COLLECTION[:40])]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture(scope="module")
def run(documents: Path) -> Path:
    result = dedup(documents, method="shingles", threshold=0.6, policy=POLICY, signatures=True)
    folder = result.save(documents.parent / "run")
    apply_to(folder, Result.load(folder).apply)
    return folder


POLICY = {"order": ["longest"], "default": "drop"}


@pytest.fixture(scope="module")
def store(documents: Path) -> Path:
    path = documents.parent / "index.db"
    with Index.open(path, method="shingles", threshold=0.6, texts=True) as index:
        for number, text in enumerate(COLLECTION[:40]):
            index.add({"id": f"d{number}", "text": text})
        for number in (3, 7, 8, 30, 31):
            index.remove(f"d{number}")
    return path


def flipped(data: bytes, place: int) -> bytes:
    damaged = bytearray(data)
    damaged[place // 8] ^= 1 << place % 8
    return bytes(damaged)


def places(size: int, count: int, seed: Any) -> Iterator[int]:
    chosen = random.Random(f"{SEED}:{seed}")
    return (chosen.randrange(size * 8) for _ in range(count if size else 0))


def test_whole_ones_have_no_faults(run: Path, store: Path) -> None:
    assert verify(run).faults == []
    assert verify(run).checked == len(read_lines(run / CHECKSUMS).lines) + len(
        read_lines(run / "applied" / "1" / CHECKSUMS).lines
    )
    assert verify(store) == (str(store), "index", 35, [], True)


def test_verify_notices_a_flipped_bit_in_every_file_of_a_run(run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "run")
    files = [path for path in copy.rglob("*") if path.is_file()]
    assert len(files) > 15
    for path in files:
        whole = path.read_bytes()
        for place in places(len(whole), FLIPS_A_FILE, path.name):
            path.write_bytes(flipped(whole, place))
            assert verify(copy).faults, (path.name, place)
        path.write_bytes(whole)
    assert verify(copy).faults == []


def answers(folder: Path, documents: Path) -> dict[str, Any]:
    """What a user sees of a run, by every way that reads it."""
    loaded = Result.load(folder)
    new = dedup(documents, method="shingles", threshold=0.6, against=[folder])
    return {
        "decisions": loaded.decisions.to_pylist(),
        "pairs": loaded.pairs.to_pylist(),
        "higher": loaded.rethreshold(0.9).decisions.to_pylist(),
        "actions": loaded.actions.to_pylist(),
        "against": new.decisions.to_pylist(),
    }


def test_a_reader_of_a_run_notices_damage_or_gives_the_same_answers(
    run: Path, documents: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(run, tmp_path / "run")
    before = answers(copy, documents)
    noticed = 0
    for path in [path for path in copy.iterdir() if path.is_file()]:
        whole = path.read_bytes()
        for place in places(len(whole), 3, path.name):
            path.write_bytes(flipped(whole, place))
            noticed += _refused_or(before, lambda: answers(copy, documents), (path.name, place))
        path.write_bytes(whole)
    assert noticed > 10


def index_answers(path: Path) -> list[Any]:
    """What an index answers, and what it decides of new documents."""
    with Index.open(path, create=False) as index:
        checked = [index.check(text) for text in COLLECTION[:8]]
        listed = index.decisions().to_pylist()
        added = [index.add({"id": f"n{n}", "text": t}) for n, t in enumerate(COLLECTION[20:24])]
        return [checked, listed, added, index.get("d1"), index.stats()["kept"]]


def test_damage_of_an_index_is_noticed_or_changes_no_answer(store: Path, tmp_path: Path) -> None:
    whole, copy = store.read_bytes(), tmp_path / "index.db"
    copy.write_bytes(whole)
    before = index_answers(copy)
    for place in places(len(whole), FLIPS_OF_INDEX, "index"):
        for rest in tmp_path.iterdir():
            rest.unlink()
        copy.write_bytes(flipped(whole, place))
        faults = _faults(copy)
        copy.write_bytes(flipped(whole, place))
        _refused_or(before, lambda: index_answers(copy), (place, faults))
        # Only what no one reads, such as free space in a page, may differ unnoticed.
        assert faults or _same_content(copy, store, tmp_path), place


def test_bytes_in_the_free_space_of_an_index_change_nothing(store: Path, tmp_path: Path) -> None:
    """All of them are overwritten at once: gaps in pages, free blocks, and pages of the free list.
    What SQLite needs to find free space is no such byte, and ``verify`` notices every flip."""
    whole, copy = store.read_bytes(), tmp_path / "index.db"
    unused, lists = free_space(whole)
    assert sum(size for _, size in unused) > len(whole) / 20
    copy.write_bytes(whole)
    before = index_answers(copy)
    damaged = bytearray(whole)
    for begin, size in unused:
        damaged[begin : begin + size] = random.Random(begin).randbytes(size)
    copy.write_bytes(damaged)
    assert verify(copy).faults == []
    assert index_answers(copy) == before
    assert verify(copy).faults == []
    for place in [8 * begin + bit for begin, size in lists for bit in range(8 * size)][::3]:
        copy.write_bytes(flipped(whole, place))
        assert _faults(copy), place
        copy.write_bytes(flipped(whole, place))
        with pytest.raises(NeardupError, match="damaged"), Index.open(copy) as index:
            index.add({"id": "new", "text": COLLECTION[30]})  # it would overwrite other documents
        assert _rows(copy, tmp_path) == _rows(store, tmp_path)


def free_space(data: bytes) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Where unused bytes of an SQLite file begin and how many there are, and the same of its lists
    of free pages and blocks (https://sqlite.org/fileformat2.html)."""

    def numbers(form: str, place: int) -> tuple[int, ...]:
        return struct.unpack_from(f">{form}", data, place)

    (page_size,), (trunk,) = numbers("H", 16), numbers("I", 32)
    unused, lists, free = [], [], set[int]()
    while trunk:
        begin = (trunk - 1) * page_size
        free.add(trunk)
        trunk, count = numbers("2I", begin)
        leaves = numbers(f"{count}I", begin + 8)
        free.update(leaves)
        lists.append((begin, 8 + 4 * count))
        unused.append((begin + 8 + 4 * count, page_size - 8 - 4 * count))
        unused += [((leaf - 1) * page_size, page_size) for leaf in leaves]
    for number in {*range(1, len(data) // page_size + 1)} - free:
        begin = (number - 1) * page_size
        head = begin + (100 if number == 1 else 0)
        if data[head] not in (2, 5, 10, 13):  # the rest of a long row
            continue
        block, cells, content = numbers("3H", head + 1)
        gap = head + (8 if data[head] in (10, 13) else 12) + 2 * cells
        unused.append((gap, begin + content - gap))
        while block:
            place = begin + block
            block, size = numbers("2H", place)
            lists.append((place, 4))
            unused.append((place + 4, size - 4))
    return unused, lists


def _refused_or(expected: Any, answer: Callable[[], Any], where: Any) -> bool:
    """Whether the answer is refused with a sentence; otherwise it is the expected one."""
    refusal = None
    try:
        given = answer()
    except NeardupError as error:
        refusal = error
    if refusal is None:
        assert given == expected, where
    else:
        assert refusal.hint, str(refusal)
    return refusal is not None


def _faults(path: Path) -> list[str]:
    try:
        return verify(path).faults
    except NeardupError as error:
        return [error.message]


def _same_content(damaged: Path, whole: Path, folder: Path) -> bool:
    return _rows(damaged, folder) >= _rows(whole, folder)


def _rows(path: Path, folder: Path) -> set[tuple[Any, ...]]:
    import sqlite3

    copy = folder / "read.db"
    copy.write_bytes(path.read_bytes())
    db = sqlite3.connect(copy)
    try:
        return set(db.execute("SELECT * FROM documents WHERE id LIKE 'd%'"))
    finally:
        db.close()


def test_signatures_that_somebody_else_made_never_reach_native_code(
    run: Path, documents: Path, tmp_path: Path
) -> None:
    """Eight changed bytes in an offset crashed the process; here the checksums are renewed too."""
    copy = shutil.copytree(run, tmp_path / "run")
    done = subprocess.run(
        [sys.executable, "-c", HOSTILE, documents, copy], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]


HOSTILE = """
import sys
from pathlib import Path
from neardup import dedup
from neardup.errors import NeardupError
from neardup.runs.checksums import write_checksums
run = Path(sys.argv[2])
path = run / "signatures.arrow"
whole = path.read_bytes()
for offset in range(0, len(whole) - 8, len(whole) // 40):
    path.write_bytes(whole[:offset] + bytes([255] * 7 + [127]) + whole[offset + 8:])
    write_checksums(run)
    try:
        dedup(sys.argv[1], method="shingles", threshold=0.6, against=[run])
    except NeardupError as error:
        assert error.hint, error
"""
