"""``neardup apply`` and ``neardup undo``, and policies as options of ``dedup``."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cli.sample import Run

POLICY = """
order = ["newest"]
date = "day"
default = "review"

[actions]
identical = "drop"
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(POLICY)
    return path


@pytest.fixture
def out(run: Run, docs: Path, tmp_path: Path) -> Path:
    assert run("find", docs, "-o", tmp_path / "out", "--method", "shingles").exit_code == 0
    return tmp_path / "out"


def test_dedup_says_what_the_policy_would_do(
    run: Run, docs: Path, policy: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = run("dedup", docs, "-o", out, "--policy", policy, "--method", "shingles")
    told = "5 documents = 3 kept + 0 linked + 0 merged + 0 dropped + 2 for review + 0 rejected"
    assert f"Actions of the policy: {told}. To apply them: neardup apply {out}" in done.stderr
    rows = {row["id"]: row for row in pq.read_table(out / "actions.parquet").to_pylist()}
    assert rows["fox"]["kept_id"] == rows["copy"]["kept_id"] == "edited"
    assert "comes first by newest" in rows["copy"]["reason"]
    assert not (out / "applied").exists()
    told_json = run("apply", out, "--json").stdout
    assert json.loads(told_json)["counts"]["review"] == 2
    reviewed = (out / "applied" / "1" / "review.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in reviewed] == ["fox", "copy"]


def test_the_counts_are_data(run: Run, docs: Path, policy: Path, tmp_path: Path) -> None:
    ask = ("dedup", docs, "-o", tmp_path / "out", "--json", "--quiet")
    counts = json.loads(run(*ask, "--policy", policy).stdout)["actions"]
    assert counts["documents"] == sum(counts.values()) - counts["documents"] == 5


def test_dry_run_then_apply_then_undo(run: Run, out: Path, policy: Path) -> None:
    before = sorted(path.name for path in out.rglob("*"))
    done = run("apply", out, "--policy", policy, "--dry-run")
    assert done.exit_code == 0, done.output
    assert "for review: copy of no known kind" in done.stdout or "for review: " in done.stdout
    assert f"Nothing was written. Without --dry-run, {out}/applied/1 gets docu" in done.stdout
    assert sorted(path.name for path in out.rglob("*")) == before
    done = run("apply", out, "--policy", policy)
    assert done.exit_code == 0, done.output
    assert f"Take it back: neardup undo {out}" in done.stdout
    done = run("apply", out, "--action", "default=drop")
    assert f"Written to {out}/applied/2" in done.stdout
    kept = (out / "applied" / "2" / "documents.jsonl").read_text()
    assert [json.loads(line)["id"] for line in kept.splitlines()] == ["fox", "other", "short"]
    done = run("undo", out)
    assert f"Taken back: {out}/applied/2 (5 documents = 3 kept" in done.stdout
    assert f"{out}/applied/1 is in effect again." in done.stdout
    assert json.loads(run("undo", out, "--json").stdout) == {
        "undone": f"{out}/applied/1",
        "now": None,
    }
    assert sorted(path.name for path in out.rglob("*")) == before
    done = run("undo", out)
    assert done.exit_code == 1
    assert "nothing to undo" in done.stderr


def test_orders_as_options(run: Run, docs: Path, out: Path) -> None:
    ask = ("apply", out, "--dry-run", "--json", "--action", "identical=drop")
    told = json.loads(run(*ask, "--keep", "site:desc; newest", "--date", "day").stdout)
    assert told["policy"] == {
        "order": ["site:desc", "newest"],
        "actions": {"identical": "drop"},
        "default": "link",
        "contains": "review",
        "needs": {},
        "date": "day",
    }
    assert told["folder"] is None
    done = run("find", docs, "--keep", "longest; last", "--action", "default=keep")
    assert done.exit_code == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--keep", "last"], "--policy and --keep are both given"),
        (["--action", "identical=drop"], "--policy and --action are both given"),
    ],
)
def test_one_policy(
    run: Run, docs: Path, out: Path, policy: Path, options: list[str], sentence: str
) -> None:
    for command in (["apply", out], ["find", docs]):
        done = run(*command, "--policy", policy, *options)
        assert done.exit_code == 2
        assert sentence in done.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "made without a policy, and none is given"),
        (["--action", "identical"], "expected KIND=ACTION"),
        (["--action", "identical=drop", "--action", "identical=keep"], "'identical' twice"),
        (["--action", "identicle=drop"], "did you mean 'identical'?"),
        (["--action", "default=remove"], "actions are keep, link, merge, drop, review"),
        (["--keep", "newest"], "needs to know which column is the date"),
        (["--keep", "yaer:asc; moth:desc"], "2 settings are wrong"),
        (["--policy", "nowhere.toml"], "The policy nowhere.toml cannot be read"),
    ],
)
def test_refused_before_anything_is_written(
    run: Run, out: Path, options: list[str], sentence: str
) -> None:
    before = sorted(path.name for path in out.rglob("*"))
    done = run("apply", out, *options)
    assert done.exit_code == 2, done.output
    assert sentence in done.stderr
    assert sorted(path.name for path in out.rglob("*")) == before


def test_what_is_no_run(run: Run, tmp_path: Path) -> None:
    for command in ("apply", "undo"):
        done = run(command, tmp_path / "nowhere")
        assert done.exit_code == 1
        assert "not the folder of a finished run" in done.stderr
