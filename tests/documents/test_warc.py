"""WARC files: which records are documents, what is passed over, what is copied, what is cut."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import neardup as nd
from documents.crawl import CRAWL, DOCUMENTS, answer, record
from documents.pages import ARTICLE
from neardup.documents import Columns, collect
from neardup.documents import warc_records as module
from neardup.documents.extraction.extractor import Extraction
from neardup.documents.file_formats import CODECS
from neardup.documents.streams import open_binary
from neardup.errors import ColumnError, InputError, UsageError

PACKERS = {
    "": lambda one: one,
    ".gz": lambda one: gzip.compress(one, mtime=0),
    ".zst": lambda one: pa.Codec("zstd").compress(one, asbytes=True),
}


def written(path: Path, records: list[bytes] = CRAWL) -> Path:
    pack = PACKERS[path.suffix if path.suffix in PACKERS else ""]
    path.write_bytes(b"".join(map(pack, records)))
    return path


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_crawl_from_file_to_file(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path / f"crawl.warc{suffix}")
    result = nd.dedup(path, method="shingles", extract="resiliparse", min_words=2)
    decided = {r["id"]: r["kept_id"] or r["reason"] for r in result.decisions.to_pylist()}
    assert decided == {
        "urn:uuid:plain": "representative",
        "urn:uuid:packed": "urn:uuid:plain",
        "urn:uuid:chunked": "representative",
        "urn:uuid:lying": "urn:uuid:chunked",
        "urn:uuid:empty": "page has no text",
        "urn:uuid:note": "unique",
    }
    assert result.info["passed_over"] == {
        "image/png": 1,
        "request": 1,
        "revisit": 1,
        "status 4xx": 1,
        "warcinfo": 1,
    }
    assert result.kept["text"][2].as_py() == "Größe zählt nicht immer"
    result.save(tmp_path / "out")
    left = [one for one, name in zip(CRAWL, names(), strict=True) if name not in GONE]
    kept = tmp_path / f"out/kept.warc{suffix}"
    with open_binary(kept, CODECS.get(suffix)) as stream:
        assert stream.read() == b"".join(left)
    assert nd.dedup(kept, method="shingles", min_words=2).counts.documents == 3
    again = nd.Result.load(tmp_path / "out")
    assert ARTICLE[0] in again.kept["text"][0].as_py()
    assert again.collection().texts(path.as_posix(), [6, 5]) == ["Größe zählt nicht immer", ""]


GONE = ("packed", "lying", "empty")


def names() -> list[str]:
    return [one.split(b"urn:uuid:")[1].split(b">")[0].decode() for one in CRAWL]


def test_columns_of_a_crawl(tmp_path: Path) -> None:
    path = written(tmp_path / "crawl.warc.gz")
    columns = Columns(extra=("title", "date", "url", "crawled"))
    (batch,) = [chunk.read() for chunk in collect(path).chunks(columns)]
    assert batch.records.slice(0, 1).drop_columns(["text", "row"]).to_pylist() == [
        {
            "id": "urn:uuid:plain",
            "title": "Harbour closed",
            "date": "2024-03-05",
            "url": "https://example.org/plain",
            "crawled": "2024-05-06T07:08:09Z",
        }
    ]
    by_url = collect(path).chunks(Columns(id="url"))
    assert next(by_url).read().records["id"][0].as_py() == "https://example.org/plain"
    with pytest.raises(ColumnError, match="'site' is not in"):
        list(collect(path).chunks(Columns(extra=("site",))))
    with pytest.raises(UsageError, match="is a WARC file; only lines"):
        collect(path).check_stream()


def test_without_extraction_pages_are_as_they_came(tmp_path: Path) -> None:
    path = written(tmp_path / "crawl.warc")
    texts = collect(path, extraction=Extraction("none")).texts(path.as_posix(), [1])
    assert texts[0].startswith("<!doctype html>")


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_file_that_is_cut_anywhere_loses_only_its_end(tmp_path: Path, suffix: str) -> None:
    whole = written(tmp_path / f"whole.warc{suffix}").read_bytes()
    path = tmp_path / f"cut.warc{suffix}"
    for end in range(len(whole) // 6, len(whole), len(whole) // 23):
        path.write_bytes(whole[:end])
        collection = collect(path, extraction=Extraction("all-text"))
        batches = [chunk.read() for chunk in collection.chunks()]
        ids = [name[9:] for batch in batches for name in batch.records["id"].to_pylist()]
        used = [name for name in DOCUMENTS if name != "empty"]
        assert ids == used[: len(ids)]
        documents = sum(map(len, batches))
        out = tmp_path / f"out{suffix}-{end}"
        collection.write_kept(np.ones(documents, bool), out)
        kept = collect(out / f"kept.warc{suffix}", extraction=Extraction("all-text"))
        again = [name[9:] for c in kept.chunks() for name in c.read().records["id"].to_pylist()]
        assert again == ids


def test_bytes_between_records_and_lengths_that_lie(tmp_path: Path) -> None:
    for broken in (b"no record\r\n", b"WARC/1.0\r\nContent-Length: many\r\n\r\n"):
        path = written(tmp_path / "a.warc", [*CRAWL[:3], broken, *CRAWL[3:]])
        batches = [chunk.read() for chunk in collect(path).chunks()]
        assert [len(batch.records) for batch in batches] == [1, 0]
        assert "the rest is lost" in batches[1].rejected[0].reason


def test_a_page_that_unpacks_without_end_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 1 << 16)
    bomb = gzip.compress(gzip.compress(b"<p>" + b"\0" * 100_000_000))
    large = answer(b"<p>" + b"word " * 20_000)
    records = [
        record("bomb", answer(bomb, "Content-Encoding: gzip, gzip")),
        record("large", large),
        CRAWL[2],
    ]
    path = written(tmp_path / "a.warc.gz", records)
    (batch,) = [chunk.read() for chunk in collect(path).chunks()]
    assert batch.records["id"].to_pylist() == ["urn:uuid:plain"]
    assert [lost.reason for lost in batch.rejected][-1].startswith("record of 100,")
    assert len(batch) == 3


def test_what_is_no_warc_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(b'{"text": "a"}\n')
    with pytest.raises(InputError, match="expected WARC/ at its start"):
        nd.dedup(path)


def test_wet_files_are_text(tmp_path: Path) -> None:
    texts = [" ".join(ARTICLE), " ".join(ARTICLE) + " Again."]
    made = [record(str(i), t.encode(), "conversion", "text/plain") for i, t in enumerate(texts)]
    path = written(tmp_path / "a.warc.wet.gz", made)
    result = nd.dedup(path, method="shingles")
    assert result.duplicates["kept_id"].to_pylist() == ["urn:uuid:0"]


def test_an_estimate_of_a_crawl(tmp_path: Path) -> None:
    from neardup.engines.estimate.estimate import estimate
    from neardup.plan import resolve
    from neardup.settings import Settings

    path = written(tmp_path / "crawl.warc.gz", CRAWL[:-2] * 1)
    plan = resolve(Settings(method="shingles", extract="all-text"))
    found = estimate(collect(path, extraction=plan.extraction), plan)
    assert (found.documents, found.whole) == (4, True)
