"""Files in object stores, on a real S3 server of this machine; addresses and patterns."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from glob import glob
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import fs

import neardup as nd
from cli.sample import Run, run
from documents.crawl import CRAWL
from documents.pages import OTHER, plain_skin, rich_skin
from neardup.documents import Collection, collect
from neardup.documents.file_formats import address_of, local_path
from neardup.documents.remote import Remote, fits
from neardup.errors import InputError, KeptError, StoreError, UnreadableError, UsageError
from neardup.runs.run_info import TRUST

pytest.importorskip("moto")
__all__ = ["run"]  # a fixture
WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
DOCUMENTS = [
    {"id": f"{n}-{i}", "text": f"{WORDS} {'😀' * n} {i // 2} {i // 2} {i // 2}", "n": i}
    for n in range(2)
    for i in range(40)
]
HOSTILE = "a b#1%20+é"


class Bucket:
    def __init__(self, port: int) -> None:
        self.options = f"?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"
        self.files = fs.S3FileSystem(
            access_key="test",
            secret_key="test",
            region="us-east-1",
            endpoint_override=f"127.0.0.1:{port}",
            scheme="http",
            allow_bucket_creation=True,
        )
        self.files.create_dir("news")

    def put(self, key: str, data: bytes) -> None:
        with self.files.open_output_stream(f"news/{key}", compression=None) as out:
            out.write(data)

    def at(self, key: str) -> str:
        return f"s3://news/{key}{self.options}"


@pytest.fixture(autouse=True)
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that are loaded again may open their inputs in a store."""
    monkeypatch.setenv(TRUST, "1")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(number)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as server:  # type: ignore[call-overload]
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", number)) == 0:
                    break
            time.sleep(0.1)
        yield number
        server.terminate()


@pytest.fixture
def bucket(port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    made = Bucket(port)
    yield made
    made.files.delete_dir_contents("news")


def lines(documents: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(d, ensure_ascii=False) + "\n" for d in documents).encode()


def test_pages_of_a_store(bucket: Bucket, tmp_path: Path) -> None:
    bucket.put("pages/a.html", plain_skin().encode())
    bucket.put("pages/b/c.htm", rich_skin().encode())
    bucket.put("alone.html", plain_skin(OTHER).encode())
    bucket.put("crawl.warc.gz", b"".join(map(gzip.compress, CRAWL)))
    given = [Path(bucket.at(key)) for key in ("pages", "alone.html", "crawl.warc.gz")]
    result = nd.dedup(given, method="shingles", threshold=0.3, extract="all-text")
    assert result.decisions["id"].to_pylist()[:3] == ["a.html", "b/c.htm", "s3://news/alone.html"]
    assert result.counts.documents == 9
    result.save(tmp_path / "out")
    listed = (tmp_path / "out/kept.txt").read_text().splitlines()
    assert listed == ["a.html", "news/alone.html"]
    assert all((tmp_path / "out/kept" / name).is_file() for name in listed)


def csv(documents: list[dict[str, Any]]) -> bytes:
    return ("id,text\r\n" + "".join(f'{d["id"]},"{d["text"]}"\r\n' for d in documents)).encode()


def table(documents: list[dict[str, Any]], *, arrow: bool = False) -> bytes:
    out = io.BytesIO()
    made = pa.Table.from_pylist(documents)
    if arrow:
        with pa.ipc.new_stream(out, made.schema) as writer:
            writer.write_table(made, max_chunksize=7)
    else:
        pq.write_table(made, out, row_group_size=7)
    return out.getvalue()


FORMS: dict[str, Callable[[list[dict[str, Any]]], bytes]] = {
    ".jsonl": lines,
    ".jsonl.gz": lambda d: gzip.compress(lines(d), mtime=0),
    ".jsonl.xz": lambda d: lzma.compress(lines(d)),
    ".csv": csv,
    ".csv.gz": lambda d: gzip.compress(csv(d), mtime=0),
    ".parquet": table,
    ".arrow": lambda d: table(d, arrow=True),
}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0].startswith("kept")
    }


