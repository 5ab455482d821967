"""Semantic: keys and cosines against the twin, what is missed, and encoders of every kind."""

from __future__ import annotations

import json
import math
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import neardup as nd
from neardup import _native
from neardup.artefacts.encoders import RetSim, encoder_of
from neardup.documents import Collection
from neardup.documents.lists import ListSource
from neardup.engines.ranked import Grouper
from neardup.errors import DataError, InputError, MissingExtraError, SettingsError, SignatureError
from neardup.features.vectors import DIMENSIONS, Hashing, quantised
from neardup.methods.registry import read_method, write_method
from neardup.methods.semantic import PlaneTables, Semantic, choose_tables, plane_keys
from neardup.schema import Ragged
from neardup.testing import prepare
from neardup.text.words import buffers, words
from reference import semantic as twin
from reference.run import collection

TEXT = st.lists(st.sampled_from([*"abcdefgh", "größe", "日本語", "the", "The"]), max_size=40).map(
    " ".join
)
SMALL = hnp.arrays(
    np.int8, st.tuples(st.integers(1, 4), st.just(40)), elements=st.integers(-127, 127)
)
FERRY = "the ferry was late again and nobody on the pier knew why it did not come before noon"
BOAT = "the boat was late again and nobody on the quay knew why it did not arrive before noon"


def counting(texts: list[str]) -> np.ndarray[Any, Any]:
    """An encoder of letters; at the top level, so that it can be imported by its name."""
    return np.array([[text.lower().count(chr(97 + i)) + 0.5 for i in range(26)] for text in texts])


@given(st.lists(TEXT, max_size=5))
def test_hashing_equals_twin_in_any_batch(texts: list[str]) -> None:
    whole = Hashing().encode(texts)
    for text, found in zip(texts, whole, strict=True):
        hashes = _native.hash_words(*buffers(words(text))).tolist()
        assert np.allclose(found, twin.hashed(hashes, DIMENSIONS), atol=1e-9)
        assert np.array_equal(Hashing().encode([text])[0], found)


@given(SMALL, st.integers(1, 32), st.integers(1, 3))
def test_keys_equal_twin(vectors: Any, bits: int, tables: int) -> None:
    keys, probes = plane_keys(vectors, PlaneTables(bits, tables))
    assert probes.tolist() == [tables] * len(vectors)
    for i, vector in enumerate(vectors.tolist()):
        assert keys[i].tolist() == [twin.key(vector, table, bits) for table in range(tables)]


