"""Calibrated runs: what stands out, who decides alike, and what changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neardup import api as nd
from neardup.artefacts.calibration import Calibration
from neardup.documents import Collection, collect
from neardup.documents.lists import ListSource
from neardup.engines.batch.batch_run import run
from neardup.engines.batch.table_pass import with_artefacts
from neardup.engines.execution import make_result
from neardup.methods.rareshingles import Rareshingles
from neardup.plan import Plan, resolve
from neardup.progress import Silent
from neardup.runs.result import Result
from neardup.settings import settings_of
from reference.scans import COLLECTION, misread, strangers, two_modes

FAINT = Rareshingles().exception_reason


def dedup(documents: Any, **settings: Any) -> Result:
    return nd.dedup(documents, method="rareshingles", **settings)


def calibration_of(result: Result) -> Calibration:
    found = result.artefacts["calibration"]
    assert isinstance(found, Calibration)
    return found


def test_noisy_copies_stand_out_below_the_threshold() -> None:
    result = dedup(COLLECTION)
    rows = result.duplicates.to_pylist()
    assert [(row["id"], row["kept_id"]) for row in rows] == [
        (f"input:{2 * i + 2}", f"input:{2 * i + 1}") for i in range(8)
    ]
    made = calibration_of(result)
    assert (made.threshold, made.clear, len(made.digests)) == (0.4, False, 16)
    assert result.info["artefacts"]["calibration"]["own_cuts"] == 16
    for row in rows:
        assert row["score"] < result.threshold
        assert row["reason"] == FAINT
    assert dedup(COLLECTION, calibrate=False).counts.duplicates == 0


def test_pairs_above_the_cut_keep_their_reason() -> None:
    result = dedup([*COLLECTION, COLLECTION[-1] + " and more"])
    last = result.decisions.to_pylist()[-1]
    assert (last["decision"], last["reason"]) == ("duplicate", "weighted resemblance >= 0.4")


def test_of_few_documents_none_is_known_to_be_noisy() -> None:
    result = dedup(COLLECTION[:999])
    assert len(calibration_of(result).digests) == 0
    assert result.counts.duplicates == 0
    assert dedup(COLLECTION[:1000]).counts.duplicates == 8


def test_clean_documents_do_not_stand_out() -> None:
    """Articles on one event quote the same words, and are not copies."""
    quote = " ".join(f"quoted{i}" for i in range(20))
    texts = [*COLLECTION[16:], COLLECTION[20] + quote, COLLECTION[21] + quote]
    clean = [f"{text} {quote}" if i in (5, 6) else text for i, text in enumerate(texts)]
    assert dedup(clean[:-2]).counts.duplicates == 0


def test_a_valley_moves_the_cut_for_all() -> None:
    texts = two_modes()
    result = dedup(texts)
    made = calibration_of(result)
    assert made.clear
    assert 0.45 < made.threshold < 0.6
    assert result.threshold == made.threshold == result.info["settings"]["parameters"]["threshold"]
    assert result.counts.duplicates == 45
    assert made.stability == 1.0
    assert dedup(texts, calibrate=False).counts.duplicates == 90
    reasons = set(result.duplicates["reason"].to_pylist())
    assert reasons == {f"weighted resemblance >= {made.threshold:g}"}


@pytest.mark.parametrize("texts", [COLLECTION, two_modes()], ids=["faint", "valley"])
def test_threads_chunks_and_memory_change_nothing(texts: list[str]) -> None:
    one = dedup(texts, workers=1)
    for rows in (7, 1000):
        collection = Collection([ListSource(texts, chunk_rows=rows)])
        two = dedup(collection, workers=2, memory="1MB")
        assert two.decisions.equals(one.decisions)
        assert two.pairs.equals(one.pairs)
        assert calibration_of(two).digest == calibration_of(one).digest


def test_dedup_and_find_calibrate_alike() -> None:
    assert (
        calibration_of(nd.find(COLLECTION, method="rareshingles")).digest
        == calibration_of(dedup(COLLECTION)).digest
    )


def ran(documents: Any, plan: Plan) -> tuple[Result, Plan]:
    collection = collect(documents)
    outcome, plan = run(collection, plan, Silent())
    return make_result(collection, plan, outcome), plan


def planned(documents: Any, **settings: Any) -> Plan:
    plan = resolve(settings_of({"method": "rareshingles", **settings}))
    return with_artefacts(collect(documents), plan, Silent())


@pytest.mark.parametrize(
    "texts", [COLLECTION, two_modes(), [*two_modes(), *COLLECTION]], ids=["faint", "valley", "both"]
)
def test_a_run_that_is_given_the_calibration_decides_as_the_one_that_made_it(
    texts: list[str],
) -> None:
    one, calibrated = ran(texts, planned(texts))
    two, same = ran(texts, calibrated)
    assert two.decisions.equals(one.decisions)
    assert two.pairs.equals(one.pairs)
    assert same.digests == calibrated.digests


def test_a_run_is_built_on_with_its_own_calibration(tmp_path: Path) -> None:
    """As if old and new had been there together, weighed and cut as the old ones were."""
    old = [*two_modes(), *COLLECTION]
    rng = np.random.default_rng(10)
    edited = [" ".join(misread(text.split(), rng, 0.05)) for text in COLLECTION[20:30]]
    new = [*old[10:14], *COLLECTION[:4], *edited, *strangers(5)[:1], "nothing like it " * 8]
    made, plan = ran(old, planned(old))
    dedup(old, signatures=True).save(tmp_path / "old")
    again = dedup(new, against=tmp_path / "old", signatures=True)
    assert again.info["artefacts"] == made.info["artefacts"]
    assert again.threshold == made.threshold > 0.4
    together, _ = ran([*old, *new], plan)
    expected = together.decisions.slice(len(old))
    assert again.decisions["decision"].to_pylist() == expected["decision"].to_pylist()
    assert again.decisions["score"].to_pylist() == expected["score"].to_pylist()
    assert again.decisions["reason"].to_pylist() == expected["reason"].to_pylist()
    again.save(tmp_path / "new")
    third = dedup(new, against=tmp_path / "new")
    assert third.info["artefacts"] == made.info["artefacts"]
    assert third.counts.kept == 0


def test_who_may_not_meet_does_not_stand_out() -> None:
    sides = [{"text": text, "side": i % 2} for i, text in enumerate(COLLECTION)]
    assert dedup(sides, within="side").counts.duplicates == 0
    halves = [{"text": text, "side": i // 8 % 2} for i, text in enumerate(COLLECTION)]
    result = dedup(halves, within="side")
    assert result.counts.duplicates == 8
    assert set(result.duplicates["reason"].to_pylist()) == {FAINT}


def test_cuts_from_a_sample_of_the_features_are_taken_as_given() -> None:
    """One feature in three tells the backgrounds; who is listed is then looked at in full."""
    from neardup.matching import background

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "MOST_FEATURES", 70_000)
        one, calibrated = ran(COLLECTION, planned(COLLECTION))
    assert one.counts.duplicates > 0
    two, _ = ran(COLLECTION, calibrated)
    assert two.decisions.equals(one.decisions)


def test_nothing_and_too_short_documents_are_calibrated_too() -> None:
    for texts in ([], ["too short"] * 3, ["too short"] * 300):
        result = dedup(texts)
        assert len(calibration_of(result).digests) == 0
        assert result.counts.documents == len(texts)


def test_a_calibration_is_part_of_the_signature() -> None:
    one, _ = ran(COLLECTION, planned(COLLECTION))
    two, _ = ran(COLLECTION, planned(COLLECTION, calibrate=False))
    assert "calibration" in one.info["settings"]["signature"]["artefacts"]
    assert "calibration" not in two.info["settings"]["signature"]["artefacts"]
