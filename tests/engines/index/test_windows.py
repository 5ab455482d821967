"""Times and windows: what is read as a time, what is in the window, how late documents fare."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

import neardup as nd
from neardup.engines.index import index_memory
from neardup.engines.index.time_window import Window, milliseconds
from neardup.errors import SettingsError

HOUR = 3600.0
START = 1_699_999_200.0  # when an hour begins
TEXT = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
NOON = 1_067_860_800_000  # 2003-11-03T12:00Z


@pytest.mark.parametrize(
    "written",
    [
        "2003-11-03T12:00",
        "2003-11-03T12:00:00Z",
        "2003-11-03T13:00:00+01:00",
        "20031103T120000",
        "Mon, 03 Nov 2003 12:00:00 GMT",
        NOON // 1000,
        NOON / 1000,
        NOON,
        str(NOON // 1000),
        datetime(2003, 11, 3, 12),
        datetime(2003, 11, 3, 14, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_one_moment_in_many_ways(written: Any) -> None:
    assert milliseconds(written) == NOON


def test_days_begin_at_midnight_utc() -> None:
    midnight = NOON - 12 * 3_600_000
    for written in ("2003-11-03", "20031103", 20031103, date(2003, 11, 3)):
        assert milliseconds(written) == midnight


@pytest.mark.parametrize(
    "written", [None, "", "soon", True, float("nan"), float("inf"), 1e300, [], "2003", "9" * 400]
)
def test_what_is_no_time(written: Any) -> None:
    assert milliseconds(written) is None


@pytest.mark.parametrize("written", ["", "0h", "24", "h", "-1h", "1.5h", "24 hours", 24, None])
def test_a_window_that_is_none_is_refused(written: Any) -> None:
    with pytest.raises(SettingsError, match="window"):
        Window.parse(written)


def moving(now: list[float], **settings: Any) -> nd.Index:
    settings = {"method": "exact", **settings}
    return nd.Index.open("memory:", clock=lambda: now[0], **settings)


def test_24_hours_are_25_slots() -> None:
    """As in DDD: the current hour and 24 before it."""
    now = [START]
    with moving(now, window="24h") as index:
        index.add({"id": "first", "text": TEXT})
        now[0] = START + 24 * HOUR + 59 * 60  # in the 24th hour after its own
        assert index.check(TEXT) is not None
        now[0] = START + 25 * HOUR
        assert index.check(TEXT) is None
        assert "first" in index  # a question changes nothing
        assert index.add({"id": "second", "text": TEXT}) is None
        assert "first" not in index


def test_what_falls_out_takes_no_duplicate_along() -> None:
    now = [START]
    with moving(now, window="2h") as index:
        index.add({"id": "kept", "text": TEXT})
        now[0] += 2 * HOUR
        assert index.add({"id": "copy", "text": TEXT})
        now[0] += HOUR
        assert index.add({"id": "later", "text": TEXT}) is None  # the copy cannot be matched
        assert index.get("copy").kept_id == "kept"


def test_seen_documents_go_on_matching() -> None:
    now = [START]
    with moving(now, window="2h", against="seen") as index:
        index.add({"id": "kept", "text": TEXT})
        now[0] += 2 * HOUR
        index.add({"id": "copy", "text": TEXT})
        now[0] += HOUR
        match = index.add({"id": "later", "text": TEXT})
        assert match is not None
        assert match.of == "copy"


def test_late_undated_and_future_documents() -> None:
    now = [START + 100 * HOUR]
    with moving(now, window="2h", date="when") as index:
        index.add({"id": "new", "text": TEXT, "when": START + 50 * HOUR})
        late = index.add({"id": "late", "text": TEXT, "when": START})
        assert late is not None  # compared with what is there
        assert index.get("late").time.timestamp() == START + 48 * HOUR
        index.add({"id": "undated", "text": "something else"})
        assert index.get("undated").time == index.get("new").time
        index.add({"id": "future", "text": "yet another", "when": "2999-01-01"})
        assert index.get("future").time.timestamp() == now[0]
        assert [entry.id for entry in index] == ["future"]


def test_similar_and_fresh_enough() -> None:
    now = [START]
    with moving(now) as index:
        index.add({"id": "old", "text": TEXT})
        now[0] += 5 * HOUR
        assert index.check(TEXT, max_age="4h") is None
        assert index.check(TEXT, max_age="5h") is not None
        with pytest.raises(SettingsError, match="max_age"):
            index.check(TEXT, max_age="soon")


def test_memory_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flow of three days through a window of a few hours: what is held stays the same."""
    monkeypatch.setattr(index_memory, "FEWEST_DEAD", 8)
    rng, now = np.random.default_rng(1), [START]
    words = [f"w{i}" for i in range(3000)]
    held = []
    with moving(now, method="shingles", window="4h") as index:
        for hour in range(72):
            now[0] = START + hour * HOUR
            texts = [" ".join(rng.choice(words, 30)) for _ in range(20)]
            index.add_many([{"id": f"{hour}.{n}", "text": t} for n, t in enumerate(texts)])
            found = index.stats()
            held.append(found["evidence_bytes"])
            assert found["documents"] == min(hour + 1, 5) * 20
            assert found["postings_bytes"] < 200_000
            assert index.check(texts[3]) is not None
    assert max(held[5:]) < 1.1 * min(held[5:])


