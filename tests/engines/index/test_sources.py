"""An index remembers whose a document is, however it came and whatever happened to it since."""

from __future__ import annotations

from pathlib import Path

import pytest

from neardup.documents import collect
from neardup.documents.news_items import feed_items
from neardup.engines.index.flow.items import Fields, feed_fields
from neardup.engines.index.flow.watched_folder import Opener, Staged
from neardup.engines.index.index import Index
from neardup.engines.index.refresh import refresh, take_in

TEXT = "The council met on Tuesday to discuss the harbour and the price of fish in the old town."
OTHER = "Nothing in this text was ever said by anyone who has been to a meeting of the council."
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>The Harbour Post</title>
<entry><id>a1</id><title>Fish</title><content>Fish is dear.</content></entry></feed>"""
RSS = """<rss version="2.0"><channel><title>Old Town</title>
<item><guid>r1</guid><description>Fish is dear.</description></item></channel></rss>"""


def sources(index: Index) -> dict[str, str | None]:
    return {entry.id: entry.source for entry in index}


def test_documents_say_whose_they_are(durable: str) -> None:
    with Index.open(durable, method="shingles", texts=True) as index:
        index.add({"id": "a", "text": TEXT, "source": "post"})
        index.add_many([{"id": "b", "text": TEXT}, {"id": "c", "text": TEXT, "source": 7}])
        index.add({"id": "d", "text": OTHER, "source": "x\0\ud800" + "y" * 500})
        index.update({"id": "b", "text": TEXT + " again", "source": "town"})
        index.remove("a")  # those that were set aside for it arrive again
        found = sources(index)
    assert found == {"c": "7", "b": "town", "d": ("x\0?" + "y" * 500)[:200]}
    with Index.open(durable) as again:
        assert sources(again) == found


def test_collections_may_have_a_column_of_sources(tmp_path: Path) -> None:
    documents = [{"id": "a", "body": TEXT, "paper": "post"}, {"id": "b", "body": OTHER}]
    with Index.open("memory:", method="shingles", text="body", source="paper") as index:
        list(take_in(index, collect(documents)))
        assert sources(index) == {"a": "post", "b": None}
    (tmp_path / "plain.jsonl").write_text('{"id": "c", "text": "no source at all"}\n')
    with Index.open("memory:", method="shingles") as index:
        list(take_in(index, collect(tmp_path / "plain.jsonl")))
        assert sources(index) == {"c": None}


def test_a_text_is_never_stored_as_a_source() -> None:
    with Index.open("memory:", method="shingles", text="source") as index:
        index.add({"id": "a", "source": TEXT})
        assert sources(index) == {"a": None}


def test_a_refreshed_index_still_knows_them(tmp_path: Path) -> None:
    with Index.open(tmp_path / "old.db", method="shingles", texts=True, date="day") as old:
        old.add({"id": "a", "text": TEXT, "source": "post", "day": "2026-01-02"})
        refresh(old, tmp_path / "new.db", None)
    with Index.open(tmp_path / "new.db") as new:
        assert sources(new) == {"a": "post"}


@pytest.mark.parametrize(("feed", "name"), [(ATOM, "The Harbour Post"), (RSS, "Old Town")])
def test_entries_of_a_feed_are_of_the_feed(feed: str, name: str) -> None:
    (entry,) = feed_items(feed.encode())
    assert feed_fields(entry, Fields())["source"] == name


def test_a_file_in_a_folder_is_of_that_folder() -> None:
    opener = Opener(Fields())
    found = opener.documents(
        [
            Staged(b"Fish is dear.", "text", "post/1.txt", "post"),
            Staged(b'{"text": "Fish", "source": "town"}', "json", "x", "post"),
            Staged(b"Fish.", "text", "1.txt"),
        ]
    )
    assert [one.document.get("source") for one in found] == ["post", "town", None]
