"""Recall, false alarms, traps and background, against counting pair by pair."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

import neardup as nd
from neardup.documents import Columns, collect
from neardup.errors import SettingsError
from neardup.evaluation.planted_experiment import Findings, evaluate
from neardup.evaluation.planted_measures import measure
from neardup.evaluation.sections import html_page
from neardup.methods import registry
from neardup.planting.decoys import decoys
from neardup.planting.edits import edits_named
from neardup.planting.material import unit_count
from neardup.planting.plant import plant, with_copies
from neardup.settings import Settings
from planting.test_plant import documents

SHINGLES = Settings(method="shingles")


def collection_with_twins() -> list[dict[str, str]]:
    """Some documents resemble others; their copies resemble those too."""
    docs = documents(40)
    twins = [{**d, "id": f"twin-{d['id']}", "text": d["text"] + " and more"} for d in docs[:15]]
    return [*docs, *twins]


@pytest.fixture(scope="module")
def pass_() -> tuple[nd.Result, pa.Table, pa.Table]:
    collection, columns = collect(collection_with_twins()), Columns()
    made = plant(collection, columns, edits_named(["deletions", "paragraphs", "boilerplate"]), 9)
    framed = decoys(made, 6)
    both = with_copies(collection, columns, pa.concat_tables([made.copies, framed]))
    return nd.find(both, method="shingles", threshold=0.3), made.copies, framed


def test_every_number_is_what_counting_gives(
    pass_: tuple[nd.Result, pa.Table, pa.Table],
) -> None:
    result, copies, framed = pass_
    found = measure(result, copies, framed)
    score = {frozenset((p["a"], p["b"])): p["score"] for p in result.pairs.to_pylist()}
    roots: dict[str, set[str]] = defaultdict(set)
    for row in [*copies.to_pylist(), *framed.to_pylist()]:
        roots[row["id"]] = {*filter(None, [row["of"]]), *row["donors"]}
    planted = set(copies["id"].to_pylist())

    def related(a: str, b: str) -> bool:
        both = product(roots.get(a) or {a}, roots.get(b) or {b})
        return any(x == y or frozenset((x, y)) in score for x, y in both)

    alarms, background = [], []
    for pair, value in score.items():
        a, b = sorted(pair)
        if not any(one.startswith(("planted:", "trap:")) for one in pair):
            background.append(value)
        elif not any(one.startswith("trap:") for one in pair) and not related(a, b):
            alarms.append(value)
    assert sorted(found.background.tolist()) == sorted(background)
    assert len(background) >= 15
    assert sorted(found.alarms.tolist()) == sorted(alarms)
    cells = {(cell.edit, cell.rate): cell for cell in found.cells}
    for (edit, rate), cell in cells.items():
        rows = [r for r in copies.to_pylist() if (r["edit"], r["rate"]) == (edit, rate)]
        own = [score.get(frozenset((r["id"], r["of"])), -1.0) for r in rows]
        assert cell.score.tolist() == own
    left = framed.to_pylist()[::2]
    for cell in found.traps:
        ids = [r["id"] for r in left if r["rate"] == cell.rate]
        pairs = [(one, one[:-1] + "b") for one in ids]
        own = [score.get(frozenset(p), -1.0) for p in pairs if not related(*p)]
        assert cell.score.tolist() == own
    assert len(planted) == sum(map(len, found.cells))
    assert found.documents == 55


def test_traps_share_the_frame_and_nothing_else() -> None:
    made = plant(collect(documents(30)), Columns(), edits_named(["deletions"]), 5)
    table = decoys(made, 4).to_pylist()
    for a, b in zip(table[::2], table[1::2], strict=True):
        assert a["donors"] != b["donors"]
        head, foot = a["text"].split("\n\n")[0], a["text"].split("\n\n")[-1]
        assert b["text"].startswith(head)
        assert b["text"].endswith(foot)
        frame = unit_count(head) + unit_count(foot)
        assert frame / unit_count(a["text"]) == pytest.approx(a["rate"], abs=0.12)
    assert decoys(made, 4).to_pylist() == table


@pytest.fixture(scope="module")
def found() -> Findings:
    return evaluate(collection_with_twins(), SHINGLES, per_edit=6, seed=3)


def test_recall_falls_with_the_threshold_and_copies_of_case_are_always_found(
    found: Findings,
) -> None:
    for row in found.data()["edits"]:
        counts = [one["found"] for one in row["found"]]
        assert counts == sorted(counts, reverse=True)
        if row["kind"] == "normalised":
            assert counts[-1] == row["copies"]
        for one in row["found"]:
            low, high = one["interval"]
            assert low <= one["share"] <= high


def test_the_recommended_threshold_has_the_best_f1(found: Findings) -> None:
    best, near = found.recommended()
    assert best.f1 == max(point.f1 for point in found.points)
    assert best.cut in near
    assert best.cut in found.some()
    assert 0.8 in [cut.value for cut in found.some()]
    assert f"shingles at threshold {best.cut.value:g}:" in found.sentence()
    data = json.loads(json.dumps(found.data()))["recommended"]
    assert data["threshold"] == best.cut.threshold
    command = f"neardup dedup INPUT --method shingles --threshold {best.cut.value:g} -o OUT"
    assert data["command"] == command


def test_kinds_sum_up_edits(found: Findings) -> None:
    by_kind = next(s.table for s in found.sections() if s.title == "Recall by kind")
    assert by_kind is not None
    copies = {str(row[0]): row[1] for row in by_kind.rows}
    assert sum(map(int, copies.values())) == sum(map(len, found.measures.cells))  # type: ignore[arg-type]
    assert copies["normalised"] == 4 * 6


def test_the_same_seed_gives_the_same_report(found: Findings) -> None:
    again = evaluate(collection_with_twins(), replace(SHINGLES, workers=1), per_edit=6, seed=3)
    assert again.data() == found.data()
    page = html_page("planted", found.sections())
    assert page.count('<svg class="chart') == 2
    assert "://" not in page.replace("http://www.w3.org", "")


def test_a_method_without_a_threshold_is_measured_as_it_is() -> None:
    found = evaluate(collection_with_twins(), Settings(method="exact"), per_edit=3)
    assert len(found.cuts) == 1
    assert "no other threshold to choose" in found.sentence()
    assert html_page("planted", found.sections()).count('<svg class="chart') == 2


def test_thresholds_that_would_compare_everything_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from neardup.evaluation import planted_measures

    docs = collection_with_twins()
    monkeypatch.setattr(planted_measures, "CANDIDATES", 50)
    monkeypatch.setattr(planted_measures, "PER_DOCUMENT", 0)
    found = evaluate(docs, Settings(method="qgrams"), edits=["case"], per_edit=3)
    assert found.cuts[0].value > 0.3  # type: ignore[operator]
    assert found.cuts[0].threshold <= registry.build("qgrams").threshold
    assert "too many unrelated documents" in found.sentence()
    asked = evaluate(docs, Settings(method="qgrams"), edits=["case"], per_edit=3, thresholds=[0.3])
    assert [cut.value for cut in asked.cuts] == [0.3, registry.build("qgrams").threshold]


@pytest.mark.parametrize("distance", [3, 13])
def test_distances_are_cuts_too(distance: int) -> None:
    settings = Settings(method="simhash", set={"distance": distance})
    found = evaluate(collection_with_twins(), settings, edits=["case", "ocr"], per_edit=3)
    values = [cut.value for cut in found.cuts]
    assert values == ([13] if distance == 13 else []) + [*range(10, -1, -1)]
    assert distance in [cut.value for cut in found.some()]
    assert found.measures.cells[0].found(1.0) == 3


def test_terms_are_counted_without_the_copies() -> None:
    docs = collection_with_twins()
    found = evaluate(docs, Settings(method="imatch"), edits=["case"], per_edit=5)
    assert all(cell.found(0.5) == len(cell) for cell in found.measures.cells)


def test_dates_and_groups_go_with_the_copies(tmp_path: Path) -> None:
    lines = tmp_path / "docs.jsonl"
    lines.write_text("".join(json.dumps(d) + "\n" for d in collection_with_twins()))
    found = evaluate(str(lines), Settings(within="site", limit=40), edits=["case"], per_edit=5)
    assert all(cell.found(0.95) == 5 for cell in found.measures.cells)
    assert found.measures.documents == 40


def test_what_cannot_be_planted_is_said() -> None:
    with pytest.raises(SettingsError, match="one collection, not against another"):
        evaluate(documents(5), Settings(against=["x"]))
    with pytest.raises(SettingsError, match="per_edit is 0"):
        evaluate(documents(5), Settings(), per_edit=0)


@pytest.mark.parametrize("name", ["bbc_news", "manpages_versions"])
def test_real_collections(data: Path, name: str) -> None:
    path = data / name / "docs.jsonl.zst"
    wanted = ["case", "substitutions=0.01", "excerpt-first=0.25"]
    found = evaluate(path, replace(SHINGLES, limit=1200), edits=wanted, per_edit=20)
    recall = {cell.edit: cell.found(0.5) / len(cell) for cell in found.measures.cells}
    assert recall["case"] == 1
    assert recall["substitutions"] >= 0.9
    assert recall["excerpt-first"] <= 0.2
    passed = [cell.found(0.8) for cell in found.measures.traps]
    assert passed == [0] * 5  # of three frames and two forms
