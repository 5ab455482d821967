"""Broken, locked and changing inputs: reported, counted, and the rest goes on."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import neardup as nd
from documents.crawl import answer, record
from neardup.cli import main
from neardup.documents import collect
from neardup.documents.columns import Columns
from neardup.documents.lost import Watch
from neardup.errors import ChangedError, InputError, KeptError, UnreadableError
from neardup.runs.result import Result

NOBODY = 65534


def words(i: int) -> str:
    return " ".join(f"w{i}x{j}" for j in range(20))


def table(rows: int, first: int = 0) -> pa.Table:
    """Every third text is a copy of the one before it."""
    numbers = range(first, first + rows)
    return pa.table(
        {
            "id": [f"d{i}" for i in numbers],
            "text": [words(i - (i % 3 == 2)) for i in numbers],
            "n": list(numbers),
            "more": [f"more {i}" * 9 for i in numbers],
        }
    )


def lines(rows: int, first: int = 0) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in table(rows, first).to_pylist())


def rejected(result: Result) -> list[tuple[Any, ...]]:
    rows = result.decisions.to_pylist()
    return [(r["row"], r["id"], r["reason"]) for r in rows if r["decision"] == "rejected"]


def damaged(path: Path, group: int, column: str) -> None:
    """Writes over the pages of one column of one row group."""
    metadata = pq.read_metadata(path)
    chunk = metadata.row_group(group).column(metadata.schema.names.index(column))
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    data = bytearray(path.read_bytes())
    size = chunk.total_compressed_size
    data[start : start + size] = b"\xff" * size
    path.write_bytes(data)


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    """Three row groups of 30 rows, the second broken in its text."""
    path = tmp_path / "broken.parquet"
    pq.write_table(table(90), path, row_group_size=30)
    damaged(path, 1, "text")
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.jsonl"
    path.write_bytes(lines(9, first=900))
    return path


def test_rows_of_a_broken_row_group_are_rejected_one_by_one(parquet: Path, tmp_path: Path) -> None:
    result = nd.dedup(parquet)
    assert vars(result.counts) | {"pairs": 0} == {
        "documents": 90, "kept": 40, "duplicates": 20, "rejected": 30,
        "too_short": 0, "clusters": 20, "pairs": 0,
    }  # fmt: skip
    lost = rejected(result)
    assert [row for row, _, _ in lost] == list(range(31, 61))
    assert all(reason.startswith("row group 2 is broken (") for *_, reason in lost)
    numbers = [i for i in range(90) if i % 3 != 2 and not 30 <= i < 60]
    assert result.kept.column("n").to_pylist() == numbers
    result.save(tmp_path / "out")
    assert pq.read_table(tmp_path / "out" / "kept.parquet").column("n").to_pylist() == numbers
    listed = (tmp_path / "out" / "rejected.jsonl").read_text().splitlines()
    assert len(listed) == 30
    again = nd.Result.load(tmp_path / "out")
    assert again.kept.equals(result.kept)
    assert collect(parquet).texts(str(parquet), [1, 40, 90]) == [words(0), "", words(88)]
    assert result.annotated.num_rows == 60
    assert result.annotated.column("decision").to_pylist()[30:33] == ["kept", "kept", "duplicate"]
    assert result.annotated.column("n").to_pylist()[30:33] == [60, 61, 62]


@pytest.mark.parametrize("rows", [1, 4, 30, 100])
@pytest.mark.parametrize("limit", [None, 45, 70])
def test_chunks_and_limits_do_not_matter(parquet: Path, rows: int, limit: int | None) -> None:
    from neardup.documents import Collection
    from neardup.documents.parquet import ParquetSource
    from neardup.engines.execution import execute
    from neardup.plan import resolve
    from neardup.settings import Settings

    collection = Collection([ParquetSource(parquet, "f", chunk_rows=rows)])
    result = execute(collection, resolve(Settings(limit=limit)))
    numbers = [i for i in range(min(90, limit or 90)) if i % 3 != 2 and not 30 <= i < 60]
    assert result.kept.column("n").to_pylist() == numbers
    assert result.counts.documents == min(90, limit or 90)


def test_an_unused_column_that_is_broken_is_found_when_kept_rows_are_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(table(90), path, row_group_size=30)
    damaged(path, 1, "more")
    result = nd.dedup(path, method="shingles")
    assert result.counts.rejected == 0
    with pytest.raises(KeptError, match="row group 2 is broken"):
        _ = result.kept
    with pytest.raises(KeptError, match="All other values of all kept documents are in"):
        result.save(tmp_path / "out")
    kept = pq.read_table(tmp_path / "out" / "kept.parquet")
    assert len(kept) == result.counts.kept
    places = [int(name[1:]) for name in kept["id"].to_pylist()]
    assert kept["more"].is_null().to_pylist() == [30 <= place < 60 for place in places]
    assert nd.Result.load(tmp_path / "out").counts == result.counts


def ipc_file(path: Path, *, stream: bool = False, rows: int = 30, **options: Any) -> Path:
    make = ipc.new_stream if stream else ipc.new_file
    with make(str(path), table(1).schema, options=ipc.IpcWriteOptions(**options)) as out:
        out.write_table(table(90), max_chunksize=rows)
    return path


def test_a_broken_record_batch_is_one_rejected_document(tmp_path: Path) -> None:
    path = ipc_file(tmp_path / "a.arrow")
    data = bytearray(path.read_bytes())
    ids = data.rindex(b"d30d31")
    data[ids - 128 : ids] = b"\xff" * 128  # offsets that lead out of the file
    path.write_bytes(data)
    result = nd.dedup(path)
    ((row, id, reason),) = rejected(result)
    assert (row, id) == (31, None)
    assert reason.startswith("record batch 2 is broken (")
    numbers = [i for i in range(90) if i % 3 != 2 and not 30 <= i < 60]
    assert result.kept.column("n").to_pylist() == numbers
    assert result.annotated.num_rows == 60


@pytest.mark.parametrize("limit", [None, 40])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("packed", [None, "lz4"])
def test_a_record_batch_whose_unused_column_is_broken_is_written_without_it(
    tmp_path: Path, limit: int | None, stream: bool, packed: str | None
) -> None:
    path = ipc_file(tmp_path / "a.arrow", stream=stream, rows=29, compression=packed)
    data = bytearray(path.read_bytes())
    more = data.rindex(b"more 29more 29" if packed is None else b"more 29")
    data[more - 128 : more] = b"\xff" * 128
    path.write_bytes(data)
    result = nd.dedup(path, limit=limit)
    assert result.counts.rejected == 0
    rows = f"rows 30 to {90 if stream else 58}"
    with pytest.raises(KeptError, match=f"{rows} were written without a value of 'more'"):
        result.save(tmp_path / "out")
    form = ipc.open_stream if stream else ipc.open_file
    kept = form((tmp_path / "out" / "kept.arrow").read_bytes()).read_all()
    numbers = [i for i in range(limit or 90) if i % 3 != 2]
    assert kept["n"].to_pylist() == numbers
    lost = range(29, 90 if stream else 58)  # a stream has no index of what follows
    expected = [None if n in lost else f"more {n}" * 9 for n in numbers]
    assert kept["more"].to_pylist() == expected
    assert nd.Result.load(tmp_path / "out").counts == result.counts
    from neardup.runs.run_folder import save

    save(result, tmp_path / "found", kept=False)
    with pytest.raises(UnreadableError, match="was read before"):
        _ = nd.Result.load(tmp_path / "found").kept


@pytest.mark.parametrize("at", [0.5, 0.7, 0.95])
def test_of_a_cut_arrow_file_the_record_batches_are_read(tmp_path: Path, at: float) -> None:
    path = ipc_file(tmp_path / "a.feather", compression="lz4")
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * at)])
    result = nd.dedup(path)
    reasons = [reason for *_, reason in rejected(result)]
    assert "index at the end of the file is broken" in reasons[-1]
    kept = result.kept.column("n").to_pylist()
    assert kept == [i for i in range(len(kept) * 3 // 2) if i % 3 != 2]
    assert result.counts.documents == len(kept) * 3 // 2 + len(reasons)


def unreadable_files() -> dict[str, bytes]:
    whole = io.BytesIO()
    pq.write_table(table(9), whole)
    return {
        "a.jsonl.gz": b"\x1f\x8b\x08\x00" + b"\xff" * 40,
        "a.csv.zst": b"no archive",
        "a.parquet": whole.getvalue()[:-9],
        "b.parquet": b"",
        "a.arrow": b"ARROW1\0\0",
        "a.jsonl.xz": b"\xfd7zXZ",
    }


@pytest.mark.parametrize("name", list(unreadable_files()))
def test_a_file_that_gives_nothing_is_one_rejected_document(
    tmp_path: Path, good: Path, name: str
) -> None:
    bad = tmp_path / name
    bad.write_bytes(unreadable_files()[name])
    with pytest.raises(InputError, match="Cannot read"):
        nd.dedup(bad)
    with pytest.raises(InputError, match="Cannot read"):
        nd.dedup(good, against=[str(bad)])
    result = nd.dedup([bad, good], keep="n:asc")
    ((row, id, reason),) = rejected(result)
    assert (row, id) == (1, None)
    assert reason.startswith("nothing of it can be read: ")
    assert result.counts.kept == 6
    assert len(result.kept) == len(result.annotated) - 3 == 6
    result.save(tmp_path / "out")
    kept = [line for i, line in enumerate(good.read_bytes().splitlines()) if i % 3 != 2]
    assert (tmp_path / "out" / "kept" / good.name).read_bytes().splitlines() == kept
    assert nd.Result.load(tmp_path / "out").kept.equals(result.kept)


def test_on_the_command_line(tmp_path: Path, good: Path, parquet: Path) -> None:
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"x")
    out = tmp_path / "out"
    done = CliRunner().invoke(main, ["dedup", str(bad), str(good), "-o", str(out)])
    assert done.exit_code == 1  # the run is written, but a file is missing from it
    assert "bad.parquet: nothing of it can be read" in done.stderr
    assert len((out / "kept" / good.name).read_bytes().splitlines()) == 6
    done = CliRunner().invoke(main, ["dedup", str(bad), str(good), "-o", "-", "--accept-rejected"])
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 6
    strict = ["dedup", str(good), str(bad), "--strict", "-o", str(tmp_path / "strict")]
    done = CliRunner().invoke(main, strict)
    assert (done.exit_code, (tmp_path / "strict").exists()) == (1, False)
    for extra in (["--annotate"], ["--dry-run"]):
        args = ["dedup", str(bad), str(good), str(parquet), *extra, "-o", str(tmp_path / extra[0])]
        args.append("--accept-rejected")
        done = CliRunner().invoke(main, args)
        assert done.exit_code == 0, done.output


def grown(path: Path) -> None:
    with path.open("ab") as file:
        file.write(lines(1, first=5000))


def replaced(path: Path) -> None:
    """As many bytes, lines and the same time; but another file."""
    times = path.stat()
    other = path.with_name("other")
    other.write_bytes(path.read_bytes().replace(b"w", b"v"))
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(path)


CHANGES: dict[str, Callable[[Path], None]] = {
    "grows": grown,
    "shrinks": lambda path: path.write_bytes(b"".join(path.read_bytes().splitlines(True)[:-1])),
    "is replaced": replaced,
    "vanishes": Path.unlink,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_after_it_was_read(tmp_path: Path, good: Path, change: str) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(lines(9))
    result = nd.dedup([other, good], limit=15)
    CHANGES[change](good)
    for write in (lambda: result.kept, lambda: result.annotated):
        with pytest.raises(InputError, match=r"good\.jsonl"):
            write()
    with pytest.raises(KeptError, match=r"good\.jsonl.* The decisions are in"):
        result.save(tmp_path / "out")
    assert not list((tmp_path / "out").glob("kept*"))
    loaded = nd.Result.load(tmp_path / "out")
    assert loaded.counts == result.counts
    assert "good.jsonl" in loaded.info["kept_fault"]


def test_the_decisions_of_a_run_whose_input_changed_stay(
    tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from neardup.engines import execution as api  # kept files may be written from decisions on

    real = api.run

    def run(*args: Any, **options: Any) -> Any:
        decided = real(*args, **options)
        grown(good)
        return decided

    monkeypatch.setattr(api, "run", run)
    out = tmp_path / "deep" / "out"
    done = CliRunner().invoke(main, ["dedup", str(good), "-o", str(out)])
    assert done.exit_code == 1
    assert f"Error: {good} was changed after it was read" in done.stderr
    assert pq.read_metadata(out / "decisions.parquet").num_rows == 9


def test_files_that_vanish_or_fail_while_they_are_read(
    tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone.jsonl"
    gone.write_bytes(lines(3))
    collection = collect([gone, good])
    alone = collect(gone)
    gone.unlink()
    result = nd.dedup(collection)
    assert (result.counts.rejected, len(result.kept)) == (1, 6)
    with pytest.raises(UnreadableError, match="Cannot read"):
        nd.dedup(alone)
    # a disk that fails in the middle
    from neardup.documents import jsonl

    def failing(*_: Any) -> Any:
        yield lines(3)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(jsonl, "whole_lines", failing)
    batches = [chunk.read() for chunk in collect(good).chunks()]
    assert batches[1].rejected[0].row == 4
    assert "Input/output error" in batches[1].rejected[0].reason
    with pytest.raises(UnreadableError, match="Input/output error"):
        collect(good).kept(np.ones(4, bool))


def test_a_text_file_that_changes(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for i in range(3):
        (folder / f"{i}.txt").write_text(words(i))
    result = nd.dedup(folder)
    (folder / "1.txt").write_text("something else")
    with pytest.raises(ChangedError, match=r"1\.txt was changed"):
        _ = result.kept
    with pytest.raises(KeptError, match=r"1\.txt was changed"):
        result.save(tmp_path / "out")
    assert not list((tmp_path / "out").glob("kept*"))


@pytest.mark.parametrize("form", ["parquet", "arrow", "folder", "rss", "warc", "warc.gz"])
def test_content_that_changes_with_the_same_size_and_time(form: str, tmp_path: Path) -> None:
    texts = [words(i) for i in range(5)]
    place = written_as(form, texts, tmp_path)
    before = place.stat()
    result = nd.dedup(place.parent if form == "folder" else place)
    written_as(form, [*texts[:3], texts[3].swapcase(), texts[4]], tmp_path)
    assert place.stat().st_size == before.st_size
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ChangedError, match="was changed"):
        _ = result.kept
    with pytest.raises(KeptError, match="was changed"):
        result.save(tmp_path / "out")


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 21) + 1])
def test_a_stream_is_the_same_at_every_reading_until_a_byte_changes(size: int) -> None:
    watch = Watch()
    watch.begin(Path(__file__), Columns())
    data = bytes(size)
    for _ in range(2):
        with watch.stream(io.BytesIO(data), "a") as stream:
            assert stream.read() + stream.read() == data
    if size:
        with pytest.raises(ChangedError), watch.stream(io.BytesIO(data[1:] + b"x"), "a") as other:
            other.read()


def written_as(form: str, texts: list[str], folder: Path) -> Path:
    """A file in ``in``, in its place and with its number if it is there already."""
    place = folder / "in" / {"folder": "3.txt"}.get(form, f"a.{form}")
    place.parent.mkdir(exist_ok=True)
    if form == "folder":
        for i, text in enumerate(texts):
            (place.parent / f"{i}.txt").write_text(text)
        return place
    with open(place, "r+b" if place.exists() else "wb") as file:
        file.write(_content(form, texts))
    return place


def _content(form: str, texts: list[str]) -> bytes:
    if form == "rss":
        items = "".join(f"<item><description>{text}</description></item>" for text in texts)
        return f"<rss version='2.0'><channel>{items}</channel></rss>".encode()
    if form.startswith("warc"):
        pages = b"".join(
            record(f"p{n}", answer(text.encode(), kind="text/plain"))
            for n, text in enumerate(texts)
        )
        return pages if form == "warc" else gzip.compress(pages, 0, mtime=0)
    table, sink = pa.table({"text": texts}), pa.BufferOutputStream()
    if form == "parquet":
        pq.write_table(table, sink, compression="none", write_statistics=False)
    else:
        with pa.ipc.new_file(sink, table.schema) as out:
            out.write_table(table)
    return bytes(sink.getvalue())


SCRIPT = """
import json, os
from pathlib import Path
import neardup as nd
from neardup.errors import InputError

