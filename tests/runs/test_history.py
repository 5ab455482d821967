"""Applied and taken back: nothing is lost, nothing stays, whoever is killed in the middle."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from neardup import api as nd
from neardup import schema
from neardup.errors import ChangedError, DataError, InputError, SettingsError, UsageError
from neardup.methods.base import Prepared
from neardup.methods.exact import Exact
from neardup.runs import history
from neardup.runs.application import Applied, apply
from neardup.runs.result import Result
from runs.test_apply import documents

DROP = {"order": ["newest"], "date": "date", "default": "drop", "contains": "drop"}
MERGE = {"order": ["complete:author,tags"], "default": "merge", "contains": "merge"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    lines = [json.dumps(document, ensure_ascii=False) for document in documents(7, 60)]
    lines[9:9] = ["broken", "", '  {"id": "spaced" , "text": "a  b", "n": 1.50}  ']
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture
def run(source: Path, tmp_path: Path) -> Path:
    return nd.find(source, threshold=0.6, method="shingles", words=2).save(tmp_path / "out")


def state(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def applying(run: Path, policy: dict[str, Any]) -> tuple[history.Step, Applied]:
    return history.apply_to(run, lambda: apply(Result.load(run), policy))


def lines_of(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").split("\n") if line.strip()]


def test_every_document_is_somewhere_once(run: Path, source: Path) -> None:
    for policy in (DROP, MERGE):
        step, made = applying(run, policy)
        counts = step.info["counts"]
        parts = {
            path.stem: lines_of(path)
            for path in step.folder.glob("*.jsonl")
            if path.stem != "review"
        }
        read = [line for line in lines_of(source) if line != "broken"]
        assert counts["documents"] == len(read) + 1 == sum(map(len, parts.values())) + 1
        ids = [json.loads(line)["id"] for some in parts.values() for line in some]
        assert sorted(ids) == sorted(json.loads(line)["id"] for line in read)
        filled = {row["id"] for row in made.actions.to_pylist() if row["fills"]}
        untouched = [line for some in parts.values() for line in some if line in read]
        assert len(read) - len(untouched) == len(filled) == made.filled
        actions = pq.read_table(step.folder / "actions.parquet").cast(schema.ACTIONS)
        assert actions.equals(made.actions)
        assert len(pq.read_table(step.folder / "links.parquet")) == counts["drop"] + counts["merge"]
        assert counts["drop" if policy is DROP else "merge"] > 5
    assert made.filled > 2


def test_undo_goes_back_step_by_step(run: Path, source: Path) -> None:
    before, inputs = state(run), source.read_bytes()
    first, _ = applying(run, DROP)
    once = state(run)
    assert {name: data for name, data in once.items() if name in before} == before
    second, _ = applying(run, MERGE)
    assert (first.number, second.number) == (1, 2)
    assert [step.number for step in history.steps(run)] == [1, 2]
    gone, now = history.undo(run)
    assert (gone, now) == (second, first)
    assert state(run) == once
    again, _ = applying(run, MERGE)
    assert again.info == second.info
    history.undo(run)
    assert history.undo(run) == (first, None)
    assert state(run) == before
    assert source.read_bytes() == inputs
    with pytest.raises(DataError, match="nothing to undo"):
        history.undo(run)
    assert state(run) == before


def test_work_of_others_is_not_removed(run: Path) -> None:
    before = state(run)
    step, _ = applying(run, MERGE)
    for name in ("review.jsonl", "notes.txt"):
        (step.folder / name).write_text("seen, all right")
        with pytest.raises(DataError, match=f"{name} was written by somebody else"):
            history.undo(run)
        (step.folder / name).unlink()
    (step.folder / "notes.txt").write_text("seen")
    history.undo(run, force=True)
    assert state(run) == before


KILLED = """
import os, sys
from pathlib import Path
from neardup.runs import application as applied, history
from neardup.runs.result import Result

where, run, policy = sys.argv[1], Path(sys.argv[2]), eval(sys.argv[3])

