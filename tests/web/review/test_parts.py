"""What the pages are made of: texts and their search, cuts, graphs, originals, sources."""

from __future__ import annotations

import gzip
import itertools
import json
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.decisions.clusters import bridges
from neardup.errors import NeardupError
from neardup.report.html_page import html
from neardup.runs.application import apply
from neardup.text.alignment import align
from neardup.web.review.cluster_page import Edge, Graph, Node, drawn
from neardup.web.review.filters import Filter
from neardup.web.review.pair_page import columns
from neardup.web.review.review_source import open_source
from neardup.web.review.review_state import Cuts, State, histogram
from neardup.web.review.review_tables import BECOMES
from neardup.web.review.review_texts import terms


def test_cuts_are_those_of_a_new_threshold(news: Path) -> None:
    source = open_source(str(news))
    assert source.result
    cuts = Cuts(source)
    cuts.begin()
    cuts.wait()
    assert cuts.done
    assert len(cuts.counted) >= 100
    for counted in (*cuts.counted[::17], cuts.counted[-1], cuts.at(0.5064)):
        made = source.result.rethreshold(counted.threshold).counts
        ours = (counted.kept, counted.duplicates, counted.clusters, counted.pairs)
        assert ours == (made.kept, made.duplicates, made.clusters, made.pairs)
        assert counted.documents == counted.kept + counted.duplicates + counted.rejected
    for threshold in (0.39, 1.01):
        with pytest.raises(NeardupError, match="cannot be answered"):
            cuts.at(threshold)


def test_pairs_that_fall_are_those_below(news: Path) -> None:
    source = open_source(str(news))
    scores = source.decided(())[1]["score"].to_numpy()
    fallen = scores[Cuts(source).fallen(0.6)]
    assert sorted(fallen) == sorted(scores[scores < 0.6])
    assert (np.diff(fallen) <= 0).all()


def test_a_partial_run_says_why_it_cannot_tell(tmp_path: Path, news: Path) -> None:
    docs = json.loads((news / "run.json").read_text())["inputs"][0]["path"]
    run = nd.dedup(docs, max_pairs=10).save(tmp_path / "partial")
    cuts = Cuts(open_source(str(run)))
    cuts.begin()
    assert cuts.done
    assert cuts.data() == []
    with pytest.raises(NeardupError, match="listed only the pairs with a kept document"):
        cuts.at(0.9)
    state = State(open_source(str(run)))
    copy = state.tables.decisions["id"][int(np.flatnonzero(state.tables.aside)[0])].as_py()
    with pytest.raises(NeardupError, match="listed only some of its pairs"):
        state.put_first(copy)
    assert not (run / "review").exists()


@given(st.lists(st.floats(0, 1), max_size=50))
def test_a_histogram_has_every_pair(scores: list[float]) -> None:
    assert sum(histogram(np.array(scores))) == len(scores)


def components(count: int, edges: list[tuple[int, int]]) -> list[set[int]]:
    groups = [{i} for i in range(count)]
    for a, b in edges:
        one, other = (next(g for g in groups if node in g) for node in (a, b))
        if one is not other:
            groups.remove(other)
            one |= other
    return groups


@given(st.integers(2, 9), st.data())
def test_bridges_part_two_groups(count: int, data: st.DataObject) -> None:
    every = list(itertools.combinations(range(count), 2))
    edges = data.draw(st.lists(st.sampled_from(every), unique=True, max_size=14))
    expected = set()
    for number, edge in enumerate(edges):
        left = components(count, edges[:number] + edges[number + 1 :])
        sides = [next(group for group in left if node in group) for node in edge]
        if sides[0] is not sides[1] and min(map(len, sides)) > 1:
            expected.add(number)
    assert bridges(count, edges) == expected


def test_a_graph_is_drawn_the_same_every_time_and_marks_what_is_weak() -> None:
    names = ["a", "<script>", "c", "d", "\u202ee", "f"]
    nodes = [Node(name, kept=name == "a", changed=False) for name in names]
    links = [(0, 1, 1.0), (1, 2, 0.9), (0, 2, 0.95), (2, 3, 0.41), (3, 4, 0.9), (4, 5, 1.0)]
    graph = Graph(nodes, [Edge(a, b, score, decides=a == 0) for a, b, score in links], 0.4)
    made = drawn(graph)
    assert made == drawn(graph)
    assert made.count('class="weak bridge"') == 1
    assert "<script>" not in made
    assert "\u202e" not in made
    assert "nan" not in made
    alone = drawn(Graph(nodes[:1], [], 0.4))
    assert "1 documents and 0 links" in alone


texts = st.text("ab <&\u202e\n", max_size=30).map(lambda text: f"{text} the same words stand here")


@given(texts, texts)
def test_originals_have_every_character(a: str, b: str) -> None:
    import re

    for made, text in zip(columns((a, b), align(a, b)), (a, b), strict=True):
        assert re.sub(r"</?(span|mark)[^>]*>", "", made) == html(text)


