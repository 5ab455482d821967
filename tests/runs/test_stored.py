"""The artefacts of a run folder: read back, checked, and written again."""

from __future__ import annotations

from pathlib import Path

import pytest

from neardup import api as nd
from neardup.errors import InputError, NeardupError, SignatureError
from neardup.runs.checksums import write_checksums
from neardup.runs.result import Result
from reference.scans import COLLECTION

NAMES = {"frequencies", "vocabulary", "calibration"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return nd.dedup(COLLECTION, method="rareshingles").save(tmp_path / "run")


def stored(folder: Path) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in (folder / "artefacts").iterdir()}


def test_they_come_back_with_their_digests(folder: Path) -> None:
    loaded = Result.load(folder)
    assert set(loaded.artefacts) == NAMES
    for name, artefact in loaded.artefacts.items():
        assert artefact.digest == loaded.info["artefacts"][name]["digest"]


@pytest.mark.parametrize("where", ["run", "elsewhere"])
def test_a_run_that_is_saved_again_has_them_all(folder: Path, where: str) -> None:
    before = stored(folder)
    assert set(before) == NAMES
    again = folder.parent / where
    loaded = Result.load(folder)
    loaded._collection = lambda: nd.dedup(COLLECTION, method="exact").collection()
    loaded.save(again, overwrite=True)
    assert stored(again) == before


def test_another_table_in_its_place_is_refused_when_it_is_asked_for(folder: Path) -> None:
    other = nd.dedup(COLLECTION[:20], method="rareshingles").save(folder.parent / "other")
    (folder / "artefacts" / "vocabulary.arrow").write_bytes(stored(other)["vocabulary"])
    with pytest.raises(InputError, match=r"is damaged: its content is not what was written.*Hint"):
        _ = Result.load(folder).artefacts["vocabulary"]
    write_checksums(folder)
    loaded = Result.load(folder)
    assert loaded.artefacts["frequencies"]
    with pytest.raises(SignatureError, match=r"not the one that the run was made with.*Hint"):
        _ = loaded.artefacts["vocabulary"]


def test_a_broken_table_does_not_hinder_what_needs_none(folder: Path) -> None:
    (folder / "artefacts" / "frequencies.arrow").write_bytes(b"broken")
    loaded = Result.load(folder)
    assert loaded.explain("input:2").kept_id == "input:1"
    with pytest.raises(NeardupError):
        _ = loaded.artefacts["frequencies"]
