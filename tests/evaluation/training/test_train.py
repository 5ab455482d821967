"""From labels to a model: the same bytes, no less than was promised, and refusals in words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import neardup as nd
from evaluation.training.labelled import collection, labels, random_data
from neardup.documents import collect
from neardup.errors import InputError, SettingsError
from neardup.evaluation.training import training_data
from neardup.evaluation.training.complete_labels import labelled_by_group, labelled_completely
from neardup.evaluation.training.machines import KINDS
from neardup.evaluation.training.trainer import train
from neardup.evaluation.training.training_data import Data, Material, Source, material_of
from neardup.evaluation.training.validation import sections_of
from neardup.features.similarity import MEASURES
from neardup.labels.label_store import Label, LabelStore, Pair
from neardup.labels.training_labels import Labelled, pairs_named, read_labelled
from neardup.progress import Silent
from neardup.text.text_options import Text


def material(data: Data) -> Material:
    about = {"labels": "labelled pairs", "unused": {}, "artefacts": {}}
    return Material(data, Text(), MEASURES[: data.x.shape[1]], about)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_each_kind_learns_and_is_the_same_twice(kind: str, tmp_path: Path) -> None:
    data = random_data(3, 60, width=4)
    for name in ("one", "two"):
        made = train(material(data), kind=kind, choose=False)
        made.save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert made.measures == MEASURES[:4]
    passed = made.probability(data.x) >= made.threshold
    assert (passed == (data.y == 1)).mean() > 0.85
    told = made.trained
    assert {"Model", "How good", "Measures"} <= {one.title for one in sections_of(made)}
    assert json.loads(json.dumps(told)) == told


def test_three_measures_are_better_than_one_and_those_that_say_nothing_are_left_out() -> None:
    made = train(material(random_data(5, width=7)), kind="linear")
    assert {*MEASURES[:3]} <= {*made.measures}
    assert len(made.measures) < 7
    told = made.trained
    assert told["steps"][0]["left_out"] is None
    assert told["validated"]["f1"] > next(iter(told["singles"].values()))["f1"] + 0.1


def test_twenty_pairs_are_enough_and_fewer_are_refused() -> None:
    draw = np.random.default_rng(0)
    y = np.arange(20) % 2
    x = np.clip(y[:, None] * 0.5 + draw.random((20, 4)) / 2, 0, 1)
    data = Data(2 * np.arange(20), 2 * np.arange(20) + 1, y, x)
    assert train(material(data)).trained["pairs"] == 20
    with pytest.raises(InputError, match="9 are duplicates; training needs at least 10"):
        train(material(data.at(np.arange(19))))
    with pytest.raises(InputError, match="0 are no duplicates") as caught:
        train(material(data.at(np.flatnonzero(y))))
    assert "label suggest" in str(caught.value)


def test_wrong_wishes_are_sentences() -> None:
    with pytest.raises(SettingsError, match="There is no model 'forest'"):
        train(material(random_data()), kind="forest")


def test_too_many_pairs_are_drawn() -> None:
    made = train(material(random_data(1)), kind="linear", choose=False, max_pairs=60)
    assert (made.trained["pairs"], made.trained["left_out"]) == (60, 60)


def test_a_store_gives_what_its_assessors_agree_on(tmp_path: Path) -> None:
    path = tmp_path / "s.labels.jsonl"
    store = LabelStore(path)
    said = [("a", "duplicate"), ("b", "not"), ("c", "undecided"), ("d", "duplicate")]
    store.add_all(Label("x", other, label, "ann") for other, label in said)
    store.add(Label("x", "d", "not", "bob"))
    store.add(Label("x", "e", "duplicate", "ann"))
    store.undo("ann")
    found = read_labelled([path])
    assert found.labels == {Pair("a", "x"): 1, Pair("b", "x"): 0}
    assert found.unused == {"undecided": 1, "disputed by assessors": 1}
    assert Pair("e", "x") not in pairs_named(path)  # taken back: it may be asked again
    with pytest.raises(SettingsError, match="is a store of labels"):
        read_labelled([path], None, ["4"], None)


def test_a_file_of_pairs_says_what_its_labels_mean(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("a,b,label\nx,y,4\ny,x,4\nx,z,0\nx,x,4\nu,v,2\np,q,4\nq,p,0\nq,p,0\n")
    found = read_labelled([path], None, ["4"], ["0"])
    assert found.labels == {Pair("x", "y"): 1, Pair("x", "z"): 0}
    expected = {"a document with itself": 1, "label '2'": 1, "contradicting labels": 1}
    assert found.unused == expected
    with pytest.raises(InputError, match=r"no label to train on .*\(4 label '4', 3 label '0', "):
        read_labelled([path], None, ["7"], ["8"])
    with pytest.raises(SettingsError, match="'4' is both positive and negative"):
        read_labelled([path], None, ["4"], ["4"])


def test_pairs_of_documents_that_are_not_there_are_left_out() -> None:
    known = {Pair.of(a, b): int(same) for a, b, same in labels()}
    labelled = Labelled({**known, Pair("d0a", "nobody"): 1})
    made = material_of(Source(collect(collection())), labelled, Silent())
    assert len(made.data) == len(known)
    assert made.about["unused"] == {"documents not there": 1}
    with pytest.raises(InputError, match="None of the 1 labelled pair names two documents"):
        material_of(Source(collect(collection())), Labelled({Pair("p", "q"): 1}), Silent())


def test_equal_texts_teach_nothing_whatever_is_said_of_them() -> None:
    first, *rest = collection()
    again = [
        {**first, "id": name, "text": text}
        for name, text in (("same", first["text"]), ("loud", f"{first['text'].upper()}!"))
    ]
    known = {Pair.of(a, b): int(same) for a, b, same in labels()}
    equal = {Pair.of("d0a", "same"): 1, Pair.of("d0a", "loud"): 0}
    made = material_of(Source(collect([first, *rest, *again])), Labelled(known | equal), Silent())
    assert len(made.data) == len(known)
    assert made.about["unused"] == {"of equal texts": 2}
    alone = material_of(Source(collect([first, *again])), Labelled(equal), Silent())
    with pytest.raises(InputError, match=r"Others are left out \(2 of equal texts\)"):
        train(alone)


def test_equal_texts_of_other_days_are_taught_where_dates_are_compared() -> None:
    first, *rest = ({**one, "day": "2020-01-01"} for one in collection())
    again = [{**first, "id": "same"}, {**first, "id": "later", "day": "2021-01-01"}]
    source = Source(
        collect([first, *rest, *again]), measures=("words3_jaccard", "date_year"), date="day"
    )
    labelled = Labelled({Pair.of("d0a", "same"): 1, Pair.of("d0a", "later"): 0})
    made = material_of(source, labelled, Silent())
    assert made.data.x.tolist() == [[1.0, pytest.approx(365 / (365 + 366))]]
    assert made.about["unused"] == {"of equal texts": 1}


def test_what_measures_need_is_counted_over_all_documents() -> None:
    """Whatever pairs are labelled, and only for the measures that are asked for."""
    both = [
        material_of(
            Source(collect(collection()), measures=("words3_idf", "length_ratio")),
            Labelled({Pair.of(a, b): 1}),
            Silent(),
        )
        for a, b in (("d0a", "d0b"), ("d7a", "d7c"))
    ]
    assert both[0].about == both[1].about
    assert both[0].about["artefacts"].keys() == {
        "words1-frequencies",
        "words3-frequencies",
        "outline",
    }
    assert [one.data.x.shape for one in both] == [(1, 2)] * 2


def test_groups_give_the_pairs_that_a_model_is_asked_about() -> None:
    docs = collection()
    docs += [{"id": f"m{i}", "text": f"{docs[0]['text']} m{i}", "set": "many"} for i in range(9)]
    docs.append({"id": "twin", "text": docs[3]["text"], "set": "elsewhere"})
    docs.append({"id": "lost", "text": docs[3]["text"] + " and no group", "set": ""})
    groups = {doc["id"]: doc["set"] for doc in docs}
    source = Source(collect(docs))
    found = labelled_by_group(source, "set", 0, Silent())
    assert found.labels == labelled_by_group(source, "set", 0, Silent()).labels
    for pair, label in found.labels.items():
        assert (groups[pair.a] == groups[pair.b]) == bool(label)
        assert "lost" not in pair
    asked = nd.find(docs, method="learned", threshold=1e-6, calibrate=False, templates="accept")
    met = {Pair.of(row["a"], row["b"]) for row in asked.pairs.to_pylist() if row["score"] < 1}
    known = {pair for pair in met if "lost" not in pair}
    assert known <= found.labels.keys()
    assert Pair("d1a", "twin") not in found.labels  # equal texts: no label makes them unlike
    assert found.unused == {"of equal texts": 1}
    positive = sum(found.labels.values())
    assert len(found.labels) >= 2 * positive > 100  # few of other groups meet here
    few = labelled_by_group(source, "set", 0, Silent(), most=40)
    assert 20 <= sum(few.labels.values()) < positive
    assert few.unused["beyond --max-pairs"] == len(known) - len(few.labels) > 0
    with pytest.raises(InputError, match="No two documents have the same group"):
        labelled_by_group(source, "id", 0, Silent())
    with pytest.raises(InputError, match="All documents have the same group"):
        labelled_by_group(Source(collect([{**doc, "set": 1} for doc in docs])), "set", 0, Silent())


def test_more_pairs_than_can_be_held_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_data, "MOST_COMPARED", 40)
    with pytest.raises(InputError, match=r"More than 40 pairs .* Hint: train on fewer documents"):
        labelled_by_group(Source(collect(collection())), "set", 0, Silent())


def test_what_complete_labels_do_not_name_are_no_duplicates() -> None:
    docs = [*collection(), {"id": "far", "text": " ".join(f"far{i}" for i in range(80))}]
    source = Source(collect(docs))
    copies = {Pair.of(a, b) for a, b, same in labels() if same}
    undecided, absent, apart = Pair.of("d0a", "d0c"), Pair("d0a", "nobody"), Pair("d0a", "far")
    chain = [Pair.of("d1a", "d1b"), Pair.of("d1b", "d1c")]  # so a and c are not known to differ
    copies |= {*chain}
    given = Labelled(dict.fromkeys([*copies, absent, apart], 1))
    found = labelled_completely(given, {*given.labels, undecided}, source, 0, Silent())
    assert {pair for pair, label in found.labels.items() if label} == copies
    halves = {Pair.of(f"d{i}{one}", f"d{i}c") for i in range(24) for one in "ab"}
    left_open = {undecided, Pair.of("d1a", "d1c")}
    assert halves - left_open <= found.labels.keys()
    assert not left_open & found.labels.keys()
    once = {"documents not there": 1, "of documents that are never compared": 1}
    assert found.unused == once
    few = labelled_completely(given, given.labels, source, 0, Silent(), 30)
    assert len(few.labels) == 30
    assert 10 <= sum(few.labels.values()) <= 20  # however many there are, both classes are taught
    assert few.unused["beyond --max-pairs"] == len(found.labels) + 1 - 30