@given(SMALL, st.sampled_from([0.6, 0.75, 0.8, 0.85, 0.9, 1.0]))
def test_the_cosine_is_decided_in_whole_numbers(vectors: Any, threshold: float) -> None:
    vectors = vectors[vectors.any(axis=1)]
    rows = np.concatenate([vectors, vectors // 2, vectors - (vectors > 0)])
    rows = rows[rows.any(axis=1)]
    evidence = Ragged(rows.reshape(-1).copy(), np.arange(len(rows) + 1, dtype=np.int64) * 40)
    a, b = (x.astype(np.int64) for x in np.triu_indices(len(rows)))
    found = Semantic(threshold=threshold, tables=1024).score(evidence, a, b)
    t = Fraction(str(threshold))
    expected = [
        twin.passes(rows[i].tolist(), rows[j].tolist(), t) for i, j in zip(a, b, strict=True)
    ]
    assert found.passed.tolist() == expected
    assert (found.score[found.passed] >= threshold).all()
    assert (found.score[~found.passed] < threshold).all()


def test_exactly_at_the_threshold_passes() -> None:
    """cos((3, 4), (0, 1)) = 0.8, (5, 12) and (12, 5) have 120 / 169."""
    rows = np.zeros((3, 40), np.int8)
    rows[:, :2] = [[3, 4], [0, 1], [4, 3]]
    evidence = Ragged(rows.reshape(-1), np.arange(4, dtype=np.int64) * 40)
    found = Semantic(threshold=0.8).score(evidence, np.array([0, 0, 1]), np.array([1, 2, 2]))
    assert found.passed.tolist() == [True, True, False]
    assert found.score.tolist() == [0.8, 0.96, 0.6]


@given(hnp.arrays(np.float64, (2, 64), elements=st.floats(-1, 1, width=32)))
def test_rounding_turns_a_vector_by_no_more_than_it_says(vectors: Any) -> None:
    vectors = vectors[np.abs(vectors).max(axis=1) > 1e-3]
    for exact, rounded in zip(vectors, quantised(vectors).astype(np.float64), strict=True):
        length = math.sqrt(rounded @ rounded)
        cosine = min(float(exact @ rounded) / length / math.sqrt(exact @ exact), 1.0)
        assert math.acos(cosine) <= math.asin(min(math.sqrt(64) / 2 / length, 1)) + 1e-6


@pytest.mark.parametrize("cosine", [0.6, 0.8, 0.9])
def test_pairs_are_missed_as_often_as_the_formula_says(cosine: float) -> None:
    rng = np.random.default_rng(7)
    x, noise = rng.normal(size=(2, 4000, 256))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    noise -= (noise * x).sum(1, keepdims=True) * x
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    y = cosine * x + math.sqrt(1 - cosine**2) * noise
    chosen = PlaneTables(10, 12)
    mine, theirs = (plane_keys(quantised(v), chosen)[0].values.reshape(-1, 12) for v in (x, y))
    missed = ~(mine == theirs).any(axis=1)
    expected = chosen.miss_rate(cosine)
    assert abs(missed.mean() - expected) < 4 * math.sqrt(expected * (1 - expected) / len(x))


def test_tables_follow_the_formula() -> None:
    """Charikar: vectors at 60° agree on two planes of three."""
    assert PlaneTables(1, 1).miss_rate(0.5) == pytest.approx(1 / 3)
    assert PlaneTables(2, 3).miss_rate(0.5) == pytest.approx((1 - 4 / 9) ** 3)
    assert choose_tables(1.0, 1, 0.01) == PlaneTables(32, 1)
    for threshold in (0.6, 0.7, 0.85, 0.9):
        made = Semantic(threshold=threshold, tables=256)
        assert made.miss_rate <= 0.01
        assert PlaneTables(made.planes.bits + 1, 256).miss_rate(threshold) > 0.01


def test_golden_vectors() -> None:
    """If these change, stored signatures have become unreadable."""
    made = prepare(Semantic(), [FERRY])
    assert made.evidence.lengths.tolist() == [512]
    found = made.evidence[0]
    assert found.nonzero()[0][:8].tolist() == [14, 16, 25, 30, 33, 48, 50, 51]
    assert found[found != 0][:8].tolist() == [64, -64, -64, -64, 64, 64, 64, -64]
    assert made.keys[0][:2].tolist() == [5006068170276938453, 14152830121275361991]
    assert encoder_of("hashing").digest == "2071231c8ad17d6b7b0f4738b06da047"


def test_every_pair_found_is_right_and_few_are_missed() -> None:
    documents = [one for one in collection(np.random.default_rng(4), 240) if len(one["text"]) > 80]
    method = Semantic(threshold=0.8)
    result = nd.find(documents, method=method)
    place = {one["id"]: i for i, one in enumerate(documents)}
    found = {
        tuple(sorted((place[row["a"]], place[row["b"]])))
        for row in result.pairs.select(["a", "b"]).to_pylist()
    }
    vectors = [row.tolist() for row in _rows(prepare(method, [d["text"] for d in documents]))]
    expected = {
        (i, j)
        for (i, x), (j, y) in combinations(enumerate(vectors), 2)
        if twin.passes(x, y, Fraction(4, 5))
    }
    assert len(expected) > 100
    assert found <= expected
    assert len(expected - found) <= method.miss_rate_limit * len(expected)


def _rows(prepared: Any) -> list[Any]:
    assert not prepared.too_short.any()
    return [prepared.evidence[i] for i in range(len(prepared.evidence))]


def test_a_long_text_is_the_mean_of_its_chunks_by_their_words() -> None:
    text = " ".join(f"word{i}" for i in range(25))
    made = prepare(Semantic(encoder=counting, length=10), [text]).evidence[0]
    parts = [text.split()[i : i + 10] for i in (0, 10, 20)]
    vectors = counting([" ".join(part) + " " * (len(part) == 10) for part in parts])
    mean = sum(v / np.linalg.norm(v) * len(p) for v, p in zip(vectors, parts, strict=True))
    assert made[:26].tolist() == quantised(np.array([mean]))[0].tolist()
    assert not made[26:].any()


def test_word_order_and_case_do_not_matter_to_hashing_and_words_do() -> None:
    turned = " ".join(reversed(FERRY.upper().split()))
    decided = nd.dedup([FERRY, turned, BOAT], method="semantic").decisions["decision"].to_pylist()
    assert decided == ["kept", "duplicate", "kept"]


def test_texts_without_a_vector_are_compared_by_their_normal_form() -> None:
    texts = ["a b c " * 10, "d e f " * 10, "A, b; c " * 10]
    result = nd.dedup(
        texts, method=Semantic(encoder=lambda given: np.array([probed(t) for t in given]))
    )
    assert result.decisions["reason"].to_pylist()[:2] == ["too_short", "too_short"]
    assert result.decisions["decision"].to_pylist() == ["kept", "kept", "duplicate"]


def probed(text: str) -> list[float]:
    """Knows capital letters only, which the probe texts have."""
    return [float(text.count(one)) for one in "TIDER"]


def static_model(folder: Path, turn: int = 0) -> Path:
    """A model of model2vec in which some words have a vector in common."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    known = sorted({*FERRY.split(), *BOAT.split()})
    vocabulary = {"[UNK]": 0, **{word: i + 1 for i, word in enumerate(known)}}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    vectors = np.random.default_rng(5 + turn).normal(size=(len(vocabulary), 24)).astype(np.float32)
    for one, other in (("ferry", "boat"), ("pier", "quay"), ("come", "arrive")):
        vectors[vocabulary[one]] = vectors[vocabulary[other]]
    StaticModel(vectors, tokenizer).save_pretrained(folder)
    return folder


def test_a_model_in_a_folder_finds_other_words_for_the_same(tmp_path: Path) -> None:
    folder = static_model(tmp_path / "model")
    other = "interest rates rose by a quarter of a point and nobody knew why they did so on the day"
    documents = [{"id": str(i), "text": text} for i, text in enumerate([FERRY, BOAT, other])]
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in documents))
    result = nd.dedup(tmp_path / "docs.jsonl", method="semantic", encoder=folder, threshold=0.95)
    assert result.decisions["kept_id"].to_pylist() == [None, "0", None]
    result.save(tmp_path / "run")
    stored = nd.Result.load(tmp_path / "run")
    assert stored.explain("1").comparison.verdict.duplicate
    said = json.loads((tmp_path / "run" / "run.json").read_text())["artefacts"]["encoder"]
    assert (said["name"], said["dimensions"]) == (str(folder), 24)


def test_an_index_finds_its_encoder_again_and_refuses_another(tmp_path: Path) -> None:
    folder = static_model(tmp_path / "model")
    settings: dict[str, Any] = {"method": "semantic", "encoder": folder, "threshold": 0.95}
    with nd.Index.open(tmp_path / "index.db", **settings) as index:
        assert index.add({"id": "0", "text": FERRY}) is None
    with nd.Index.open(tmp_path / "index.db") as index:
        assert index.check({"id": "1", "text": BOAT}).of == "0"
    moved = (tmp_path / "model").rename(tmp_path / "moved")
    same = Semantic(encoder=moved, threshold=0.95)  # type: ignore[arg-type]
    assert encoder_of(str(moved)).digest == encoder_of(str(folder)).digest
    run = nd.dedup([FERRY], method=same)
    with pytest.raises(SignatureError, match=r"encoder is hashing, but .* was made with"):
        nd.Index.open("memory:", method=Semantic(encoder="hashing"), artefacts=run)


def test_runs_of_unlike_encoders_are_not_mixed(tmp_path: Path) -> None:
    one, other = (static_model(tmp_path / str(i), i) for i in (0, 1))
    (tmp_path / "docs.jsonl").write_text(json.dumps({"id": "a", "text": FERRY}) + "\n")
    made = nd.dedup(tmp_path / "docs.jsonl", method="semantic", encoder=one, signatures=True)
    made.save(tmp_path / "run")
    again = nd.dedup([BOAT], method="semantic", encoder=one, against=[tmp_path / "run"])
    assert again.counts.duplicates == 1
    with pytest.raises(SignatureError, match="differ in encoder"):
        nd.dedup([BOAT], method="semantic", encoder=other, against=[tmp_path / "run"])


@pytest.mark.parametrize("name", ["minishlab/potion-base-8M", "potion", "no such:thing", "gone@12"])
def test_nothing_is_downloaded(name: str) -> None:
    said = "another process" if "@" in name else "Nothing is downloaded.*save_pretrained"
    with pytest.raises(SettingsError, match=said):
        nd.dedup([FERRY], method="semantic", encoder=name)


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"neither modules\.json nor config\.json"):
        encoder_of(str(tmp_path))
    folder = static_model(tmp_path / "broken")
    (folder / "model.safetensors").write_bytes(b"no")
    with pytest.raises(InputError, match="cannot be read"):
        encoder_of(str(folder))


@pytest.mark.parametrize(
    ("package", "type_", "said"),
    [
        ("model2vec", "sentence_transformers.models.StaticEmbedding", r"neardup\[semantic\]"),
        ("sentence_transformers", "sentence_transformers.models.Transformer", "sentence-transf"),
    ],
)
def test_a_missing_package_is_named_with_the_line_that_installs_it(
    package: str, type_: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / "modules.json").write_text(json.dumps([{"idx": 0, "type": type_}]))
    with pytest.raises(MissingExtraError, match=f"is not installed. Hint: pip install '?{said}"):
        encoder_of(str(tmp_path))


def test_the_encoder_of_a_wheel_is_named_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"unisim needs .* pip install 'neardup\[semantic"):
        RetSim()


def test_unisim_gives_the_vectors_of_its_package() -> None:
    """Ends of up to 256 characters are left out there too, unless they are the whole text."""
    pytest.importorskip("onnxruntime")
    embed = pytest.importorskip("unisim").TextSim().embed
    texts = [FERRY, "é", "日本語のテキスト" * 90, "🎻" * 769, "ab" * 384, "z" * 1024]
    ours = encoder_of("unisim")
    assert np.abs(ours.unit_vectors(texts) - np.asarray(embed(texts))).max() < 1e-3
    one = ours.unit_vectors(texts[:1])
    assert (one == ours.unit_vectors(texts)[:1]).all(), "it depends on the other texts"
    assert not ours.unit_vectors([""]).any()


def test_unisim_finds_a_copy_with_typing_errors_without_a_network(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    wrong = BOAT.replace("nobody", "noboddy").replace("quay", "qauy").replace("noon", "nooon")
    settings: dict[str, Any] = {"method": "semantic", "encoder": "unisim", "threshold": 0.8}
    other = "interest rates rose by a quarter of a point and nobody knew why they did so on the day"
    result = nd.dedup([BOAT, wrong, other], **settings)
    assert result.decisions["kept_id"].to_pylist() == [None, "input:1", None]
    with nd.Index.open(tmp_path / "index.db", **settings) as index:
        index.add({"id": "0", "text": BOAT})
    with nd.Index.open(tmp_path / "index.db") as index:
        assert index.check({"id": "1", "text": wrong}).of == "0"


class Shouting:
    """With a state, as models have it."""

    def __init__(self) -> None:
        self.calls = 0

    def encode(self, sentences: list[str]) -> list[list[float]]:
        self.calls += 1
        return counting(sentences).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("made", [counting, lambda texts: counting(texts), Shouting()])
def test_what_python_brings_is_written_as_a_name(made: Any, tmp_path: Path) -> None:
    method = nd.Semantic(encoder=made, threshold=0.99)
    assert isinstance(method.encoder, str)
    assert method == Semantic(encoder=made, threshold=0.99)
    assert read_method(write_method(method)) == method
    both = [FERRY, FERRY.replace("ferry", "yferr"), BOAT]
    result = nd.dedup(both, method="semantic", encoder=made, threshold=0.99)
    assert result.counts.duplicates == 1
    result.save(tmp_path / "run")
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["settings"]["parameters"]["encoder"] == method.encoder
    assert run["artefacts"]["encoder"]["digest"] == encoder_of(method.encoder).digest


def test_a_function_that_can_be_imported_is_named_by_its_place() -> None:
    assert Semantic(encoder=Hashing().encode).encoder != "neardup.features.vectors:Hashing.encode"
    assert Semantic(encoder="neardup.features.vectors:Hashing") is not None
    place = encoder_of("neardup.features.vectors:Hashing")
    assert place.digest == encoder_of("hashing").digest
    for written, said in (("json:nothing", "cannot be imported"), ("os:sep", "encodes nothing")):
        with pytest.raises(SettingsError, match=said):
            encoder_of(written)


def failing(_: list[str]) -> Any:
    raise ValueError("no such device")


@pytest.mark.parametrize(
    ("encoder", "said"),
    [
        (failing, r"failed: ValueError: no such device"),
        (lambda texts: np.ones(len(texts)), r"shape \(8,\) for 8 texts"),
        (lambda _: np.ones((1, 3)), r"shape \(1, 3\) for 8 texts"),
        (lambda texts: np.full((len(texts), 3), np.nan), "no finite numbers"),
        (lambda texts: np.zeros((len(texts), 3)), "only zeros"),
        (lambda texts: np.ones((len(texts), 2 + len(texts))), "of another length"),
    ],
)
def test_an_encoder_that_does_not_keep_its_word_is_told_so(
    encoder: Callable[[list[str]], Any], said: str
) -> None:
    with pytest.raises((DataError, SettingsError), match=said):
        nd.dedup([FERRY, BOAT], method="semantic", encoder=encoder)


def test_an_encoder_is_never_called_by_two_threads_at_once() -> None:
    busy = threading.Lock()

    def alone(texts: list[str]) -> Any:
        assert busy.acquire(blocking=False), "called while it works"
        try:
            return counting(texts * 50)[: len(texts)]
        finally:
            busy.release()

    texts = [f"{FERRY} {i}" for i in range(200)]
    source = Collection([ListSource(texts, chunk_rows=5)])
    assert nd.dedup(source, method="semantic", encoder=alone, workers=4).counts.documents == 200


def test_documents_are_signed_for_result_lists() -> None:
    ranked = [{"text": FERRY}, {"text": BOAT}, {"text": FERRY.upper()}]
    grouper = Grouper(method="semantic")
    stored = grouper.sign(ranked)
    assert len(grouper.group(ranked, signatures=stored)) == 2
    with pytest.raises(SignatureError):
        Grouper(method="semantic", encoder=counting).group(ranked, signatures=stored)


def test_parts_of_combined_have_their_own_encoders(tmp_path: Path) -> None:
    folder = static_model(tmp_path / "model")
    methods = [Semantic(encoder=str(folder), threshold=0.95), Semantic(threshold=0.5, tables=1024)]
    settings = {"method": "combined", "set": {"methods": methods}}
    assert nd.dedup([FERRY, BOAT], **settings).counts.duplicates == 1
    with nd.Index.open("memory:", **settings) as index:
        index.add({"id": "0", "text": FERRY})
        assert index.check({"id": "1", "text": BOAT}).of == "0"


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"encoder": 3}, "expected a name, a folder"),
        ({"encoder": Hashing}, "expected a name, a folder"),
        ({"threshold": 0.3}, "needs .* tables; there are 128"),
        ({"threshold": 0.9, "bits": 32}, "with 32 bits"),
        ({"bits": 33}, "from 1 to 32"),
        ({"tables": 0}, "from 1 to 1024"),
        ({"length": -1}, "0 or more"),
        ({"miss_rate_limit": 1.0}, "between 0 and 1"),
    ],
)
def test_wrong_parameters_are_sentences(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Semantic(**parameters)
