"""A model decides as it was trained to, comes back as it was, and is never trusted blindly."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as random_arrays

from artefacts.models import EACH, LINEAR, RBF, TREES, TWO, asked, model
from neardup.artefacts import arrays
from neardup.artefacts import model as module
from neardup.artefacts.discriminants import Linear, exp, sigmoid
from neardup.artefacts.model import ModelNeed, load_model
from neardup.errors import InputError, NeardupError, SettingsError, SignatureError
from neardup.text.text_options import Text

PAIRS = asked((0.0, 0.0), (0.5, 0.75), (0.75, 0.75), (0.75, 1.0), (1.0, 1.0))
RBF_VALUES = [
    -0.8231808382428365,
    0.4088025749059021,
    0.6794453571238293,
    0.8920998090570949,
    1.0731808382428365,
]
unit = st.floats(0, 1, width=32)
vectors = random_arrays(np.float32, (12, len(TWO)), elements=unit)


@pytest.mark.parametrize(
    ("kind", "golden"),
    [
        ("linear", [-0.25, 1.125, 1.625, 1.75, 2.25]),
        ("rbf", RBF_VALUES),
        ("trees", [-1.25, -1.25, 0.25, 1.75, 1.75]),
    ],
)
def test_golden_decision_values(kind: str, golden: list[float]) -> None:
    """Not a bit may change: a stored model must decide as it did."""
    assert model(EACH[kind]).g(PAIRS).tolist() == golden


def test_the_printed_formula_with_its_missing_parts() -> None:
    """g(x) = Σ αⱼ tⱼ K(xⱼ, x) + b, by hand."""
    x = (0.25, 0.75)
    terms = [
        c * math.exp(-RBF.gamma * sum((s - v) ** 2 for s, v in zip(row, x, strict=True)))
        for row, c in zip(RBF.support.tolist(), RBF.coefficients.tolist(), strict=True)
    ]
    assert model(RBF).g(asked(x))[0] == pytest.approx(sum(terms) + RBF.b, abs=1e-15)


@pytest.mark.parametrize("kind", EACH)
@given(vectors)
def test_the_same_bits_however_many_are_asked(kind: str, given_: np.ndarray) -> None:
    made = model(EACH[kind])
    whole = made.g(given_)
    one_by_one = np.concatenate([made.g(given_[i : i + 1]) for i in range(len(given_))])
    backwards = made.g(np.asfortranarray(given_)[::-1])[::-1]
    assert whole.tobytes() == one_by_one.tobytes() == np.ascontiguousarray(backwards).tobytes()


@pytest.mark.parametrize("kind", EACH)
@given(vectors)
def test_probabilities_follow_the_discriminant(kind: str, given_: np.ndarray) -> None:
    made = model(EACH[kind])
    order = np.argsort(made.g(given_), kind="stable")
    found = made.probability(given_)
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found[order]) >= 0).all()


@pytest.mark.parametrize("discriminant", [LINEAR, TREES])
@given(vectors, vectors)
def test_more_alike_never_scores_lower(
    discriminant: Any, one: np.ndarray, other: np.ndarray
) -> None:
    assert discriminant.monotone()
    made = model(discriminant)
    assert (made.g(np.maximum(one, other)) >= made.g(one)).all()


@given(random_arrays(np.float64, 50, elements=st.floats(-650, 650)))
def test_our_own_exponential(x: np.ndarray) -> None:
    np.testing.assert_allclose(exp(x), np.exp(x), rtol=1e-14)
    ordered = sigmoid(np.sort(x))
    assert (np.diff(ordered) >= 0).all()
    np.testing.assert_allclose(sigmoid(x) + sigmoid(-x), 1, rtol=1e-15)


@pytest.mark.parametrize("kind", EACH)
def test_it_comes_back_as_it_was(kind: str, tmp_path: Path) -> None:
    made = replace(model(EACH[kind]), text=Text(stop_words=("the",)), trained={"a": [1, None]})
    made.save(tmp_path / "m.arrow")
    again = ModelNeed(made).load(tmp_path / "m.arrow")
    assert (again.digest, again.describe()) == (made.digest, made.describe())
    assert again.text == made.text
    assert again.g(PAIRS).tobytes() == made.g(PAIRS).tobytes()
    first = (tmp_path / "m.arrow").read_bytes()
    again.save(tmp_path / "m.arrow")
    assert (tmp_path / "m.arrow").read_bytes() == first
    assert not list(tmp_path.glob("*.part"))


def test_a_model_is_there_without_counting() -> None:
    made = model(EACH["linear"])
    assert ModelNeed(made).counter().finish() is made


Change = Callable[[dict[str, Any], dict[str, np.ndarray]], None]


def forged(path: Path, change: Change, discriminant: Any = LINEAR) -> Path:
    """A file with a digest that fits whatever was changed in it."""
    made = model(discriminant)
    said, parts = made._options(), dict(made._arrays())
    change(said, parts)
    digest = arrays.arrays_digest(said, parts)
    written = json.dumps({**said, "digest": digest}).encode()
    schema = arrays._LAYOUT.with_metadata({module._DESCRIPTION: written})
    names = sorted(parts)
    columns = [
        pa.array(names, schema.field("name").type),
        pa.array([list(parts[n].shape) for n in names], schema.field("shape").type),
        pa.array([parts[n].reshape(-1) for n in names], schema.field("values").type),
    ]
    with pa.ipc.new_file(str(path), schema) as writer:
        writer.write_batch(pa.record_batch(columns, schema=schema))
    return path


def of(name: str, *values: float) -> Change:
    return lambda _said, parts: parts.update({name: np.array(values)})


def says(**values: Any) -> Change:
    return lambda said, _parts: said.update(values)


@pytest.mark.parametrize(
    ("discriminant", "change", "sentence"),
    [
        (LINEAR, says(format=9), "has format 9; this version reads 1"),
        (LINEAR, says(similarity=77), "trained on version 77 of the measures"),
        (LINEAR, says(measures=[TWO[0], "vibes"]), "takes the measure 'vibes'"),
        (LINEAR, says(measures=[]), "takes the measure none"),
        (LINEAR, says(measures=[TWO[0], TWO[0]]), "one twice"),
        (LINEAR, says(measures=[TWO[0], ["x"]]), "which is unknown"),
        (LINEAR, says(discriminant="os.system"), "not laid out as a model"),
        (LINEAR, says(constants={"b": 0.0, "more": 1.0}), "not laid out as a model"),
        (LINEAR, says(constants=7), "not laid out as a model"),
        (LINEAR, says(text={"case": "sideways"}), "not laid out as a model"),
        (LINEAR, says(calibration={"slope": -1.0, "offset": 0.0}), "probabilities decrease"),
        (LINEAR, says(threshold=1.5), "threshold is not a probability"),
        (LINEAR, says(threshold=math.nan), "not finite"),
        (LINEAR, of("weights", math.nan, 1.0), "not finite"),
        (LINEAR, of("weights", 1.0, math.inf), "not finite"),
        (LINEAR, of("weights", 1e300, -1e300), "not finite, or beyond any measure"),
        (LINEAR, of("weights", 1.0), "not have one weight per measure"),
        (LINEAR, of("scale", 1.0, 0.0), "scaling does not fit its measures"),
        (LINEAR, of("center", 1.0), "scaling does not fit its measures"),
        (LINEAR, of("junk", 1.0), "not laid out as a model"),
        (RBF, of("coefficients", 1.0), "support vectors do not fit its measures"),
        (RBF, says(constants={"b": 0.0, "gamma": 0.0}), "gamma is not above 0"),
        (TREES, of("left", 0, 0, 3, 0, 0, 0), "cycles or missing children"),
        (TREES, of("right", 2, 0, 2, 0, 0, 0), "cycles or missing children"),
        (TREES, of("right", 2, 0, 900, 0, 0, 0), "cycles or missing children"),
        (TREES, of("left", 1, 0, 2.5, 0, 0, 0), "refer to invalid nodes"),
        (TREES, of("left", 1, 0, -7, 0, 0, 0), "refer to invalid nodes"),
        (TREES, of("left", 1, 0, 4, 0, 0, 0), "nodes do not form trees"),
        (TREES, of("right", 2, 0, 5, 0, 0, 0), "nodes do not form trees"),
        (TREES, of("feature", 0, -1, 40, -1, -1, -1), "measures or nodes that do not exist"),
        (TREES, of("roots", 3, 5), "invalid roots"),
        (TREES, of("roots", 0, 0), "invalid roots"),
        (TREES, of("roots"), "invalid roots"),
        (TREES, of("roots", 0, 60), "measures or nodes that do not exist"),
        (TREES, of("value", 0, 9, 0, 0.5, 2, 0.25), "greater similarity may lower its score"),
        (TREES, of("value", 1.0), "trees are incomplete"),
    ],
)
def test_hostile_files_are_refused(
    discriminant: Any, change: Change, sentence: str, tmp_path: Path
) -> None:
    path = forged(tmp_path / "m.arrow", change, discriminant)
    with pytest.raises(NeardupError, match=sentence) as caught:
        load_model(path)
    assert caught.value.hint
    assert "m.arrow" in caught.value.message


def test_a_tree_as_deep_as_a_well_is_refused(tmp_path: Path) -> None:
    count = 101  # each right child is the next question

    def deep(_said: dict[str, Any], parts: dict[str, np.ndarray]) -> None:
        number, odd = np.arange(count), np.arange(count) % 2 == 1
        leaf = odd | (number == count - 1)
        parts["feature"] = np.where(leaf, -1.0, 0.0)
        parts["left"] = np.where(leaf, 0.0, number + 1)
        parts["right"] = np.where(leaf, 0.0, number + 2)
        parts["cut"] = np.zeros(count)
        parts["value"] = np.where(leaf, number, 0.0).astype(float)
        parts["roots"] = np.zeros(1)

    with pytest.raises(InputError, match="deeper than 32"):
        load_model(forged(tmp_path / "m.arrow", deep, TREES))


def test_what_is_no_model_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "m.arrow"
    with pytest.raises(SettingsError, match=r"There is no model .*m\.arrow\."):
        load_model(path)
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        load_model(tmp_path)
    for content in (b"", b"text", b"ARROW1\0\0", b"ARROW1\0\0" + b"\xff" * 64):
        path.write_bytes(content)
        with pytest.raises(InputError, match="is not a model"):
            load_model(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is not a model: it is a pipe"):
        load_model(tmp_path / "pipe")
    table = pa.table({"digest": [1]})
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(InputError, match="is not a model: it contains something else"):
        load_model(path)


def test_what_is_compressed_or_too_large_takes_no_memory(tmp_path: Path) -> None:
    path = forged(tmp_path / "m.arrow", says())
    with pa.OSFile(str(path), "rb") as source:
        table = pa.ipc.open_file(source).read_all()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(str(path), table.schema, options=options) as writer:
        writer.write_table(table)
    with pytest.raises(InputError, match="it is compressed"):
        load_model(path)
    with path.open("wb") as file:
        file.truncate(arrays.MOST_BYTES + 1)
    with pytest.raises(InputError, match="larger than 16 MB"):
        load_model(path)


@pytest.mark.parametrize("kind", EACH)
def test_any_damage_is_seen(kind: str, tmp_path: Path) -> None:
    """Each byte of the file, changed or cut away: refused, or what was saved."""
    path = tmp_path / "m.arrow"
    made = model(EACH[kind])
    made.save(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 13):
        cut = whole[:place]
        flipped = cut + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]
        for damaged in (cut, flipped):
            path.write_bytes(damaged)
            with contextlib.suppress(InputError, SignatureError):
                assert load_model(path).digest == made.digest


def test_a_changed_number_is_damage(tmp_path: Path) -> None:
    path = forged(tmp_path / "m.arrow", says())
    data = path.read_bytes()
    at = data.rindex(np.float64(2.0).tobytes())  # a weight
    path.write_bytes(data[:at] + np.float64(2.5).tobytes() + data[at + 8 :])
    with pytest.raises(SignatureError, match="has changed since it was saved"):
        load_model(path)


@given(
    random_arrays(np.float64, len(TWO), elements=st.floats(-4, 4)),
    random_arrays(np.float32, (9, len(TWO)), elements=unit),
)
def test_linear_by_hand(weights: np.ndarray, given_: np.ndarray) -> None:
    made = model(Linear(weights, 0.5))
    expected = given_.astype(np.float64) @ weights + 0.5
    np.testing.assert_allclose(made.g(given_), expected, atol=1e-12)
