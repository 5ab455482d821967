"""The groups of the training material are what its page says; what is planted says what it is."""

from __future__ import annotations

from pathlib import Path

from neardup.planting.edits import EDITS
from planting.test_plant import documents
from tools.general_model.collect import read, write
from tools.general_model.document import Document
from tools.general_model.groups import trusted
from tools.general_model.languages import language
from tools.general_model.planted import with_copies
from tools.general_model.readers import fortunes, topic


def made(id: str, text: str, group: str) -> Document:
    return Document(id, text, group, "package_1", "MIT", "en")


def test_one_text_is_one_group_and_what_no_longer_is_goes() -> None:
    one, two, three = (document["text"] * 3 for document in documents(3))
    given = [
        made("a1", one, "a"),
        made("a2", one.replace("w1", "v1"), "a"),
        made("a3", two, "a"),  # called a version of the first, and is none
        made("b1", one.upper(), "b"),  # the text of another group
        made("b2", f"{one} and a little more", "b"),
        made("c1", three, "c"),
    ]
    kept = {document.id: document.group for document in trusted(given)}
    assert kept == {"a1": "a", "a2": "a", "b2": "a", "c1": "c"}


def test_copies_and_traps_are_marked(tmp_path: Path) -> None:
    real = [made(one["id"], one["text"], f"g{one['id']}") for one in documents(50)]
    everything = with_copies(real, seed=1)
    write(tmp_path / "x.jsonl", everything)
    assert list(read(tmp_path / "x.jsonl")) == everything
    group = {one.id: one.group for one in everything}
    assert len(group) == len(everything)
    copies = [one for one in everything if one.of]
    assert {one.edit for one in copies} >= set(EDITS) - {"reordered-paragraphs"}
    assert all(one.group == group[one.of] for one in copies if one.of)
    traps = [one for one in everything if one.trap_of]
    assert {one.edit for one in traps} == {"trap", "form"}
    assert all(group[str(one.trap_of)] != one.group and one.donors for one in traps)
    assert len(real) + len(copies) + len(traps) == len(everything)


def test_languages_are_told_by_letters_and_stop_words() -> None:
    texts = {
        "en": "This is what the package is for, and how it can be used by those who have it.",
        "de": "Das ist, wofür das Paket da ist und wie es von denen genutzt wird, die es haben.",
        "ja": "このパッケージは文書の重複を見つけます。",
        "zh": "这个软件包可以找到重复的文档。",
        "ru": "Это то, для чего нужен пакет, и как его можно использовать тем, у кого он есть.",
    }
    assert {lang: language(text) for lang, text in texts.items()} == {lang: lang for lang in texts}
    assert language("foo bar baz qux") is None


def test_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "some"
    path.write_text("One.\n%\nTwo\nlines.\n%\n")
    assert [text for _, text in fortunes(path)] == ["One.", "Two\nlines.", ""]
    path.write_text("<page><info><p>No</p></info><title>A</title><p>B <em>c</em></p></page>")
    assert list(topic(path)) == [("", "A\n\nB c")]
