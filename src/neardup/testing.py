"""What every method promises, as checks for whoever writes one.

``check_method(method)`` runs them all and raises an AssertionError that says which promise is
broken and how. ``CHECKS`` has them by name, for a parametrised test of your own. They take some
seconds, because two of them read texts of ten megabytes.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.api import dedup
from neardup.artefacts.artefact import resolved
from neardup.artefacts.calibration import Calibration
from neardup.documents.collection import Collection
from neardup.documents.lists import ListSource
from neardup.engines.index.index import Index
from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.base import Method, Prepared, whole_scores
from neardup.runs.result import Result
from neardup.text.text_options import Text

LONG = " ".join(f"word{i} and more" for i in range(40))
HOSTILE = [
    "",
    " \n\t ",
    "a",
    "A.",
    "…!?",
    "😀",
    "😀😀 👩‍👩‍👧‍👦",
    "東京都は日本の首都である。人口は約千四百万人で、世界最大の都市圏を形成している。",
    "ประเทศไทยเป็นประเทศที่ตั้งอยู่ในเอเชียตะวันออกเฉียงใต้",
    "القاهرة هي عاصمة جمهورية مصر العربية وأكبر مدنها",
    "e\u0301\u0323 ff ﬁ Å Å",
    "nul\x00inside\x00the text",
    "a" * 5000,
    "x " * 5000,
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18",
    LONG,
    LONG.replace("word7 ", "changed "),
    LONG.upper(),
    " ".join(reversed(LONG.split())),
    "\ufeff" + LONG,
]
_WORDS = [f"{chr(97 + i % 23)}{chr(97 + i % 17)}er{chr(97 + i % 19)}" for i in range(600)]
EDITED = [  # from nearly equal to nearly unlike, and long enough for a pair to be given up early
    " ".join(f"{word} the" if i % every else f"new{i} of" for i, word in enumerate(_WORDS))
    for every in (601, 150, 20, 5, 2)
]
ROUNDING = 1e-7  # roots of small differences lose half of the digits
Check = Callable[[Method], None]
CHECKS: dict[str, Check] = {}


def check_method(method: Method) -> None:
    """Raises an AssertionError at the first promise that the method does not keep."""
    for name, check in CHECKS.items():
        try:
            check(method)
        except AssertionError as error:
            raise AssertionError(f"{type(method).__name__}, {name}: {error}") from error


def batch(texts: list[str], columns: Sequence[str] = ()) -> pa.RecordBatch:
    """Documents as a method is given them; other columns are empty."""
    ids = pa.array([str(i) for i in range(len(texts))], pa.large_string())
    rows = pa.array(range(len(texts)), pa.int64())
    empty = {name: pa.nulls(len(texts), pa.large_string()) for name in columns}
    text = pa.array(texts, pa.large_string())
    return pa.record_batch({"row": rows, "id": ids, "text": text, **empty})


def prepare(method: Method, texts: list[str]) -> Prepared:
    """What the method prepares; its artefacts are counted from all hostile texts."""
    needed = resolved(method.needs, batch(HOSTILE, method.columns))
    return method.prepare(batch(texts, method.columns), needed)


def entries(prepared: Prepared) -> list[tuple[Any, ...]]:
    """Everything there is about each document."""
    return [
        (
            prepared.keys[i].tolist(),
            int(prepared.probes[i]),
            prepared.evidence[i].tolist(),
            prepared.digests[i].tolist(),
            int(prepared.text_digests[i]),
            int(prepared.normal_digests[i]),
            int(prepared.flags[i]),
        )
        for i in range(len(prepared.keys))
    ]


def _check(check: Check) -> Check:
    CHECKS[check.__name__.removeprefix("_").replace("_", " ")] = check
    return check


def _expect(condition: object, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _decisions(texts: list[str], method: Method) -> list[str]:
    decided: list[str] = dedup(texts, method=method).decisions["decision"].to_pylist()
    return decided


def least_score(method: Method, result: Result) -> float:
    """The least score of any pair of the run: the threshold, or the lowest that a calibrated run
    has. A method with a scale of its own for exceptions may show any score of such a pair."""
    found = result.artefacts.get("calibration")
    if not isinstance(found, Calibration):
        return method.threshold
    if len(found.own_thresholds) and method.exception_limit(0.0) > 0:
        return 0.0
    return float(min([found.threshold, *found.own_thresholds.tolist()]))


@_check
def _is_a_method(method: Method) -> None:
    base = f"{Method.__module__}.{Method.__name__}"
    _expect(isinstance(method, Method), f"{type(method).__name__} does not derive from {base}")
    _expect(
        method.name in registry.names(),
        f"{method.name!r} is not registered; add an entry point in {registry.ENTRY_POINTS!r}",
    )
    _expect(0 <= method.miss_rate < 1, f"miss_rate is {method.miss_rate}; expected 0 ≤ it < 1")
    _expect(isinstance(method.resolved(), dict), "resolved() gives no dict")


@_check
def _is_frozen(method: Method) -> None:
    field = dataclasses.fields(method)[0].name
    try:
        setattr(method, field, getattr(method, field))
    except dataclasses.FrozenInstanceError:
        return
    _expect(False, f"{field} could be set; write @dataclass(frozen=True)")


@_check
def _pickles_and_compares(method: Method) -> None:
    prepare(method, ["once"])  # whatever it caches must not get in the way
    again = pickle.loads(pickle.dumps(method))
    _expect(again == method, "pickled and read back it is not equal")
    _expect(hash(again) == hash(method), "pickled and read back it has another hash")
    same = entries(prepare(again, HOSTILE)) == entries(prepare(method, HOSTILE))
    _expect(same, "pickled and read back it prepares otherwise")


@_check
def _repr_round_trips(method: Method) -> None:
    scope = {type(method).__name__: type(method), "Text": Text}
    _expect(eval(repr(method), scope) == method, f"{method!r} does not make it again")


@_check
def _rebuilds_from_its_parameters(method: Method) -> None:
    parameters = dataclasses.asdict(method)
    again = registry.build(method.name, parameters)
    _expect(again == method, f"built from {parameters} it is {again!r}")


@_check
def _names_an_unknown_parameter(method: Method) -> None:
    try:
        registry.build(method.name, {"thresholt": 1.0})
    except SettingsError as error:
        _expect("thresholt" in str(error), f"the error does not name it: {error}")
        return
    _expect(False, "the parameter 'thresholt' was accepted")


@_check
def _has_one_entry_a_document(method: Method) -> None:
    prepared = prepare(method, HOSTILE)
    count = len(HOSTILE)
    _expect(len(prepared.keys) == count, f"{len(prepared.keys)} entries of keys for {count}")
    _expect(len(prepared.evidence) == count, f"{len(prepared.evidence)} of evidence for {count}")
    _expect(prepared.digests.shape == (count, 2), f"digests have shape {prepared.digests.shape}")
    for column in ("probes", "text_digests", "normal_digests", "flags"):
        length = len(getattr(prepared, column))
        _expect(length == count, f"{column} has {length} entries for {count} documents")
    _expect((prepared.probes <= prepared.keys.lengths).all(), "more probes than keys")
    found = prepared.evidence.values.dtype
    _expect(found == method.evidence_dtype, f"evidence is {found}, not {method.evidence_dtype}")
    _expect(prepared.keys.values.dtype == np.uint64, f"keys are {prepared.keys.values.dtype}")


@_check
def _takes_no_documents(method: Method) -> None:
    _expect(entries(prepare(method, [])) == [], "an empty batch has entries")
    _expect(dedup([], method=method).counts.documents == 0, "no documents gave some")


@_check
def _chunks_give_the_same_as_the_whole(method: Method) -> None:
    whole = batch(HOSTILE, method.columns)
    needed = resolved(method.needs, whole)
    expected = entries(method.prepare(whole, needed))
    for size in (1, 3, 7):
        parts = [whole.slice(i, size) for i in range(0, len(HOSTILE), size)]
        found = [entry for part in parts for entry in entries(method.prepare(part, needed))]
        _expect(found == expected, f"batches of {size} are prepared otherwise than all at once")


@_check
def _reads_one_text_as_it_prepares_many(method: Method) -> None:
    needed = resolved(method.needs, batch(HOSTILE, method.columns))
    read = method.reader(needed)
    if read is None:
        return
    for text, entry in zip(HOSTILE, entries(prepare(method, HOSTILE)), strict=True):
        one = read(text.encode())
        keys = np.frombuffer(one.keys, np.uint64).tolist()
        evidence = np.frombuffer(one.evidence, method.evidence_dtype).tolist()
        digest = np.frombuffer(one.digest, np.uint64).tolist()
        found = (keys, one.probes, evidence, digest, one.text_digest, one.normal_digest, one.flags)
        _expect(found == entry, f"{text[:20]!r} alone is read otherwise than among others")


@_check
def _decides_one_by_one_as_all_at_once(method: Method) -> None:
    texts = [*HOSTILE, *HOSTILE[::2]]
    empty: dict[str, Any] = dict.fromkeys(method.columns)
    documents = [{**empty, "id": str(i), "text": text} for i, text in enumerate(texts)]
    batch = dedup(documents, method=method)
    with Index.open("memory:", method=method, artefacts=batch) as index:
        index.add_many(documents[:7])
        for document in documents[7:]:
            index.add(document)
        online = index.decisions().drop_columns(["kind"])  # texts may tell a run more
    expected = batch.decisions.select(online.column_names).to_pylist()
    for theirs, ours in zip(expected, online.to_pylist(), strict=True):
        _expect(ours == theirs, f"an index says {ours}, a run {theirs}")


@_check
def _equal_digests_mean_equal_evidence(method: Method) -> None:
    prepared = prepare(method, HOSTILE * 2)
    evidence: dict[tuple[int, ...], list[int]] = {}
    for i in range(len(prepared.keys)):
        mine = prepared.evidence[i].tolist()
        same = evidence.setdefault(tuple(prepared.digests[i].tolist()), mine)
        _expect(same == mine, f"equal digests, unlike evidence: {HOSTILE[i % len(HOSTILE)]!r}")


@_check
def _scores_are_symmetric_similarities(method: Method) -> None:
    evidence = prepare(method, HOSTILE).evidence
    a, b = (grid.ravel() for grid in np.indices((len(HOSTILE), len(HOSTILE)), np.int64))
    one, other = method.score(evidence, a, b), method.score(evidence, b, a)
    _expect(np.array_equal(one.score, other.score), "score(a, b) is not score(b, a)")
    _expect(np.array_equal(one.passed, other.passed), "passed depends on the order of a pair")
    _expect(((one.score >= 0) & (one.score <= 1)).all(), "a score is outside [0, 1]")
    least = np.nextafter(method.threshold, 0)
    _expect((one.score[one.passed] >= least).all(), "a pair passed below the threshold")
    _expect((one.score[~one.passed] < method.threshold).all(), "a pair above it did not pass")
    _expect(one.passed[a == b].all(), "a document is no duplicate of itself")


@_check
def _scores_that_are_shown_are_whole(method: Method) -> None:
    """A method that gives pairs up early has ``whole_score``; people never read half a score."""
    texts = [*HOSTILE, *EDITED]
    evidence = prepare(method, texts).evidence
    a, b = (grid.ravel() for grid in np.indices((len(texts), len(texts)), np.int64))
    scores, whole = method.score(evidence, a, b), whole_scores(method, evidence, a, b).score
    _expect(((whole >= 0) & (whole <= 1)).all(), "a whole score is outside [0, 1]")
    _expect(
        np.allclose(whole, whole_scores(method, evidence, b, a).score, rtol=0, atol=ROUNDING),
        "the whole score of a pair depends on its order",
    )
    _expect((whole >= scores.score - ROUNDING).all(), "a whole score is less than the score")
    for other in _at_other_thresholds(method):
        found = whole_scores(other, evidence, a, b).score
        _expect(
            np.allclose(found, whole, rtol=0, atol=ROUNDING),
            f"scores differ at the threshold {other.threshold:g}; what gives pairs up early needs "
            "whole_score",
        )


def _at_other_thresholds(method: Method) -> Iterator[Method]:
    if "threshold" not in registry.parameter_names(type(method)):
        return
    for threshold in (0.1, 0.5, 0.8, 0.95, 1.0):
        try:
            yield registry.changed(method, {"threshold": threshold})
        except SettingsError:  # not every method serves every threshold
            continue


@_check
def _every_pair_that_passes_shares_a_key(method: Method) -> None:
    """All pairs that pass, where ``miss_rate`` is 0; else at least equal documents."""
    prepared = prepare(method, HOSTILE * 2)
    a, b = np.triu_indices(len(prepared.keys), 1)
    scores = method.score(prepared.evidence, a.astype(np.int64), b.astype(np.int64))
    certain = scores.passed if method.miss_rate == 0 else scores.score == 1
    _expect(certain.any(), "no pair of equal texts passes")
    for i, j in zip(a[certain], b[certain], strict=True):
        mine, theirs = prepared.keys[i].tolist(), prepared.keys[j].tolist()
        probes = {*mine[: prepared.probes[i]]} & {*theirs}
        met = probes or {*theirs[: prepared.probes[j]]} & {*mine}
        _expect(met, f"texts {i} and {j} pass, but share no key, and miss_rate is not above 0")


@_check
def _identical_texts_are_always_found(method: Method) -> None:
    decided = _decisions(HOSTILE + HOSTILE[::-1], method)[len(HOSTILE) :]
    lost = [HOSTILE[::-1][i] for i, one in enumerate(decided) if one != "duplicate"]
    _expect(not lost, f"a copy was not found: {lost[:1]}")


@_check
def _every_document_is_decided_exactly_once(method: Method) -> None:
    texts: list[Any] = [*HOSTILE, None, *HOSTILE, None]
    result = dedup(texts, method=method)
    rows = result.decisions.to_pylist()
    _expect([row["row"] for row in rows] == list(range(1, len(texts) + 1)), "rows are missing")
    _expect(len({row["id"] for row in rows}) == len(texts), "ids are repeated")
    counts = result.counts
    total = counts.kept + counts.duplicates + counts.rejected
    _expect(counts.documents == len(texts) == total, f"{len(texts)} came in: {counts.sentence()}")
    rejected = [row["decision"] == "rejected" for row in rows]
    _expect(rejected == [text is None for text in texts], "rejected are not those without text")
    kept = {row["id"] for row in rows if row["decision"] == "kept"}
    least = least_score(method, result)
    for row in rows:
        duplicate = row["decision"] == "duplicate"
        _expect((row["kept_id"] in kept) == duplicate, f"kept_id is not a kept one: {row}")
        _expect(row["reason"], f"no reason: {row}")
        _expect(not duplicate or least <= row["score"] <= 1, f"score: {row}")
    _expect((result.pairs["score"].to_numpy() >= least).all(), "a pair is too weak")


@_check
def _threads_and_chunks_change_nothing(method: Method) -> None:
    texts = HOSTILE * 3
    one = dedup(texts, method=method, workers=1)
    for rows in (1, 4, 1000):
        two = dedup(Collection([ListSource(texts, chunk_rows=rows)]), method=method, workers=2)
        _expect(two.decisions.equals(one.decisions), f"other decisions by chunks of {rows}")
        _expect(two.pairs.equals(one.pairs), f"other pairs by chunks of {rows}")


@cache
def _ten_megabytes() -> str:
    rng = np.random.default_rng(1)
    return " ".join(map(str, rng.integers(0, 10**8, 1_200_000)))


@_check
def _takes_a_line_of_ten_megabytes(method: Method) -> None:
    line = _ten_megabytes()
    decided = _decisions([line, "short", line], method)
    _expect(decided == ["kept", "kept", "duplicate"], f"long, short, the long again: {decided}")


@_check
def _takes_ten_megabytes_without_a_separator(method: Method) -> None:
    line = "a" * 10_000_000
    decided = _decisions([line, line], method)
    _expect(decided == ["kept", "duplicate"], f"a long word twice: {decided}")
