"""dedup: what it writes, what it says, what it refuses."""

from __future__ import annotations

import gzip
import json
import shlex
import time
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from cli.sample import DOCUMENTS, TEXT, Run, jsonl
from neardup.cli import summary
from neardup.documents.streams import _Pieces
from neardup.engines.batch.batch_run import find_kinds
from neardup.runs.checksums import digests_of


def test_writes_a_run_folder(run: Run, docs: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    done = run("dedup", docs, "-o", out)
    assert done.exit_code == 0
    assert done.stdout == ""
    assert (out / "kept.jsonl").read_text() == jsonl([DOCUMENTS[i] for i in (0, 3, 4)])
    assert nd.Result.load(out).counts.duplicates == 2
    assert not list(out.glob("*.part"))


def test_the_summary_tells_the_next_step(run: Run, docs: Path, tmp_path: Path) -> None:
    said = run("dedup", docs, "-o", tmp_path / "out", "--method", "shingles").stderr
    assert "5 documents = 3 kept + 2 duplicates + 0 rejected." in said
    assert "1 kept document is too short or too repetitive to compare." in said
    assert "1 cluster, 3 pairs (complete), by the method shingles.\nThreshold 0.8." in said
    assert f"Written to {tmp_path / 'out'}: kept.jsonl, report.html" in said
    assert f"neardup compare --run {tmp_path / 'out'} fox edited" in said


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ((), "raregrams ≥ 0.5: score 0.89"),
        (("--method", "shingles"), "method      shingles ≥ 0.8: score 0.82"),
    ],
)
def test_the_command_that_the_summary_names_works(
    run: Run, docs: Path, tmp_path: Path, options: tuple[str, ...], verdict: str
) -> None:
    said = run("dedup", docs, "-o", tmp_path / "out", *options).stderr
    command = said.partition("Look at the weakest pair: neardup ")[2].split()
    assert verdict in run(*command).stdout


def test_the_command_asks_the_method_of_the_run(run: Run, docs: Path, tmp_path: Path) -> None:
    options = ("--method", "keywords", "--set", "k=9", "--threshold", "0.4", "--id", "day")
    result = run("dedup", docs, "-o", tmp_path / "out", *options)
    command = shlex.split(result.stderr.partition("Look at the weakest pair: neardup ")[2])
    assert command[:3] == ["compare", "--run", str(tmp_path / "out")]
    weakest = nd.Result.load(tmp_path / "out").weakest(1)["score"][0].as_py()
    assert f"keywords ≥ 0.4: score {weakest:.4f}, duplicate\n" in run(*command).stdout


def test_json_is_all_that_is_on_stdout(run: Run, docs: Path, tmp_path: Path) -> None:
    done = run("dedup", docs, "-o", tmp_path / "out", "--json")
    said = json.loads(done.stdout)
    assert said["counts"] == {
        "documents": 5,
        "kept": 3,
        "duplicates": 2,
        "rejected": 0,
        "too_short": 1,
        "clusters": 1,
        "pairs": 3,
    }
    assert said["out"] == str(tmp_path / "out")
    assert said["pairs"] == "complete"
    assert said["timings"]["total"] >= 0
    assert "5 documents" in done.stderr


def test_quiet_says_nothing(run: Run, docs: Path, tmp_path: Path) -> None:
    done = run("dedup", docs, "-o", tmp_path / "out", "--quiet")
    assert (done.stdout, done.stderr, done.exit_code) == ("", "", 0)


def test_kept_lines_to_stdout_and_nothing_else(run: Run, docs: Path) -> None:
    done = run("dedup", docs, "-o", "-")
    assert done.stdout == jsonl([DOCUMENTS[i] for i in (0, 3, 4)])
    assert "5 documents" in done.stderr


def test_standard_input(run: Run) -> None:
    done = run("dedup", "-", "-o", "-", "--limit", "4", input=jsonl(DOCUMENTS))
    assert done.stdout == jsonl([DOCUMENTS[i] for i in (0, 3)])


def test_csv_on_standard_input(run: Run) -> None:
    text = ", ".join(f'"{word}"\n{{😀}}' for word in "abcdefghijklmnopqrst")
    quoted = '"' + text.replace('"', '""') + '"'
    given = f"\ufeffn|text\r\n1|{quoted}\r\n2|{quoted}\r\n\r\n3|last".encode()
    done = run("dedup", "-", "-o", "-", input=gzip.compress(given))
    assert done.stdout_bytes == f"\ufeffn|text\r\n1|{quoted}\r\n3|last".encode()


