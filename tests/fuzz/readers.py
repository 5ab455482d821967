"""Coverage-guided inputs for everything that reads a stranger's bytes; run by ``make fuzz``.

The first byte chooses a target. Files of documents get the rest as their content. Files that
neardup wrote itself (run folders, indexes, tables, models) get the rest as a list of edits, and
checksums that fit, so that validation is reached and not only the checksum. Pages and PDFs are
extracted in this process, not in one of their own. A target may raise a ``NeardupError``; anything
else ends the fuzzer. Every document of a file is counted, and whether it is taken or rejected must
not depend on how often the file is read.

Atheris' own work for an input costs more than most targets, so each of its inputs stands for
several, which follow from it.
"""

from __future__ import annotations

import atexit
import bz2
import gzip
import importlib
import inspect
import json
import os
import random
import shutil
import sqlite3
import struct
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import neardup as nd
from neardup.documents.collection import collect
from neardup.errors import NeardupError
from neardup.runs.checksums import digests_of, write_checksums

MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None  # no disk needs to be slow
FOLDER = Path(tempfile.mkdtemp(prefix="neardup-fuzz-", dir=MEMORY))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
MOST_EDITS = 40
VARIANTS = 15
MODEL = Path(nd.__file__).parent / "models" / "general.arrow"
HOW = ("all-text", "resiliparse", "trafilatura")
# What is instrumented: the code that reads, not what is done with the documents.
TESTED = (
    "neardup.documents", "neardup.runs.run_info", "neardup.runs.run_folder",
    "neardup.runs.checksums", "neardup.labels.labelled_pairs", "neardup.papers.recipe",
    "neardup.decisions.policy", "neardup.engines.index.seals", "neardup.engines.index.signing",
    "neardup.artefacts.arrays", "neardup.artefacts.model", "neardup.artefacts.idf",
)  # fmt: skip
counted = {"inputs": 0, "documents": 0}


def documents(
    ending: str, packing: Callable[[bytes], bytes] | None = None
) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        path = FOLDER / f"a{ending}"
        if ending == ".txt":  # of a folder
            path = FOLDER / "texts"
            path.mkdir(exist_ok=True)
        if packing and data[:1] < b"\x80":  # else broken archives are all that is tried
            data = packing(data[1:])
        (path / "a.txt" if path.is_dir() else path).write_bytes(data)
        first, again = _read(path), _read(path)
        assert first == again, (first, again)
        counted["documents"] += sum(first)

    return read


def _read(path: Path | str) -> tuple[int, int]:
    """The numbers of documents that were taken and rejected."""
    taken = rejected = 0
    for chunk in collect(path).chunks():
        batch = chunk.read()
        taken += batch.records.num_rows
        rejected += len(batch.rejected)
        batch.records.validate(full=True)
    return taken, rejected


