"""A flow from folder to folder, with a clock of its own: nothing here waits."""

from __future__ import annotations

import errno
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines.index.flow.sample import feed, story
from neardup.engines.index.flow.flow import Flow
from neardup.engines.index.flow.flow_settings import FlowSettings
from neardup.engines.index.flow.items import Event, Fields, LinesSource
from neardup.engines.index.flow.watched_folder import FolderSource
from neardup.engines.index.flow.workplace import Work
from neardup.engines.index.index import Index
from neardup.errors import SettingsError, UsageError
from power import Disk


class Place:
    """A folder with a flow in it; ``now`` is what its clock says."""

    def __init__(self, root: Path) -> None:
        self.root, self.now = root, 1e9
        self.events: list[Event] = []
        self.index = Index.open("memory:", method="qgrams", clock=self.clock)
        (root / "in").mkdir()

    def clock(self) -> float:
        return self.now

    def drop(self, name: str, content: str | bytes, age: float = 100.0) -> Path:
        """A file that was last written ``age`` seconds ago."""
        path = self.root / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        os.utime(path, (self.now - age,) * 2)
        return path

    def flow(self, **options: Any) -> Flow:
        given = {"forward": "out", "aside": "dup", "unreadable": "bad"}
        places = {name: self.root / folder for name, folder in given.items()} | options
        asked = FlowSettings.of(str(self.root / "in"), "memory:", poll=1.0, **places)
        made = replace(asked, clock=self.clock).flow(self.index)
        made.tell = self.events.append
        return made

    def work_off(self, **options: Any) -> Flow:
        flow = self.flow(**options)
        flow.run(self.pass_time, once=True)
        return flow

    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    def names(self, folder: str) -> list[str]:
        base = self.root / folder
        found = (path for path in base.rglob("*") if path.is_file())
        return sorted(path.relative_to(base).as_posix() for path in found)

    def note(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.root / f"{name}.why.json").read_bytes())
        return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_every_item_goes_to_its_place(place: Place) -> None:
    place.drop("a.txt", story(1), age=300)
    place.drop("sub/b.txt", story(1).upper(), age=200)
    place.drop("c.jsonl", json.dumps({"id": "x/1", "text": story(2)}) + "\nbroken\n", age=150)
    place.drop("d.rss", feed([story(1), story(3)]), age=120)
    place.drop("e.png", b"\x89PNG", age=110)
    place.drop("empty.txt", "", age=105)
    place.drop("blank.jsonl", '{"id": "blank", "text": " "}', age=104)
    flow = place.work_off()
    assert place.names("out") == ["a.txt", "http_x_1.json", "x_1.json"]
    assert (place.root / "out/a.txt").read_text() == story(1)
    assert place.names("dup")[::2] == ["http_x_0.json", "sub/b.txt"]
    assert place.names("bad")[::2] == ["blank.json", "c.jsonl_2.json", "e.png", "empty.txt"]
    assert place.note("dup/sub/b.txt") == {
        "what": "duplicate",
        "id": "sub/b.txt",
        "of": "a.txt",
        "score": 1.0,
        "reason": "doc_4 >= 0.8",
        "kind": "normalised",
        "source": "sub",
        "of_path": str(place.root / "out/a.txt"),
        "time": "2001-09-09T01:46:40+00:00",
    }
    assert place.note("bad/e.png")["reason"].startswith("there is no reader for .png")
    assert place.note("bad/empty.txt")["reason"] == "it is empty"
    assert place.note("bad/blank.json")["reason"] == "it is empty"
    assert flow.totals.sentence() == "9 items: 3 originals, 2 duplicates, 4 unreadable"
    assert place.names("in") == [".neardup-watch/lock", ".neardup-watch/originals.db"]


def test_a_file_is_taken_when_it_is_whole(place: Place) -> None:
    """The same in two looks, or untouched for two polls as one that was renamed in."""
    source = FolderSource(place.root / "in", 1.0, place.clock)
    place.drop("old.txt", "x")
    place.drop("growing.txt", "x", age=0)
    assert [one.name for one in source.look()] == ["old.txt"]
    (place.root / "in/old.txt").unlink()
    place.drop("growing.txt", "xy", age=0)
    assert source.look() == []
    assert source.pending == 1
    assert [one.name for one in source.look()] == ["growing.txt"]


def test_what_is_not_an_item_is_left_alone(place: Place) -> None:
    for name in (".hidden", "a.txt.part", "b.tmp", "c~", "out/own.txt"):
        place.drop(name, "x")
    (place.root / "in/link.txt").symlink_to("/etc/passwd")
    source = FolderSource(place.root / "in", 1.0, place.clock, [place.root / "in/out"])
    assert source.look() == []


