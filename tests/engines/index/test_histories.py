"""Any history of an index equals its slow replay: adds, checks, removals, updates, expiry,
reopening, two writers on one store, windows, groups, both ways to be matched and both to meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.engines.index import index_memory, seals
from neardup.matching import window
from reference.online import ByQgrams, ByShingles, Measure, Replay
from reference.run import Settings
from repeats import examples

MINUTE = 60_000
START = 1_700_000_000_000

# One that meets by keys, and one that meets in a bitmap window.
METHODS: dict[str, tuple[Measure, dict[str, Any]]] = {
    "shingles": (
        ByShingles(Settings(words=2, threshold=Fraction(1, 2), min_words=3)),
        {"words": 2, "threshold": 0.5, "min_words": 3},
    ),
    "qgrams": (ByQgrams(4, Fraction(7, 10), 10), {"threshold": 0.7, "min_chars": 10}),
}

# A chain: neighbours resemble each other by 4 of 6 shingles or 7 of 9 q-grams, others do not; and
# what is too short to.
WORDS = [f"w{i}" for i in range(12)]
CHAIN = [" ".join(WORDS[i : i + 6]) for i in range(5)]
TEXTS = st.sampled_from([*CHAIN, *CHAIN, CHAIN[1].upper(), "w1 w2", "W1, w2", ""])
IDS = st.sampled_from("abcdef")
DATES = st.none() | st.integers(-20, 3)
STEP = st.tuples(
    st.sampled_from(["add", "add", "add", "many", "check", "remove", "update", "expire", "reopen"]),
    IDS,
    TEXTS,
    DATES,
    st.integers(0, 4),  # minutes that pass
    st.sampled_from([None, None, "g", ""]),  # the group
)


class Both:
    """An index and its twin, led through the same history."""

    def __init__(self, url: str, method: str, against: str, window: int, dated: bool) -> None:
        measure, parameters = METHODS[method]
        unit = MINUTE if window else 0
        self.twin = Replay(measure, against, unit, window, dated)
        self.now = START
        self.url = url
        self.settings: dict[str, Any] = {
            "method": method,
            **parameters,
            "against": against,
            "window": f"{window}m" if window else None,
            "date": "when" if dated else None,
            "within": "group",
        }
        self.handles = [self.open() for _ in range(1 if url == "memory:" else 2)]
        self.turn = 0

    def open(self) -> nd.Index:
        return nd.Index.open(self.url, clock=lambda: self.now / 1000, **self.settings)

    @property
    def index(self) -> nd.Index:
        self.turn += 1
        return self.handles[self.turn % len(self.handles)]

    def document(self, id_: str, text: str, date: int | None) -> tuple[dict[str, Any], int | None]:
        when = None if date is None else self.now + date * MINUTE
        return {"id": id_, "text": text, "when": when}, when

    def step(
        self, what: str, id_: str, text: str, date: int | None, minutes: int, group: str | None
    ) -> None:
        self.now += minutes * MINUTE
        document, when = self.document(id_, text, date)
        getattr(self, what)(id_, {**document, "group": group}, when)
        self.compare()

    def there(self, id_: str) -> bool:
        return any(doc.id == id_ for doc in self.twin.docs)

    def add(self, id_: str, document: dict[str, Any], when: int | None) -> None:
        if self.there(id_):
            return
        match = self.index.add(document)
        self.same(match, self.twin.add(id_, document["text"], when, self.now, document["group"]))

    def many(self, id_: str, document: dict[str, Any], when: int | None) -> None:
        free = [i for i in (id_, *"xyz") if not self.there(i)]
        given = [{**document, "id": i, "text": CHAIN[k]} for k, i in enumerate(free)]
        matches = self.index.add_many(given)
        for match, one in zip(matches, given, strict=True):
            told = self.twin.add(one["id"], one["text"], when, self.now, one["group"])
            self.same(match, told)

    def check(self, _id: str, document: dict[str, Any], when: int | None) -> None:
        for age in (None, 1, 3):
            found = self.index.check(document, max_age=None if age is None else f"{age}m")
            most = None if age is None else age * MINUTE
            told = self.twin.check(document["text"], when, self.now, most, document["group"])
            assert (found and (found.of, found.score)) == (told and (told[0], float(told[1])))

    def remove(self, id_: str, *_: Any) -> None:
        if self.there(id_):
            self.index.remove(id_)
            self.twin.remove(id_)

    def update(self, id_: str, document: dict[str, Any], when: int | None) -> None:
        match = self.index.update(document)
        self.same(match, self.twin.update(id_, document["text"], when, self.now, document["group"]))

    def expire(self, _id: str, _document: dict[str, Any], when: int | None) -> None:
        before = self.now - 10 * MINUTE if when is None else when
        self.index.expire(before / 1000)
        self.twin.expire(before)

    def reopen(self, *_: Any) -> None:
        if self.url != "memory:":
            self.handles[0].close()
            self.handles[0] = self.open()

    def same(self, match: Any, doc: Any) -> None:
        expected = None if doc.of_id is None else (doc.of_id, float(doc.score))
        assert (match and (match.of, match.score)) == expected

    def compare(self) -> None:
        found = list(self.index)
        assert [tuple(entry)[:1] + tuple(entry)[2:6] for entry in found] == self.twin.reasons()
        times = [round(entry.time.timestamp() * 1000) for entry in found]
        assert times == [doc.time for doc in self.twin.docs]


@contextmanager
def led(url: str, *choices: Any) -> Iterator[Both]:
    """Numbers are given anew, slots filled and emptied, and the log cut, after few documents."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (index_memory, seals):
            patch.setattr(module, "LOG", 6)
        patch.setattr(index_memory, "FEWEST_DEAD", 2)
        patch.setattr(window, "A_SLOT", 3)
        patch.setattr(window, "MOST_COUNTED", 4)
        both = Both(url, *choices)
        try:
            yield both
        finally:
            for handle in both.handles:
                handle.close()


CHOICES = (st.sampled_from(["kept", "seen"]), st.sampled_from([0, 1, 5]), st.booleans())


@pytest.mark.parametrize("method", METHODS)
@examples(50)
@given(st.lists(STEP, max_size=30), *CHOICES)
def test_in_memory(method: str, history: list[Any], against: str, window: int, dated: bool) -> None:
    with led("memory:", method, against, window, dated) as both:
        for step in history:
            both.step(*step)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("method", METHODS)
@examples(20)
@given(st.lists(STEP, max_size=20), *CHOICES)
def test_two_writers_on_one_store(
    method: str,
    kind: str,
    new_url: Callable[[str], str],
    history: list[Any],
    against: str,
    window: int,
    dated: bool,
) -> None:
    with led(new_url(kind), method, against, window, dated) as both:
        for step in history:
            both.step(*step)
