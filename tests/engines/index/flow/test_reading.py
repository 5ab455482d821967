"""Items of files: what is read, what is refused, and that nothing breaks on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.documents.news_items import feed_items
from neardup.engines.index.flow.items import Fields, feed_fields, items
from neardup.engines.index.flow.watched_folder import Opened, Opener, Staged

FIELDS = Fields()
ATOM = """<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>
<entry><id>urn:1</id><title>One</title><link rel="self" href="http://x/self"/>
<link href="http://x/1"/><updated>2026-01-01T00:00:00Z</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>A &amp; B</p><p>C</p></div>
</content></entry><entry><title>a &lt; b</title></entry></feed>"""
RSS = """<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://x/rss.dtd">
<rss xmlns:c="http://purl.org/rss/1.0/modules/content/"><channel>
<item><title>T</title><link>http://x/1</link><description>short</description>
<c:encoded><![CDATA[<p>The caf&eacute; is <b>open</b></p><script>x()</script>]]></c:encoded></item>
<item><description>caf&eacute;</description></item></channel></rss>"""
LAUGHS = """<!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>
<rss><channel><item><description>&b;</description></item></channel></rss>"""
OUTSIDE = """<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<rss><channel><item><description>&a;</description></item></channel></rss>"""


def found(path: Path, content: str | bytes) -> list[tuple[str, str | None]]:
    """(id, problem) of the items of a file."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [(item.id, item.problem) for item in items(path, path.name, FIELDS)]


def test_atom() -> None:
    one, two = (feed_fields(item, FIELDS) for item in feed_items(ATOM.encode()))
    assert one.pop("xml").startswith("<ns0:entry")
    assert one == {
        "source": "News",
        "id": "urn:1",
        "title": "One",
        "text": "A & B\nC",
        "link": "http://x/1",
        "date": "2026-01-01T00:00:00Z",
    }
    assert two["text"] == "a < b"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_rss(encoding: str) -> None:
    fields = FIELDS._replace(text="body")
    one, two = (feed_fields(item, fields) for item in feed_items(RSS.encode(encoding)))
    assert (one["id"], one["title"], one["body"]) == ("http://x/1", "T", "The café is open")
    assert (two.get("id"), two["body"]) == (None, "café")


@pytest.mark.parametrize(
    ("hostile", "reason"),
    [
        (LAUGHS, "it declares the XML entity 'a'"),
        (OUTSIDE, "it declares the XML entity 'a'"),
        ("<rss>", "not valid XML: no element found"),
        ("", "not valid XML: no element found"),
        ("<html><p>x</p></html>", "expected a feed, NewsML-G2, NITF"),
        ("<rss>&undeclared;</rss>", "not valid XML: undefined entity"),
        ('<?xml version="1.0" encoding="klingon"?><rss/>', "not valid XML: unknown encoding"),
    ],
)
def test_a_feed_that_is_refused_is_unreadable_as_a_whole(
    tmp_path: Path, hostile: str, reason: str
) -> None:
    ((id_, problem),) = found(tmp_path / "a.rss", hostile)
    assert id_ == "a.rss"
    assert str(problem).startswith(reason)


def test_a_feed_of_a_hundred_thousand_levels(tmp_path: Path) -> None:
    deep = "<rss>" + "<item>" * 100_000 + "</item>" * 100_000 + "</rss>"
    assert found(tmp_path / "a.xml", deep) == [("a.xml", "its XML is more than 200 levels deep")]


def test_json_in_every_form(tmp_path: Path) -> None:
    one, two = '{"id": 7,\n"text": "a"}', '{"text": "b"}'
    assert found(tmp_path / "a.json", one) == [("7", None)]
    assert found(tmp_path / "a.json", f"[{one}, {two}]") == [("7", None), ("a.json:2", None)]
    assert found(tmp_path / "a.json", f"{two}\n\n{two}") == [("a.json:1", None), ("a.json:3", None)]
    assert found(tmp_path / "a.jsonl", f"\ufeff{two}\n[1]") == [
        ("a.jsonl:1", None),
        ("a.jsonl:2", "expected a JSON object, got list"),
    ]
    assert found(tmp_path / "a.jsonl", "") == [("a.jsonl", "there is no item in it")]
    assert found(tmp_path / "a.json", "[]") == [("a.json", "there is no item in it")]
    ((id_, problem),) = found(tmp_path / "a.json", "[" * 100_000)
    assert id_ == "a.json"
    assert str(problem).startswith("not valid JSON")


def test_lines_keep_their_bytes(tmp_path: Path) -> None:
    lines = [b'{"text" : "\\u00e9", "n":1.50}\r\n', b'{"text": "x"}']
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
    assert [item.data for item in items(tmp_path / "a.jsonl", "a.jsonl", FIELDS)] == lines


@pytest.mark.parametrize(
    ("data", "form", "reason"),
    [
        (
            b'{"contenu": "a"}',
            "json",
            "it has no 'text', only 'contenu'; make a new index with --text COLUMN",
        ),
        (b"{}", "json", "it has no 'text'"),
        (b"From: a\n\n \n", "message", "it is empty"),
        (b"no compound file", ".msg", "message cannot be read: it is no file of Outlook"),
        (b'{"text": 1}', "json", "'text' is int, not a text"),
        (b'{"text": "\xff"}', "json", "not valid UTF-8 at byte 11"),
        (b"a\0b", "text", "file is binary: NUL at byte 2"),
    ],
)
def test_what_has_no_text_says_why(data: bytes, form: str, reason: str) -> None:
    (found,) = Opener(FIELDS).documents([Staged(data, form, "a")])
    assert found == Opened({}, problem=reason)


MAIL = b"From: ann@x.org\nSubject: Pier\nMessage-ID: <1@x.org>\n\nThe pier is of stone.\n"


def test_messages_and_mailboxes(tmp_path: Path) -> None:
    box = tmp_path / "box.mbox"
    begin = b"From ann@x.org Mon Nov 16 08:00:00 2026\n"
    box.write_bytes(begin + MAIL + b"\n" + begin + MAIL.replace(b"Message-ID: <1@x.org>\n", b""))
    first, second = items(box, "sub/box.mbox", FIELDS)
    assert (first.id, first.name, first.form) == ("1@x.org", "sub/box-1.eml", "message")
    assert (second.id, second.name) == ("sub/box.mbox:2", "sub/box-2.eml")
    assert first.data.strip() == MAIL.strip()
    (found,) = Opener(FIELDS).documents([Staged(MAIL, "message", "a.eml")])
    stated = {"title": "Pier", "author": "ann@x.org"}
    assert found.document == {"id": "a.eml", "text": "The pier is of stone.", **stated}


def test_text_in_other_encodings() -> None:
    data = "Überschwemmung in Köln".encode("utf-16")
    (found,) = Opener(FIELDS).documents([Staged(data, "text", "a")])
    assert found == Opened({"id": "a", "text": "Überschwemmung in Köln"})


@given(st.binary(max_size=200), st.sampled_from([".json", ".jsonl", ".rss"]))
def test_any_bytes_are_items_or_a_problem(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, ending: str
) -> None:
    path = tmp_path_factory.mktemp("any") / f"a{ending}"
    path.write_bytes(data)
    for item in items(path, path.name, FIELDS):
        assert item.problem or isinstance(json.loads(item.data.decode("utf-8-sig")), dict)
