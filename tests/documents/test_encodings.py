"""Encodings: marks, UTF-8, detected ones, stated ones; what was detected is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import neardup as nd
from conftest import ROOT
from neardup.cli import main
from neardup.documents.encodings import canonical, decoded
from neardup.documents.streams import open_binary, writing
from neardup.errors import InputError, SettingsError

NEWS = {
    item["id"]: item["text"]
    for item in map(json.loads, (ROOT / "examples/news.jsonl").read_text("utf-8").splitlines())
}
LEGACY = {
    "ar": ["cp1256", "iso-8859-6"],
    "de": ["cp1252"],
    "el": ["cp1253"],
    "es": ["cp1252"],
    "fr": ["cp1252", "iso-8859-15"],
    "ja": ["shift_jis", "euc-jp"],
    "ko": ["euc-kr"],
    "ru": ["cp1251", "koi8-r", "iso-8859-5"],
    "th": ["tis-620"],
    "tr": ["cp1254"],
    "zh": ["gb18030", "big5"],
}
OTHERS = {
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy. Starosta uvedl, že stavba mostu bude "
    "dokončena příští rok. Šéf firmy řekl, že peníze už jsou zajištěny.",
    "iso-8859-2": "Zażółć gęślą jaźń. Prezydent miasta powiedział, że budowa mostu zostanie "
    "zakończona w przyszłym roku. Źródła podają, że środki są już zapewnione.",
    "cp1255": "ראש העיר אמר כי בניית הגשר החדש תושלם בשנה הבאה. הכסף כבר הובטח והעבודות יתחילו "
    "בקרוב. התושבים מרוצים מההחלטה של המועצה.",
}


def legacy() -> list[tuple[str, str]]:
    found = [
        (encoding, text)
        for name, text in NEWS.items()
        for encoding in LEGACY.get(name.partition("-")[0], [])
    ]
    return found + list(OTHERS.items())


def test_legacy_encodings_are_detected() -> None:
    wrong, tried = [], 0
    for encoding, text in legacy():
        data = text.encode(encoding, "ignore")
        tried += not data.isascii()
        if decoded(data).text != data.decode(encoding):
            wrong.append((encoding, decoded(data).encoding, text[:30]))
    assert tried > 70
    assert wrong == []


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("language", ["en", "de", "ru", "ar"])
def test_wide_encodings_without_a_mark(encoding: str, language: str) -> None:
    text = next(text for name, text in NEWS.items() if name.startswith(language))
    assert decoded(text.encode(encoding)).text == text


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"caf\xe9", "café"), (b"Stra\xdfe", "Straße"), (b"na\xefve", "naïve"), (b"\x81", "\x81")],
)
def test_a_guess_that_is_hardly_one_is_windows_1252(data: bytes, text: str) -> None:
    assert decoded(data).text == text


def test_a_stated_encoding_is_taken_at_its_word() -> None:
    assert decoded("é".encode(), "cp1252").text == "Ã©"
    assert decoded(b"\xff\xfea\0", "utf-16").text == "a"
    assert decoded(b"a\0", "utf-16-le").text == "a"
    assert decoded(b"\xff", "utf-8").reason == "file is not valid utf-8 at byte 1"
    assert decoded(b"\xff\xfe", "koi8-r").text == "ЪЧ"
    assert canonical("Windows-1251") == "cp1251"
    for name in ("klingon", "base64", "a\0", ""):
        with pytest.raises(SettingsError, match="encoding is"):
            nd.dedup(["a"], encoding=name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "in"
    path.mkdir()
    for name, text in NEWS.items():
        if name.startswith("ru"):
            (path / name).write_bytes(text.encode("koi8-r", "ignore"))
    (path / "utf-8").write_text("привет", "utf-8")
    return path


def test_what_was_detected_is_told(tmp_path: Path, folder: Path) -> None:
    done = CliRunner().invoke(main, ["dedup", str(folder), "-o", str(tmp_path / "out")])
    count = len(list(folder.iterdir())) - 1
    assert f"Text files that are not UTF-8 were read: {count} as koi8-r." in done.stderr
    info = json.loads((tmp_path / "out/run.json").read_text())
    assert info["encodings"] == {"koi8-r": count, "utf-8": 1}
    result = nd.Result.load(tmp_path / "out")
    texts = {text.encode("koi8-r", "ignore").decode("koi8-r") for text in NEWS.values()}
    assert set(result.kept["text"].to_pylist()) <= {*texts, "привет"}
    stated = nd.dedup(folder, encoding="koi8-r")
    assert stated.info["encodings"] == {"koi8-r": count + 1}


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "shift_jis", "gb18030"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz"])
def test_csv_in_a_stated_encoding(tmp_path: Path, encoding: str, name: str) -> None:
    texts = [text for key, text in NEWS.items() if key.startswith("ru")][:3]
    texts = [t.encode(encoding, "ignore").decode(encoding).replace('"', "") for t in texts]
    sign = "\t" if "tsv" in name else ","
    rows = [f'д{i}{sign}"{text}"\r\n' for i, text in enumerate([*texts, *texts])]
    header = f"id{sign}текст\r\n".encode(encoding)
    codec = "gzip" if name.endswith("gz") else None
    with writing(tmp_path / name, codec) as file:
        file.write(header + "".join(rows).encode(encoding))
    result = nd.dedup(str(tmp_path / name), text="текст", encoding=encoding, method="exact")
    assert result.decisions["id"].to_pylist() == [f"д{i}" for i in range(len(rows))]
    assert result.kept["текст"].to_pylist() == texts
    result.save(tmp_path / "out")
    assert nd.Result.load(tmp_path / "out").kept.equals(result.kept)
    (kept,) = (tmp_path / "out").glob("kept.*")
    with open_binary(kept, codec) as file:
        assert file.read() == header + "".join(rows[: len(texts)]).encode(encoding)


def test_csv_that_is_not_in_its_stated_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("id,text\nа,ы\n".encode("cp1251") + b"b,\xff\n")
    result = nd.dedup(str(path), encoding="shift_jis")
    reasons = [row["reason"] for row in result.decisions.to_pylist()]
    assert reasons[1] == "text is not valid shift_jis"
    with pytest.raises(InputError, match="cannot be read as utf-16"):
        nd.dedup(str(path), encoding="utf-16")
