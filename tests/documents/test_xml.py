"""XML files that are no feeds: their text without tags, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.documents.news_items import xml_document as xml_text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("<a><p>One <b>bold</b> word.</p><p>Two</p></a>", "One bold word.\nTwo"),
        ("<a><name>x</name><value>1</value></a>", "x\n1"),
        ("<a>\n  <p>wrapped\n  line</p>\n</a>", "wrapped line"),
        ("<a><![CDATA[<p>One</p><p>Two &amp; three</p>]]></a>", "One\nTwo & three"),
        ("<a>1 &lt; 2 &amp; 3 &gt; 2</a>", "1 < 2 & 3 > 2"),
        ("<a><!-- not this --><script>x()</script><p>this</p></a>", "this"),
        ("<a b='attribute'>text</a>", "text"),
    ],
)
def test_text_without_markup(written: str, text: str) -> None:
    assert xml_text(written.encode()).text == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'<!DOCTYPE a [<!ENTITY l "ha"><!ENTITY m "&l;&l;">]><a>&m;</a>', "declares the XML ent"),
        (b'<!DOCTYPE a [<!ENTITY p SYSTEM "file:///etc/passwd">]><a>&p;</a>', "declares the XML"),
        (b'<!DOCTYPE a [<!ENTITY % p SYSTEM "file:///etc/passwd">%p;]><a/>', "declares the XML"),
        (b"<a><b></a>", "not valid XML: mismatched tag"),
        (b"no xml at all", "not valid XML: syntax error"),
        (b'<?xml version="1.0" encoding="utf-8"?><a>caf\xe9 noir</a>', "not valid utf-8 at byte"),
        (b'<?xml version="1.0" encoding="klingon"?><a>\xe9</a>', "unknown encoding 'klingon'"),
        (b"<a><b/></a>", "XML file has no text"),
        (b"<a>" * 10_000, "more than 200 levels deep"),
        (b"", "not valid XML: no element found"),
    ],
)
def test_what_is_refused_says_why(data: bytes, reason: str) -> None:
    found = xml_text(data)
    assert found.text is None
    assert reason in str(found.reason)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "shift_jis", "iso-2022-jp", "euc-jp"])
def test_declared_encodings(encoding: str) -> None:
    text = "橋は来年まで閉鎖される。"
    written = f'<?xml version="1.0" encoding="{encoding}"?><a>{text}</a>'
    assert xml_text(written.encode(encoding)).text == text


def test_the_user_knows_the_encoding_better() -> None:
    data = '<?xml version="1.0" encoding="utf-8"?><a>мост</a>'.encode("koi8-r")
    assert xml_text(data, "koi8-r").text == "мост"


def test_in_a_folder_only_the_text_is_compared(tmp_path: Path) -> None:
    story = "The bridge across the river stays closed until spring, the council said on Monday."
    other = "A new library opens its doors next week with twelve thousand books and a cinema."
    for name, text in (("a", story), ("b", other)):
        tags = "".join(f"<field{n} name='the same of all'/>" for n in range(200))
        (tmp_path / f"{name}.xml").write_text(f"<doc>{tags}<p>{text}</p></doc>")
    result = nd.dedup(tmp_path)
    assert result.kept["text"].to_pylist() == [story, other]


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_a_reason(data: bytes) -> None:
    for one in (data, b"<a>" + data + b"</a>", data + "<a>é</a>".encode("utf-16")):
        found = xml_text(one)
        assert (found.text is None) != (found.reason is None)