for path in ("d", "d/*.jsonl"):
    nd.dedup(path).kept  # so that all is imported: the interpreter may be root's own
if os.getuid() == 0:
    os.setgid({nobody})
    os.setuid({nobody})
found = []
for paths in {inputs!r}:
    try:
        result = nd.dedup([Path(path) for path in paths], method="exact")
    except InputError as error:
        found.append(str(error))
        continue
    rows = result.decisions.to_pylist()
    lost = sorted([r["file"], r["id"], r["reason"]] for r in rows if r["decision"] == "rejected")
    found.append([len(rows), len(result.kept), lost])
print(json.dumps(found))
"""


def as_nobody(inputs: list[list[str]], folder: Path) -> list[Any]:
    """Runs where permissions hold: tests may run as root, whom none stops."""
    code = SCRIPT.format(nobody=NOBODY, inputs=inputs)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def test_files_and_folders_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for name, first in (("a/1", 0), ("b/2", 100), ("c/3", 200), ("d/4", 300)):
        (tmp_path / name).parent.mkdir()
        (tmp_path / f"{name}.jsonl").write_bytes(lines(3, first))
        (tmp_path / f"{name}.txt").write_text(words(first))
    (tmp_path / "a" / "1.jsonl").chmod(0)
    (tmp_path / "b").chmod(0)
    (tmp_path / "c").chmod(0o444)  # its names can be seen, its files not
    try:
        glob, deep, files, folder, folders, one = as_nobody(
            [
                ["*/*.jsonl"],
                ["**/*.jsonl"],
                ["b/2.jsonl", "d/4.jsonl"],
                ["."],
                ["b", "d"],
                ["b"],
            ],
            tmp_path,
        )
    finally:
        for name in "bc":
            (tmp_path / name).chmod(0o755)
    denied = "nothing of it can be read: Permission denied"
    assert glob == deep
    assert glob[:2] == [6, 2]
    assert [lost[0] for lost in glob[2]] == ["a/1.jsonl", "b", "c"]
    assert [lost[2] for lost in glob[2][:2]] == [denied, denied]
    assert files == [4, 2, [["b/2.jsonl", None, denied]]]
    assert folder[1] == 2 + 1  # a/1.txt, d/4.jsonl, d/4.txt
    assert sorted(lost[1] for lost in folder[2]) == ["a/1.jsonl", "b", "c/3.jsonl", "c/3.txt"]
    assert folders[2] == [["b", None, denied]]
    assert one.startswith("Cannot read b: Permission denied.")
