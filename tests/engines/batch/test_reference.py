"""Against references: the new part is decided as in one run over old and new together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import api as nd
from neardup.errors import InputError, SettingsError, SignatureError
from neardup.runs.result import Result
from reference import run as twin
from repeats import examples

SAME = {"words": 2, "min_words": 5}


def write(path: Path, documents: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(d) + "\n" for d in documents), "utf-8")
    return path


def decided(result: Result, ids: set[str], *, kinds: bool = True) -> list[tuple[Any, ...]]:
    rows = [row for row in result.decisions.to_pylist() if row["id"] in ids]
    return [
        (r["id"], r["decision"], (r["kept_id"] or "").removeprefix("ref:"), r["score"])
        + ((r["kind"], r["direction"], r["confidence"]) if kinds else ())
        for r in rows
    ]


@given(
    st.integers(0, 2**32),
    st.sampled_from([0.4, 0.6, 0.8]),
    st.sampled_from(["resemblance", "containment"]),
    st.sampled_from(["auto", "prefix"]),
    st.sampled_from([None, "source"]),
    st.sampled_from([5, 10**6]),
)
@examples(12)
def test_incremental_equals_full(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    threshold: float,
    measure: str,
    keys: str,
    within: str | None,
    max_pairs: int,
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    docs = twin.collection(np.random.default_rng(seed), 45)
    parts = [write(folder / f"{i}.jsonl", docs[15 * i : 15 * i + 15]) for i in range(3)]
    options: dict[str, Any] = {
        "method": "shingles",
        "threshold": threshold,
        "within": within,
        "max_pairs": max_pairs,
        "set": {**SAME, "measure": measure, "keys": keys},
    }
    ids = [{d["id"] for d in docs[15 * i : 15 * i + 15]} for i in range(3)]
    full = nd.dedup(parts, **options)
    first = nd.dedup(parts[0], signatures=True, **options).save(folder / "first")
    second = nd.dedup(parts[1], against=first, signatures=True, **options)
    assert decided(second, ids[1]) == decided(full, ids[1])
    second.save(folder / "second")
    for gone in (parts[0], parts[1], first / "kept.jsonl"):
        gone.unlink()  # only signatures are read; the texts would be for kinds
    third = nd.dedup(parts[2], against=folder / "second", **options)
    assert decided(third, ids[2], kinds=False) == decided(full, ids[2], kinds=False)
    assert third.counts.documents == 15
    assert third.keep_mask().sum() == third.counts.kept


def test_files_as_references_are_left_alone(tmp_path: Path) -> None:
    docs = twin.collection(np.random.default_rng(7), 60)
    old, new = write(tmp_path / "old.jsonl", docs[:30]), write(tmp_path / "new.jsonl", docs[30:])
    before = old.read_bytes()
    result = nd.dedup(new, method="shingles", against=[old], threshold=0.6, set=SAME)
    rows = result.decisions.to_pylist()
    assert {row["file"] for row in rows} == {str(new)}
    of_reference = [row for row in rows if row["ref"]]
    assert of_reference
    assert all(row["kept_id"].startswith("ref:") for row in of_reference)
    assert old.read_bytes() == before
    named = {row["kept_id"] for row in of_reference} & set(result.clusters["kept_id"].to_pylist())
    assert named
    pairs = result.pairs.to_pylist()
    assert not [p for p in pairs if p["a"].startswith("ref:") and p["b"].startswith("ref:")]


def test_duplicates_inside_the_reference_stay(tmp_path: Path) -> None:
    old = write(tmp_path / "old.jsonl", [{"id": str(i), "text": "one two three"} for i in range(5)])
    result = nd.dedup(["One, two, three!", "something else"], against=old)
    assert result.decisions["kept_id"].to_pylist() == ["ref:0", None]
    assert result.kept == ["something else"]
    with pytest.raises(SettingsError, match="against references"):
        result.rethreshold(0.9)
    assert "ref:0" in str(result.explain("input:1"))


def test_unlike_signatures_are_refused(tmp_path: Path) -> None:
    run = nd.dedup(["a b c"], method="shingles", signatures=True).save(tmp_path / "run")
    with pytest.raises(SignatureError, match=r"differ in words, threshold\. Hint: "):
        nd.dedup(["a b c"], method="shingles", against=run, threshold=0.7, set={"words": 3})
    with pytest.raises(SignatureError, match="differ in within"):
        nd.dedup([{"text": "a", "c": "1"}], method="shingles", against=run, within="c")


def test_a_table_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    texts = [f"the harbour of town {i} was rebuilt in stone by builder {i}" for i in range(30)]
    run = nd.dedup(texts, method="keywords", signatures=True, min_words=3).save(tmp_path / "run")
    moved = shutil.copy(run / "artefacts" / "idf.arrow", tmp_path / "moved.arrow")
    again = nd.dedup(texts, method="keywords", min_words=3, idf=moved, against=run)
    assert again.counts.kept == 0
    other = nd.dedup(texts[:20], method="keywords", min_words=3).save(tmp_path / "other")
    table = str(other / "artefacts" / "idf.arrow")
    with pytest.raises(SignatureError, match=r"they differ in idf\. Hint: "):
        nd.dedup(texts, method="keywords", min_words=3, idf=table, against=run)


def test_a_folder_without_signatures_says_what_to_do(tmp_path: Path) -> None:
    run = nd.dedup(["a b c"]).save(tmp_path / "run")
    assert nd.dedup(["A, B, C", "d"], against=run).counts.duplicates == 1  # from its kept file
    (run / "kept.jsonl").unlink()
    with pytest.raises(InputError, match=r"no signatures\.arrow.*Hint: give its kept file"):
        nd.dedup(["a b c"], against=run)
    shutil.rmtree(run)
    run.mkdir()
    with pytest.raises(InputError, match="not the folder of a finished run"):
        nd.dedup(["a b c"], against=run)
