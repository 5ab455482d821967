"""RSS and Atom files as input: an item is a document; tags are never compared as prose."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import neardup as nd
from neardup.documents import Columns, collect
from neardup.documents.news_items import is_feed
from neardup.errors import ColumnError, UnreadableError

PIER = (
    "The old ferry pier at Marrow Harbour will be rebuilt in stone after the council voted on it."
)
SNOW = "Heavy snow is expected in the northern valleys, and drivers should stay at home until noon."
RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>Wire</title>
<language>en</language>{}</channel></rss>"""
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><title>Paper</title>{}</feed>'
ITEM = """<item><guid>{0}</guid><title>T{0}</title><link>http://x/{0}</link>
<pubDate>Tue, 05 Mar 2024 10:00:00 GMT</pubDate><description>&lt;p&gt;{1}&lt;/p&gt;</description>
</item>"""
ENTRY = """<entry><id>{0}</id><author><name>Jo</name><email>j@x</email></author>
<updated>2024-03-06T10:00:00Z</updated><content type="html">{1}</content></entry>"""


def rss(*texts: str) -> str:
    return RSS.format("".join(ITEM.format(n, text) for n, text in enumerate(texts, 1)))


def atom(*texts: str) -> str:
    return ATOM.format("".join(ENTRY.format(n, text) for n, text in enumerate(texts, 1)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "news"
    made.mkdir()
    (made / "a.xml").write_text(rss(PIER, SNOW))
    (made / "b.atom").write_text(atom(PIER))
    return made


def test_every_item_is_a_document_without_tags(folder: Path) -> None:
    found = [chunk.read() for chunk in collect(folder / "a.xml").chunks(Columns(extra=("date",)))]
    (records,) = [batch.records for batch in found]
    assert records["id"].to_pylist() == ["1", "2"]
    assert records["text"].to_pylist() == [PIER, SNOW]
    assert records["date"].to_pylist() == ["2024-03-05T10:00:00+00:00"] * 2


def test_a_folder_of_feeds_is_deduplicated_by_item(folder: Path, tmp_path: Path) -> None:
    result = nd.dedup(folder, keep="newest", date="date")
    decided = {row["id"]: row["decision"] for row in result.decisions.to_pylist()}
    a, b = folder / "a.xml", folder / "b.atom"
    assert decided == {f"{a}#1": "duplicate", f"{a}#2": "kept", f"{b}#1": "kept"}
    result.save(tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out/kept.jsonl").read_text().splitlines()]
    assert [(one["feed"], one["text"]) for one in lines] == [("Wire", SNOW), ("Paper", PIER)]
    assert lines[1]["author"] == "Jo"
    assert "<guid>2</guid>" in lines[0]["xml"]
    again = nd.Result.load(tmp_path / "out")
    assert again.explain(f"{a}#1").kept_id == f"{b}#1"


def test_feeds_beside_texts_and_other_xml(folder: Path, tmp_path: Path) -> None:
    (folder / "story.txt").write_text(SNOW)
    (folder / "story.xml").write_text(f"<nitf><body><p>{SNOW}</p></body></nitf>")
    result = nd.dedup(folder, keep="newest", date="date")
    assert result.counts.sentence() == "5 documents = 2 kept + 3 duplicates + 0 rejected"
    result.save(tmp_path / "out")
    assert not (tmp_path / "out/kept/a.xml").exists()


def test_a_feed_from_standard_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO((folder / "a.xml").read_bytes())

    monkeypatch.setattr("sys.stdin", Stdin)
    assert nd.dedup("-").kept["text"].to_pylist() == [PIER, SNOW]


def test_an_item_without_an_id_or_with_one_that_was_used_is_called_by_its_row(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.rss"
    items = ITEM.format(1, PIER), f"<item><title>{SNOW}</title></item>", ITEM.format(1, SNOW)
    path.write_text(RSS.format("".join(items)))
    ids = nd.find(path).decisions["id"].to_pylist()
    assert ids == ["1", f"{path}:2", f"{path}:3"]


def test_a_feed_that_cannot_be_read_is_one_rejected_document(folder: Path) -> None:
    (folder / "bomb.rss").write_text('<!DOCTYPE rss [<!ENTITY a "ha">]><rss>&a;</rss>')
    (folder / "cut.rss").write_text(rss(PIER)[:-20])
    (folder / "empty.rss").write_text(rss())
    rejected = [
        (Path(row["file"]).name, row["reason"])
        for row in nd.find(folder).decisions.to_pylist()
        if row["decision"] == "rejected"
    ]
    begin = "nothing of it can be read: "
    assert rejected[0] == ("bomb.rss", f"{begin}it declares the XML entity 'a'")
    assert rejected[1][1].startswith(f"{begin}not valid XML: ")
    assert rejected[2] == ("empty.rss", f"{begin}there is no item in it")


def test_the_only_feed_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.rss").write_text(rss())
    with pytest.raises(UnreadableError, match=r"a\.rss: there is no item in it"):
        nd.find(tmp_path / "a.rss")


def test_items_are_annotated(folder: Path) -> None:
    kept = nd.dedup(folder).annotated
    assert dict(zip(kept["text"].to_pylist(), kept["decision"].to_pylist(), strict=True)) == {
        PIER: "duplicate",
        SNOW: "kept",
    }


def test_read_as_they_are_feeds_are_text(folder: Path) -> None:
    assert nd.find(folder, extract="none").counts.documents == 2


def test_a_column_that_items_lack(folder: Path) -> None:
    with pytest.raises(
        ColumnError, match=r"'body' is not in .*a\.xml; it has 'id', 'text', 'title'"
    ):
        nd.find(folder / "a.xml", text="body")


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        (rss(), True),
        (atom(), True),
        ("<!-- c --><?x y?><rss>", True),
        ("<feed><bag>oats</bag></feed>", True),
        ('<feed xmlns="http://farm">', False),
        ('<r:RDF xmlns:r="http://r" xmlns="http://purl.org/rss/1.0/">', True),
        ('<r:RDF xmlns:r="http://r">', False),
        ("<nitf>", False),
        ("no xml", False),
        ("", False),
    ],
)
def test_what_a_feed_is(head: str, answer: bool) -> None:
    assert is_feed(head.encode()) is answer
    assert is_feed(head.encode("utf-16")) is answer or "RDF" in head


NITF = """<!DOCTYPE nitf SYSTEM "http://www.nitf.org/nitf-3-4.dtd"><nitf xml:lang="en"><head>
<docdata><doc-id id-string="wire-{0}"/><date.issue norm="20240305T100000Z"/>
<doc.copyright holder="The Wire"/></docdata><pubdata ex-ref="http://x/{0}"/></head><body><body.head>
<hedline><hl1>Pier {0}</hl1></hedline><byline>Jo Roe</byline></body.head>
<body.content><p>{1}</p></body.content></body></nitf>"""
NEWSML = """<newsItem xmlns="http://iptc.org/std/nar/2006-10-01/" guid="tag:x,{0}" xml:lang="en">
<itemMeta><itemClass qcode="ninat:text"/><provider><name>Agency</name></provider>
<versionCreated>2024-03-05T10:00:00Z</versionCreated></itemMeta>
<contentMeta><headline>Headline {0}</headline></contentMeta>
<contentSet><inlineXML>{1}</inlineXML></contentSet></newsItem>"""
XHTML = """<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head>
<body><p>{}</p></body></html>"""
MESSAGE = """<newsMessage xmlns="http://iptc.org/std/nar/2006-10-01/"><header/><itemSet>{}
<packageItem guid="p"/></itemSet></newsMessage>"""
SITEMAP = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
 xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"><url><loc>http://x/1</loc><n:news>
<n:publication><n:name>Paper</n:name><n:language>en</n:language></n:publication>
<n:publication_date>2024-03-05</n:publication_date><n:title>{}</n:title></n:news></url></urlset>"""
OAI = """<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords><record><header>
<identifier>oai:x:1</identifier><datestamp>2024-03-05</datestamp></header><metadata>
<dc xmlns="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:d="http://purl.org/dc/elements/1.1/">
<d:title>A title</d:title><d:creator>Roe, J.</d:creator><d:creator>Doe, K.</d:creator>
<d:description>{}</d:description><d:identifier>https://doi.org/10.1/x</d:identifier></dc></metadata>
</record><record><header status="deleted"><identifier>oai:x:2</identifier></header></record>
</ListRecords></OAI-PMH>"""


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.xml").write_text(content)
    return folder


def test_news_of_every_format_is_compared_by_its_text(tmp_path: Path) -> None:
    inside = NITF.format(9, PIER).partition(">")[2]
    items = NEWSML.format(1, XHTML.format(PIER)) + NEWSML.format(2, inside)
    others = {"sitemap": SITEMAP.format(PIER), "oai": OAI.format(PIER)}
    folder = written(tmp_path / "news", message=MESSAGE.format(items), **others)
    result = nd.dedup(folder, method="exact")
    assert (result.counts.kept, result.counts.duplicates, result.counts.rejected) == (1, 3, 1)
    found = {row["id"].partition("#")[2]: row for row in result.decisions.to_pylist()}
    assert found["oai:x:2"]["reason"] == "item has no text"
    result.save(tmp_path / "out")
    (line,) = [json.loads(line) for line in (tmp_path / "out/kept.jsonl").read_text().splitlines()]
    about = {name: line[name] for name in ("text", "title", "date", "lang", "feed")}
    assert about == {
        "text": PIER,
        "title": "Headline 1",
        "date": "2024-03-05T10:00:00+00:00",
        "lang": "en",
        "feed": "Agency",
    }
    names = Columns(extra=("title", "author", "url", "feed"))
    records = [chunk.read().records.to_pylist() for chunk in collect(folder).chunks(names)]
    by_title = {row["title"]: row for rows in records for row in rows}
    assert by_title[PIER]["feed"] == "Paper"
    assert by_title["A title"]["author"] == "Roe, J.; Doe, K."
    assert by_title["A title"]["url"] == "https://doi.org/10.1/x"


def test_an_article_in_xml_is_a_file_with_metadata(tmp_path: Path) -> None:
    one = NEWSML.format(3, XHTML.format(SNOW))
    folder = written(tmp_path / "news", a=NITF.format(1, PIER), b=NITF.format(2, PIER), c=one)
    names = Columns(extra=("title", "author", "date", "url"))
    (batch,) = [chunk.read() for chunk in collect(folder).chunks(names)]
    first, _, last = batch.records.to_pylist()
    assert first == {
        "row": 1,
        "id": "a.xml",
        "text": PIER,
        "title": "Pier 1",
        "author": "Jo Roe",
        "date": "2024-03-05T10:00:00+00:00",
        "url": "http://x/1",
    }
    assert (last["text"], last["title"]) == (SNOW, "Headline 3")
    nd.dedup(folder, method="exact").save(tmp_path / "out")
    assert (tmp_path / "out/kept.txt").read_text() == "a.xml\nc.xml\n"
    assert (tmp_path / "out/kept/a.xml").read_text() == NITF.format(1, PIER)


def test_items_in_items_are_none(tmp_path: Path) -> None:
    deep = "<record>" * 150 + "x" + "</record>" * 150
    folder = written(tmp_path / "oai", a=f"<OAI-PMH><ListRecords>{deep}</ListRecords></OAI-PMH>")
    with pytest.raises(UnreadableError, match="there is no item in it"):
        nd.dedup(written(folder, b="<newsMessage/>") / "b.xml", method="exact")
    assert nd.dedup(folder, method="exact").counts.documents == 2
