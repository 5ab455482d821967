"""Changes made by hand: kept for good, taken back, and applied as the rule would have it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from cli.sample import DOCUMENTS, jsonl
from neardup.decisions.policy import ACTIONS
from neardup.errors import InputError, NeardupError, UsageError
from neardup.runs.application import apply
from neardup.runs.changes import FILE, ChangeLog, Changes, read_changes
from neardup.runs.policy_order import put_first

DROP = {"default": "drop", "contains": "drop"}


def decided(result: nd.Result) -> dict[str, tuple[str, str | None, float | None]]:
    rows = result.decisions.to_pylist()
    return {row["id"]: (row["decision"], row["kept_id"], row["score"]) for row in rows}


words = st.lists(st.sampled_from("abcd"), min_size=4, max_size=6)


@given(st.lists(words, min_size=2, max_size=9), st.data())
def test_who_comes_first_is_as_if_it_had_come_first(texts: list[list[str]], data: object) -> None:
    documents = [{"id": f"{i}", "text": " ".join(one)} for i, one in enumerate(texts)]
    chosen = data.draw(st.lists(st.sampled_from(documents), unique_by=id, max_size=3))  # type: ignore[attr-defined]
    settings = {"method": "join", "threshold": 0.4, "kinds": "none"}
    ours = put_first(nd.find(documents, **settings), [one["id"] for one in chosen])
    theirs = nd.find([*chosen, *(d for d in documents if d not in chosen)], **settings)
    assert decided(ours) == decided(theirs)
    assert ours.counts.documents == ours.counts.kept + ours.counts.duplicates == len(documents)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "docs.jsonl").write_text(jsonl(DOCUMENTS))
    return nd.find(str(tmp_path / "docs.jsonl"), method="shingles").save(tmp_path / "out")


def test_changes_are_applied_and_said(run: Path) -> None:
    log = ChangeLog(run)
    log.add(["edited"], None)
    log.add(["copy", "other"], "keep")  # a kept document stays what it is
    made = apply(nd.Result.load(run), DROP, log.read())
    rows = {row["id"]: row for row in made.actions.to_pylist()}
    assert {id: row["action"] for id, row in rows.items()} == {
        "fox": "drop",
        "copy": "keep",
        "edited": "keep",
        "other": "keep",
        "short": "keep",
    }
    assert rows["edited"]["reason"] == "kept: chosen in review; it stands for 2 copies."
    assert rows["copy"]["reason"].startswith("kept by choice in review: revision copy")
    assert rows["fox"]["reason"].endswith("of edited, which comes first by choice in review.")
    assert made.counts["documents"] == sum(made.counts[name] for name in (*ACTIONS, "rejected"))
    made.write(run / "new", run)
    told = json.loads((run / "new" / "applied.json").read_text())
    assert [change["change"] for change in told["changes"]] == [1, 2]


def test_what_is_taken_back_counts_no_more_and_is_not_lost(run: Path) -> None:
    log = ChangeLog(run)
    before = apply(nd.Result.load(run), DROP).actions
    for ids, action in ((["copy"], "link"), (["edited"], None), (["copy"], "review")):
        log.add(ids, action)
    assert log.read().actions == {"copy": "review"}
    assert log.undo().number == 3
    assert log.read().actions == {"copy": "link"}
    assert log.undo(1).ids == ("copy",)
    with pytest.raises(NeardupError, match="Change 1 does not count"):
        log.undo(1)
    log.undo()
    with pytest.raises(NeardupError, match="No change can be taken back"):
        log.undo()
    assert not read_changes(run)
    assert [one.undone for one in read_changes(run).made] == [True] * 3
    assert apply(nd.Result.load(run), DROP, read_changes(run)).actions.equals(before)


def test_half_a_row_is_set_aside(run: Path) -> None:
    log = ChangeLog(run)
    log.add(["copy"], "link")
    with (run / FILE).open("ab") as file:
        file.write(b'{"change": 2, "act')
    assert read_changes(run).actions == {"copy": "link"}
    assert log.add(["edited"], "drop").number == 2
    assert read_changes(run).actions == {"copy": "link", "edited": "drop"}
    assert (run / FILE).with_name("changes.jsonl.torn").read_bytes().startswith(b'{"change": 2, "a')


def test_changes_of_another_run_are_refused(run: Path) -> None:
    ChangeLog(run).add(["copy"], "link")
    nd.find(str(run.parent / "docs.jsonl"), method="shingles", threshold=0.95).save(
        run, overwrite=True
    )
    with pytest.raises(InputError, match="made for another run"):
        read_changes(run)


@pytest.mark.parametrize(
    "row",
    [
        {"change": 1, "action": "burn", "ids": ["copy"], "at": ""},
        {"change": 1, "action": "drop", "ids": "copy", "at": ""},
        {"change": 2, "first": ["copy"], "at": ""},
        {"undo": 1, "at": ""},
        {},
    ],
)
def test_a_row_that_is_none_is_an_error_with_its_place(run: Path, row: dict[str, object]) -> None:
    log = ChangeLog(run)
    log.add(["copy"], "drop")
    head = (run / FILE).read_text().splitlines()[0]
    (run / FILE).write_text(f"{head}\n{json.dumps(row)}\n")
    with pytest.raises(InputError, match="line 2 is no change"):
        log.read()


def test_nonsense_is_refused_before_it_is_written(run: Path) -> None:
    for ids, action in (([], "drop"), (["copy"], "burn")):
        with pytest.raises(UsageError):
            ChangeLog(run).add(ids, action)
    assert not (run / FILE).exists()
    with pytest.raises(UsageError, match="has the id 'nobody'"):
        put_first(nd.Result.load(run), ["nobody"])
    assert read_changes(run) == Changes()
