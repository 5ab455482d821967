"""Killed at any point and started again: every item in one place, forwarded once."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from engines.index.flow import killing
from engines.index.flow.sample import feed, story
from neardup.engines.index.index import Index

pytestmark = pytest.mark.kills
LEAST_KILLS = 20  # of each


def fill(root: Path, seed: int) -> Counter[str]:
    """Items of every form; how many there are of each text."""
    choose = random.Random(seed)
    texts = [story(choose.randrange(15)) for _ in range(70)]
    folder = root / "in"
    (folder / "sub").mkdir(parents=True)
    for number, text in enumerate(texts[:16]):
        name, content = (f"{number}.html", f"<p>{text}</p>") if number % 4 else (f"{number}", text)
        (folder / ("sub" if number % 3 else "") / name).write_text(content)
    lines = [json.dumps({"id": f"line-{n}", "text": text}) for n, text in enumerate(texts[16:55])]
    (folder / "lines.jsonl").write_text("\n".join([*lines, "{broken"]))
    (folder / "feed.xml").write_text(feed(texts[55:]))
    (folder / "broken.rss").write_text("<rss>")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    return Counter(texts)


def text_of(content: str) -> str:
    if content.startswith("{"):
        return str(json.loads(content)["text"])
    return content.removeprefix("<p>").removesuffix("</p>")


def set_aside(folder: Path) -> list[Path]:
    found = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in found if path.name.startswith(".")]
    items = [path for path in found if not path.name.endswith(".why.json")]
    assert len(found) == 2 * len(items)
    assert all(Path(f"{item}.why.json") in found for item in items)
    return items


def killed(root: Path, mode: str, seed: int) -> None:
    done = subprocess.run(
        [sys.executable, killing.__file__, str(root), mode, str(seed)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= LEAST_KILLS


def check_what_is_left(root: Path, texts: Counter[str]) -> None:
    """Duplicates, unreadable items, notes, the index, and nothing else."""
    aside = [text_of(path.read_text("utf-8")) for path in set_aside(root / "dup")]
    assert Counter(aside) == texts - Counter(set(texts))
    assert len(set_aside(root / "bad")) == 3
    assert [path.name for path in (root / "in").iterdir() if path.is_file()] == []
    with Index.open(root / "index.db") as index:
        assert len(index) == texts.total()
        for path in (root / "dup").rglob("*.why.json"):
            note = json.loads(path.read_bytes())
            assert index.get(note["id"]).kept_id == note["of"]


@pytest.mark.parametrize(("mode", "seed"), [("near", 1), ("far", 3)])
def test_every_item_comes_to_one_place_once(tmp_path: Path, mode: str, seed: int) -> None:
    texts = fill(tmp_path, seed)
    killed(tmp_path, mode, seed)
    lines = (tmp_path / "consumed.jsonl").read_text().splitlines()
    forwarded = [text_of(json.loads(line)[1]) for line in lines]
    assert sorted(forwarded) == sorted(texts)
    check_what_is_left(tmp_path, texts)


def test_a_command_hears_of_every_original_and_of_nothing_else(tmp_path: Path) -> None:
    """At least once: the kill may come between its success and our knowing."""
    texts = fill(tmp_path, 4)
    killed(tmp_path, "command", 4)
    told = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines() if line]
    assert {one["text"] for one in told} == set(texts)
    assert len({one["id"] for one in told}) == len(texts)
    check_what_is_left(tmp_path, texts)
