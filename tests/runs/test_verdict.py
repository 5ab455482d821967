"""A score that is shown is that of the whole comparison: for every method, at every threshold, and
wherever it is shown."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.cli import main
from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.base import Method
from neardup.methods.spotsigs import SpotSigs
from neardup.methods.termvector import TermVector
from neardup.report.side_by_side import comparison_page
from reference import join as join_twin
from reference import qgrams as qgrams_twin
from reference import shingles as shingles_twin
from reference import spots as spots_twin
from reference import term_methods as term_twin
from reference import terms as terms_twin
from reference.text import Options, words
from repeats import examples

# What moves the line between duplicates and others, and nothing else.
MOVED: dict[str, tuple[str, list[Any]]] = {
    "simhash": ("distance", [0, 1, 2, 3, 6, 10]),
    "fingerprint": ("length_tolerance", [0.0, 0.05, 0.3, 0.9]),
}
THRESHOLDS = [0.000001, 0.1, 0.3, 0.44, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0]
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in registry.names()),
    ("shingles", {"words": 2, "measure": "containment"}),
    ("shingles", {"weights": "idf"}),
    ("shingles", {"sampling": "minima"}),
    ("shingles", {"sampling": "mod", "modulus": 3, "sample_limit": 0}),
    ("shingles", {"sampling": "bottom", "sample_limit": 50}),
    *(("join", {"measure": measure, "size": 3}) for measure in ("dice", "cosine", "max")),
    ("join", {"features": "qgrams"}),
    ("keywords", {"measure": "cosine", "k": 50}),
    ("rareshingles", {"templates": "accept", "words": 1}),
    ("supershingles", {"variant": "broder"}),
    ("termvector", {"length_ratio": 0.01, "size": 20}),
]
COMMON = ["the", "is", "a", "of", "and", "was", "to", "in"]
ANTECEDENTS = ("the", "is", "a", "was")


def vocabulary() -> list[str]:
    drawn = random.Random(1)
    rare = ["".join(drawn.choices("abdefgiklmnoprstu", k=6)) for _ in range(500)]
    return [*rare, *COMMON * 20]


WORDS = vocabulary()


@st.composite
def two_texts(draw: st.DrawFn) -> tuple[str, str]:
    """Of 40 to 500 words, from nearly equal to nearly unlike; the second may be shorter."""
    drawn = random.Random(draw(st.integers(0, 10**6)))
    first = drawn.choices(WORDS, k=draw(st.integers(40, 500)))
    changed = draw(st.sampled_from([0.002, 0.02, 0.1, 0.3, 0.7]))
    second = [drawn.choice(WORDS) if drawn.random() < changed else word for word in first]
    kept = max(40, round(len(second) * draw(st.sampled_from([1.0, 0.9, 0.5]))))
    return " ".join(first), " ".join(second[:kept])


def cuts(name: str, parameters: dict[str, Any]) -> Iterator[Method]:
    """The method with every threshold it accepts; once where it has none."""
    cls = registry.method_class(name)
    parameter, values = MOVED.get(name, ("threshold", THRESHOLDS))
    if parameter not in registry.parameter_names(cls):
        yield registry.build(name, parameters)
        return
    for value in values:
        try:
            yield registry.build(name, {**parameters, parameter: value})
        except SettingsError:  # exact has one threshold, hyperplanes do not serve all
            continue


def shown(a: str, b: str, method: Method) -> float | None:
    verdict = nd.compare(a, b, method=method).verdict
    assert verdict is not None
    return verdict.score


def equal(scores: list[float | None]) -> bool:
    if None in scores:
        return set(scores) == {None}
    return all(math.isclose(one or 0.0, scores[0] or 0.0, abs_tol=1e-12) for one in scores)


@pytest.mark.parametrize(("name", "parameters"), VARIANTS, ids=str)
@examples(4)
@given(pair=two_texts())
def test_no_threshold_changes_the_score(
    name: str, parameters: dict[str, Any], pair: tuple[str, str]
) -> None:
    scores = [shown(*pair, method) for method in cuts(name, parameters)]
    assert scores
    assert equal(scores), scores


def shingle_sets(pair: tuple[str, str], width: int) -> list[set[Any]]:
    found = (words(text, Options()) for text in pair)
    return [{tuple(one[i : i + width]) for i in range(len(one) - width + 1)} for one in found]


def spotsigs_score(pair: tuple[str, str]) -> float:
    one, other = (spots_twin.spots(text.split(), ANTECEDENTS, 1, 2) for text in pair)
    return float(spots_twin.similarity(one, other))


def vector_score(pair: tuple[str, str]) -> float:
    collection = term_twin.Collection(pair, "alpha")
    sets = [{rank for rank, _ in collection.terms(text, lambda _: True)[:60]} for text in pair]
    tokens = [len(terms_twin.tokens(text, "alpha")) for text in pair]
    made = [{"terms": s, "tokens": n, "day": None} for s, n in zip(sets, tokens, strict=True)]
    return float(term_twin.whole_vector_score(made[0], made[1], 60))


def of_sets(measure: str) -> Any:
    return lambda pair: float(join_twin.score(measure, *shingle_sets(pair, 3)))


TWINS: list[tuple[Method, Any]] = [
    (nd.Shingles(threshold=1.0), lambda p: shingles_twin.resemblance(*shingle_sets(p, 5))),
    (
        nd.Shingles(threshold=1.0, words=2, measure="containment"),
        lambda p: shingles_twin.containment(*shingle_sets(p, 2)),
    ),
    *(
        (
            registry.build("join", {"size": 3, "measure": measure, "threshold": 1.0}),
            of_sets(measure),
        )
        for measure in ("jaccard", "dice", "cosine", "max", "containment")
    ),
    (
        registry.build("qgrams", {"threshold": 1.0}),
        lambda p: qgrams_twin.doc_q(*p, registry.build("qgrams").q),  # type: ignore[attr-defined]
    ),
    (SpotSigs(ANTECEDENTS, threshold=1.0, min_spots=1), spotsigs_score),
    (TermVector(threshold=1.0, min_words=0), vector_score),
]


@pytest.mark.parametrize(("method", "twin"), TWINS, ids=lambda one: getattr(one, "reason", ""))
@examples(10)
@given(pair=two_texts())
def test_the_score_is_that_of_the_slow_twin(
    method: Method, twin: Any, pair: tuple[str, str]
) -> None:
    assert shown(*pair, method) == pytest.approx(float(twin(pair)))


@examples(10)
@given(pair=two_texts(), width=st.sampled_from([1, 3, 5]), t=st.sampled_from(THRESHOLDS))
def test_the_line_of_the_method_says_what_the_line_of_the_measure_says(
    pair: tuple[str, str], width: int, t: float
) -> None:
    compared = nd.compare(*pair, method=nd.Shingles(words=width, threshold=t))
    (measure,) = (one for one in compared.shingles if one.w == width)
    assert compared.verdict is not None
    assert compared.verdict.score == pytest.approx(measure.resemblance)
    assert ("score", f"resemblance of {width}-word shingles") in compared.facts()


def edited(every: int, count: int = 400) -> tuple[str, str]:
    drawn = random.Random(5)
    first = drawn.choices(WORDS, k=count)
    second = [f"new{i}" if i % every == 0 else word for i, word in enumerate(first)]
    return " ".join(first), " ".join(second)


def written(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def answered(*args: str) -> dict[str, Any]:
    done = CliRunner().invoke(main, ["compare", *args, "--json"])
    assert done.exit_code == 0, done.output
    verdict: dict[str, Any] = json.loads(done.stdout)["verdict"]
    return verdict


@pytest.mark.parametrize("name", ["shingles", "join", "spotsigs", "termvector", "qgrams"])
def test_the_command_line_shows_it_whole(name: str, tmp_path: Path) -> None:
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file, text in zip(files, edited(25), strict=True):
        file.write_text(text)
    at = [[*map(str, files), "--method", name, "--threshold", t] for t in ("0.1", "0.9", "1")]
    told = [answered(*args) for args in at]
    assert equal([one["score"] for one in told])
    assert [one["duplicate"] for one in told] == [True, told[1]["score"] >= 0.9, False]
    page = tmp_path / "page.html"
    line = CliRunner().invoke(main, ["compare", *at[1], "--html", str(page)]).stdout
    for said in (line, page.read_text("utf-8")):
        assert f"score {told[0]['score']:.4f}" in said


@pytest.mark.parametrize(
    "name",
    ["shingles", "join", "spotsigs", "termvector", "qgrams", "rareshingles", "learned", "semantic"],
)
def test_a_run_shows_it_whole(name: str, tmp_path: Path) -> None:
    """Of a pair that passes at one threshold and not at others, and of a pair that never does."""
    a, b = edited(25)
    unlike = " ".join(random.Random(6).choices(WORDS, k=400))
    rows = [{"id": id, "text": text} for id, text in zip("abc", (a, b, unlike), strict=True)]
    docs = written(tmp_path / "docs.jsonl", rows)
    told: dict[tuple[str, str], list[float | None]] = {}
    for method in cuts(name, {}):
        if method.threshold < 0.1:
            continue
        folder = tmp_path / f"{method.threshold:g}"
        result = nd.find(docs, method=method)
        result.save(folder)
        listed = {(row["a"], row["b"]): row["score"] for row in result.pairs.to_pylist()}
        for pair in (("a", "b"), ("a", "c")):
            found = answered("--run", str(folder), *pair)
            told.setdefault(pair, []).append(found["score"])
            assert found["duplicate"] == (pair in listed)
            if pair in listed:
                assert found["score"] == pytest.approx(listed[pair])
    assert all(equal(scores) for scores in told.values()), told


def test_a_combination_is_whole_in_every_part() -> None:
    """The first part gives the pair up at its threshold; the scale is that of the thresholds."""
    a, b = edited(12)
    whole = shown(a, b, nd.Shingles(threshold=0.1))
    assert whole is not None
    method = registry.build("combined", {"methods": ["shingles threshold=0.9", "exact"]})
    assert shown(a, b, method) == 0.0  # exact says 0, and the weakest counts
    either = {"methods": ["shingles threshold=0.9", "exact"], "rule": "union"}
    assert shown(a, b, registry.build("combined", either)) == pytest.approx(whole / 0.9 / 2)


def dated(days: tuple[str, str], **parameters: Any) -> Any:
    """Two texts that have all terms in common."""
    text = edited(25)[0]
    method = TermVector(date="day", min_words=0, **parameters)
    return nd.compare(text, f"{text} and", method, columns={"day": days}).verdict


def test_a_refusal_by_dates_stands_beside_the_whole_score() -> None:
    verdict = dated(("2003-11-03", "2003-12-24"))
    assert (verdict.score, verdict.duplicate, verdict.decided) == (1.0, False, "veto")
    assert "the dates are 51 days apart, at most 42 are compared" in str(verdict)
    near = dated(("2003-11-03", "2003-12-14"))
    assert (near.score, near.duplicate) == (1.0, True)


def test_a_refusal_by_lengths_stands_beside_the_whole_score() -> None:
    a = " ".join(WORDS[:100])
    b = " ".join(WORDS[:100] * 2)
    verdict = nd.compare(a, b, TermVector()).verdict
    assert verdict is not None
    assert (verdict.score, verdict.duplicate) == (1.0, False)
    assert verdict.note is not None
    assert "the shorter has 0.5 of the tokens of the longer" in verdict.note
    assert nd.compare(a, b, TermVector(length_ratio=0.5)).verdict.duplicate  # type: ignore[union-attr]


def test_too_few_terms_stand_beside_the_whole_score() -> None:
    """Of vectors that are not full a score is high before enough terms are common."""
    a, b = " ".join(WORDS[:20]), " ".join(WORDS[5:25])
    verdict = nd.compare(a, b, TermVector(min_words=0)).verdict
    assert verdict is not None
    assert (verdict.score, verdict.duplicate, verdict.decided) == (55 / 60, False, "veto")
    assert "15 of 20 terms are common, 16 are needed" in str(verdict)


def test_a_run_says_that_dates_refused(tmp_path: Path) -> None:
    text, other = edited(200)
    rows = [
        {"id": "a", "text": text, "day": "2003-11-03"},
        {"id": "b", "text": other, "day": "2004-11-03"},
    ]
    docs = written(tmp_path / "docs.jsonl", rows)
    result = nd.find(docs, method="termvector", date="day")
    assert len(result.pairs) == 0
    result.save(tmp_path / "run")
    verdict = answered("--run", str(tmp_path / "run"), "a", "b")
    assert verdict["score"] > 0.8
    assert "the dates are 366 days apart" in verdict["note"]


def test_columns_of_documents_in_a_file_count(tmp_path: Path) -> None:
    text, other = edited(200)
    days = [("a", text, "2003-11-03"), ("b", other, "2004-11-03")]
    rows = [{"id": id, "text": one, "day": day} for id, one, day in days]
    file = written(tmp_path / "docs.jsonl", rows)
    asked = ["--method", "termvector", "--set", "date=day"]
    for args in (["a", "b", "--in", str(file)], [f"{file}#a", f"{file}#b"]):
        assert "the dates are 366 days apart" in answered(*args, *asked)["note"]
    bare = answered(text, other, "--strings", *asked)
    assert "compared without the column day, which is not given" in bare["note"]


def test_texts_too_short_to_be_compared_have_no_score() -> None:
    compared = nd.compare("one two three four", "one two three five", nd.Shingles())
    assert compared.verdict is not None
    assert compared.verdict.score is None
    assert "shingles ≥ 0.8: not scored, no duplicate (too short to be compared)" in str(compared)
    assert "not scored" in comparison_page(compared)


def test_a_score_is_written_on_its_side_of_the_threshold() -> None:
    from neardup.runs.verdict import Verdict

    assert "score 0.79998, no" in str(Verdict("shingles", 0.8, 0.799981, duplicate=False))
    assert "score 0.8000, dup" in str(Verdict("shingles", 0.8, 0.800004, duplicate=True))
    assert "score 0.3206, no" in str(Verdict("shingles", 0.8, 0.3206, duplicate=False))


def test_what_cannot_be_scored_is_said_as_it_is() -> None:
    """A long text may have too few different words, and texts without words were not measured."""
    repeated = str(nd.compare("ha " * 500, "ho " * 500, "raregrams"))
    assert "not scored, no duplicate (too repetitive to be compared: 1 different word of 500)" in (
        repeated
    )
    assert "too short" not in repeated
    blank = nd.compare("", " \n", "raregrams")
    assert blank.verdict is not None
    assert (blank.verdict.score, blank.verdict.duplicate) == (None, True)
    assert "neither text has a word" in str(blank)