def edited(data: bytes, edits: bytes) -> bytes:
    """Each edit is a place and a byte; a place behind the end cuts the file there."""
    changed = bytearray(data)
    whole = min(len(edits) // 3, MOST_EDITS) * 3
    for place, value in struct.iter_unpack("<HB", edits[:whole]):
        if place < len(changed):
            changed[place] = value
        elif changed:
            del changed[place % len(changed) :]
    return bytes(changed)


def run_folder(data: bytes) -> None:
    whole = _whole_run()
    names = sorted(p.relative_to(whole).as_posix() for p in whole.rglob("*") if p.is_file())
    name = names[data[0] % len(names)] if data else names[0]
    copy = shutil.copytree(whole, FOLDER / "copy", dirs_exist_ok=True)
    (copy / name).write_bytes(edited((copy / name).read_bytes(), data[1:]))
    if name != "checksums.sha256":
        listed = [n for n in names if n not in ("checksums.sha256", "run.json")]
        write_checksums(
            copy, digests_of(copy, listed), {"run.json": (copy / "run.json").read_bytes()}
        )
    try:
        result = nd.Result.load(copy)
        result.weakest(3)
        result.explain("d1")
        result.rethreshold(0.9)
    finally:
        shutil.rmtree(copy)


def _texts() -> list[dict[str, Any]]:
    texts = ["the quick brown fox jumps over the lazy dog and runs away", "quite another text"]
    return [{"id": f"d{n}", "text": f"{texts[n // 3 % 2]} {'x' * (n % 3)}"} for n in range(6)]


def _whole_run() -> Path:
    folder = FOLDER / "run"
    if not folder.exists():
        nd.dedup(_texts(), method="shingles", words=2, min_words=3, signatures=True).save(folder)
    return folder


def index(data: bytes) -> None:
    whole = FOLDER / "whole.db"
    if not whole.exists():
        with nd.Index.open(whole, method="shingles", words=2, min_words=3, texts=True) as made:
            for document in _texts():
                made.add(document)
    copy = FOLDER / "copy.db"
    copy.write_bytes(edited(whole.read_bytes(), data))
    try:
        with nd.Index.open(copy) as opened:
            opened.check({"id": "new", "text": _texts()[0]["text"]})
            opened.add({"id": "new", "text": _texts()[3]["text"]})
    finally:
        for path in FOLDER.glob("copy.db*"):
            path.unlink()


def recipe(data: bytes) -> None:
    from neardup.papers.recipe import read_recipe, recipe_settings

    path = FOLDER / "a.toml"
    path.write_bytes(data)
    recipe_settings(read_recipe(path), "a.toml")


def policy(data: bytes) -> None:
    path = FOLDER / "p.toml"
    path.write_bytes(data)
    nd.dedup(_texts(), method="exact", policy=path)


def labels(data: bytes) -> None:
    from neardup.labels.labelled_pairs import read_pairs

    path = FOLDER / "pairs.jsonl"
    path.write_bytes(data)
    read_pairs(path)


def table(data: bytes) -> None:
    from neardup.artefacts.idf import load_idf

    whole = FOLDER / "whole.idf"
    if not whole.exists():
        from neardup.cli import main

        source = FOLDER / "texts.jsonl"
        source.write_text("".join(json.dumps(row) + "\n" for row in _texts()))
        main(["idf", "build", str(source), "-o", str(whole)], standalone_mode=False)
    path = FOLDER / "a.idf"
    path.write_bytes(edited(whole.read_bytes(), data))
    load_idf(path)


def model(data: bytes) -> None:
    from neardup.artefacts.model import load_model

    path = FOLDER / "a.model"
    path.write_bytes(edited(MODEL.read_bytes(), data))
    load_model(path)


def page(kind: str) -> Callable[[bytes], None]:
    def extracted(data: bytes) -> None:
        from neardup.documents.extraction.page import Page
        from neardup.documents.extraction.worker import extract

        how = HOW[data[0] % len(HOW)] if data else HOW[0]
        once, again = (extract(Page(kind, data[1:]), how) for _ in range(2))
        assert once == again
        assert (once.text or once.reason) is not None
        counted["documents"] += 1

    return extracted


def library(data: bytes) -> None:
    from neardup.documents.bibliography import bibtex, references

    for name in ("a.bib", "a.ris", "a.json"):
        for one in references(name, data)[0]:
            again, lost = references("b.bib", bibtex(replace(one, key="k"), {}).encode())
            assert (lost, len(again)) == (0, 1), one


def database(data: bytes) -> None:
    whole = FOLDER / "rows.db"
    if not whole.exists():
        with closing(sqlite3.connect(whole)) as db, db:
            db.execute("create table rows (id text, text text)")
            db.executemany("insert into rows values (:id, :text)", _texts() * 50)
    copy = FOLDER / "rows-copy.db"
    copy.write_bytes(edited(whole.read_bytes(), data))
    url = f"sqlite:///{copy}?table=rows"
    first, again = _read(url), _read(url)
    assert first == again, (first, again)


TARGETS = (
    documents(".jsonl"), documents(".csv"), documents(".parquet"), documents(".arrow"),
    documents(".xml"), documents(".warc"), documents(".txt"), documents(".jsonl.bz2", bz2.compress),
    documents(".jsonl.gz", gzip.compress), documents(".tsv"), documents(".rss"), documents(".json"),
    run_folder, index, recipe, policy, labels, table, page("html"), page("pdf"), model,
    page("docx"), page("pptx"), page("odf"), page("epub"), page("rtf"),
    documents(".eml"), documents(".mbox"), documents(".msg"),
    library, database,
)  # fmt: skip


NO_DOCUMENTS = (run_folder, index, recipe, policy, labels, table, model, library, database)


def one_input(data: bytes) -> None:
    if not data:
        return
    counted["inputs"] += 1
    with suppress(NeardupError):
        TARGETS[data[0] % len(TARGETS)](data[1:])


def several(data: bytes) -> None:
    """The input and variants of it. The counts are noted now and then: the fuzzer leaves no chance
    at the end."""
    one_input(data)
    rng = random.Random(crc32(data))
    for _ in range(VARIANTS if len(data) > 2 else 0):
        one_input(varied(data, rng))
    Path("readers.json").write_text(json.dumps(counted))


def varied(data: bytes, rng: random.Random) -> bytes:
    """A few other bytes; sometimes a part is missing or there twice."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        changed[rng.randrange(1, len(changed))] = rng.randrange(256)
    begin, end = sorted(rng.randrange(1, len(changed) + 1) for _ in range(2))
    part = bytes(changed[begin:end])
    if rng.random() < 0.2:
        changed[begin:end] = b""
    elif rng.random() < 0.2:
        changed[begin:begin] = part
    return bytes(changed)


def instrument() -> None:
    """Makes neardup's functions report their coverage. An editable installation has a loader of its
    own, which atheris does not see through, so it is done after the import."""
    import atheris

    formats = ("arrow", "csv", "feeds", "jsonl", "kept", "parquet", "warc", "xml", "news_items")
    formats += ("bibliography", "database")
    for name in (*(f"neardup.documents.{form}" for form in formats), *TESTED[1:]):
        importlib.import_module(name)
    ours = [m for name, m in sys.modules.items() if name.startswith(TESTED)]
    owners = [*ours, *(v for m in ours for v in vars(m).values() if inspect.isclass(v))]
    for owner in owners:
        for value in list(vars(owner).values()):
            plain = getattr(value, "fget", None) or getattr(value, "__func__", value)
            if inspect.isfunction(plain) and plain.__module__.startswith("neardup."):
                atheris.instrument_func(plain)


PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R"
    b"/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
    b"4 0 obj<</Length 52>>stream\nBT /F 12 Tf 20 200 Td (A text of a few words.) Tj ET\n"
    b"endstream\nendobj\n5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
    b"trailer<</Root 1 0 R>>\n%%EOF\n"
)


def seeds(folder: Path) -> None:
    """One small input for each target, to begin with."""
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    sys.path.append(str(Path(__file__).parents[1]))  # this file may run as a program
    from documents.extraction.office_files import docx, epub, odt, paragraph, pptx, rtf
    from documents.outlook_files import compound, outlook

    rows = [{"id": str(n), "text": f"text {n} of a few words", "date": "2024"} for n in range(100)]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    made, parquet, arrow = pa.Table.from_pylist(rows), io.BytesIO(), io.BytesIO()
    pq.write_table(made, parquet, row_group_size=8)
    with pa.ipc.new_file(arrow, made.schema) as out:
        out.write_table(made, max_chunksize=8)
    items = "".join(
        f"<item><guid>{n}</guid><description>t {n}</description></item>" for n in range(9)
    )
    feed = f'<?xml version="1.0"?><rss version="2.0"><channel>{items}</channel></rss>'.encode()
    page = b"<html><head><title>t</title></head><body><p>A text of a few words.</p></body></html>"
    record = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page
    warc = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://x/\r\n"
    warc += b"WARC-Record-ID: <urn:uuid:1>\r\nContent-Type: application/http; msgtype=response\r\n"
    warc += b"Content-Length: %d\r\n\r\n%s\r\n\r\n"
    table_ = b"id,text\n" + b"".join(b'%d,"a ""text"" %d"\n' % (n, n) for n in range(100))
    text = "A text of a few words."
    office = docx(paragraph(text)), pptx([[text]]), odt(f"<text:p>{text}</text:p>"), epub([text])
    office = *office, rtf(text)
    mime = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nA text.\n> old\n-- \nAnn\n--b\n"
    letter = f"Message-ID: <1@x>\nReferences: <0@x>\nDate: 5 Mar 2024 10:00\n{mime}".encode()
    letter += b"Content-Type: text/plain; name=a.txt\n\nMore text.\n--b--\n"
    pairs = b'{"a": "1", "b": "2", "label": 1}\n' * 3
    contents = [
        lines, table_, parquet.getvalue(), arrow.getvalue(), feed, warc % (len(record), record) * 2,
        "text in Köln".encode("utf-16"), b"\0" + lines, b"\0" + lines,
        table_.replace(b",", b"\t"),
        feed, lines, b"\1\0\0\7", b"\0\20\7", b'[settings]\nmethod = "shingles"\nthreshold = 0.5\n',
        b'order = ["longest"]\ndefault = "drop"\n', pairs, b"\0\4\7", b"\0" + page, b"\0" + PDF,
        b"\0\4\7", *(b"\0" + made for made in office),
        letter, b"From - Tue\n" + letter + b"\nFrom - Tue\n" + letter, compound(outlook("a", text)),
        b'@article{k, title = {A {\\"o} title}, year = 2024}\n', b"\0\4\7",
    ]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    for n, content in enumerate(contents):
        (folder / f"seed-{n:02}").write_bytes(bytes([n]) + content)


if __name__ == "__main__":
    import atheris

    warnings.simplefilter("ignore")
    seeds(Path("readers-corpus"))
    instrument()
    atheris.Setup(sys.argv, several)
    atheris.Fuzz()