def test_terms() -> None:
    assert terms('old "ferry pier"  "" x"y') == ["old", "ferry pier", '""', 'x"y']


def test_changed_and_lost_inputs_are_not_shown_as_if_they_were_the_same(tmp_path: Path) -> None:
    docs = tmp_path / "docs.jsonl"
    lines = [
        {"id": f"{i}", "text": f"some words that are here for number {i // 2}"} for i in range(4)
    ]
    docs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = nd.find(str(docs), method="shingles").save(tmp_path / "run")
    lines[1]["text"] = "something else"
    docs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    state = State(open_source(str(run)))
    state.texts.wait()
    assert state.texts.search("number 0", state.tables.ids).tolist() == [True, False, False, False]
    assert state.texts.search("else", state.tables.ids).tolist() == [False] * 4
    assert state.texts.of(["0", "1"], [0, 1]) == {"0": lines[0]["text"]}
    state.close()
    docs.unlink()
    state = State(open_source(str(run)))
    state.texts.wait()
    assert state.texts.progress.fault
    assert "docs.jsonl" in state.texts.progress.fault
    assert state.texts.of(["0", "1"], [0, 1]) == {}
    assert state.texts.search("3", state.tables.ids).tolist() == [False, False, False, True]
    state.close()


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.jsonl.gz", "docs.parquet", "docs.csv"])
def test_small_inputs_of_any_format_are_read_at_once(tmp_path: Path, name: str) -> None:
    rows = [
        {"id": f"{i}", "text": f"some words of number {i // 2}", "date": f"2025-01-0{i}"}
        for i in range(4)
    ]
    write(tmp_path / name, rows)
    run = nd.find(str(tmp_path / name), method="exact").save(tmp_path / "run")
    with closing(State(open_source(str(run)))) as state:
        state.open()
        state.texts.wait()
        assert state.texts.there(1) == "some words of number 0"
        assert state.order("documents", Filter(since="2025-01-02"), "order").tolist() == [2, 3]


def write(path: Path, rows: list[dict[str, str]]) -> None:
    table = pa.Table.from_pylist(rows)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".csv":
        pa.csv.write_csv(table, path)
    else:
        lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
        path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)


@pytest.mark.parametrize("texts", [True, False])
def test_an_index_is_reviewed_like_a_run(tmp_path: Path, texts: bool) -> None:
    words = " ".join(f"word{i}" for i in range(40))
    with nd.Index.open(tmp_path / "a.db", method="shingles", texts=texts) as index:
        for id, text in (("a", words), ("b", words + " more"), ("c", "other " * 30), ("d", words)):
            index.add({"id": id, "text": text})
        expected = index.decisions()
    state = State(open_source(str(tmp_path / "a.db")))
    state.texts.wait()
    tables = state.tables
    assert tables.decisions.select(expected.column_names).to_pylist() == expected.to_pylist()
    assert [tables.members[0].tolist()] == [[0, 1, 3]]
    assert len(tables.pairs) == 2
    assert tables.pair_decides.all()
    found = state.texts.search("more", tables.ids).tolist()
    assert found == [False, texts, False, False]
    assert state.texts.of(["a"], [0]) == ({"a": words} if texts else {})
    assert (state.texts.progress.fault is None) == texts
    assert state.texts.dates is not None
    with pytest.raises(NeardupError, match="order of arrival"):
        state.act(["b"], "drop")
    state.close()


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("nothing", "There is no .*nothing"),
        ("empty", "is not the folder of a finished run"),
        ("plain.txt", "is no SQLite database"),
        ("ftp://somewhere", "There is no store for"),
    ],
)
def test_what_is_neither_run_nor_index_is_refused(
    tmp_path: Path, target: str, sentence: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "plain.txt").write_text("no database at all, but more than a hundred bytes" * 9)
    where = target if "://" in target else str(tmp_path / target)
    with pytest.raises(NeardupError, match=sentence):
        open_source(where)


def test_what_becomes_of_documents_is_what_apply_does(run: Path) -> None:
    """With the policy of the run and with changes by hand: pages and ``apply`` agree."""
    state = State(open_source(str(run)))
    tables = state.tables
    copies = tables.decisions["id"].take(np.flatnonzero(tables.aside)).to_pylist()
    for step in range(4):
        assert state.source.result
        made = apply(state.source.result, None, state.now.changes)
        shown = [BECOMES[code] for code in state.tables.becomes.tolist()]
        assert [action or "rejected" for action in made.actions["action"].to_pylist()] == shown
        assert made.actions["kept_id"].to_pylist() == state.tables.decisions["kept_id"].to_pylist()
        if step == 0:
            state.put_first("en-harbour-6")
        elif step == 1:
            changed = state.act([*copies[5:12], "en-harbour-6"], "review")
            assert changed.skipped == 1
        elif step == 2:
            state.undo(1)
    state.close()
    with closing(State(open_source(str(run)))) as again:
        assert again.now.changes == state.now.changes
