"""A calibration as a file, and whose cut is whose."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from neardup.artefacts import calibration
from neardup.artefacts.calibration import (
    USUAL,
    VALLEY,
    Calibration,
    load_calibration,
    sorted_pairs,
)
from neardup.errors import InputError, SignatureError

MADE = Calibration(
    0.575,
    VALLEY,
    np.array([3, 8, 2**63], np.uint64),
    np.array([0.1, 0.03, 0.25], np.float32),
    0.9,
    pairs=np.array([[0, 2], [1, 2]], np.int32),
)


def test_cuts_are_found_by_digest() -> None:
    asked = np.array([8, 4, 2**63, 2**64 - 1, 3, 0], np.uint64)
    assert MADE.thresholds_of(asked).tolist() == [
        pytest.approx(0.03),
        0.575,
        0.25,
        0.575,
        pytest.approx(0.1),
        0.575,
    ]
    empty = np.empty(0, np.uint64)
    none = Calibration(0.4, USUAL, empty, empty.astype(np.float32))
    assert none.thresholds_of(asked).tolist() == [0.4] * 6


def test_pairs_are_listed_by_digest_in_either_order() -> None:
    low, high = np.array([3, 8, 3, 3, 4], np.uint64), np.array([2**63, 2**63, 8, 3, 5], np.uint64)
    for a, b in ((low, high), (high, low)):
        assert MADE.lists(a, b).tolist() == [True, True, False, False, False]
    assert not Calibration(0.4, USUAL).lists(low, high).any()
    without = dataclasses.replace(MADE, pairs=MADE.pairs[:1])
    assert without.lists(low, high).tolist() == [True, False, False, False, False]
    assert without.digest != MADE.digest


def test_rows_make_sorted_pairs() -> None:
    one, other = np.array([2, 0, 1, 0]), np.array([0, 2, 1, 1])
    assert sorted_pairs(one, other).tolist() == [[0, 1], [0, 2], [1, 1]]


def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    MADE.save(tmp_path / "c.arrow")
    again = load_calibration(tmp_path / "c.arrow")
    assert (again.digest, again.describe()) == (MADE.digest, MADE.describe())
    assert (again.digests.tolist(), again.own_thresholds.tolist()) == (
        MADE.digests.tolist(),
        MADE.own_thresholds.tolist(),
    )
    assert (again.threshold, again.clear, again.stability) == (0.575, True, 0.9)
    assert again.pairs.tolist() == MADE.pairs.tolist()
    Calibration(0.4, USUAL).save(tmp_path / "none.arrow")
    assert load_calibration(tmp_path / "none.arrow").pairs.shape == (0, 2)


@pytest.mark.parametrize("content", [b"", b"text"])
def test_what_is_none_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "c.arrow").write_bytes(content)
    with pytest.raises(InputError, match=r"The calibration .*c.arrow cannot be read: "):
        load_calibration(tmp_path / "c.arrow")
    with pytest.raises(InputError, match="No such file"):
        load_calibration(tmp_path / "none.arrow")


def test_another_table_is_a_sentence(tmp_path: Path) -> None:
    table = pa.table({"digest": [1]})
    with pa.ipc.new_file(str(tmp_path / "c.arrow"), table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(InputError, match="cannot be read: it is none"):
        load_calibration(tmp_path / "c.arrow")


def test_a_changed_one_is_refused(tmp_path: Path) -> None:
    MADE.save(tmp_path / "c.arrow")
    with pa.OSFile(str(tmp_path / "c.arrow"), "rb") as source:
        table = pa.ipc.open_file(source).read_all()
    key = b"neardup calibration"
    said = {**json.loads(table.schema.metadata[key]), "threshold": 0.3}
    changed = table.replace_schema_metadata({key: json.dumps(said).encode()})
    with pa.ipc.new_file(str(tmp_path / "c.arrow"), changed.schema) as writer:
        writer.write_table(changed)
    with pytest.raises(SignatureError, match="is not what it was when it was saved"):
        load_calibration(tmp_path / "c.arrow")


def test_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(calibration, "FORMAT", 0)
        dataclasses.replace(MADE).save(tmp_path / "c.arrow")  # another has no digest yet
    with pytest.raises(InputError, match="has format 0; this version reads 3"):
        load_calibration(tmp_path / "c.arrow")
