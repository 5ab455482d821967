"""The tools for agents, called by the client of the official library.

It is imported where it is called: it costs a second, and every process of the tests reads this
file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

import neardup as nd
from apart import apart
from neardup.engines.index.store import open_store

STORY = (
    "The harbour of the old town was closed on Monday after a crane fell into the water. "
    "Nobody was hurt, the police said, but ferries to the islands will not run before Friday. "
    "Divers are looking for the load, which contained machines for a factory in the north."
)
LATER = STORY.replace("Friday", "Saturday evening")
OTHER = (
    "Parliament voted for the new library law by a narrow majority late at night. "
    "Small villages get money for books, and large towns have to open their houses on Sundays."
)
Call = tuple[str, dict[str, Any]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "open"
    folder.mkdir()
    rows = [{"id": "a", "text": STORY}, {"id": "b", "text": LATER}, {"id": "c", "text": OTHER}]
    (folder / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "story.txt").write_text(STORY, "utf-8")
    (tmp_path / "secret.txt").write_text("secret " + STORY, "utf-8")
    return folder


def answers(target: Any, *calls: Call) -> list[dict[str, Any]]:
    """The answers to several calls; a refusal is ``{"refused": sentence}``."""

    from mcp import Client

    async def ask() -> list[dict[str, Any]]:
        async with Client(target) as client:
            return [_read(await client.call_tool(name, given)) for name, given in calls]

    return apart(anyio.run, ask)


def server(folders: list[Path], **settings: Any) -> Any:
    from neardup.integrations import mcp

    return mcp.server(folders, **settings)


def _read(result: Any) -> dict[str, Any]:
    text = result.content[0].text
    return {"refused": text} if result.is_error else dict(json.loads(text))


def names(target: Any) -> list[str]:
    from mcp import Client

    async def ask() -> list[str]:
        async with Client(target) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    return apart(anyio.run, ask)


def test_the_command_serves_every_tool_over_stdio(folder: Path) -> None:
    from mcp import StdioServerParameters

    run = nd.dedup(str(folder / "news.jsonl")).save(folder / "run")
    with nd.Index.open(folder / "index.db", texts=True) as index:
        index.add({"id": "a", "text": STORY})
    command = ["-m", "neardup", "mcp", str(folder)]
    started = StdioServerParameters(command=sys.executable, args=command)
    found, checked, indexed, compared, explained, traced = answers(
        started,
        ("find", {"path": "news.jsonl"}),
        ("check", {"against": "news.jsonl", "text": STORY.replace("Monday", "Tuesday")}),
        ("check", {"against": "index.db", "path": "news.jsonl"}),
        ("compare", {"a": "story.txt", "b": "news.jsonl#b"}),
        ("explain", {"run": str(run), "id": "b"}),
        ("trace", {"against": "index.db", "text": STORY[:200] + OTHER}),
    )
    assert found["clusters"] == [{"size": 2, "members": ["a", "b"]}]
    assert found["sentence"] == "3 documents = 2 kept + 1 duplicate + 0 rejected."
    assert checked["documents"][0]["kept_id"] in ("ref:a", "ref:b")
    assert indexed["sentence"] == "index.db has a near-duplicate of 2 of 3 documents."
    assert compared["differing"] == [{"a": "Friday", "b": "Saturday evening"}]
    assert "duplicate of a" in explained["sentence"]
    assert explained["comparison"]["kind"] == compared["kind"]
    assert [source["source"] for source in traced["documents"][0]["sources"]] == ["a"]


@pytest.mark.parametrize(
    "call",
    [
        ("find", {"path": "../secret.txt"}),
        ("find", {"path": "/etc/passwd"}),
        ("find", {"path": "linked"}),
        ("compare", {"a": "story.txt", "b": "linked/secret.txt"}),
        ("check", {"against": "link.txt", "text": STORY}),
        ("trace", {"against": "story.txt", "path": "../secret.txt"}),
        ("trace", {"against": "s3://bucket/key", "text": STORY}),
        ("explain", {"run": "foreign", "id": "secret.txt"}),
    ],
)
def test_nothing_outside_of_the_folders_is_read(folder: Path, call: Call) -> None:
    """Neither by a path, nor by a link, nor by a run that names its inputs."""
    (folder / "linked").symlink_to(folder.parent, target_is_directory=True)
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    nd.dedup([folder.parent / "secret.txt"]).save(folder / "foreign")
    (answer,) = answers(server([folder]), call)
    assert "not in the folders that this server may read" in answer["refused"]
    assert "Divers" not in answer["refused"]


def test_an_index_brings_no_run_from_elsewhere(folder: Path) -> None:
    """An index without documents begins with those of the run that it names."""
    run = nd.dedup([folder.parent / "secret.txt"]).save(folder.parent / "run")
    with nd.Index.open("memory:", method="shingles") as index:
        made = index.described()
    store = open_store(folder / "crafted.db", create=True)
    store.create({**made, "run": str(run)}, {})
    store.close()
    (answer,) = answers(server([folder]), ("check", {"against": "crafted.db", "text": STORY}))
    assert "is empty" in answer["refused"]


def test_a_link_in_a_folder_is_rejected(folder: Path) -> None:
    (folder / "texts").mkdir()
    (folder / "texts" / "link.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "texts" / "own.txt").write_text(OTHER, "utf-8")
    (answer,) = answers(server([folder]), ("find", {"path": "texts"}))
    assert answer["sentence"] == "2 documents = 1 kept + 0 duplicates + 1 rejected."


def test_it_writes_only_if_asked(folder: Path) -> None:
    from neardup.integrations.mcp import READING, WRITING

    assert names(server([folder])) == [*READING]
    writing = server([folder], write=True)
    assert names(writing) == [*READING, *WRITING]
    with nd.Index.open(folder / "index.db", method="shingles") as index:
        index.add({"id": "a", "text": STORY})
    deduped, added, outside = answers(
        writing,
        ("dedup", {"path": "news.jsonl", "out": "out"}),
        ("add", {"index": "index.db", "id": "b", "text": STORY}),
        ("dedup", {"path": "news.jsonl", "out": "../out"}),
    )
    assert nd.Result.load(deduped["folder"]).counts.duplicates == 1
    assert added["sentence"] == "b is a duplicate of a; it is stored."
    assert "not in the folders" in outside["refused"]
    assert not (folder.parent / "out").exists()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (("check", {"against": "news.jsonl"}), "Expected either text or path."),
        (("compare", {"a": "news.jsonl", "b": "story.txt"}), "news.jsonl is not one document."),
        (("compare", {"a": "news.jsonl#z", "b": "story.txt"}), "no usable document with the id"),
        (("find", {"path": "news.jsonl", "method": "magic"}), "magic"),
        (("check", {"against": "news.jsonl", "text": "x" * 1_000_001}), "at most 1,000,000"),
        (("explain", {"run": "story.txt", "id": "a"}), "not the folder of a finished run"),
    ],
)
def test_a_mistake_is_answered_by_a_sentence(folder: Path, call: Call, sentence: str) -> None:
    (answer,) = answers(server([folder]), call)
    assert sentence in answer["refused"]
    assert "Hint:" in answer["refused"]


def test_an_answer_is_small(folder: Path) -> None:
    rows = [{"id": str(n), "text": f"{STORY} {n}"} for n in range(300)]
    (folder / "many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    few, most = answers(
        server([folder]),
        ("find", {"path": "many.jsonl"}),
        ("find", {"path": "many.jsonl", "limit": 10_000}),
    )
    assert (len(few["pairs"]), len(few["clusters"][0]["members"])) == (10, 10)
    assert few["clusters"][0]["size"] == 300
    assert len(most["pairs"]) == 200


def test_a_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(nd.NeardupError, match="is no folder"):
        server([tmp_path / "none"])
