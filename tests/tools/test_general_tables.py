"""General tables hold what many texts have, and nothing else of them."""

from __future__ import annotations

from pathlib import Path

from neardup.artefacts.frequencies import UNKNOWN_COUNT, load_frequencies
from neardup.artefacts.idf import load_idf
from tools.general_model.document import Document
from tools.general_tables import FEWEST_TEXTS, first_versions, write


def made(group: str, text: str) -> Document:
    return Document(f"{group}/{text}", text, group, "package_1", "MIT", "en")


def test_what_many_texts_have_is_kept(tmp_path: Path) -> None:
    """Versions of one text count once; the files are read as those of any run."""
    common = [made(f"c{n}", f"as you can see w{n} x{n}") for n in range(FEWEST_TEXTS)]
    versions = [made("one", f"versions of one text {n}") for n in range(FEWEST_TEXTS)]
    texts = first_versions([*common, *versions])
    assert len(texts) == FEWEST_TEXTS + 1
    write(texts, tmp_path)
    shingles = load_frequencies(tmp_path / "general-shingles.arrow")
    counts = shingles.counts.unpacked()
    assert sorted(counts[counts > UNKNOWN_COUNT]) == [FEWEST_TEXTS] * 2
    assert shingles.documents == len(texts)
    words = load_idf(tmp_path / "general-words.arrow")
    assert set(words.terms.to_pylist()) == {"as", "you", "can", "see"}
