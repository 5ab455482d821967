"""A run opens each of its input files at most three times, however often it reads them."""

from __future__ import annotations

import gc
import gzip
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from documents.crawl import CRAWL
from neardup.documents import open_files
from neardup.documents.open_files import OpenFiles

WORDS = [f"word{i}" for i in range(60)]
TEXTS = [
    " ".join(WORDS),
    " ".join([*WORDS[:30], "edited", *WORDS[31:]]),
    " ".join(WORDS).upper(),
    " ".join(f"other{i}" for i in range(60)),
]
DOCUMENTS = [{"id": str(i), "text": text, "date": "2024-01-02"} for i, text in enumerate(TEXTS)]
RUNS = """
import json, os, sys
from collections import Counter

opened = Counter()


def count(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
        opened[os.path.abspath(os.fsdecode(arguments[0]))] += 1


sys.addaudithook(count)
from neardup.cli import main

for number, name in enumerate(sys.argv[2:]):
    main(["dedup", name, "-o", f"{sys.argv[1]}/{number}", "--quiet"], standalone_mode=False)
json.dump(opened, sys.stdout)
"""


def stored(folder: Path) -> dict[Path, list[Path]]:
    """Each input in some format, and the files that it consists of."""
    lines = "".join(json.dumps(one) + "\n" for one in DOCUMENTS).encode()
    records = "id,text\n" + "".join(f"{one['id']},{one['text']}\n" for one in DOCUMENTS)
    items = "".join(f"<item><guid>{i}</guid><title>{t}</title></item>" for i, t in enumerate(TEXTS))
    files = {
        "a.jsonl": lines,
        "a.jsonl.gz": gzip.compress(lines),
        "a.csv": records.encode(),
        "wide.csv": records.encode("utf-16"),
        "a.rss": f'<rss version="2.0"><channel>{items}</channel></rss>'.encode(),
        "a.html": f"<html><body><p>{TEXTS[0]}</p></body></html>".encode(),
        "a.warc": b"".join(CRAWL),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    table = pa.Table.from_pylist(DOCUMENTS)
    pq.write_table(table, folder / "a.parquet", row_group_size=2)
    for name, open_ in (("a.feather", pa.ipc.new_file), ("a.arrow", pa.ipc.new_stream)):
        with open_(str(folder / name), table.schema) as out:
            out.write_table(table, max_chunksize=2)
    inputs = {path: [path] for path in sorted(folder.iterdir())}
    (folder / "texts").mkdir()
    for i, text in enumerate(TEXTS):
        (folder / "texts" / f"{i}.txt").write_text(text)
    return {**inputs, folder / "texts": sorted((folder / "texts").iterdir())}


def test_a_run_opens_each_input_at_most_three_times(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    inputs = stored(tmp_path / "in")
    command = [sys.executable, "-c", RUNS, str(tmp_path / "out"), *map(str, inputs)]
    (tmp_path / "out").mkdir()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    opened = json.loads(done.stdout)
    counts = {path.name: opened.get(str(path), 0) for some in inputs.values() for path in some}
    assert set(counts.values()) <= {1, 2, 3}, counts  # 0: it was opened past the hook


def test_readings_of_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(bytes(range(256)) * 20_000)
    files = OpenFiles()
    with files.stream(path) as one, files.stream(path) as other:
        assert one.read(300) == path.read_bytes()[:300]
        other.seek(-5, os.SEEK_END)
        assert other.read() == bytes(range(251, 256))
        assert one.read(10) == bytes(range(44, 54))
    assert files.read_bytes(path) == path.read_bytes()


def test_a_file_in_the_place_of_another_is_read(tmp_path: Path) -> None:
    path, files = tmp_path / "a", OpenFiles()
    path.write_bytes(b"first")
    assert files.read_bytes(path) == b"first"
    (tmp_path / "b").write_bytes(b"second")
    (tmp_path / "b").replace(path)
    assert files.read_bytes(path) == b"second"
    path.write_bytes(b"written over")
    assert files.read_bytes(path) == b"written over"
    path.unlink()
    with pytest.raises(FileNotFoundError):
        files.read_bytes(path)


def test_no_more_files_stay_open_than_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()  # what earlier tests left must not go while this one counts
    monkeypatch.setattr(open_files, "MOST_OPEN", len(open_files._HELD) + 2)
    paths = [tmp_path / str(i) for i in range(5)]
    for path in paths:
        path.write_text(path.name)
    files = OpenFiles()
    assert [files.read_bytes(path).decode() for path in paths * 2] == list("01234" * 2)
    assert len(open_files._HELD) == open_files.MOST_OPEN
    assert pickle.loads(pickle.dumps(files)).read_bytes(paths[0]) == b"0"
    del files
    assert len(open_files._HELD) == open_files.MOST_OPEN - 2
