"""Runs that are calibrated by consistency: thin pairs are read, the order of the input changes
nothing, and a run with the frozen calibration decides as the run that made it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import neardup as nd
from neardup.artefacts.calibration import CONSISTENCY, FEW_NEIGHBOURS, Calibration, load_calibration
from neardup.engines.ranked import Grouper
from neardup.matching import consistency
from neardup.methods.base import Comparisons, Method, Prepared, Scores
from neardup.schema import Ragged


def digests(texts: list[str]) -> np.ndarray:
    made = b"".join(hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts)
    return np.frombuffer(made, np.uint64).reshape(-1, 2).copy()


@dataclass(frozen=True)
class WordSets(Method):
    """The resemblance of sets of words. A pair is thin that shares less than half of the smaller.

    ``threshold``: the least resemblance.
    ``calibrate``: let the collection choose it.
    """

    threshold: float = 0.5
    calibrate: bool = True

    name: ClassVar[str] = "wordsets"
    calibration: ClassVar[str] = consistency.RULE
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)
    reason: ClassVar[str] = "same words"

    def prepare(self, batch, artefacts):  # noqa: ARG002
        texts = batch.column("text").to_pylist()
        sets = [np.sort(digests(sorted(set(text.split())))[:, 0]) for text in texts]
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in sets])]).astype(np.int64)
        words, named = Ragged(np.concatenate(sets), offsets), digests(texts)
        return Prepared(
            keys=words,
            probes=np.array([len(one) for one in sets], np.int32),
            evidence=words,
            digests=named,
            text_digests=named[:, 0].copy(),
            normal_digests=named[:, 1].copy(),
            flags=np.zeros(len(texts), np.uint8),
        )

    def comparisons(self, evidence, a, b):
        sets = [set(evidence[i].tolist()) for i in range(len(evidence))]
        score = [len(sets[i] & sets[j]) / len(sets[i] | sets[j]) for i, j in zip(a, b, strict=True)]
        thin = [
            2 * len(sets[i] & sets[j]) < min(len(sets[i]), len(sets[j]))
            for i, j in zip(a, b, strict=True)
        ]
        refused = np.zeros(len(a), np.bool_)
        return Comparisons(np.array(score, np.float64), refused, np.array(thin, np.bool_))

    def score(self, evidence, a, b):
        score = self.comparisons(evidence, a, b).score
        return Scores(score >= self.threshold, score)


WORDS = 20


def family(number: int, size: int, different: int) -> list[str]:
    """Texts that share all words but ``different`` of their own each."""
    common = [f"word{number:04}of{i:02}family" for i in range(WORDS - different)]
    own = lambda member: [f"x{number:04}by{member:02}n{i:02}own" for i in range(different)]  # noqa: E731
    return [" ".join(common + own(member)) for member in range(size)]


def documents(families: int, size: int, different: int, strangers: int = 0) -> list[dict[str, str]]:
    texts = [text for number in range(families) for text in family(number, size, different)]
    texts += [text for number in range(strangers) for text in family(5000 + number, 1, 5)]
    return [{"id": f"d{number}", "text": text} for number, text in enumerate(texts)]


def calibration_of(result: nd.Result) -> Calibration:
    calibration = result.artefacts["calibration"]
    assert isinstance(calibration, Calibration)
    return calibration


def pairs_of(result: nd.Result) -> set[tuple[str, str]]:
    rows = result.pairs.select(["a", "b"]).to_pylist()
    return {(min(row.values()), max(row.values())) for row in rows}


@pytest.mark.parametrize("count", [2, 20, 200])
def test_a_small_collection_has_the_general_threshold(count):
    result = nd.find(documents(1, 2, 4, strangers=count - 2), method=WordSets())
    calibration = calibration_of(result)
    assert (calibration.threshold, calibration.by) == (0.5, FEW_NEIGHBOURS)
    assert pairs_of(result) == {("d0", "d1")}


def scans() -> list[dict[str, str]]:
    """600 documents in pairs that share 9 of 20 words: a low threshold, and every pair is thin."""
    return documents(300, 2, 11)


def test_thin_pairs_pass_only_if_they_can_be_read():
    result = nd.find(scans(), method=WordSets())
    calibration = calibration_of(result)
    assert calibration.by == CONSISTENCY
    assert calibration.threshold < 0.5
    # 9 of 20 words in one run are 45 % of the text, and 40 % of the pieces must be recognised.
    assert len(calibration.pairs) == len(result.pairs)
    assert len(result.pairs) == 300


def test_pairs_that_are_not_read_are_refused_and_counted(monkeypatch):
    monkeypatch.setattr(consistency, "MOST_READ", 100)
    result = nd.find(scans(), method=WordSets())
    assert len(result.pairs) <= 100
    assert calibration_of(result).unread == 200


def test_the_order_of_the_input_changes_no_bit_of_the_calibration():
    rows = documents(60, 3, 4, strangers=40) + [
        {"id": f"m{i}", "text": text} for i, text in enumerate(family(9000, 30, 7))
    ]
    one = nd.find(rows, method=WordSets())
    shuffled = [rows[i] for i in np.random.default_rng(3).permutation(len(rows))]
    other = nd.find(shuffled, method=WordSets())
    assert calibration_of(one).by == CONSISTENCY
    assert calibration_of(one).digest == calibration_of(other).digest
    assert pairs_of(one) == pairs_of(other)


def test_a_run_on_the_frozen_calibration_decides_alike(tmp_path: Path):
    rows = scans()
    made = nd.find(rows, method=WordSets())
    calibration_of(made).save(tmp_path / "calibration.arrow")
    stored = load_calibration(tmp_path / "calibration.arrow")
    assert stored.digest == calibration_of(made).digest
    assert stored.curve is not None
    grouper = Grouper(method=WordSets(), artefacts={"calibration": stored})
    again = grouper.group(rows)
    assert len(again) == made.counts.kept


def test_thin_pairs_of_unknown_documents_are_refused():
    """They are read when the next calibration is made."""
    calibration = calibration_of(nd.find(scans(), method=WordSets()))
    grouper = Grouper(method=WordSets(), artefacts={"calibration": calibration})
    newcomers = [{"id": str(i), "text": text} for i, text in enumerate(family(7000, 2, 11))]
    assert len(grouper.group(newcomers)) == 2
    near = [{"id": str(i), "text": text} for i, text in enumerate(family(7000, 2, 6))]
    assert len(grouper.group(near)) == 1
