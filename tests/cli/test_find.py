"""find: pairs and clusters, nothing removed."""

from __future__ import annotations

import json
from pathlib import Path

import neardup as nd
from cli.sample import DOCUMENTS, Run, edited, jsonl


def test_shows_clusters(run: Run, docs: Path) -> None:
    done = run("find", docs, "--method", "shingles")
    assert done.exit_code == 0
    header, row = [line.split() for line in done.stdout.splitlines()]
    assert header == ["size", "weakest", "kept", "duplicates"]
    assert row == ["3", "0.8286", "fox", "copy,", "edited"]
    assert "5 documents = 3 kept + 2 duplicates + 0 rejected." in done.stderr


def test_says_that_there_is_nothing(run: Run) -> None:
    done = run("find", "-", input=jsonl(DOCUMENTS[2:]))
    assert done.stdout == "No near-duplicates found.\n"


def test_says_how_many_more(run: Run) -> None:
    documents = [
        {"id": f"{group}-{copy}", "text": " ".join(f"g{group}w{i}" for i in range(20))}
        for group in range(23)
        for copy in range(7)
    ]
    said = run("find", "-", input=jsonl(documents)).stdout
    assert "0-1, 0-2, 0-3, 0-4, … 2 more" in said
    assert "… and 3 more clusters" in said


def test_writes_no_kept_documents(run: Run, docs: Path, tmp_path: Path) -> None:
    assert run("find", docs, "-o", tmp_path / "out").exit_code == 0
    assert not list((tmp_path / "out").glob("kept*"))
    assert len(nd.Result.load(tmp_path / "out").pairs) == 3


def test_json(run: Run, docs: Path) -> None:
    said = json.loads(run("find", docs, "--json").stdout)
    assert said["out"] is None
    assert said["counts"]["pairs"] == 3


def test_stdout_is_no_folder(run: Run, docs: Path) -> None:
    assert run("find", docs, "-o", "-").exit_code == 2


def test_chains_only_on_request(run: Run) -> None:
    chain = [edited(2), edited(2).replace("lazy", "sleepy"), edited(20)]
    documents = [{"id": str(i), "text": text} for i, text in enumerate(chain)]
    options = ("--method", "shingles", "--threshold", "0.68", "--json", "--quiet")
    for clusters in ("rule", "components"):
        done = run("find", "-", "--clusters", clusters, *options, input=jsonl(documents))
        assert json.loads(done.stdout)["counts"]["clusters"] == 1
    wrong = run("find", "-", "--clusters", "chains", input=jsonl(documents))
    assert wrong.exit_code == 2
    assert "expected rule or components" in wrong.stderr


def test_lists_all_pairs_as_in_python(run: Run, tmp_path: Path) -> None:
    """More pairs than deciding alone would look at."""
    words = [f"w{i}" for i in range(200)]
    texts = [" ".join([*words[:i], f"x{j}", *words[i + 1 :]]) for i in range(60) for j in range(5)]
    path = tmp_path / "variants.jsonl"
    path.write_text(jsonl([{"id": str(i), "text": text} for i, text in enumerate(texts)]), "utf-8")
    told = json.loads(run("find", path, "-o", tmp_path / "out", "--json", "--quiet").stdout)
    found = nd.find(path)
    assert told["pairs"] == found.info["pairs"] == "complete"
    assert told["counts"]["pairs"] == found.counts.pairs == 300 * 299 // 2


def test_kinds_are_counted_and_may_be_left_out(run: Run, docs: Path, tmp_path: Path) -> None:
    done = run("find", docs, "-o", tmp_path / "all", "--kinds", "all")
    assert "Kinds of duplicates: 1 identical, 1 revision." in done.stderr
    result = nd.Result.load(tmp_path / "all")
    assert result.info["kinds"] == {"identical": 1, "revision": 1}
    assert sorted(result.pairs["kind"].to_pylist()) == ["identical", "revision", "revision"]
    fast = run("find", docs, "--kinds", "none", "--json")
    assert json.loads(fast.stdout)["kinds"] == {"identical": 1, "unknown": 1}
    assert "1 identical, 1 not classified (--kinds none)." in fast.stderr
    wrong = run("find", docs, "--kinds", "some")
    assert wrong.exit_code == 2
    assert "kinds is 'some'. Hint: expected decided or all or none." in wrong.stderr


def test_the_largest_clusters_come_first(run: Run) -> None:
    documents = [
        {"id": f"{group}-{copy}", "text": " ".join(f"g{group}w{i}" for i in range(20))}
        for group, copies in enumerate((2, 3, 2, 5))
        for copy in range(copies)
    ]
    rows = run("find", "-", input=jsonl(documents)).stdout.splitlines()[1:]
    assert [row.split()[2] for row in rows] == ["3-0", "1-0", "0-0", "2-0"]
