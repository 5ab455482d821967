"""Folders of text files: which files, which encodings, what is rejected, what is copied."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

import numpy as np
import pytest

import neardup as nd
from neardup.documents import Collection, Columns, collect
from neardup.documents.encodings import OLE, decoded
from neardup.documents.folder import FolderSource
from neardup.errors import ColumnError, InputError, UsageError

FILES = {
    "a.txt": b'say "hi",\r\n\xf0\x9f\x98\x80',
    "b/c.md": codecs.BOM_UTF16_LE + "é\0".encode("utf-16-le"),
    "b/long": b"long " * 2_000_000,
    "b.txt": b"caf\xe9",
    "empty": b"",
    "picture.png": b"\x89PNG\0",
}


def folder_of(tmp_path: Path, files: dict[str, bytes] = FILES, name: str = "in") -> Path:
    for place, data in files.items():
        path = tmp_path / name / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / name


def test_files_ids_and_texts(tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path, {**FILES, ".hidden": b"x", ".git/config": b"x", "b/~$c.docx": b"x"}
    )
    source = FolderSource(folder, "in", chunk_bytes=1 << 30)
    (batch,) = [chunk.read() for chunk in source.chunks(Columns())]
    assert batch.records.column("id").to_pylist() == ["a.txt", "b/c.md", "b/long", "b.txt", "empty"]
    texts = ['say "hi",\r\n😀', "é\0", "long " * 2_000_000, "café", ""]
    assert batch.records.column("text").to_pylist() == texts
    (lost,) = batch.rejected
    assert (lost.row, lost.id, lost.reason) == (6, "picture.png", "file is binary: NUL at byte 5")
    assert collect(folder).texts(folder.as_posix(), [6, 4]) == ["", "café"]


@pytest.mark.parametrize("size", [1, 10, 1 << 30])
def test_chunk_size_does_not_matter(tmp_path: Path, size: int) -> None:
    folder = folder_of(tmp_path)
    collection = Collection([FolderSource(folder, "in", chunk_bytes=size)])
    batches = [chunk.read() for chunk in collection.chunks()]
    rows = [row for batch in batches for row in batch.records.column("row").to_pylist()]
    assert (rows, len(batches)) == ([1, 2, 3, 4, 5], {1: 6, 10: 4}.get(size, 1))


OLD = (
    "file is an old Word, Excel or PowerPoint file; save it as .docx, .pptx or .pdf, or convert it "
    "with `soffice --convert-to docx`"
)
TABLE = "file is a table in the format {}; give it as an input of its own"


@pytest.mark.parametrize(
    ("data", "text", "reason"),
    [
        (codecs.BOM_UTF8 + b"a", "a", None),
        (codecs.BOM_UTF32_LE + "😀".encode("utf-32-le"), "😀", None),
        (codecs.BOM_UTF16_BE + "😀".encode("utf-16-be"), "😀", None),
        (codecs.BOM_UTF32_BE + "😀".encode("utf-32-be"), "😀", None),
        (b"\x93quoted\x94", "“quoted”", None),
        (b"\x81", "\x81", None),
        (b"\xc2\x89PNG\0", None, "file is binary: NUL at byte 6"),
        ("hällo\0 wörld".encode(), None, "file is binary: NUL at byte 7"),
        ("größe\0 is\0 a".encode("utf-16-le"), None, "file is binary: NUL at byte 2"),
        (OLE + bytes(512), None, OLD),
        (b"ARROW1\0\0" + bytes(512), None, TABLE.format("Arrow")),
        (b"\xff\xff\xff\xff\x10\0\0\0", None, TABLE.format("Arrow (a stream)")),
        (b"PAR1\x15\0", None, TABLE.format("Parquet")),
        (codecs.BOM_UTF8 + b"a\xff", None, "file is not valid UTF-8 at byte 5"),
        (codecs.BOM_UTF16_LE + b"a", None, "file is not valid UTF-16 at byte 3"),
    ],
)
def test_encodings(data: bytes, text: str | None, reason: str | None) -> None:
    assert decoded(data)[:2] == (text, reason)


def test_what_cannot_be_read_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path, {"a": b"a", "locked/b": b"b"})
    (folder / "gone").symlink_to(tmp_path / "nowhere")
    os.mkfifo(folder / "pipe")
    real = os.scandir

    def scandir(path: str) -> object:  # tests run as root, whom no permission stops
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    (batch,) = [chunk.read() for chunk in collect(folder).chunks()]
    assert batch.records.column("id").to_pylist() == ["a"]
    assert [(lost.id, lost.reason) for lost in batch.rejected] == [
        ("gone", "file cannot be read: No such file or directory"),
        ("locked", "folder cannot be read: Permission denied"),
    ]


def test_kept_files_are_copies(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    keep = np.array([1, 1, 0, 1, 0, 0], bool)
    out = tmp_path / "out"
    assert [p.name for p in collect(folder).write_kept(keep, out)] == ["kept", "kept.txt"]
    names = ["a.txt", "b/c.md", "b.txt"]
    assert (out / "kept.txt").read_text().splitlines() == names
    copies = [path for path in (out / "kept").rglob("*") if path.is_file()]
    assert len(copies) == 3
    assert all((out / "kept" / name).read_bytes() == FILES[name] for name in names)
    assert collect(folder).kept(keep).column("id").to_pylist() == names
    assert sorted(p.name for p in out.iterdir()) == ["kept", "kept.txt"]
    with pytest.raises(InputError, match="already there"):
        collect(folder).write_kept(keep, out)
    with pytest.raises(InputError, match="for 7 documents"):
        collect(folder).write_kept(np.ones(7, bool), tmp_path / "other")
    assert list((tmp_path / "other").iterdir()) == []


def test_several_folders_and_formats(tmp_path: Path) -> None:
    folders = [folder_of(tmp_path, {"a": b"a"}, name) for name in ("x", "y", "z/x")]
    lines = tmp_path / "l.jsonl"
    lines.write_bytes(b'{"text":"a"}\n')
    collection = collect([*folders, lines])
    ids = [i for c in collection.chunks() for i in c.read().records.column("id").to_pylist()]
    assert ids == ["1-x/a", "y/a", "3-x/a", f"{lines}:1"]
    collection.write_kept(np.ones(4, bool), tmp_path / "out")
    assert (tmp_path / "out/kept.txt").read_text() == "1-x/a\ny/a\n3-x/a\n"
    assert (tmp_path / "out/kept.jsonl").read_bytes() == lines.read_bytes()


@pytest.mark.parametrize(
    "columns", [Columns("body"), Columns("id"), Columns(id="key"), Columns(extra=("date",))]
)
def test_other_columns_are_not_there(tmp_path: Path, columns: Columns) -> None:
    collection = collect(folder_of(tmp_path))
    with pytest.raises(ColumnError, match="is not in the folder"):
        list(collection.chunks(columns))
    with pytest.raises(UsageError, match="is a folder; only lines"):
        collection.check_stream()


def test_a_run_is_saved_twice_and_loaded(tmp_path: Path) -> None:
    text = b"one two three four five six seven eight nine ten"
    folder = folder_of(tmp_path, {"a.txt": text, "b.txt": text + b"!", "c.png": b"\0"})
    result = nd.dedup(folder)
    for _ in range(2):
        result.save(tmp_path / "out", overwrite=True)
    assert [p.name for p in (tmp_path / "out" / "kept").iterdir()] == ["a.txt"]
    again = nd.Result.load(tmp_path / "out")
    assert again.kept.to_pylist() == [{"id": "a.txt", "text": text.decode()}]
    assert vars(again.counts)["rejected"] == 1
