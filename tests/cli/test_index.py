"""``neardup index``: thin over the library, so what is tested is what is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from cli.sample import DOCUMENTS, Run, edited, jsonl
from neardup.engines.index import index_artefacts as tables

WORDS = ("--method", "shingles", "--threshold", "0.7", "--set", "words=2")


def lines(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_from_build_to_expire(run: Run, docs: Path, tmp_path: Path) -> None:
    store = tmp_path / "index.db"
    built = run("index", "build", store, docs, *WORDS, "--date", "day", "--json")
    assert json.loads(built.stdout) == {
        "store": str(store),
        "documents": 5,
        "kept": 3,
        "duplicates": 2,
        "rejected": 0,
    }
    more = tmp_path / "more.jsonl"
    more.write_text(jsonl([{"id": "new", "text": edited(9)}, DOCUMENTS[0], {"id": "x"}]))
    checked = run("index", "check", store, more, "--lines")
    decided = [line["decision"] for line in lines(checked.stdout)]
    assert decided == ["duplicate", "duplicate", "rejected"]
    added = run("index", "add", store, more, "--lines")
    told = {line["id"]: line for line in lines(added.stdout)}
    assert (told["new"]["kept_id"], told["new"]["reason"]) == ("fox", "resemblance >= 0.7")
    assert told["fox"]["reason"] == "its id is in the index already"
    assert told["x"]["decision"] == "rejected"
    assert "3 documents = 0 kept + 1 duplicate + 2 rejected" in added.stderr
    removed = run("index", "remove", store, "fox", "--json")
    assert json.loads(removed.stdout)["removed"]["fox"]["copy"] is None
    assert "is kept now" not in run("index", "remove", store, "short", "--quiet").output
    told_stats = json.loads(run("index", "stats", store, "--json").stdout)
    assert (told_stats["documents"], told_stats["method"]) == (4, "shingles")
    assert "shingles words=2 threshold=0.7" in run("index", "stats", store).stdout
    expired = run("index", "expire", store, "--before", "2003-01-02")
    assert "1 document was forgotten" in expired.output


def test_decides_as_dedup_does(run: Run, docs: Path, tmp_path: Path) -> None:
    """With the default method, which counts and calibrates first."""
    assert run("index", "build", tmp_path / "index.db", docs, "--quiet").output == ""
    result = nd.dedup(docs)
    with nd.Index.open(tmp_path / "index.db", create=False) as index:
        found = index.decisions().drop_columns(["kind"])
    assert found.to_pylist() == result.decisions.select(found.column_names).to_pylist()


def test_several_methods_groups_and_kinds(run: Run, docs: Path, tmp_path: Path) -> None:
    store, near = tmp_path / "index.db", {"id": "near", "text": edited(9)}
    two = ("--method", "exact", "--method", "shingles words=2 threshold=0.7")
    made = run("index", "build", store, docs, *two, "--within", "day", "--texts")
    assert made.exit_code == 0, made.output
    more = tmp_path / "more.jsonl"
    days = [DOCUMENTS[0]["day"], "another"]
    more.write_text(jsonl([{**near, "id": f"near {day}", "day": day} for day in days]))
    told = lines(run("index", "add", store, more, "--lines").stdout)
    assert [line["decision"] for line in told] == ["duplicate", "kept"]
    assert (told[0]["kind"], told[0]["by"]) == ("revision", ["shingles words=2 threshold=0.7"])
    asked = lines(run("index", "check", store, more, "--lines").stdout)
    assert [line["kind"] for line in asked] == ["revision", "identical"]
    assert "within" in run("index", "stats", store).stdout
    wrong = run("index", "build", tmp_path / "b.db", docs, *two, "--threshold", "0.5")
    assert (wrong.exit_code, "its threshold follows from others" in wrong.stderr) == (2, True)


def test_recipes_and_planted_cuts(run: Run, docs: Path, tmp_path: Path) -> None:
    ddd = ("--recipe", "montanari2012", "--window", "24h", "--against", "seen")
    made = run("index", "build", tmp_path / "a.db", docs, *ddd)
    assert made.exit_code == 0, made.output
    auto = ("--method", "shingles", "--threshold", "auto")
    cut = run("index", "build", tmp_path / "b.db", docs, *auto)
    assert cut.exit_code == 0, cut.output


def test_refresh(run: Run, docs: Path, tmp_path: Path) -> None:
    """The tables of a new index are those of all that is there by now."""
    store, new = tmp_path / "index.db", tmp_path / "new.db"
    run("index", "build", store, docs, "--texts")
    done = run("index", "refresh", store, new)
    assert "5 documents, 0 decided differently" in done.output
    again = run("index", "refresh", store, new)
    assert (again.exit_code, "already exists" in again.stderr) == (2, True)
    run("dedup", docs, "-o", tmp_path / "run")
    told = run("index", "refresh", store, tmp_path / "b.db", "--run", tmp_path / "run", "--json")
    assert json.loads(told.stdout)["same"] == 5


def test_what_is_wrong_is_said(run: Run, docs: Path, tmp_path: Path) -> None:
    store = tmp_path / "index.db"
    for command in (["add", store, docs], ["check", store, docs], ["stats", store]):
        done = run("index", *command)
        assert done.exit_code == 1
        assert "There is no index" in done.stderr
    assert not store.exists()
    run("index", "build", store, docs, *WORDS)
    again = run("index", "build", store, docs, *WORDS)
    assert (again.exit_code, "already exists" in again.stderr) == (2, True)
    assert "no document 'nix'" in run("index", "remove", store, "nix").stderr
    assert "'soon' is no time" in run("index", "expire", store, "--before", "soon").stderr
    assert "max_age is 'soon'" in run("index", "check", store, docs, "--max-age", "soon").stderr
    wrong = run("index", "build", tmp_path / "b.db", docs, *WORDS, "--window", "soon")
    assert (wrong.exit_code, "window is 'soon'" in wrong.stderr) == (2, True)
    assert not (tmp_path / "b.db").exists()


def test_general_tables_are_told_and_replaced(
    run: Run, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, new = tmp_path / "index.db", tmp_path / "new.db"
    nd.Index.open(store).close()
    assert run("index", "add", store, docs).exit_code == 0
    shown = run("index", "stats", store)
    assert "general tables shipped with neardup" in shown.stdout
    assert "Hint" not in shown.stderr
    monkeypatch.setattr(tables, "ENOUGH", 5)
    assert "`neardup index refresh STORE NEW`" in run("index", "stats", store).stderr
    assert json.loads(run("index", "stats", store, "--json").stdout)["tables"]["general"] is True
    assert "Written to" in run("index", "refresh", store, new).output
    shown = run("index", "stats", new)
    assert "counted from 5 documents, frozen on" in shown.stdout
    assert "Hint" not in shown.stderr


def test_a_file_that_cannot_be_read_is_no_success(run: Run, docs: Path, tmp_path: Path) -> None:
    """Building and adding; but adding a file again, as after an interruption, is no failure."""
    latin = tmp_path / "latin.csv"
    latin.write_bytes(b"id,text\n" + b"".join(b"%d,caf\xe9\n" % i for i in range(20)))
    assert run("index", "build", tmp_path / "all.db", docs).exit_code == 0
    again = run("index", "add", tmp_path / "all.db", docs)
    assert (again.exit_code, "in the index already" in again.stderr) == (0, True)
    commands = ("build", "new.db"), ("add", "all.db"), ("check", "all.db")
    for command in [(name, tmp_path / store) for name, store in commands]:
        failed = run("index", *command, latin)
        assert failed.exit_code == 1
        assert "20 of 20 documents could not be read" in failed.stderr
        assert "--encoding" in failed.stderr
    for command in ("add", "check"):
        accepted = run("index", command, tmp_path / "all.db", latin, "--accept-rejected")
        assert accepted.exit_code == 0
    done = run("index", "add", tmp_path / "all.db", latin, "--encoding", "cp1252")
    assert done.exit_code == 0
