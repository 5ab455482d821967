"""--threshold auto by groups or known answers: what they choose, and when a gap is not believed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neardup import api as nd
from neardup.artefacts.calibration import CONSISTENCY, PLANTED, USUAL, VALLEY, Calibration
from neardup.documents import Collection, collect
from neardup.documents.lists import ListSource
from neardup.engines.batch.table_pass import with_artefacts
from neardup.engines.batch.threshold_choice import (
    Answers,
    KnownScores,
    best_cut,
    calibrated,
    known_scores,
)
from neardup.matching.evidence import Pairs
from neardup.methods.rareshingles import Rareshingles
from neardup.methods.thresholds import Cut
from neardup.plan import resolve
from neardup.progress import Silent
from neardup.runs.result import Result
from neardup.schema import Array
from neardup.settings import settings_of
from neardup.text.recognition import FLOOR
from planting.test_plant import documents

DOCUMENTS = [doc["text"] for doc in documents(80)]
EDITED = [" ".join([*text.split()[:-2], "other", "words"]) for text in DOCUMENTS[:20]]
BOTH = [*DOCUMENTS, *EDITED]


def auto(texts: Any, method: str = "shingles", **settings: Any) -> Result:
    return nd.dedup(texts, method=method, threshold="auto", **settings)


def calibration_of(result: Result) -> Calibration:
    found = result.artefacts["calibration"]
    assert isinstance(found, Calibration)
    return found


@pytest.mark.parametrize("method", ["shingles", "qgrams", "simhash", "keywords", "spotsigs"])
def test_the_run_is_that_with_the_cut_it_names(method: str) -> None:
    result = auto(BOTH, method)
    made = calibration_of(result)
    assert made.by == PLANTED
    assert made.found is not None
    assert made.decoys is not None
    assert result.threshold == made.threshold == result.info["settings"]["resolved"]["threshold"]
    swept = "distance" if method == "simhash" else "threshold"
    value = result.info["settings"]["parameters"][swept]
    given = nd.dedup(BOTH, method=method, **{swept: value})
    assert given.decisions.equals(result.decisions)
    assert given.pairs.equals(result.pairs)


def revised(text: str, step: int) -> str:
    """Every ``step``-th word is a different one."""
    return " ".join(f"new{i}" if i % step == 0 else word for i, word in enumerate(text.split()))


REVISED = [*DOCUMENTS, *(revised(text, 12) for text in DOCUMENTS)]


@pytest.mark.parametrize("method", ["shingles", "join"])
def test_where_many_have_neighbours_the_groups_choose(method: str) -> None:
    """All 80 texts have a revised one; the order of the documents changes nothing."""
    result, turned = auto(REVISED, method), auto(REVISED[::-1], method)
    made = calibration_of(result)
    assert made.by == CONSISTENCY
    assert made.curve is not None
    assert made.digest == calibration_of(turned).digest
    assert result.counts.duplicates == turned.counts.duplicates == len(DOCUMENTS)
    given = nd.dedup(REVISED, method=method, threshold=result.threshold)
    assert given.decisions.equals(result.decisions)


def test_groups_do_not_lower_a_threshold_where_most_documents_are_alone() -> None:
    """A fifth of the documents must be in groups; here known answers choose."""
    words = [f"w{i}" for i in range(9000)]
    others = [" ".join(words[i * 15 : i * 15 + 15]) for i in range(600)]
    made = calibration_of(auto([*others, *DOCUMENTS[:50], *map(str.upper, EDITED)]))
    assert made.by == PLANTED


def test_the_cut_finds_most_copies_and_lets_few_traps_pass() -> None:
    """Each cut is worth its F1 on these pairs; the strictest near the best is taken."""
    collection = collect(DOCUMENTS)
    plan = resolve(settings_of({"method": "shingles", "threshold": 0.3}))
    plan = with_artefacts(collection, plan, Silent())
    known = known_scores(collection, plan, plan.method, Silent())
    assert known is not None
    at = calibration_of(auto(DOCUMENTS)).threshold
    cuts = np.round(np.arange(0.3, 0.96, 0.05), 2)
    worth = [known.worth(cut) for cut in cuts]
    assert known.worth(at) >= max(worth) - 0.02
    assert not any(known.worth(cut) >= max(worth) - 0.02 for cut in cuts if cut > at)


def test_threads_and_chunks_change_nothing() -> None:
    one = auto(BOTH, workers=1)
    two = auto(Collection([ListSource(BOTH, chunk_rows=7)]), workers=2)
    assert calibration_of(one).digest == calibration_of(two).digest
    assert one.decisions.equals(two.decisions)


@pytest.mark.parametrize("texts", [[], ["too short"] * 4, DOCUMENTS[:1]])
def test_where_nothing_can_be_planted_the_usual_threshold_stays(texts: list[str]) -> None:
    made = calibration_of(auto(texts))
    assert (made.by, made.threshold) == (USUAL, 0.8)


@pytest.mark.parametrize("method", ["shingles", "simhash"])
def test_a_run_that_is_built_on_it_takes_its_cut(tmp_path: Path, method: str) -> None:
    auto(BOTH, method, signatures=True).save(tmp_path / "run")
    again = auto(EDITED * 30, method, against=tmp_path / "run")  # of these alone it is another
    assert again.threshold == auto(BOTH, method).threshold
    assert again.counts.kept == 0


def test_dates_are_planted_where_a_method_compares_them() -> None:
    dated = [{"text": text, "date": f"2020-01-{i % 28 + 1:02}"} for i, text in enumerate(BOTH)]
    made = calibration_of(auto(dated, "termvector", date="date"))
    assert made.by == PLANTED


def test_the_strictest_of_equal_cuts() -> None:
    cuts = tuple(Cut(t, "threshold", t) for t in (0.3, 0.5, 0.7))
    known = KnownScores(np.array([0.6, 0.6, 0.6]), np.array([0.1, 0.1]))
    assert best_cut(cuts, known).threshold == 0.5


def believed(copies: list[float], traps: list[float], between: int = 0) -> Calibration:
    """Of scores with a clear valley from 0.45 on, up to 0.6 with three times ``between`` pairs."""
    inside = np.repeat([0.475, 0.525, 0.575], between)
    scores = np.concatenate([np.full(90, 0.42), inside, np.full(120, 0.9)])
    pairs = Pairs(np.arange(len(scores)), np.arange(len(scores)) + 1, scores)
    digests = np.arange(len(scores) + 1, dtype=np.uint64)
    known = KnownScores(np.array(copies), np.array(traps))
    none = np.empty(0, np.bool_)
    return calibrated(
        pairs,
        Pairs.none(),
        none,
        digests,
        digests,
        Rareshingles(threshold=0.4),
        Answers(lambda: known),
        every_pair=True,
    )


def test_a_valley_that_loses_known_copies_is_refused() -> None:
    assert believed([0.9, 0.9], [0.1]).by == VALLEY
    refused = believed([0.45, 0.45, 0.9], [0.1])
    assert (refused.by, refused.threshold) == (USUAL, 0.4)
    assert refused.refused is not None
    assert refused.refused > 0.45
    # What passes below it speaks for it.
    assert believed([0.45, 0.9, 0.9], [0.45, 0.45, 0.45]).by == VALLEY


def test_a_valley_around_which_the_answer_is_not_steady_is_refused() -> None:
    assert believed([0.9], [0.1], between=10).by == VALLEY
    assert believed([0.9], [0.1], between=48).by == USUAL


def test_what_passes_anyway_is_not_read() -> None:
    """Only the second of two low-scoring pairs needs an exception."""
    asked: list[list[int]] = []

    def recognised(a: Array, b: Array, floor: int) -> Array:
        asked.append([*a.tolist(), *b.tolist(), floor])
        return np.ones(len(a), np.bool_)

    digests = np.arange(6, dtype=np.uint64)
    passing = Pairs(np.array([1, 4]), np.array([0, 5]), np.array([0.9, 0.3]))
    low = Pairs(np.array([0, 2]), np.array([1, 3]), np.array([0.3, 0.3]))
    found = calibrated(
        passing,
        low,
        np.ones(2, np.bool_),
        digests,
        digests,
        Rareshingles(threshold=0.4),
        Answers(recognised=recognised),
        every_pair=True,
    )
    assert asked == [[2, 3, FLOOR]]
    assert found.digests.tolist() == [2, 3]
