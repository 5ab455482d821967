"""The general model is trained on pairs of which the material can tell, and never falls."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planting.test_plant import documents
from tools.general_model.collect import write
from tools.general_model.document import Document
from tools.general_model.fit import L2, fit
from tools.general_model.pairs import MEASURES, Pairs, pairs_of
from tools.general_model.planted import with_copies
from tools.general_model.train import train


def material(seed: int) -> list[Document]:
    real = [
        Document(one["id"], one["text"], f"g{one['id']}", "package_1", "MIT", "en")
        for one in documents(30)
    ]
    return with_copies(real, seed)


def told(pairs: Pairs) -> set[tuple[str, str]]:
    rows = zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)
    return {(pairs.documents[a].id, pairs.documents[b].id) for a, b in rows}


def test_pairs_that_the_material_cannot_tell_are_left_out() -> None:
    some = material(1)
    pairs = pairs_of("some-en", some, seed=0)
    known = {one.id: one for one in some}
    for a, b in told(pairs):
        one, other = known[a], known[b]
        short = [two for two in (one, other) if (two.edit or "").startswith("excerpt")]
        if one.group == other.group:
            assert all((two.rate or 0) >= 0.5 for two in short)
        else:
            assert other.group not in {known[donor].group for donor in one.donors}
            assert one.group not in {known[donor].group for donor in other.donors}
    assert 0 < pairs.y.sum() < len(pairs.y)
    assert np.isclose(pairs.weight[pairs.y == 1].sum(), pairs.weight[pairs.y == 0].sum())


def test_the_same_material_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("one-en", 1), ("two-en", 2)):
        write(tmp_path / f"{name}.jsonl", material(seed))
    files = [tmp_path / "a.arrow", tmp_path / "b.arrow"]
    for file in files:
        train(tmp_path).save(file)
    assert files[0].read_bytes() == files[1].read_bytes()
    model = train(tmp_path)
    assert {*model.measures} <= {*MEASURES}
    assert model.discriminant.monotone()
    assert model.trained["collections"].keys() == {"one-en", "two-en"}


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(6, 60))
def test_no_other_weights_of_at_least_zero_are_better(seed: int, width: int, count: int) -> None:
    draw = np.random.default_rng(seed)
    x = draw.random((count, width))
    y = np.arange(count) % 2
    share = draw.random(count) + 0.1
    found = fit(x, y, share)
    spread = x.std(axis=0) + 1e-6

    def loss(weights: np.ndarray, b: float) -> float:
        margin = (2 * y - 1) * (x @ weights + b)
        return float(
            share @ np.logaddexp(0, -margin) / share.sum() + L2 * ((weights * spread) ** 2).sum()
        )

    assert (found.weights >= 0).all()
    least = loss(found.weights, found.b)
    for _ in range(20):
        step = draw.normal(0, 0.3, width + 1)
        tried = np.maximum(found.weights + step[:-1], 0), found.b + step[-1]
        assert loss(*tried) >= least - 1e-5  # weights are rounded
