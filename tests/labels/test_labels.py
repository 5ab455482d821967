"""The store of labels: nothing acknowledged is lost, whatever moment a process dies at."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InputError, SettingsError
from neardup.labels.label_store import Label, LabelStore, Pair, read_labels

ROWS = [
    Label("b", "a", "duplicate", "ann", kind="revision", note="Grüße, 東京\u2028\n", item="x1"),
    Label("a", "c", "not", "ann"),
    Label("a", "b", "undecided", "bob", arbiter=True),
    Label("a", "c", "duplicate", "ann"),
    Label("a", "b", None, "ann"),
]


def filled(path: Path, rows: list[Label]) -> LabelStore:
    store = LabelStore(path)
    for row in rows:
        store.add(row)
    return store


def state(path: Path) -> dict[tuple[Pair, str], str | None]:
    return {key: label.label for key, label in read_labels(path).current.items()}


def replayed(rows: list[Label]) -> dict[tuple[Pair, str], str | None]:
    """The twin: the last word of each."""
    said: dict[tuple[Pair, str], str | None] = {}
    for row in rows:
        said[row.pair, row.assessor] = row.label
    return {key: label for key, label in said.items() if label is not None}


def test_a_kill_at_any_byte_loses_no_acknowledged_row(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    filled(whole, ROWS)
    data = whole.read_bytes()
    ends = [i for i in range(len(data) + 1) if data[:i].endswith(b"\n") or i == 0]
    new = Label("x", "y", "not", "cy")
    for cut in range(len(data) + 1):
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(data[:cut])
        there = sum(end <= cut for end in ends) - 1
        # A row that lacks only its line end was written whole.
        there += cut + 1 in ends
        assert state(path) == replayed(ROWS[:there])
        tail = data[max(e for e in ends if e <= cut) : cut]
        torn = bool(tail) and cut + 1 not in ends
        assert bool(read_labels(path).torn) == torn
        store = LabelStore(path)
        assert store.add(new)
        assert state(path) == replayed([*ROWS[:there], new])
        assert read_labels(path).torn is None
        aside = path.with_name(path.name + ".torn")
        assert (aside.read_bytes() == tail + b"\n") if torn else not aside.exists()
        assert bool(store.set_aside) == torn


def test_dying_while_half_a_row_is_set_aside_is_no_harm_either(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    filled(path, ROWS[:1])
    path.write_bytes(path.read_bytes() + b'{"a": "q", "b')
    (tmp_path / "labels.jsonl.torn").write_bytes(b'{"a": "q", "b\n')  # and then it died
    filled(path, ROWS[1:2])
    assert state(path) == replayed(ROWS[:2])
    assert (tmp_path / "labels.jsonl.torn").read_bytes() == b'{"a": "q", "b\n' * 2


def test_every_row_is_on_the_disk_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "labels.jsonl"
    lines: list[int] = []
    real = os.fsync

    def noted(file: int) -> None:
        real(file)
        lines.append(path.read_bytes().count(b"\n") if path.exists() else 0)

    monkeypatch.setattr(os, "fsync", noted)
    assert LabelStore(path).add_all(ROWS) == 5
    assert [n for n in lines if n] == [1, 2, 3, 4, 5, 5]  # the last one is of the folder


@given(
    st.lists(
        st.builds(
            Label,
            st.sampled_from("abc"),
            st.sampled_from("xyz"),
            st.sampled_from(["duplicate", "not", "undecided", None]),
            st.sampled_from(["ann", "bob"]),
        ),
        max_size=12,
    )
)
def test_the_last_word_counts_and_again_changes_nothing(rows: list[Label]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.jsonl"
        LabelStore(path).add_all(rows)
        assert state(path) == replayed(rows)
        now = list(read_labels(path))
        before = path.read_bytes()
        assert LabelStore(path).add_all(now) == 0
        assert path.read_bytes() == before


def test_undo_takes_back_one_word_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    store = filled(path, ROWS[:4])
    assert store.undo("ann") == [ROWS[3]]
    assert state(path) == replayed([ROWS[0], ROWS[2]])
    assert store.undo("ann") == [ROWS[0]]
    assert store.undo("ann") == []
    assert state(path) == replayed(ROWS[2:3])
    assert len(path.read_text("utf-8").split("\n")) == 7  # rows are never rewritten
    store.add_all(ROWS[:2])
    assert store.undo("ann", 9) == [ROWS[1], ROWS[0]]
    assert state(path) == replayed(ROWS[2:3])


def _add_many(path: str, name: str) -> None:
    store = LabelStore(Path(path))
    for i in range(40):
        store.add(Label("a", f"{i}", "not", name))


def test_several_writers_wait_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_add_many, args=(str(path), n)) for n in ("ann", "bob")]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
        assert one.exitcode == 0
    assert len(read_labels(path)) == 80


def test_what_is_no_label_is_said_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    filled(path, ROWS[:1])
    path.write_bytes(path.read_bytes() + b"nonsense\n" + b"{}\n")
    with pytest.raises(InputError, match=r"labels.jsonl, line 2 is no label"):
        read_labels(path)
    with pytest.raises(SettingsError, match="The label is 'maybe'"):
        Label("a", "b", "maybe", "ann")
    with pytest.raises(SettingsError, match="The kind is 'twin'"):
        Label("a", "b", "not", "ann", kind="twin")
    with pytest.raises(SettingsError, match="name of its assessor"):
        Label("a", "b", "not", "")


def test_rows_are_plain_json_and_more_fields_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    filled(path, ROWS[:2])
    first, second = map(json.loads, path.read_text("utf-8").strip().split("\n"))
    assert (first["a"], first["b"], first["kind"]) == ("a", "b", "revision")
    assert second == {"a": "a", "b": "c", "label": "not", "assessor": "ann"}
    path.write_text(json.dumps({**second, "at": "2020-01-01"}))
    assert [label.label for label in read_labels(path)] == ["not"]
    assert len(read_labels(tmp_path / "nothing.jsonl")) == 0


def test_the_time_is_kept_and_is_no_new_word(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    store = LabelStore(path)
    assert store.add(Label("a", "b", "not", "ann", seconds=3.5))
    assert not store.add(Label("a", "b", "not", "ann", seconds=9))
    assert [label.seconds for label in store.labels()] == [3.5]
    for odd in (-1, float("nan"), "3", True):
        with pytest.raises(SettingsError, match="The seconds are"):
            Label("a", "b", "not", "ann", seconds=odd)  # type: ignore[arg-type]


def test_labels_that_go_together_are_one_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: sizes.append(len(data)) or real(file, data))  # type: ignore[func-returns-value]
    store = LabelStore(tmp_path / "labels.jsonl")
    assert store.add_all(ROWS, together=True) == 5
    assert len(sizes) == 1
    assert state(store.path) == replayed(ROWS)


def test_undo_among_some_pairs_leaves_the_others(tmp_path: Path) -> None:
    store = filled(tmp_path / "labels.jsonl", [ROWS[0], ROWS[3]])
    assert store.undo("ann", among={Pair("a", "b")}) == [ROWS[0]]
    assert state(store.path) == replayed([ROWS[3]])
    assert store.undo("ann", among=set()) == []