def test_a_bitmap_window_gives_its_slots_back() -> None:
    """At once when they fall out, whether numbers are given anew or not."""
    rng, now = np.random.default_rng(1), [START]
    words = [f"w{i}" for i in range(3000)]
    held = []
    with moving(now, method="qgrams", window="4h") as index:
        empty = index.stats()["postings_bytes"]
        for hour in range(40):
            now[0] = START + hour * HOUR
            texts = [" ".join(rng.choice(words, 30)) for _ in range(20)]
            index.add_many([{"id": f"{hour}.{n}", "text": t} for n, t in enumerate(texts)])
            held.append(index.stats()["postings_bytes"] - empty)
            assert index.check(texts[3]) is not None
        assert max(held[5:]) < 1.1 * min(held[5:])
        index.expire(now[0] + 1)
        assert index.stats()["postings_bytes"] == empty


def test_without_a_window_what_is_replaced_gives_its_place_back() -> None:
    rng, now = np.random.default_rng(1), [START]
    words = [f"w{i}" for i in range(3000)]
    held, texts = [], {}
    with moving(now, method="qgrams") as index:
        for _ in range(15):
            for n in rng.permutation(60).tolist():
                texts[str(n)] = " ".join(rng.choice(words, 30))
                index.update({"id": str(n), "text": texts[str(n)]})
            held.append(index.stats()["postings_bytes"])
            assert index.stats()["evidence_bytes"] == 0  # the window is enough
            for id_, text in texts.items():
                match = index.check(text.rpartition(" ")[0])
                assert match is not None
                assert match.of == id_
    assert max(held[6:]) < 2 * held[0]


@pytest.mark.parametrize("window", ["1440m", "7d", "1h", "90000s"])
def test_windows_of_many_or_few_slots_forget_alike(window: str) -> None:
    """A bitmap window takes several small slots as one; what is matched is the same."""
    size, now = Window.parse(window), [START]
    with moving(now, method="qgrams", window=window) as index:
        index.add({"id": "first", "text": TEXT})
        for part in range(60):
            now[0] = START + part / 60 * size.count * size.unit / 1000
            index.add(f"{part} {part * part} {part**3} {part**5} is not like any other number")
        now[0] = START + size.count * size.unit / 1000
        match = index.check(TEXT)
        assert match is not None
        assert match.of == "first"
        now[0] += size.unit / 1000
        assert index.check(TEXT) is None
        assert index.add(TEXT) is None


def test_under_a_limit_of_memory_the_window_is_shortened() -> None:
    """The oldest slots go first, the current one stays whatever it takes (DDD, §6)."""
    rng, now = np.random.default_rng(1), [START]
    with moving(now, method="exact", window="24h", memory="1MB") as index:
        for hour in range(10):
            now[0] = START + hour * HOUR
            index.add_many([rng.bytes(30_000).hex() for _ in range(4)])  # 0.24 MB an hour
            there = {entry.time.timestamp() for entry in index}
            assert there == {START + n * HOUR for n in range(max(0, hour - 3), hour + 1)}
        index.add_many([rng.bytes(30_000).hex() for _ in range(30)])
        assert len(index) == 34
    with pytest.raises(SettingsError, match="no window that could be shortened"):
        moving(now, memory="1MB")


def test_slots_of_a_bitmap_window_count_under_the_limit() -> None:
    rng, now = np.random.default_rng(1), [START]
    words = [f"w{i}" for i in range(3000)]
    limit = 6_000_000
    with moving(now, method="qgrams", window="24h", memory=limit) as index:
        for hour in range(30):
            now[0] = START + hour * HOUR
            texts = [" ".join(rng.choice(words, 200)) for _ in range(40)]
            index.add_many([{"id": f"{hour}.{n}", "text": t} for n, t in enumerate(texts)])
            found = index.stats()
            assert found["evidence_bytes"] + found["postings_bytes"] <= limit
            assert found["documents"] >= 80 or not hour
            assert all(index.check(text.rpartition(" ")[0]) for text in texts)
        assert found["documents"] < 25 * 40


def test_a_utc_time_is_told() -> None:
    with moving([START]) as index:
        index.add("some text")
        assert next(iter(index)).time == datetime.fromtimestamp(START, UTC)