def dies(function, *, after=False, when=lambda *_: True):
    def wrapped(*arguments):
        if not when(*arguments):
            return function(*arguments)
        if after:
            function(*arguments)
        os._exit(9)
    return wrapped

if where == "tables":
    applied.write_table = dies(applied.write_table)
elif where == "digests":
    applied.file_digest = dies(applied.file_digest)
else:
    history.os.replace = dies(
        os.replace, after=where.startswith("after"), when=lambda folder, _: os.path.isdir(folder)
    )
if where.endswith("undo"):
    history.undo(run)
else:
    history.apply_to(run, lambda: applied.apply(Result.load(run), policy))
"""


@pytest.mark.parametrize(
    "where", ["tables", "digests", "before", "after", "before undo", "after undo"]
)
def test_killed_in_the_middle(run: Path, where: str) -> None:
    empty = state(run)
    applying(run, DROP)
    once = state(run)
    command = [sys.executable, "-c", KILLED, where, str(run), repr(MERGE)]
    assert subprocess.run(command, check=False).returncode == 9
    expected = {"after": 2, "after undo": 0}.get(where, 1)
    assert len(history.steps(run)) == expected
    if expected == 1:
        assert {name: data for name, data in state(run).items() if name in once} == once
    applying(run, MERGE)
    assert len(history.steps(run)) == (1 if where == "after undo" else 2)
    assert not [name for name in state(run) if "/." in name or name.startswith(".")]
    for _ in history.steps(run):
        history.undo(run)
    assert state(run) == empty


def test_two_at_once_are_refused(run: Path) -> None:
    def second() -> Applied:
        with pytest.raises(DataError, match="Another process applies"):
            applying(run, DROP)
        with pytest.raises(DataError, match="Another process applies"):
            history.undo(run)
        return apply(Result.load(run), MERGE)

    history.apply_to(run, second)
    assert len(history.steps(run)) == 1


def test_a_failure_leaves_nothing(run: Path) -> None:
    before = state(run)

    def fails() -> Applied:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        history.apply_to(run, fails)
    assert state(run) == before


def test_the_same_policy_again_adds_nothing(run: Path) -> None:
    """A command that is repeated, because it failed or was killed after the policy took effect."""
    first, _ = applying(run, DROP)
    once = state(run)
    again, made = applying(run, DROP)
    assert (again, state(run)) == (first, once)
    assert made.counts == first.info["counts"]
    applying(run, MERGE)
    third, _ = applying(run, DROP)
    assert third.number == 3  # the one in effect is another one
    (third.folder / "review.jsonl").write_text("somebody else's")
    assert applying(run, DROP)[0].number == 4


CHANGES = {
    "a text": lambda text: text.replace("w1 ", "w2 ", 1),
    "an id": lambda text: text.replace('"d5"', '"d55"'),
    "a line less": lambda text: text.rpartition('{"id": "d59"')[0],
    "a line more": lambda text: text + '{"id": "new", "text": "new"}\n',
    "two lines swapped": lambda text: "\n".join([*reversed(text.split("\n")[:2]), text[1]]),
    "nothing left": lambda _: "",
}


@pytest.mark.parametrize("how", CHANGES)
def test_an_input_that_has_changed_is_refused(run: Path, source: Path, how: str) -> None:
    before = state(run)
    source.write_text(CHANGES[how](source.read_text("utf-8")), "utf-8")
    with pytest.raises(ChangedError, match="changed since"):
        applying(run, DROP)
    source.unlink()
    with pytest.raises(InputError):
        applying(run, DROP)
    assert state(run) == before


def test_metadata_may_change_meanwhile(run: Path, source: Path) -> None:
    """Pairs depend on texts alone: who corrects a date need not match again."""
    text = source.read_text("utf-8")
    source.write_text(text.replace("2024-01-05", "2034-01-05"), "utf-8")
    step, _ = applying(run, DROP)
    assert "2034" in (step.folder / "documents.jsonl").read_text("utf-8")


def test_a_new_run_does_not_lose_what_was_applied_to_the_old(run: Path, source: Path) -> None:
    applying(run, DROP)
    with pytest.raises(UsageError, match="A policy is applied to the run"):
        nd.dedup(source, policy=MERGE).save(run)
    history.undo(run)
    nd.dedup(source, policy=MERGE).save(run, overwrite=True)
    assert history.steps(run) == []
    assert Result.load(run).actions.num_rows == Result.load(run).counts.documents


def test_what_was_lost_then_may_be_lost_now(source: Path, tmp_path: Path) -> None:
    packed = gzip.compress(source.read_bytes())
    (tmp_path / "in.jsonl.gz").write_bytes(packed[: len(packed) * 2 // 3])
    (tmp_path / "none.parquet").write_bytes(b"PAR1 but broken")
    result = nd.find([tmp_path / "in.jsonl.gz", tmp_path / "none.parquet"], method="shingles")
    assert result.counts.rejected >= 2
    step, made = applying(result.save(tmp_path / "out"), DROP)
    assert made.counts["rejected"] == result.counts.rejected
    kept = gzip.decompress((step.folder / "documents" / "in.jsonl.gz").read_bytes()).splitlines()
    assert len(kept) == made.counts["keep"]
    (tmp_path / "in.jsonl.gz").write_bytes(packed)
    with pytest.raises(ChangedError):
        applying(tmp_path / "out", DROP)


def test_a_method_of_another_package(source: Path, tmp_path: Path) -> None:
    """It may tell identical copies in its own way; whether an input changed is not its affair."""

    class Other(Exact):
        name = "exact"

        def prepare(self, *given: Any) -> Prepared:
            made = super().prepare(*given)
            return replace(made, text_digests=made.text_digests ^ np.uint64(1))

    folder = nd.find(source, method=Other()).save(tmp_path / "out")
    assert applying(folder, DROP)[0].number == 1


def test_a_new_run_spares_what_it_reads(run: Path) -> None:
    step, _ = applying(run, DROP)
    before = state(run)
    with pytest.raises(UsageError, match="lies in the output folder"):
        nd.dedup(step.folder / "documents.jsonl").save(run)
    assert state(run) == before


def test_not_a_run(tmp_path: Path) -> None:
    for attempt in (lambda: history.undo(tmp_path), lambda: applying(tmp_path, DROP)):
        with pytest.raises(InputError, match="not the folder of a finished run"):
            attempt()
    assert list(tmp_path.iterdir()) == []


def test_sources_limits_and_annotations_are_those_of_the_run(source: Path, tmp_path: Path) -> None:
    source.write_text(source.read_text("utf-8").replace('"source"', '"paper"'), "utf-8")
    other = tmp_path / "other.jsonl"
    other.write_text(source.read_text("utf-8").replace('"id": "', '"id": "o'), "utf-8")
    given = {"wire": source, "archive": other}
    made = nd.find(given, threshold=0.6, method="shingles", words=2, limit=90)
    made.save(tmp_path / "out", annotate=True)
    assert made.decisions["decision"].to_pylist().count("kept") > 5
    policy = {"order": ["source:archive", "last"], "default": "drop", "contains": "drop"}
    step, applied = applying(tmp_path / "out", policy)
    expected = nd.find(
        given, keep="source:archive; last", threshold=0.6, method="shingles", words=2, limit=90
    )
    assert applied.result.decisions.to_pylist() == expected.decisions.to_pylist()
    assert sum(step.info["counts"].values()) == 180
    written = [step.folder / "documents" / path.name for path in (source, other)]
    kept = [json.loads(line)["id"] for path in written for line in lines_of(path)]
    decisions = expected.decisions.to_pylist()
    assert kept == [row["id"] for row in decisions if row["decision"] == "kept"]
    with pytest.raises(SettingsError, match="the inputs are 'wire', 'archive'"):
        applying(tmp_path / "out", {"order": ["source:nobody"]})
