"""Every format with hostile content: what is kept is what came in, in every column, byte for byte.

The last document is a copy of the first, so that something is set aside; all others are kept.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import neardup as nd
from neardup.cli import main
from neardup.documents.file_formats import CODECS
from neardup.documents.streams import open_binary, writing

COPIED = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
TEXTS = [
    COPIED,
    'say "hi", it\'s; a\ttab | a bar, "" and \\" and \\n',
    'an "open quote',
    "a\nb\r\nc\rd\u2028e\u2029f\u0085g\x0b\x0c",
    "\nlines\n\n",
    "nul \0 inside",
    "😀 👩‍👩‍👧 \U0010ffff",
    "\u202eright to left\u200f שלום \u202c",
    "\ufeffa byte order mark",
    "",
    " \t spaces ",
    '{"text": "in a text"}',
    "<p>&amp;</p>",
    "\ufffd\ufffe e\u0301",
    "x" * 10_000_000,
    COPIED,
]
NAMES = ["id", "text", "a name, with \"all\" 'signs';", "имя 名前", "n"]
ROWS: list[dict[str, Any]] = [
    dict(
        zip(NAMES, (f"{i} " + "long" * 25_000 * (i == 3), text, text[:99], "é" * i, i), strict=True)
    )
    for i, text in enumerate(TEXTS)
]
KEPT = ROWS[:-1]
MARK = b"\xef\xbb\xbf"
TABLE = pa.Table.from_pylist(ROWS).replace_schema_metadata({"who": "me"})


def run(path: Path, tmp_path: Path) -> Path:
    """The command line; gives the one kept file."""
    out = tmp_path / "out"
    done = CliRunner().invoke(main, ["dedup", str(path), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert f"{len(ROWS)} documents = {len(KEPT)} kept + 1 duplicate + 0 rejected" in done.stderr
    kept = [place for place in out.iterdir() if place.name.startswith("kept")]
    return kept[0] if len(kept) == 1 else out / "kept"


def lines_of(rows: list[dict[str, Any]]) -> list[bytes]:
    """As unlike as lines can be that say what they say."""
    styles: list[Callable[[dict[str, Any]], str]] = [
        lambda row: json.dumps(row),
        lambda row: json.dumps(row, ensure_ascii=False) + "\r",
        lambda row: "  " + json.dumps(row, ensure_ascii=False, separators=(" ,", "\t: ")) + " ",
        lambda row: json.dumps({**row, "lone \ud800": "\udc00 \ud83d", "more": [{"a": None}]}),
        lambda row: json.dumps(row)[:-1] + ', "n": 1e999, "digits": ' + "9" * 9999 + "}",
    ]
    made = [styles[i % len(styles)](row).encode() + b"\n" for i, row in enumerate(rows)]
    return [b"\xef\xbb\xbf" + made[0], *made[1:-1], made[-1].rstrip(b"\n")]


@pytest.mark.parametrize("suffix", ["", *CODECS])
def test_json_lines(tmp_path: Path, suffix: str) -> None:
    path, codec = tmp_path / f"a.jsonl{suffix}", CODECS.get(suffix)
    lines = lines_of(ROWS)
    with writing(path, codec) as file:
        file.write(b"".join(lines))
    with open_binary(run(path, tmp_path), codec) as stream:
        assert stream.read() == b"".join(lines[:-1])
    table = nd.Result.load(tmp_path / "out").kept
    assert table["text"].to_pylist() == TEXTS[:-1]
    assert table.column_names[:4] == NAMES[:4]
    assert table["digits"].to_pylist()[4] == "9" * 9999


@pytest.mark.parametrize(
    ("sign", "end", "mark"),
    [(",", "\r\n", b""), (";", "\n", MARK), ("|", "\n", b""), ("\t", "\r\n", MARK)],
)
def test_csv(tmp_path: Path, sign: str, end: str, mark: bytes) -> None:
    path = tmp_path / ("a.tsv" if sign == "\t" else "a.csv")
    records = []
    for i, values in enumerate([NAMES, *(list(row.values()) for row in ROWS)]):
        buffer = io.StringIO()
        quoting = csv.QUOTE_ALL if i % 2 else csv.QUOTE_MINIMAL
        csv.writer(buffer, delimiter=sign, lineterminator=end, quoting=quoting).writerow(values)
        records.append(buffer.getvalue().encode())
    path.write_bytes(mark + b"".join(records))
    assert run(path, tmp_path).read_bytes() == mark + b"".join(records[:-1])
    rows = nd.Result.load(tmp_path / "out").kept.to_pylist()
    assert rows == [{name: str(value) for name, value in row.items()} for row in KEPT]


def ipc_file(path: Path, make: Any) -> None:
    with make(str(path), TABLE.schema) as out:
        out.write_table(TABLE, max_chunksize=4)


def read_ipc(path: Path) -> pa.Table:
    data = path.read_bytes()
    open_ = ipc.open_file if data.startswith(b"ARROW1") else ipc.open_stream
    return open_(data).read_all()


TABLE_FILES: dict[str, tuple[str, Callable[[Path], Any], Callable[[Path], pa.Table]]] = {
    "parquet": ("a.parquet", lambda p: pq.write_table(TABLE, p, row_group_size=3), pq.read_table),
    "arrow": ("a.arrow", lambda path: ipc_file(path, ipc.new_file), read_ipc),
    "stream": ("a.arrow", lambda path: ipc_file(path, ipc.new_stream), read_ipc),
    "feather": ("a.feather", lambda path: feather.write_feather(TABLE, str(path)), read_ipc),
}


@pytest.mark.parametrize("form", TABLE_FILES)
def test_table_files(tmp_path: Path, form: str) -> None:
    name, write, read = TABLE_FILES[form]
    write(tmp_path / name)
    kept = read(run(tmp_path / name, tmp_path))
    assert kept.schema.equals(TABLE.schema, check_metadata=True)
    assert kept.to_pylist() == KEPT
    assert nd.Result.load(tmp_path / "out").kept.to_pylist() == KEPT


def test_text_folder(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    names = [f"{i:02} name, «é»\t😀/text\u2028.txt" for i in range(len(TEXTS))]
    contents = [text.replace("\0", "").removeprefix("\ufeff").encode() for text in TEXTS]
    contents[8] = MARK + contents[8]
    for name, data in zip(names, contents, strict=True):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(data)
    kept = run(folder, tmp_path)
    copied = {str(p.relative_to(kept)): p.read_bytes() for p in kept.rglob("*") if p.is_file()}
    assert copied == dict(zip(names[:-1], contents[:-1], strict=True))
    assert kept.with_name("kept.txt").read_bytes() == b"".join(
        os.fsencode(name) + b"\n" for name in names[:-1]
    )
    table = nd.Result.load(tmp_path / "out").kept
    assert table["id"].to_pylist() == names[:-1]
    assert [t.encode() for t in table["text"].to_pylist()] == [
        data.removeprefix(MARK) for data in contents[:-1]
    ]


def pandas_frame() -> Any:
    import pandas as pd

    return pd.DataFrame(ROWS, index=[i * 7 for i in range(len(ROWS))])


def polars_frame() -> Any:
    import polars as pl

    return pl.DataFrame(ROWS)


def dataset() -> Any:
    import datasets

    return datasets.Dataset.from_list(ROWS)


def relation() -> Any:
    import duckdb

    return duckdb.from_arrow(TABLE)


def same_frame(kept: Any) -> list[dict[str, Any]]:
    assert kept.index.tolist() == [i * 7 for i in range(len(KEPT))]
    rows: list[dict[str, Any]] = kept.to_dict("records")
    return rows


OBJECTS: dict[str, tuple[Callable[[], Any], str, Callable[[Any], Any]]] = {
    "list[dict]": (lambda: ROWS, "list", lambda kept: kept),
    "pandas": (pandas_frame, "DataFrame", same_frame),
    "polars": (polars_frame, "DataFrame", lambda kept: kept.to_dicts()),
    "Table": (lambda: TABLE, "Table", lambda kept: kept.to_pylist()),
    "RecordBatch": (
        lambda: TABLE.combine_chunks().to_batches()[0], "RecordBatch", lambda kept: kept.to_pylist()
    ),
    "Dataset": (dataset, "Dataset", lambda kept: kept.to_list()),
    "IterableDataset": (lambda: dataset().to_iterable_dataset(), "list", lambda kept: kept),
    "DuckDB": (relation, "Table", lambda kept: kept.to_pylist()),
}  # fmt: skip


@pytest.mark.parametrize("form", OBJECTS)
def test_objects(tmp_path: Path, form: str) -> None:
    make, type_, rows = OBJECTS[form]
    result = nd.dedup(make())
    assert (type(result.kept).__name__, result.counts.duplicates) == (type_, 1)
    assert rows(result.kept) == KEPT
    result.save(tmp_path / "out")
    (written,) = (tmp_path / "out").glob("kept.*")
    if written.suffix == ".jsonl":
        back = [json.loads(line) for line in written.read_bytes().split(b"\n") if line]
    else:
        back = pq.read_table(written).select(NAMES).to_pylist()
    assert back == KEPT


def test_list_of_texts(tmp_path: Path) -> None:
    result = nd.dedup(TEXTS)
    assert result.kept == TEXTS[:-1]
    result.save(tmp_path / "out")
    lines = (tmp_path / "out/kept.jsonl").read_bytes().split(b"\n")
    assert [json.loads(line)["text"] for line in lines if line] == TEXTS[:-1]


def test_lone_surrogates_in_memory(tmp_path: Path) -> None:
    """No text holds them, so they are rejected there; in other columns they come back."""
    rows = [{"text": COPIED, "other \ud800": "\udc00"}, {"text": "\ud83d"}]
    result = nd.dedup(rows)
    assert (result.kept, result.counts.rejected) == (rows[:1], 1)
    result.save(tmp_path / "out")
    assert json.loads((tmp_path / "out/kept.jsonl").read_bytes()) == rows[0]