def test_a_run_on_standard_input_names_no_file(run: Run, tmp_path: Path) -> None:
    done = run("dedup", "-", "-o", tmp_path / "out", input=jsonl(DOCUMENTS))
    assert "neardup compare" not in done.stderr
    assert nd.Result.load(tmp_path / "out").info["inputs"] == [None]


def test_ids_that_look_like_options(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_text(jsonl([{"id": "-a", "text": TEXT}, {"id": "b c", "text": TEXT}]))
    said = run("dedup", path, "-o", tmp_path / "out").stderr
    command = shlex.split(said.partition("Look at the weakest pair: neardup ")[2])
    assert run(*command).stdout.startswith("kind        identical")


def test_stdout_takes_no_tables(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "docs.parquet"
    pq.write_table(pa.Table.from_pylist(DOCUMENTS), path)
    done = run("dedup", path, "-o", "-")
    assert done.exit_code == 2
    assert "is a table" in done.stderr
    assert run("dedup", path, "-o", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out" / "kept.parquet").exists()


def test_stdout_is_for_one_thing(run: Run, docs: Path) -> None:
    done = run("dedup", docs, "-o", "-", "--json")
    assert done.exit_code == 2
    assert "both write to stdout" in done.stderr


def test_out_is_required(run: Run, docs: Path) -> None:
    done = run("dedup", docs)
    assert done.exit_code == 2
    assert "-o" in done.stderr


def test_rejected_documents_are_shown(run: Run, broken: Path, tmp_path: Path) -> None:
    done = run("dedup", broken, "-o", tmp_path / "out")
    assert done.exit_code == 0
    assert "6 documents = 1 kept + 1 duplicate + 4 rejected." in done.stderr
    assert f"rejected: {broken}, row 4: text is null" in done.stderr
    assert "… and 1 more, in rejected.jsonl" in done.stderr
    assert len((tmp_path / "out" / "rejected.jsonl").read_text().splitlines()) == 4


def test_strict_stops_and_leaves_nothing(run: Run, broken: Path, tmp_path: Path) -> None:
    done = run("dedup", broken, "-o", tmp_path / "deep" / "out", "--strict")
    assert done.exit_code == 1
    assert f"{broken}, row 3: " in done.stderr
    assert "Hint:" in done.stderr
    assert not (tmp_path / "deep").exists()


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--keep", "last"], "edited"),
        (["--keep", "shortest"], "fox"),
        (["--keep", "oldest", "--date", "day"], "copy"),
        (["--keep", "day:desc"], "edited"),
        (["--keep", "newest", "--date", "day", "--within", "site"], "fox"),
    ],
)
def test_keep(run: Run, docs: Path, tmp_path: Path, options: list[str], kept: str) -> None:
    assert run("dedup", docs, "-o", tmp_path / "out", *options).exit_code == 0
    assert nd.Result.load(tmp_path / "out").clusters["kept_id"].to_pylist() == [kept]


def test_columns_by_name(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(jsonl([{"name": d["id"], "body": d["text"]} for d in DOCUMENTS]))
    done = run("dedup", path, "-o", tmp_path / "out", "--text", "body", "--id", "name")
    assert done.exit_code == 0
    assert nd.Result.load(tmp_path / "out").clusters["kept_id"].to_pylist() == ["fox"]
    wrong = run("dedup", path, "-o", tmp_path / "out2", "--text", "bodi")
    assert wrong.exit_code == 2
    assert "did you mean 'body'?" in wrong.stderr


def test_workers_and_memory_change_nothing(run: Run, docs: Path, tmp_path: Path) -> None:
    options = ["--workers", "2", "--memory", "250MB", "--clusters", "components"]
    assert run("dedup", docs, "-o", tmp_path / "a", *options).exit_code == 0
    assert run("dedup", docs, "-o", tmp_path / "b", "--workers", "1").exit_code == 0
    a, b = (pq.read_table(tmp_path / x / "decisions.parquet") for x in "ab")
    assert a.equals(b)


def test_kept_lines_are_written_while_kinds_are_found(
    run: Run, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def waiting(*arguments: Any) -> Any:
        folder, end = arguments[4], time.monotonic() + 60
        while not (folder / "kept.jsonl").exists() and time.monotonic() < end:
            time.sleep(0.001)
        assert (folder / "kept.jsonl").exists()
        return find_kinds(*arguments)

    monkeypatch.setattr("neardup.engines.execution.find_kinds", waiting)
    assert run("dedup", docs, "-o", tmp_path / "a", "--workers", "2").exit_code == 0
    monkeypatch.undo()
    assert run("dedup", docs, "-o", tmp_path / "b", "--workers", "1").exit_code == 0
    a, b = (digests_of(tmp_path / name) for name in "ab")
    different = {"run.json", "report.html", "checksums.sha256"}  # they have workers and times
    assert {name for name in a.keys() | b.keys() if a.get(name) != b.get(name)} <= different


def test_a_failure_while_kept_lines_are_written_leaves_nothing(
    run: Run, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, failed = Event(), Event()

    def unending(stream: Any, data: Any) -> int:
        begun.set()
        assert failed.wait(60)
        return int(write(stream, data))

    def failing(*_: object) -> None:
        assert begun.wait(60)
        Thread(target=lambda: (time.sleep(0.05), failed.set())).start()
        raise ZeroDivisionError

    write, before = _Pieces.write, sorted(tmp_path.iterdir())
    monkeypatch.setattr(_Pieces, "write", unending)
    monkeypatch.setattr("neardup.engines.execution.find_kinds", failing)
    done = run("dedup", docs, "-o", tmp_path / "out", "--workers", "2")
    assert (done.exit_code, sorted(tmp_path.iterdir())) == (1, before)
    assert "unexpected ZeroDivisionError" in done.stderr


def test_few_pairs_are_partial(run: Run, docs: Path, tmp_path: Path) -> None:
    done = run("dedup", docs, "-o", tmp_path / "out", "--max-pairs", "1", "--json")
    assert json.loads(done.stdout)["pairs"] == "partial"


@pytest.mark.parametrize("name", ["no.jsonl", "no.mbox"])
def test_an_input_without_documents_is_said(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    done = run("dedup", tmp_path / name, "-o", tmp_path / "out")
    assert done.exit_code == 0
    assert "No document was read: the inputs are empty." in done.stderr


def test_empty_documents_are_counted_in_the_summary(run: Run, tmp_path: Path) -> None:
    for name, text in (("a.txt", ""), ("b.txt", ""), ("c.txt", TEXT)):
        (tmp_path / "in" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "in" / name).write_text(text)
    said = run("dedup", tmp_path / "in", "-o", tmp_path / "out").stderr
    assert "3 documents = 2 kept + 1 duplicate" in said
    assert "2 documents are empty." in said


def test_a_limit_that_is_not_applied_is_said(tmp_path: Path, run: Run) -> None:
    """Conrad et al. compare within six weeks; without a date column nothing could be told apart."""
    news = Path(__file__).parents[2] / "examples" / "news.jsonl"
    asked = ["dedup", str(news), "-o", str(tmp_path / "a"), "--recipe", "conrad2003-nonidentical"]
    said = run(*asked).stderr
    assert "the limit of 42 days is not applied" in said
    assert "--set min_count=1" in said
    asked[3] = str(tmp_path / "b")
    said = run(*asked, "--date", "date", "--set", "min_count=1").stderr
    assert "42 days" not in said
    assert "min_count" not in said


def test_capped_pairs_are_not_called_complete(docs: Path) -> None:
    result = nd.dedup(docs)
    told = "\n".join(summary.lines(result, None, 1.0, None))
    assert " (complete), by the method" in told
    result.info["capped"] = 3
    told = "\n".join(summary.lines(result, None, 1.0, None))
    assert "complete" not in told
    assert "3 documents had more candidates than are compared" in told


def test_a_missing_column_is_not_taken_for_the_text(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "plain.jsonl"
    source.write_text('{"id": "a", "text": "some words"}\n', "utf-8")
    for keep in ("date:desc", "newest"):
        refused = run("dedup", source, "-o", tmp_path / "out", "--keep", keep)
        assert refused.exit_code == 2
        assert "did you mean 'text'" not in refused.stderr