def same_but_for_the_name(here: nd.Result, there: nd.Result) -> None:
    apart = ["file", "source"]
    assert there.decisions.drop_columns(apart).equals(here.decisions.drop_columns(apart))
    assert there.pairs.equals(here.pairs)


@pytest.mark.parametrize("suffix", FORMS)
def test_a_remote_run_is_the_local_run(bucket: Bucket, tmp_path: Path, suffix: str) -> None:
    (tmp_path / "in").mkdir()
    for n, documents in enumerate((DOCUMENTS[:40], DOCUMENTS[40:])):
        name, data = f"{HOSTILE}{n}{suffix}", FORMS[suffix](documents)
        (tmp_path / "in" / name).write_bytes(data)
        bucket.put(f"in/{name}", data)
    bucket.put(f"in/.hidden{suffix}", b"?")
    here = nd.dedup(f"{tmp_path}/in/*{suffix}")
    there = nd.dedup(bucket.at(f"in/*{suffix}"))
    assert 0 < there.counts.duplicates < there.counts.documents == 80
    assert set(there.decisions["file"].to_pylist()) == {
        f"s3://news/in/{HOSTILE}{n}{suffix}" for n in range(2)
    }
    same_but_for_the_name(here, there)
    here.save(tmp_path / "here")
    there.save(tmp_path / "there")
    assert contents(tmp_path / "here") == contents(tmp_path / "there") != {}
    again = nd.Result.load(tmp_path / "there")
    assert again.explain("0-1").comparison is not None
    assert again.kept.equals(there.kept)


