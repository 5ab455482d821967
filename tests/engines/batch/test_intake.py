"""Conservation under hostile input: every document in is decided exactly once, in its place."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import api as nd
from neardup.documents import Collection
from neardup.documents.jsonl import JsonlSource
from neardup.engines.batch.intake import _Counting
from neardup.errors import ColumnError, NeardupError, RejectedError
from neardup.runs.result import Result
from repeats import examples

LONG = " ".join(f"word{i}" for i in range(30))
NEAR = LONG.replace("word3 ", "changed ")


def line(**fields: Any) -> bytes:
    return json.dumps(fields, ensure_ascii=False).encode() + b"\n"


GOOD = [line(id=f"g{i}", text=text) for i, text in enumerate([LONG, NEAR, "short", "short", ""])]
BAD = [
    b'{"id": "b0", "text": "cut off\n',
    b"not json at all\n",
    b'{"id": "b1", "text": null}\n',
    b'{"id": "b2"}\n',
    b'{"id": "b3", "text": 7}\n',
    b'{"id": "b4", "text": "\xff\xfe"}\n',
    b'{"id": ["b5"], "text": "x"}\n',
    b'["b6", "x"]\n',
    b"\x00\n",
    line(id="g0", text="an id that was used"),
]
BLANK = [b"\n", b"   \n", b"\r\n"]


def check(result: Result, documents: int) -> None:
    counts = result.counts
    assert counts.documents == documents == len(result.decisions)
    assert counts.kept + counts.duplicates + counts.rejected == documents
    kept = {r["id"] for r in result.decisions.to_pylist() if r["decision"] == "kept"}
    assert len(kept) == counts.kept
    for row in result.decisions.to_pylist():
        assert row["reason"]
        assert (row["kept_id"] is not None) == (row["decision"] == "duplicate")
        if row["decision"] == "duplicate":
            assert row["kept_id"] in kept
    assert len(result.kept) == counts.kept


LINES = st.lists(st.sampled_from([*range(len(GOOD)), *range(100, 100 + len(BAD)), -1, -2, -3]))


def mixture(chosen: list[int]) -> list[bytes]:
    first = b'{"id": "first", "text": "there is a text column"}\n'
    return [first, *(BLANK[i] if i < 0 else BAD[i - 100] if i >= 100 else GOOD[i] for i in chosen)]


@given(LINES, st.sampled_from([1, 50, 10**6]), st.sampled_from([1, 2]), st.booleans())
@examples(25)
def test_any_mixture_of_lines(
    tmp_path_factory: pytest.TempPathFactory,
    chosen: list[int],
    chunk: int,
    workers: int,
    newline: bool,
) -> None:
    lines = mixture(chosen)
    path = tmp_path_factory.mktemp("lines") / "in.jsonl"
    data = b"".join(lines)
    path.write_bytes(data if newline else data.rstrip(b"\r\n"))
    source = JsonlSource(path, "in.jsonl", chunk_bytes=chunk)
    result = nd.dedup(Collection([source]), workers=workers)
    check(result, sum(bool(one.strip()) for one in lines))
    rows = [number for number, one in enumerate(lines, 1) if one.strip()]
    assert result.decisions["row"].to_pylist() == rows
    seen: set[str] = set()
    for row, decision in zip(rows, result.decisions.to_pylist(), strict=True):
        bad = lines[row - 1] in BAD[:-1] or decision["id"] in seen
        assert (decision["decision"] == "rejected") == bad, decision
        if not bad:
            seen.add(decision["id"])
    whole = nd.dedup(Collection([JsonlSource(path, "in.jsonl")]), workers=1)
    columns = [name for name in whole.decisions.column_names if name != "file"]
    assert whole.decisions.select(columns).equals(result.decisions.select(columns))


@pytest.mark.parametrize("keep", ["first", "longest", "newest", "n:desc"])
@pytest.mark.parametrize("data", [b"", b"\n\n", b"".join(BAD[:2])])
def test_files_without_a_single_document(tmp_path: Path, keep: str, data: bytes) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(data)
    result = nd.dedup(path, keep=keep, date="date", within="source")
    check(result, 2 if data.strip() else 0)
    again = Result.load(result.save(tmp_path / "out"))
    assert again.decisions.equals(result.decisions)
    assert len(result.clusters) == 0


def test_a_file_of_rejects_between_good_ones(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.jsonl")]
    paths[0].write_bytes(b"".join(GOOD[:2]))
    paths[1].write_bytes(b"".join(BAD[:3]))
    paths[2].write_bytes(line(id="late", text=LONG) + line(id="g1", text="used before"))
    result = nd.dedup(paths, method="shingles", threshold=0.6)
    check(result, 7)
    assert result.decisions["decision"].to_pylist() == [
        *("kept", "duplicate"),
        *("rejected", "rejected", "rejected"),
        *("duplicate", "kept"),
    ]
    files = [Path(name).name for name in result.decisions["file"].to_pylist()]
    assert files == ["a.jsonl"] * 2 + ["b.jsonl"] * 3 + ["c.jsonl"] * 2


def test_strict_stops_at_the_first_reject(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(GOOD[0] + BAD[2])
    with pytest.raises(RejectedError, match=r"in\.jsonl, row 2: text is null.*Hint:"):
        nd.dedup(path, strict=True)


def test_a_wrong_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(GOOD[0])
    with pytest.raises(NeardupError, match="'body'"):
        nd.dedup(path, text="body")


@given(LINES.filter(bool), st.integers(1, 12), st.sampled_from([1, 60, 10**6]))
@examples(30)
def test_limit_takes_the_first_documents(
    tmp_path_factory: pytest.TempPathFactory, chosen: list[int], limit: int, chunk: int
) -> None:
    lines = mixture(chosen)
    folder = tmp_path_factory.mktemp("limit")
    path, short = folder / "in.jsonl", folder / "short.jsonl"
    path.write_bytes(b"".join(lines))
    full = [one for one in lines if one.strip()]
    short.write_bytes(b"".join(full[:limit]))
    source = Collection([JsonlSource(path, "x", chunk_bytes=chunk)])
    result = nd.dedup(source, limit=limit)
    check(result, min(limit, len(full)))
    expected = nd.dedup(Collection([JsonlSource(short, "x")]))
    columns = ["id", "decision", "reason", "kept_id", "score"]
    if not any(not one.strip() for one in lines):  # generated ids and rows count blank lines
        assert result.decisions.select(columns).equals(expected.decisions.select(columns))


def test_a_limited_run_can_be_saved_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"".join(GOOD))
    result = nd.dedup(path, method="shingles", limit=2)
    again = Result.load(result.save(tmp_path / "out"))
    assert again.counts == result.counts
    assert again.kept.equals(result.kept)
    assert (tmp_path / "out" / "kept.jsonl").read_bytes() == GOOD[0] + GOOD[1]


def test_files_whose_extra_columns_have_unlike_types(tmp_path: Path) -> None:
    a, b = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pq.write_table(pa.table({"text": [LONG], "n": pa.array([1], pa.int32())}), a)
    pq.write_table(pa.table({"text": [LONG], "n": pa.array([2], pa.int64())}), b)
    result = nd.dedup([a, b], keep="n:desc")
    assert result.decisions["decision"].to_pylist() == ["duplicate", "kept"]
    pq.write_table(pa.table({"text": [LONG], "n": ["two"]}), b)
    with pytest.raises(ColumnError, match="Hint:"):
        nd.dedup([a, b], keep="n:desc")


def test_within_keeps_unlike_groups_apart() -> None:
    rows = [{"text": LONG, "source": s} for s in ("a", "b", "a", None, None, "b")]
    result = nd.dedup(rows, within="source")
    names = [None, None, "input:1", None, "input:4", "input:2"]
    assert result.decisions["kept_id"].to_pylist() == names


@pytest.mark.parametrize("workers", [1, 2])
def test_a_source_behind_the_limit_is_not_missed(tmp_path: Path, workers: int) -> None:
    pq.write_table(pa.table({"text": [f"text {i}" for i in range(10)]}), tmp_path / "p1.parquet")
    pq.write_table(pa.table({"other": ["x"]}), tmp_path / "p2.parquet")
    paths = [tmp_path / "p1.parquet", tmp_path / "p2.parquet"]
    assert nd.dedup(paths, limit=10, workers=workers).counts.documents == 10
    with pytest.raises(ColumnError):
        nd.dedup(paths, limit=11, workers=workers)


def test_a_repeated_id_says_where_it_was_used(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    one.write_bytes(
        line(id="a", text="x") + line(id="b", text="y") + b"\n" + line(id="c", text="z")
    )
    two.write_bytes(line(id="d", text="u") + line(id="c", text="v") + line(id="c", text="w"))
    result = nd.dedup([one, two])
    lost = result.decisions.filter(pa.array([not k for k in result.keep_mask()])).to_pylist()
    reason = f"id 'c' was already used in {two}, row 2"
    assert [(r["id"], r["row"], r["reason"]) for r in lost] == [("two.jsonl:c", 3, reason)]


class Slow:
    """Counts the first part when it is let."""

    def __init__(self) -> None:
        self.begun, self.let, self.parts = Event(), Event(), list[int]()

    def add(self, part: int) -> None:
        self.begun.set()
        assert self.let.wait(60)
        self.parts.append(part)


def test_nobody_waits_for_a_part_that_another_thread_counts():
    slow = Slow()
    counting = _Counting({"slow": slow}, 3)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(counting.add, {"slow": 0})
        assert slow.begun.wait(60)
        for part in (1, 2, 3):
            counting.add({"slow": part})
        fourth = pool.submit(counting.add, {"slow": 4})  # so many do not wait
        assert not wait([first, fourth], 0.05).done
        slow.let.set()
    counting.finish()
    assert sorted(slow.parts) == [0, 1, 2, 3, 4]
