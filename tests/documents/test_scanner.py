"""The native scanner against Python's json, on whole and on damaged lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.documents import jsonl
from reference import jsonl as twin
from repeats import examples

steady = examples(120)

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
names = st.sampled_from(["text", "id", "é", 'te"xt', "", "other"]) | st.text(max_size=4)
values = st.recursive(
    scalars | st.text(max_size=90),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=8,
)
objects = st.dictionaries(names, values, max_size=5)
spaces = st.text(" \t\r", max_size=3)
LINES = jsonl.JsonlSource(Path("lines.jsonl"), "lines.jsonl")
FIELDS = ["text", "id", "é", 'te"xt']


@st.composite
def written(draw: st.DrawFn) -> bytes:
    """An object written in one of the many ways JSON allows on one line."""
    gap, end = draw(spaces), draw(spaces)
    text = json.dumps(
        draw(objects),
        ensure_ascii=draw(st.booleans()),
        separators=(gap + "," + end, end + ":" + gap),
    )
    return (gap + text + end).encode()


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    line = bytearray(draw(written()))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(line)))
        byte = draw(
            st.binary(max_size=1)
            | st.sampled_from(list(b'{}[]":,\\u0 -.eE\x80\xed\xf4')).map(lambda b: bytes([b]))
        )
        line[place : place + draw(st.integers(0, 2))] = byte
    return bytes(line).replace(b"\n", b" ")


TOKENS = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    " ",
    '"text"',
    '"id"',
    '"\\u0074ext"',
    '"a\\ud83d\\ude00"',
    '"\\ud83d\\ud83d\\ude00"',
]
TOKENS += [
    '"\\udc00"',
    '"\\u00zz"',
    '"',
    "\\",
    "0",
    "-",
    "-0",
    "01",
    "1.5",
    "1.",
    "1e5",
    "1e",
    "null",
    "true",
    "nul",
    "NaN",
    "é",
    "\t",
]
token_soup = st.lists(st.sampled_from(TOKENS), max_size=14).map(
    lambda t: ("{" + "".join(t)).encode()
)


def check(chunk: bytes) -> None:
    scan = jsonl.scan(chunk, FIELDS)
    expected = twin.lines(chunk)
    assert len(scan.status) == len(expected) == jsonl.count(chunk)
    for i, line in enumerate(expected):
        found = {name: taken(field, i) for name, field in scan.fields.items()}
        if twin.is_blank(line):
            assert scan.status[i] == jsonl.BLANK
            continue
        value = twin.parse(line)
        assert (scan.status[i] == jsonl.OK) == (value is not None), line
        assert found == {name: (value or {}).get(name, "absent") for name in FIELDS}
        if value is None:
            assert 1 <= scan.position[i] <= len(line) + 1
            assert f"byte {scan.position[i]}" in jsonl.sentence(scan.status[i], scan.position[i])


def taken(field: jsonl.Field, i: int) -> Any:
    kind = field.types[i]
    raw = field.values[field.offsets[i] : field.offsets[i + 1]].tobytes()
    if kind == jsonl.ABSENT:
        return "absent"
    if kind in (jsonl.STRING, jsonl.SURROGATE):
        return raw.decode()
    if kind == jsonl.NUMBER:
        return twin.Number(raw.decode())
    return twin.parse(b'{"v":' + (raw or b"null") + b"}")["v"]  # type: ignore[index]


@given(st.lists(written() | st.sampled_from([b"", b" \r", b"[]", b"1"]), max_size=4), st.booleans())
@steady
def test_agrees_with_json(written_lines: list[bytes], ended: bool) -> None:
    check(b"\n".join(written_lines) + (b"\n" if ended else b""))


@given(damaged())
@steady
def test_agrees_with_json_on_damaged_lines(line: bytes) -> None:
    check(line)
    check(b"{}\n" + line + b"\n{}")


@given(token_soup)
@steady
def test_agrees_with_json_on_soup(line: bytes) -> None:
    check(line)


@given(st.binary(max_size=80))
@steady
def test_agrees_with_json_on_any_bytes_in_a_string(content: bytes) -> None:
    check(b'{"text":"' + content + b'"}')


@pytest.mark.parametrize("length", [*range(20), 31, 32, 33, 63, 64, 65, 127, 128, 129])
@pytest.mark.parametrize("special", ['"', "\\\\", "\\n", "é", "€", "😀", "\x1f", "\x7f", "\\u0000"])
def test_every_place_in_a_block(length: int, special: str) -> None:
    check(f'{{"text":"{"x" * length}{special}{"y" * 20}","id":1}}'.encode())


UTF8 = [
    b"\xc0\x80",
    b"\xc1\xbf",
    b"\xe0\x9f\xbf",
    b"\xed\xa0\x80",
    b"\xf0\x8f\xbf\xbf",
    b"\xf4\x90\x80\x80",
]
UTF8 += [
    b"\xf5\x80\x80\x80",
    b"\x80",
    b"\xff",
    b"\xe2\x82",
    b"\xf0\x9f\x98",
    b"\xc3",
    b"\xf4\x8f\xbf\xbf",
    b"\xed\x9f\xbf",
]


@pytest.mark.parametrize("sequence", UTF8)
@pytest.mark.parametrize("before", [b"", b"x" * 15, b"x" * 63, "é".encode() * 9])
def test_utf8_as_strict_as_python(sequence: bytes, before: bytes) -> None:
    check(b'{"text":"' + before + sequence + b'"}')
    check(b'{"text":"' + before + sequence)


@pytest.mark.parametrize(("depth", "ok"), [(511, True), (512, False), (100_000, False)])
@pytest.mark.parametrize("pair", ["[]", ('{"a":', "}")])
def test_nesting_limit(depth: int, ok: bool, pair: tuple[str, str]) -> None:
    line = f'{{"text":{pair[0] * depth}1{pair[1] * depth}}}'.encode()
    status = jsonl.scan(line, ["text"]).status[0]
    assert (status == jsonl.OK) == ok
    assert ok or "nested more than 512 deep" in jsonl.sentence(status, 1)


def test_ten_megabyte_line_and_nul() -> None:
    text = "a\0é😀\n" * 1_200_000
    line = json.dumps({"id": "x", "text": text}, ensure_ascii=False).encode()
    assert jsonl.scan(line, ["text"]).fields["text"].array()[0].as_py() == text


def test_mark_only_at_the_start_of_a_file() -> None:
    chunk = twin.MARK + b'{"text":"a"}\n' + twin.MARK + b"{}"
    assert jsonl.scan(chunk, ["text"], start_of_file=True).status.tolist()[0] == jsonl.OK
    assert jsonl.scan(chunk, ["text"], start_of_file=True).status[1] > jsonl.BLANK
    assert jsonl.scan(chunk, ["text"]).status[0] > jsonl.BLANK
    assert jsonl.scan(twin.MARK, [], start_of_file=True).status.tolist() == [jsonl.BLANK]


@given(st.lists(st.sampled_from([b"{}", b"x\r", b"", b" ", b"\r"]), max_size=8), st.data())
@steady
def test_select_agrees(parts: list[bytes], data: st.DataObject) -> None:
    chunk = b"\n".join(parts)
    count = sum(not twin.is_blank(part) for part in parts)
    keep = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    picked = LINES.select(chunk, np.array(keep, dtype=bool), 2, last_kept=True)
    assert picked.data == twin.select(chunk, keep)
    assert picked.documents == count


def test_select_with_a_short_mask_keeps_nothing_more() -> None:
    assert LINES.select(b"1\n2\n3\n", np.array([True]), 2, last_kept=True).data == b"1\n"