def test_a_folder_of_texts(bucket: Bucket, tmp_path: Path) -> None:
    for name in ("b/x y.txt", "a#.txt", "b/c/é%20.txt"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(WORDS, "utf-8")
        bucket.put(f"in/{name}", WORDS.encode())
    bucket.put("in/.hidden/x.txt", b"")
    bucket.put("in/../up.txt", b"")
    here, there = nd.dedup(tmp_path / "in"), nd.dedup(bucket.at("in/"))
    assert there.counts.duplicates == 2
    same_but_for_the_name(here, there)
    here.save(tmp_path / "here")
    there.save(tmp_path / "there")
    assert contents(tmp_path / "here") == contents(tmp_path / "there") != {}
    bucket.put("lines/a.jsonl", b"{}")
    with pytest.raises(InputError, match="only files of many documents"):
        collect(bucket.at("lines"))


def test_references_and_dry_runs(bucket: Bucket, run: Run, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(lines(DOCUMENTS))
    bucket.put("old.parquet", table(DOCUMENTS[:40]))
    done = run("dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out", "--against",
               bucket.at("old.parquet"))  # fmt: skip
    assert done.exit_code == 0, done.output
    result = nd.Result.load(tmp_path / "out")
    assert result.counts.duplicates == 80
    assert result.info["against"][0].startswith("s3://news/old.parquet?endpoint_override=")
    estimate = run("dedup", bucket.at("*.parquet"), "--dry-run", "--json")
    assert json.loads(estimate.stdout)["documents"] == 40
    shown = run("compare", "--in", bucket.at("old.parquet"), "0-0", "0-1")
    assert "duplicate" in shown.stdout


@pytest.mark.parametrize("suffix", FORMS)
def test_dry_runs_of_every_form(bucket: Bucket, run: Run, suffix: str) -> None:
    bucket.put(f"a{suffix}", FORMS[suffix](DOCUMENTS))
    done = run("dedup", bucket.at(f"a{suffix}"), "--dry-run", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["whole"]
    assert found["documents"] == 80
    assert found["duplicates_low"] == nd.dedup(bucket.at(f"a{suffix}")).counts.duplicates


def test_a_folder_is_estimated_and_annotated(bucket: Bucket, run: Run, tmp_path: Path) -> None:
    for name in ("a.txt", "b/c.txt"):
        bucket.put(f"in/{name}", WORDS.encode())
    estimate = run("dedup", bucket.at("in"), "--dry-run", "--json")
    assert json.loads(estimate.stdout)["duplicates_low"] == 1
    done = run("dedup", bucket.at("in"), "--annotate", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    listed = (tmp_path / "out/annotated.files.jsonl").read_text().splitlines()
    assert [json.loads(line)["path"] for line in listed] == [
        "s3://news/in/a.txt",
        "s3://news/in/b/c.txt",
    ]


def test_an_endpoint_of_the_environment(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket.put("a.jsonl", lines(DOCUMENTS[:1]))
    endpoint = bucket.options.partition("=")[2].partition("&")[0]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{endpoint}")
    assert collect(Path("s3://news/a.jsonl")).files == ["s3://news/a.jsonl"]


def test_what_is_not_there(bucket: Bucket) -> None:
    for written, message, hint in (
        (bucket.at("none.jsonl"), "s3://news/none.jsonl does not exist", "bucket and key"),
        (bucket.at("*.none"), "No file matches", "sub-folders"),
        (bucket.at("*.none").replace("news", "olds"), "bucket does not exist", "name of the buck"),
        (bucket.at("x.jsonl") + "&regoin=a", "option 'regoin' is unknown", "the \\?"),
        ("ftp://host/a.jsonl", "Unrecognized filesystem", "expected s3"),
    ):
        with pytest.raises(InputError, match=message) as error:
            collect(written)
        assert hint.replace("\\", "") in (error.value.hint or "")


def test_secrets_are_not_shown(bucket: Bucket, tmp_path: Path) -> None:
    bucket.put("a.jsonl", lines(DOCUMENTS))
    given = bucket.at("a.jsonl").replace("news", "test:geheim@news")
    nd.dedup(given, against=[given]).save(tmp_path / "out")
    written = [file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert b"geheim" not in b"".join(written)
    with pytest.raises(InputError) as error:
        collect(given.replace("a.jsonl", "none"))
    assert "geheim" not in str(error.value)
    with pytest.raises(InputError, match="Unrecognized filesystem") as error:
        collect(given.replace("s3://", "ftp://"))
    assert "geheim" not in "".join(traceback.format_exception(error.value))


@pytest.mark.parametrize("suffix", FORMS)
def test_a_file_that_changes_stops_the_run(bucket: Bucket, suffix: str) -> None:
    bucket.put(f"a{suffix}", FORMS[suffix](DOCUMENTS))
    result = nd.dedup(bucket.at(f"a{suffix}"))
    bucket.put(f"a{suffix}", FORMS[suffix](DOCUMENTS[1:]))
    with pytest.raises(InputError, match="changed or removed during the run"):
        _ = result.kept


@pytest.mark.parametrize("suffix", FORMS)
def test_a_store_that_fails_stops_the_run(
    bucket: Bucket, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is not taken for the end of an archive."""
    noise = [{"id": str(i), "text": os.urandom(3000).hex()} for i in range(60)]
    bucket.put(f"a{suffix}", FORMS[suffix](noise))
    monkeypatch.setattr("neardup.documents.remote.READ_BYTES", 4096)
    collection = collect(bucket.at(f"a{suffix}"))
    monkeypatch.setattr("neardup.documents.remote._Stream.readinto", _failing_after(30_000))
    with pytest.raises(InputError, match=r"Cannot read s3://news/a.*network") as error:
        read_all(collection)
    assert "check the network" in (error.value.hint or "")


@pytest.mark.parametrize("suffix", FORMS)
def test_a_store_that_fails_is_not_a_broken_file(
    bucket: Bucket, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken file is set apart where there are others; a store is not."""
    (tmp_path / "good.jsonl").write_bytes(lines(DOCUMENTS))
    bucket.put(f"a{suffix}", FORMS[suffix](DOCUMENTS))
    collection = collect({"here": f"{tmp_path}/good.jsonl", "there": bucket.at(f"a{suffix}")})
    monkeypatch.setattr("neardup.documents.remote._Stream.readinto", _failing_after(-1))
    with pytest.raises(StoreError, match=r"Cannot read s3://news/a.*network"):
        read_all(collection)


@pytest.mark.parametrize("suffix", FORMS)
def test_no_kept_documents_of_a_file_that_changes(
    bucket: Bucket, tmp_path: Path, suffix: str
) -> None:
    bucket.put(f"a{suffix}", FORMS[suffix](DOCUMENTS))
    result = nd.dedup(bucket.at(f"a{suffix}"))
    bucket.put(f"a{suffix}", FORMS[suffix](DOCUMENTS[1:]))
    with pytest.raises(KeptError, match="changed or removed during the run"):
        result.save(tmp_path / "out")
    assert contents(tmp_path / "out") == {}
    assert nd.Result.load(tmp_path / "out").counts == result.counts


@pytest.mark.parametrize("suffix", FORMS)
def test_a_file_that_changes_while_it_is_written_from(
    bucket: Bucket, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.put(f"a{suffix}", FORMS[suffix](DOCUMENTS))
    result = nd.dedup(bucket.at(f"a{suffix}"))
    original = Remote.now

    def look_before_it_changes(self: Remote) -> Any:
        seen = original(self)
        bucket.put(f"a{suffix}", FORMS[suffix](DOCUMENTS) + b"\n")
        return seen

    monkeypatch.setattr(Remote, "now", look_before_it_changes)
    with pytest.raises(KeptError):
        result.save(tmp_path / "out")
    assert contents(tmp_path / "out") == {}


@pytest.mark.parametrize("data", [b"two", None])
def test_a_folder_that_changes(bucket: Bucket, tmp_path: Path, data: bytes | None) -> None:
    for name in ("a.txt", "b.txt"):
        bucket.put(f"in/{name}", name.encode())
    result = nd.dedup(bucket.at("in"))
    assert result.counts.kept == 2
    if data is None:
        bucket.files.delete_file("news/in/b.txt")
    else:
        bucket.put("in/b.txt", data)
    with pytest.raises(KeptError, match=r"s3://news/in/b\.txt"):
        result.save(tmp_path / "out")
    assert contents(tmp_path / "out") == {}
    with pytest.raises(InputError, match=r"s3://news/in/b\.txt"):
        _ = result.kept


def test_a_store_that_fails_late(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.put("a.jsonl", lines(DOCUMENTS))
    result = nd.dedup(bucket.at("a.jsonl"))
    monkeypatch.setattr("neardup.documents.remote._Stream.readinto", _failing_after(-1))
    with pytest.raises(KeptError, match=r"network is gone.*The decisions are in"):
        result.save(tmp_path / "out")
    assert nd.Result.load(tmp_path / "out").counts == result.counts


@pytest.mark.parametrize("suffix", [s for s in FORMS if s not in (".jsonl", ".csv")])
def test_a_broken_file_is_rejected(bucket: Bucket, tmp_path: Path, suffix: str) -> None:
    bucket.put(f"bad{suffix}", b"\x1f not at all")
    bucket.put("good.jsonl", lines(DOCUMENTS))
    with pytest.raises(UnreadableError, match=rf"Cannot read s3://news/bad{suffix}"):
        collect(bucket.at(f"bad{suffix}"))
    given = {"good": bucket.at("good.jsonl"), "bad": bucket.at(f"bad{suffix}")}
    result = nd.dedup(given, keep="source:bad,good")
    lost = result.decisions.to_pylist()[-1]
    assert (lost["file"], lost["source"], lost["row"]) == (f"s3://news/bad{suffix}", "bad", 1)
    assert lost["decision"] == "rejected"
    assert (result.counts.documents, result.counts.rejected) == (81, 1)
    assert (result.kept["good"].num_rows, result.kept["bad"].num_rows) == (result.counts.kept, 0)
    result.save(tmp_path / "out")
    assert list(contents(tmp_path / "out")) == ["kept/good.jsonl"]
    again = nd.Result.load(tmp_path / "out")
    assert again.kept["good"].equals(result.kept["good"])


def test_a_broken_row_group_is_rejected(bucket: Bucket, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(table(DOCUMENTS))
    chunk = pq.read_metadata(path).row_group(1).column(1)
    data, start = bytearray(path.read_bytes()), chunk.dictionary_page_offset
    data[start : start + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    path.write_bytes(data)
    bucket.put("a.parquet", bytes(data))
    here, there = nd.dedup(path), nd.dedup(bucket.at("a.parquet"))
    assert there.counts.rejected == 7
    same_but_for_the_name(here, there)
    assert there.kept.equals(here.kept)


def read_all(collection: Collection) -> None:
    for chunk in collection.chunks():
        chunk.read()


def _failing_after(limit: int) -> Callable[[Any, Any], int]:
    from neardup.documents.remote import _Stream

    original = _Stream.readinto

    def readinto(self: Any, buffer: Any) -> int:
        if self.tell() > limit:
            self._file = _Broken()
        return original(self, buffer)

    return readinto


class _Broken:
    def readinto(self, _: Any) -> int:
        raise OSError("AWS Error NETWORK_CONNECTION: network is gone")

    def close(self) -> None:
        pass

    def tell(self) -> int:
        return 1 << 30


def test_no_server_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neardup.documents.remote.ATTEMPTS", 1)
    with pytest.raises(InputError, match=r"Cannot read s3://news/a\.jsonl") as error:
        collect("s3://x:y@news/a.jsonl?endpoint_override=127.0.0.1:1&scheme=http")
    assert "check the network" in (error.value.hint or "")


def test_output_stays_here(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(lines(DOCUMENTS))
    done = run("dedup", tmp_path / "in.jsonl", "-o", "s3://news/out")
    assert done.exit_code == 2
    assert "s3://news/out is in a store" in done.stderr
    with pytest.raises(UsageError, match="is in a store"):
        nd.dedup(["a"]).save("s3://news/out")


def test_file_addresses(tmp_path: Path) -> None:
    path = tmp_path / f"{HOSTILE}?.jsonl"
    path.write_bytes(lines(DOCUMENTS))
    assert collect(path.as_uri()).files == [str(path)]
    assert collect(Path(path.as_uri())).files == [str(path)]
    assert collect(f"{tmp_path.as_uri()}/*.jsonl").files == [str(path)]
    assert nd.dedup(path.as_uri(), against=[path.as_uri()]).counts.duplicates == 80


@pytest.mark.parametrize(
    ("written", "key", "options"),
    [
        ("s3://b/a/part-?.jsonl", "a/part-?.jsonl", ""),
        ("s3://b/a%20b#c?region=x", "a%20b#c", "region=x"),
        ("s3://b/??=.jsonl?region=x&scheme=http", "??=.jsonl", "region=x&scheme=http"),
        ("s3://b", "", ""),
        ("S3://b/x", "x", ""),
    ],
)
def test_addresses(written: str, key: str, options: str) -> None:
    address = address_of(written)
    assert address
    assert address[:3] == ("s3", "", "b")
    assert (address.key, address.options) == (key, options)
    assert address_of(Path(written)) == address


def test_paths_are_no_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert [address_of(p) for p in ("a:b", "C:/x", "a/s3://b", "12:00/x", "-")] == [None] * 5
    (tmp_path / "odd:").mkdir()
    assert address_of("odd:/file") is None
    nameless = address_of("hdfs:///a/b")
    assert nameless
    assert (nameless.host, nameless.key) == ("", "a/b")
    assert local_path(address_of("file://localhost/a%20b") or nameless) == "/a b"


NAMES = st.sampled_from(["a", "b.c", ".h", "[", "ab"])


@given(
    st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), max_size=5),
    st.lists(st.sampled_from(["a", "*", "**", "a*", "?", "[ab]*", ".*"]), min_size=1, max_size=3),
)
def test_patterns_are_those_of_glob(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], pattern: list[str]
) -> None:
    top = tmp_path_factory.mktemp("top")
    for name in names:
        place = top / name
        if not any(parent.is_file() for parent in place.parents) and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(b"")
    expected = {
        path
        for path in glob("/".join(pattern), root_dir=top, recursive=True)
        if os.path.isfile(top / path)
    }
    there = [path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()]
    found = {name for name in there if fits(name.split("/"), pattern)}
    assert found == expected
