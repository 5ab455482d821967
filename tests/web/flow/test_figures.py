"""Counts of a flow equal those of a plain list of what came."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neardup.engines.index.store import Row
from neardup.engines.index.time_window import UNITS, Window
from neardup.web.flow_pages import MOST_BARS, Figures

DAY = UNITS["d"]
arrivals = st.tuples(
    st.integers(0, 3 * DAY), st.sampled_from([None, "post", "town"]), st.booleans()
)


def row(seq: int, time: int, source: str | None, aside: bool) -> Row:
    kept = (1, "a", 0.9) if aside else (None, None, None)
    return Row(seq, f"d{seq}", time, 0, *kept, None, None, b"", source=source)


@given(st.lists(st.lists(arrivals, max_size=5), max_size=12), st.sampled_from([None, "24h"]))
def test_counts_are_those_of_what_came(batches: list, written: str | None) -> None:  # type: ignore[type-arg]
    window = Window.parse(written) if written else None
    figures, came = Figures(window), []
    for batch in batches:
        rows = [row(len(came) + n, *one) for n, one in enumerate(batch)]
        came += rows
        figures.take(rows, 0.0)
    data = figures.data(0.0)
    newest = max((one.time for one in came), default=0)
    floor = window.floor(newest) if window else 0
    # A bar is forgotten as a whole, and units divide the slots of the window.
    there = [one for one in came if one.time >= floor]
    assert sum(bar["documents"] for bar in data["bars"]) == len(there)
    assert sum(bar["duplicates"] for bar in data["bars"]) == sum(
        one.kept_seq is not None for one in there
    )
    for name in ("", "post", "town"):
        ours = [one for one in there if (one.source or "") == name]
        found = [one for one in data["sources"] if one["source"] == name]
        assert sum(one["documents"] for one in found) == len(ours)
    assert len(data["bars"]) <= 2 * MOST_BARS
    assert data["rate"] == len(came) / 60


def test_what_was_there_says_nothing_of_the_rate() -> None:
    figures = Figures(None)
    figures.take([row(1, 0, None, False)], None)
    assert figures.rate(0.0) == 0
    figures.take([row(2, 0, None, False)], 10.0)
    assert figures.rate(60.0) == 1 / 60
    assert figures.rate(71.0) == 0
