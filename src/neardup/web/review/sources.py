"""What can be reviewed: the folder of a run, or the store of an index.

Both give the same: a table of decisions, a table of pairs, and the documents as far as they can be
read. A run can be changed by hand (``outputs/applying/changes.py``). An index decides in the order
of arrival and has its own ways to change, so its review only shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow as pa

from neardup.decisions.policy import Policy
from neardup.errors import InputError
from neardup.outputs.applying.changes import ChangeLog
from neardup.outputs.comparison import Comparison
from neardup.outputs.result import Result
from neardup.schema import Array
from neardup.text.options import Text


class Read(NamedTuple):
    """Some documents as they are read: rows of the decisions, their texts, and as texts their dates
    and their own sources; null where there is none. ``share`` of everything has been read with
    them, None where nobody knows."""

    rows: Array
    texts: pa.Array
    dates: pa.Array
    sources: pa.Array
    share: float | None


@dataclass(frozen=True)
class About:
    """``what`` is "run" or "index". ``threshold`` None: no score is one. ``date``: the name of the
    dates that documents have. ``partial``: why pairs say nothing of other thresholds, if so."""

    what: str
    name: str
    method: str
    threshold: float | None
    date: str | None
    partial: str | None
    command: str


class Source(Protocol):
    @property
    def about(self) -> About: ...

    @property
    def words(self) -> Text | None:
        """How the texts were cut into words."""
        ...

    @property
    def policy(self) -> Policy | None: ...

    @property
    def result(self) -> Result | None:
        """What a new threshold is asked of."""
        ...

    @property
    def log(self) -> ChangeLog | None: ...

    @property
    def judging(self) -> Path | None:
        """The folder of judgements."""
        ...

    def decided(self, first: Sequence[str]) -> tuple[pa.Table, pa.Table, pa.Table | None]:
        """Decisions and pairs when these documents come first, and the actions of the policy as
        they were written, where nobody was put first."""
        ...

    def texts(self, ids: Iterable[str]) -> dict[str, str]:
        """What is not found, or is not what it was, is left out."""
        ...

    def read(self) -> Iterator[Read]:
        """All documents. Stops with an error where they cannot be read."""
        ...

    def compare(self, texts: tuple[str, str], names: tuple[str, str]) -> Comparison: ...

    def close(self) -> None: ...


def open_source(target: str) -> Source:
    """A folder is a run; all else is the address of an index."""
    from neardup.web.review.indexed import IndexSource
    from neardup.web.review.run import RunSource

    if Path(target).is_dir():
        return RunSource(Path(target))
    if "://" not in target and not Path(target.removeprefix("sqlite:")).exists():
        raise InputError(
            f"There is no {target}: expected the folder of a run or the store of an index.",
            hint="`neardup dedup INPUT -o RUN` makes a run, `neardup index build` an index.",
        )
    return IndexSource(target)
