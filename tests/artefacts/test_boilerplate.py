"""Boilerplate: the same from texts and from the file of a run, with a digest, in three methods."""

from __future__ import annotations

from pathlib import Path

import pytest

import neardup as nd
from neardup.artefacts.boilerplate import boilerplate_of, load_boilerplate
from neardup.errors import InputError, SettingsError, SignatureError
from neardup.text.text_options import Text
from passages.material import prose

NOTICE = " ".join(f"notice{i}" for i in range(60))
TEXTS = [
    *(f"{' '.join(f'{name}{i}' for i in range(20))} {NOTICE}" for name in ("one", "other")),
    NOTICE,
    NOTICE.upper(),
]


def test_saved_and_loaded(tmp_path: Path) -> None:
    made = boilerplate_of([NOTICE, ""], 5, Text())
    made.save(tmp_path / "b.arrow")
    again = load_boilerplate(tmp_path / "b.arrow", 5, Text())
    assert (again.hashes.tolist(), again.digest) == (made.hashes.tolist(), made.digest)
    assert made.describe()["shingles"] == 56
    with pytest.raises(SignatureError, match="runs of 5 words"):
        load_boilerplate(tmp_path / "b.arrow", 4, Text())
    with pytest.raises(InputError, match="give texts as a list"):
        load_boilerplate(tmp_path / "none.arrow", 4, Text())
    with pytest.raises(SettingsError, match="boilerplate is 7; expected texts"):
        nd.dedup(TEXTS, method="shingles", boilerplate=7)


@pytest.mark.parametrize("method", ["shingles", "rareshingles", "raregrams"])
def test_a_run_stores_what_it_ignored(tmp_path: Path, method: str) -> None:
    plain = nd.dedup(TEXTS, method=method, threshold=0.5)
    result = nd.dedup(TEXTS, method=method, threshold=0.5, boilerplate=[NOTICE])
    assert (plain.counts.too_short, result.counts.too_short) == (0, 1)
    # What is nothing but boilerplate is a duplicate only of its equal.
    assert result.decisions["kept_id"].to_pylist() == [None, None, None, "input:3"]
    result.save(tmp_path / "out")
    stored = str(tmp_path / "out/artefacts/boilerplate.arrow")
    again = nd.dedup(TEXTS, method=method, threshold=0.5, boilerplate=stored)
    signatures = [one.info["settings"]["signature"]["digest"] for one in (plain, result, again)]
    assert signatures[0] != signatures[1] == signatures[2]
    assert again.decisions["kept_id"].equals(result.decisions["kept_id"])


@pytest.mark.parametrize("method", ["shingles", "rareshingles", "raregrams"])
def test_a_few_shingles_beside_boilerplate_say_nothing(method: str) -> None:
    texts = [
        f"{NOTICE} and so on it goes for today",
        f"{NOTICE.upper()} and so on it goes for long",
    ]
    result = nd.dedup(texts, method=method, threshold=0.1, boilerplate=[NOTICE])
    assert (result.counts.duplicates, result.counts.too_short) == (0, 2)


def test_what_a_source_repeats_is_found() -> None:
    texts = [f"{prose(i, 30)} {prose(900, 50)}" for i in range(20)]
    texts += [texts[3], f"{texts[3]} More."] * 2
    documents = [{"text": text, "source": "a"} for text in texts]
    documents += [{"text": prose(50 + i, 80), "source": "b"} for i in range(5)]
    plain = nd.dedup(documents, method="shingles", threshold=0.3)
    found = nd.dedup(documents, method="shingles", threshold=0.3, boilerplate="auto")
    assert (plain.counts.duplicates, found.counts.duplicates) == (23, 4)
    (ignored,) = found.info["settings"]["parameters"]["boilerplate"]
    assert ignored == prose(900, 50).rstrip(".")


def test_a_run_with_other_boilerplate_is_not_built_on(tmp_path: Path) -> None:
    first = nd.dedup(TEXTS, method="shingles", boilerplate=[NOTICE], signatures=True)
    first.save(tmp_path / "out")
    with pytest.raises(SignatureError, match="differ in boilerplate"):
        nd.dedup(TEXTS, method="shingles", boilerplate=["other"], against=[tmp_path / "out"])


def test_the_default_finds_a_copy_without_the_footer_and_no_other() -> None:
    bodies = [" ".join(f"{name}{i}" for i in range(25)) for name in ("pier", "tea", "train")]
    texts = [*(f"{body} {NOTICE}" for body in bodies), bodies[0]]
    plain, without = nd.dedup(texts), nd.dedup(texts, boilerplate=[NOTICE])
    assert plain.counts.duplicates > 1
    assert without.decisions["kept_id"].to_pylist() == [None, None, None, "input:1"]
