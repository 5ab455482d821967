"""``dedup`` and ``find`` on DataFrames, and the contract of an input for Spark.

A row has an id. The order of the rule is that of the policy. Ties are decided by the column that
``position`` names, then by id, because the rows of a DataFrame have no order. The engine uses every
input in the same way, whether it is a DataFrame or files (``spark_files.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as sql

from neardup.decisions.order import plain
from neardup.documents.collection import Collection, collect
from neardup.documents.columns import Columns, DocumentBatch, Rejected
from neardup.documents.memory_tables import check_columns, chunk_of
from neardup.engines.spark import positions
from neardup.engines.spark.session import session
from neardup.engines.spark.spark_signing import Taken, Work
from neardup.errors import ColumnError, InputError, SettingsError
from neardup.papers.recipe import with_recipe
from neardup.plan import Plan, resolve
from neardup.settings import settings_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from neardup.engines.spark.spark_result import SparkResult

FILE = "input"
DRIVER_ROWS = 1_000_000


def dedup(
    frame: DataFrame,
    *,
    spark: SparkSession | None = None,
    position: str | None = None,
    checkpoint: str | None = None,
    **settings: Any,
) -> SparkResult:
    """Find near-duplicates in a DataFrame and decide which documents to keep.

    Settings are those of :func:`neardup.dedup`; ``frame`` needs a column of ids (``id``). ``spark``
    is its session unless another is given. ``position`` names a column that orders the input, for
    ``keep="first"``; without it that is the order of ids. ``checkpoint`` is a folder that all
    machines reach: a lost application goes on from there.
    """
    plan = resolve(settings_of(with_recipe(settings)))
    return _run(frame, plan, spark, position, checkpoint)


def find(
    frame: DataFrame,
    *,
    spark: SparkSession | None = None,
    position: str | None = None,
    checkpoint: str | None = None,
    **settings: Any,
) -> SparkResult:
    """Find all near-duplicate pairs and their clusters; as :func:`dedup`."""
    plan = resolve(settings_of(with_recipe(settings)), every_pair=True)
    return _run(frame, plan, spark, position, checkpoint)


def _run(
    frame: DataFrame,
    plan: Plan,
    spark: SparkSession | None,
    position: str | None,
    checkpoint: str | None,
) -> SparkResult:
    from neardup.engines.spark.spark_run import run

    if not hasattr(frame, "mapInArrow"):
        raise InputError(
            f"Expected a DataFrame of Spark, got {type(frame).__name__}.",
            hint="spark.read.parquet(…) makes one; neardup.dedup takes other tables.",
        )
    used = session(spark or frame.sparkSession)
    return run(used, FrameInput(frame, plan.columns, position), plan, checkpoint=checkpoint)


@dataclass
class FrameInput:
    """A DataFrame as documents."""

    frame: DataFrame
    columns: Columns
    position: str | None = None

    def __post_init__(self) -> None:
        names = self.frame.columns
        check_columns(self.columns, names, "the DataFrame")
        if self.columns.id_name not in names:
            raise ColumnError(
                f"The DataFrame has no column {self.columns.id_name!r} of ids; it has "
                f"{', '.join(map(repr, names))}.",
                hint="name the column with id=…; on Spark every document needs an id.",
            )
        if self.position is not None and self.position not in names:
            raise ColumnError(
                f"The column {self.position!r}, which is to order the input, is not in the "
                f"DataFrame; it has {', '.join(map(repr, names))}.",
                hint="name one of them with position=….",
            )

    files = (FILE,)
    sources = (FILE,)
    more_order = 1
    reads_again = False  # computing it again may be expensive, or give different rows
    offered = False

    def check(self, plan: Plan) -> None:
        if plan.limit is not None:
            raise SettingsError(
                "limit counts documents of files; the rows of a DataFrame have no order before "
                "they are sorted.",
                hint="give frame.orderBy(…).limit(n).",
            )

    def about(self) -> dict[str, Any]:
        """A description that identifies this input, for a checkpoint."""
        return {
            "schema": self.frame.schema.jsonValue(),
            "files": sorted(self.frame.inputFiles()),
            "position": self.position,
        }

    @property
    def paths(self) -> dict[int, list[str]]:
        return {}

    def local(self) -> Collection:
        """A local copy for planting; empty if the DataFrame is too large for the driver."""
        count = self.frame.count()
        if count > DRIVER_ROWS:
            raise SettingsError(
                "The threshold is chosen by known answers, which are drawn on the driver; "
                f"{count:,} rows are more than the {DRIVER_ROWS:,} that are brought there.",
                hint="give a threshold, or run on files with neardup.dedup(…, engine='spark').",
            )
        names = _names(self.columns, self.position)
        order = [f"`{name}`" for name in (self.position, self.columns.id_name) if name]
        return collect(self.frame.orderBy(*order).select(*names).toArrow())

    def mapped(self, work: Work, schema: str) -> DataFrame:
        """The results of ``work`` for the documents, task by task."""
        columns, position = self.columns, self.position

        def map_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return work(taken(batches, columns, position))

        return self.frame.select(*_names(columns, position)).mapInArrow(map_batches, schema)

    def positions(self, documents: DataFrame, plan: Plan, keep: positions.Keep) -> DataFrame:
        sorted_documents = positions.sorted_positions(documents, len(plan.keep.criteria), keep)
        return sorted_documents.withColumn("row", sql.col("position") + 1)


def _names(columns: Columns, position: str | None) -> list[str]:
    names = (columns.text, columns.id_name, *columns.delivered, position)
    return [f"`{name}`" for name in dict.fromkeys(names) if name is not None]


def taken(
    batches: Iterator[pa.RecordBatch], columns: Columns, position: str | None
) -> Iterator[Taken]:
    for batch in batches:
        present = batch.column(columns.id_name).is_valid()
        lost = batch.filter(pc.invert(present))
        if len(lost):
            yield Taken(0, _without_ids(lost, columns), [_order(lost.slice(0, 0), position)])
        kept = batch.filter(present) if len(lost) else batch
        read = chunk_of(kept, FILE, 1, columns).read()
        rows = read.records.column("row").to_numpy() - 1
        used = kept.take(pa.array(rows)) if len(rows) < len(kept) else kept
        yield Taken(0, read, [_order(used, position)])


def _order(batch: pa.RecordBatch, position: str | None) -> positions.SortedValues:
    if position is None:
        return pa.nulls(len(batch), pa.int64()), pa.nulls(len(batch), pa.string())
    return positions.encoded(plain(batch.column(position), position))


def _without_ids(batch: pa.RecordBatch, columns: Columns) -> DocumentBatch:
    """Rejects rows without an id: they have no fixed number that could replace it."""
    empty = chunk_of(batch.slice(0, 0), FILE, 1, columns).read()
    reason = f"{columns.id_name} is null"
    rejected = [Rejected(FILE, row + 1, reason, None) for row in range(len(batch))]
    return DocumentBatch(FILE, empty.records, rejected, len(batch))


class Input(Protocol):
    """Documents that tasks can read."""

    @property
    def files(self) -> Sequence[str]: ...

    @property
    def sources(self) -> Sequence[str]: ...

    @property
    def paths(self) -> Mapping[int, Sequence[str]]:
        """The paths of documents that are files by themselves, by the number of their folder."""
        ...

    def about(self) -> dict[str, Any]: ...

    def check(self, plan: Plan) -> None: ...

    @property
    def reads_again(self) -> bool:
        """Whether reading again gives the same documents at the cost of reading only."""
        ...

    @property
    def offered(self) -> bool:
        """Whether the names of inputs are available as a column ``source``."""
        ...

    @property
    def more_order(self) -> int:
        """The number of order columns beside those of the policy."""
        ...

    def mapped(self, work: Work, schema: str) -> DataFrame:
        """The results of ``work`` for the documents, task by task."""
        ...

    def positions(self, documents: DataFrame, plan: Plan, keep: positions.Keep) -> DataFrame: ...

    def local(self) -> Collection:
        """The same documents for the driver, which selects a few and plants copies of them."""
        ...
