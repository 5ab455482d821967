"""Copies in a collection: seeded, spread over lengths, with everything a method asks for."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from neardup.documents import Columns, collect
from neardup.errors import InputError
from neardup.planting.edits import EDITS, edits_named
from neardup.planting.plant import plant, planted, with_copies
from neardup.schema import KINDS


def documents(count: int = 60, seed: int = 1) -> list[dict[str, str]]:
    """Of very unlike lengths, no two alike."""
    draw = np.random.default_rng(seed)
    made = []
    for i in range(count):
        length = int(draw.integers(6, 9)) * 4 ** int(draw.integers(1, 4))
        numbers = draw.integers(0, 900, length).tolist()
        words = [f"w{n}" if k % 9 else f"{n}. W" for k, n in enumerate(numbers)]
        made.append({"id": f"d{i}", "text": " ".join(words), "site": f"s{i % 3}"})
    return made


def test_the_table_is_what_it_says() -> None:
    docs = documents()
    table = planted(docs, per_edit=4)
    texts = {doc["id"]: doc["text"] for doc in docs}
    assert table.column_names[:6] == ["id", "text", "of", "edit", "rate", "kind"]
    count = Counter((row["edit"], row["rate"]) for row in table.to_pylist())
    for name, edit in EDITS.items():
        if name != "reordered-paragraphs":  # these texts are of one paragraph
            assert all(count[name, rate] == 4 for rate in edit.rates), name
    for row in table.to_pylist():
        assert row["id"] == f"planted:{row['edit']}:{row['rate']:g}:{row['of']}"
        assert row["text"] != texts[row["of"]]
        assert row["kind"] in KINDS
        assert row["of"] not in row["donors"]
    assert len(set(table["id"].to_pylist())) == len(table)


def test_one_seed_gives_the_same_bytes_whatever_form_the_documents_have(tmp_path: Path) -> None:
    docs = documents()
    lines = tmp_path / "docs.jsonl"
    lines.write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    whole = planted(docs, per_edit=3, seed=5)
    assert planted(docs, per_edit=3, seed=5).equals(whole)
    assert planted(lines, per_edit=3, seed=5).equals(whole)
    assert planted(pa.Table.from_pylist(docs), per_edit=3, seed=5).equals(whole)
    assert not planted(docs, per_edit=3, seed=6).equals(whole)


def test_a_copy_does_not_depend_on_the_other_edits() -> None:
    docs = documents(12)
    some = {r["id"]: r["text"] for r in planted(docs, ["deletions"], per_edit=12).to_pylist()}
    more = {r["id"]: r["text"] for r in planted(docs, ["numbers", "deletions"], 12).to_pylist()}
    assert some.items() <= more.items()
    assert len(some) == 5 * 12


def test_all_lengths_are_drawn_and_equal_texts_once() -> None:
    docs = documents(200)
    copies = [{**doc, "id": f"again-{doc['id']}"} for doc in docs]
    table = planted([*docs, *copies], ["deletions"], per_edit=40)
    length = {doc["id"]: len(doc["text"]).bit_length() for doc in docs}
    chosen = set(table["of"].to_pylist())
    texts = [doc["text"] for doc in [*docs, *copies] if doc["id"] in chosen]
    assert len(chosen) == len(set(texts)) == 40
    share = Counter(length[one.removeprefix("again-")] for one in chosen)
    for size, there in Counter(length.values()).items():
        assert share[size] == pytest.approx(40 * there / 200, abs=1.5)


def test_avoided_and_short_documents_are_not_copied() -> None:
    docs = [*documents(30), {"id": "short", "text": "too few words to edit", "site": ""}]
    avoid = {f"d{i}" for i in range(25)}
    table = planted(docs, ["deletions", "ocr"], per_edit=10, avoid=avoid)
    assert set(table["of"].to_pylist()) == {f"d{i}" for i in range(25, 30)}
    with pytest.raises(InputError, match="No document has the 20 words"):
        planted([docs[-1]], per_edit=2)


def test_the_copies_come_before_a_collection_that_is_read_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "docs.csv"
    rows = [f'{d["id"]},"{d["text"]}",{d["site"]}' for d in documents(40)]
    path.write_text("name,body,site\n" + "\n".join(rows) + "\n")
    columns = Columns(text="body", id="name", extra=("site",))
    collection = collect(str(path)).limited(30)
    made = plant(collection, columns, edits_named(["deletions"]), per_edit=5)
    assert set(made.copies["of"].to_pylist()) <= {f"d{i}" for i in range(30)}
    both = with_copies(collection, columns, made.copies)
    batches = [chunk.read().records for chunk in both.chunks(columns)]
    ids = [one for batch in batches for one in batch.column("id").to_pylist()]
    sites = [one for batch in batches for one in batch.column("site").to_pylist()]
    assert both.limit == 55
    assert ids[:25] == made.copies["id"].to_pylist()
    assert ids[25:] == [f"d{i}" for i in range(40)]
    site = dict(zip(ids, sites, strict=True))
    assert all(site[row["id"]] == site[row["of"]] for row in made.copies.to_pylist())
