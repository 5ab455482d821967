"""The texts of any input, as for boilerplate."""

from __future__ import annotations

from pathlib import Path

import pytest

from documents.pages import MENU
from neardup.artefacts.boilerplate import texts_of
from neardup.errors import SettingsError


def test_texts_of_files_folders_and_tables(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.html").write_text(f"<nav>{MENU}</nav><p>Text of a page.</p>")
    (tmp_path / "in/b.txt").write_bytes("Größe < 3".encode("cp1252"))
    (tmp_path / "c.jsonl").write_text('{"text": "a <b> c"}\n{"text": null}\n')
    assert texts_of(tmp_path / "in/b.txt") == ["Größe < 3"]
    assert texts_of(tmp_path / "c.jsonl") == ["a <b> c"]
    for path in (tmp_path / "in", tmp_path / "in/a.html"):
        assert "Section number 4 of our paper" in texts_of(path)[0]


def test_what_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(b"\x89PNG\0")
    with pytest.raises(SettingsError, match="picture cannot be read: file is binary"):
        texts_of(tmp_path / "picture")
    with pytest.raises(SettingsError, match="does not exist"):
        texts_of(tmp_path / "nothing")