def test_the_same_name_again_is_a_new_item(place: Place) -> None:
    for text in (story(1), story(2), story(2)):
        place.drop("latest.txt", text)
        place.work_off()
        place.now += 60
    assert place.names("out") == ["latest.txt", "latest~20010909T014740.txt"]
    assert place.note("dup/latest~20010909T014840.txt")["of"] == "latest.txt~20010909T014740"
    assert place.note("dup/latest~20010909T014840.txt")["kind"] == "identical"


def test_nothing_is_overwritten(place: Place) -> None:
    (place.root / "out").mkdir()
    (place.root / "out/a.txt").write_text("theirs")
    place.drop("a.txt", story(1))
    place.work_off()
    assert place.names("out") == ["a.txt", "a~2.txt"]
    assert (place.root / "out/a.txt").read_text() == "theirs"


@pytest.mark.parametrize("name", ["新" * 80 + ".txt", "x" * 250 + ".txt", "x." + "y" * 250])
def test_long_names(place: Place, name: str) -> None:
    for text in (story(1), story(1)):
        place.drop(name, text)
        flow = place.work_off()
        assert flow.totals.waiting == 0
    line = json.dumps({"id": "名" * 500 + "/../..", "text": story(1)})
    place.drop("a.jsonl", line)
    flow = place.work_off()
    assert (flow.totals.items, flow.totals.waiting) == (1, 0)


def test_a_full_disk_is_said_once_and_tried_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, out = os.rename, place.root / "out"

    def full(source: Any, target: Any) -> None:
        if Path(target).parent == out and place.now < 1e9 + 30:
            raise OSError(errno.ENOSPC, "No space left on device", str(target))
        rename(source, target)

    monkeypatch.setattr(os, "rename", full)
    for number in range(3):
        place.drop(f"{number}.txt", story(number), age=100 - number)
    flow = place.flow()
    flow.step()
    assert flow.totals.waiting == 3
    for _ in range(100):
        place.now += 1
        flow.step()
    assert place.names("out") == ["0.txt", "1.txt", "2.txt"]
    assert flow.totals.waiting == 0
    said = [str(event) for event in place.events if event.what == "problem"]
    assert said[0].endswith("0.txt: No space left on device. It will be tried again.")
    assert len(said) < 3 * 8  # later and later, not with every poll


def test_a_folder_that_goes_and_comes(place: Place) -> None:
    flow = place.flow()
    (place.root / "in").rmdir()
    assert not flow.step()
    assert not flow.step()
    (event,) = place.events
    assert "No such file or directory" in str(event)
    place.drop("a.txt", story(1))
    assert flow.step()
    assert place.names("out") == ["a.txt"]


def test_a_note_names_title_source_url_and_path_of_both_items(place: Place) -> None:
    item = "<item><guid>{0}</guid><title>T{0}</title><link>http://x/{0}</link>{1}</item>"
    whole = "<rss><channel><title>{}</title>{}</channel></rss>"
    text = f"<description>{story(1)}</description>"
    place.drop("a.rss", whole.format("Wire", item.format(1, text)), age=300)
    place.drop("b.rss", whole.format("Paper", item.format(2, text)), age=200)
    place.work_off()
    note = place.note("dup/2.json")
    own = {name: note[name] for name in ("title", "source", "url")}
    assert own == {"title": "T2", "source": "Paper", "url": "http://x/2"}
    assert {name: note[f"of_{name}"] for name in ("title", "source", "url", "path")} == {
        "title": "T1",
        "source": "Wire",
        "url": "http://x/1",
        "path": str(place.root / "out/1.json"),
    }
    (place.root / "in/.neardup-watch/originals.db").write_bytes(b"damaged" * 1000)
    place.drop("c.rss", whole.format("Third", item.format(3, text)), age=100)
    place.work_off()
    assert "of_title" not in place.note("dup/3.json")


def test_a_stop_finishes_the_batch_at_hand(place: Place) -> None:
    lines = "".join(json.dumps({"text": story(n)}) + "\n" for n in range(200))
    place.drop("a.jsonl", lines)
    flow = place.flow()

    def stop(_: Event) -> None:
        flow.stopped = True

    flow.tell = stop
    flow.run(place.pass_time)
    assert flow.totals.items == 64
    assert len(place.names("out")) == 64
    place.work_off()
    assert len(place.names("out")) == 200
    assert place.names("in") == [".neardup-watch/lock", ".neardup-watch/originals.db"]


def told(root: Path, code: str) -> str:
    return f"{sys.executable} -S -c '{code}' {root / 'told'}"


APPEND = 'import sys; open(sys.argv[1], "ab").write(sys.stdin.buffer.read() + b"\\n")'


