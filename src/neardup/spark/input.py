"""What the engine asks of its input: a DataFrame (``frames.py``) or files (``files.py``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from neardup.documents import Collection
from neardup.plan import Plan
from neardup.spark import standing
from neardup.spark.signing import Work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Input(Protocol):
    """Documents that tasks can read."""

    @property
    def files(self) -> Sequence[str]: ...

    @property
    def sources(self) -> Sequence[str]: ...

    @property
    def paths(self) -> Mapping[int, Sequence[str]]:
        """Of the documents that are files by themselves, by the number of their folder."""
        ...

    def about(self) -> dict[str, Any]: ...

    def check(self, plan: Plan) -> None: ...

    @property
    def reads_again(self) -> bool:
        """Whether reading again gives the same documents, at the price of reading."""
        ...

    @property
    def offered(self) -> bool:
        """Whether the names of inputs are a column ``source``."""
        ...

    @property
    def more_order(self) -> int:
        """How many columns of order it has beside those of the policy."""
        ...

    def mapped(self, work: Work, schema: str) -> DataFrame:
        """What ``work`` makes of the documents, task by task."""
        ...

    def positions(self, documents: DataFrame, plan: Plan, keep: standing.Keep) -> DataFrame: ...

    def local(self) -> Collection:
        """The same documents for the driver, which draws a few to plant copies of."""
        ...