def test_a_command_gets_originals_as_json(place: Place) -> None:
    place.drop("a.txt", story(1), age=200)
    place.drop("b.json", json.dumps({"id": "b", "text": story(2), "more": [1]}), age=150)
    place.drop("c.txt", story(1))
    flow = place.work_off(forward=None, command=told(place.root, APPEND))
    lines = [json.loads(line) for line in (place.root / "told").read_text().splitlines()]
    assert lines == [
        {"name": "a.txt", "id": "a.txt", "text": story(1)},
        {"name": "b.json", "id": "b", "text": story(2), "more": [1]},
    ]
    assert flow.totals.pays is not None
    assert place.names("in") == [".neardup-watch/lock", ".neardup-watch/originals.db"]


def test_a_command_that_fails_is_run_again(place: Place) -> None:
    place.drop("a.txt", story(1))
    flow = place.work_off(command=told(place.root, 'import sys; sys.exit("no, not now")'))
    assert (flow.totals.items, flow.totals.waiting) == (0, 1)
    assert "failed on a.txt with code 1: no, not now." in str(place.events[0])
    place.work_off(command=told(place.root, APPEND))
    assert place.names("out") == ["a.txt"]
    assert len((place.root / "told").read_text().splitlines()) == 1


def test_lines_through_a_pipe(place: Place) -> None:
    read, write = os.pipe()
    lines = LinesSource(read, Fields(), place.clock)
    flow = place.flow()
    flow.source = lines
    assert not flow.step()
    os.write(write, b'{"id": "a", "text": "%s"}\n{"id": "b", ' % story(1).encode())
    assert flow.step()
    assert place.names("out") == ["a.json"]
    os.write(write, b'"text": "%s"}' % story(1).encode())
    os.close(write)
    flow.run(place.pass_time)
    os.close(read)
    assert place.note("dup/b.json")["of"] == "a"


def test_items_that_the_index_refuses_are_unreadable(place: Place) -> None:
    lines = [r'{"id": "a", "text": "\ud800"}', json.dumps({"id": "b", "text": story(1)})]
    place.drop("a.jsonl", "\n".join(lines))
    place.work_off()
    assert place.names("out") == ["b.json"]
    assert place.names("bad")[0] == "a.json"


def test_ten_megabytes_in_a_line(place: Place) -> None:
    place.drop("a.jsonl", json.dumps({"id": "a", "text": "word " * 2_000_000}))
    assert place.work_off().totals.counts["original"] == 1


def test_one_process_a_folder(place: Place) -> None:
    first = Work(place.root / "in/.neardup-watch")
    first.open()
    with pytest.raises(UsageError, match="Another process works in"):
        place.work_off()
    first.close()


def test_whether_checking_pays(place: Place) -> None:
    """Share of duplicates × cost of processing > cost of checking (DDD, section 5)."""
    totals = place.flow().totals
    assert totals.pays_from is None
    for what in ("original", "original", "original", "duplicate"):
        totals.count(what, 1.5)
    totals.checked, totals.check_seconds = 4, 0.4
    assert totals.pays_from == pytest.approx(0.4)
    assert totals.line(totals.began + 2) == (
        "4 items, 2.0/s, 3 originals, 1 duplicate, 0 unreadable, lag 1.5 s, "
        "checking pays if processing an item takes over 400 ms"
    )
    totals.told, totals.told_seconds = 3, 0.3
    assert totals.pays is False
    assert totals.line(totals.began + 2).endswith(
        "checking does not pay: processing takes 100 ms, break-even 400 ms"
    )


def problems(source: str, url: str = "memory:", **options: Any) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        FlowSettings.of(source, url, **options)
    return caught.value.problems


def test_everything_that_is_wrong_is_said_before_anything_is_moved(tmp_path: Path) -> None:
    found = problems(str(tmp_path / "none"), command="no-such-command x", poll=0.0)
    assert found == (
        "--exec is 'no-such-command x': there is no such command.",
        f"There is no folder {tmp_path / 'none'} to watch.",
        "--poll is 0.0; expected seconds, such as 0.5.",
    )
    (one,) = problems(str(tmp_path), forward=tmp_path)
    assert one == f"{tmp_path} is named twice; every place is a folder of its own."
    (one,) = problems(str(tmp_path))[:1]
    assert one.startswith("Originals have no destination")
    inside = str(tmp_path / "news.db")
    (one,) = problems(str(tmp_path), inside, forward=tmp_path / "out")
    assert "would be taken for an item" in one


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
@pytest.mark.parametrize("synced", [True, False])
def test_no_item_is_lost_when_the_power_fails(
    name: str, synced: bool, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = story(1)
    content = text if name == "a.txt" else json.dumps({"id": "a", "text": text})
    if synced:  # by whoever put it there
        place.drop(name, content)
    disk = Disk(place.root)
    if not synced:
        place.drop(name, content)
    with disk.recording(monkeypatch):
        place.work_off()
    durable = disk.moment()[1]
    assert any(text.encode() in (durable[at] or b"") for at in durable if at.startswith("out/"))
    for state in disk.states if synced else []:
        assert any(text.encode() in (held or b"") for held in state.values())
    disk.close()
