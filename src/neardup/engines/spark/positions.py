"""The position of documents in the input (``position``) and in the order of the rule (``place``).

A document from a file has its position when it is read: file number and row. Rows of a DataFrame
have none; they are sorted by the column that the user names, then by id. Any order except that of
the input needs one more sort. Only numbers and ids are sorted, never texts.

Each criterion of the policy becomes a number or a string that Spark can sort. Integers, floats,
dates and booleans become 64-bit integers in the same order. Strings stay strings until all of them
are known: if all are numbers, they are ordered as numbers, as in ``decisions/order.py``. A document
without a value has neither, and comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as sql

from neardup.decisions.order import Criterion, Order, Undated, as_dates, plain, sortable
from neardup.documents.clashes import Shared
from neardup.errors import ColumnError, SettingsError
from neardup.schema import Array
from neardup.wording import repeated, where

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WHOLE, NUMBER, OTHER = 0, 1, 2  # kinds of strings; the highest of a column decides
_SIGN = np.int64(2**63 - 1)
SortedValues = tuple[pa.Array, pa.Array]


def fields(count: int) -> list[tuple[str, pa.DataType]]:
    return [
        field
        for number in range(count)
        for field in ((f"n{number}", pa.int64()), (f"s{number}", pa.string()))
    ]


def criterion_column(
    criterion: Criterion, lengths: Array, columns: Mapping[str, pa.Array]
) -> SortedValues:
    """A number or a string for each document of a batch."""
    if criterion.name == "date":
        return _dates(columns[criterion.columns[0]], criterion.columns[0])
    if criterion.name == "column":
        return encoded(plain(columns[criterion.columns[0]], criterion.columns[0]))
    chunked = {name: pa.chunked_array([column]) for name, column in columns.items()}
    return encoded(criterion.values(lengths, chunked))


def _dates(column: pa.Array, name: str) -> SortedValues:
    """Dates as numbers. A value that is no date stays a string, for the message if none is a
    date."""
    try:
        days = as_dates(column, name)
    except SettingsError:
        days = pa.nulls(len(column), pa.int64())
    number, _ = encoded(days)
    raw = plain(column, name).cast(pa.string())
    return number, pc.if_else(pc.is_null(number), raw, pa.scalar(None, pa.string()))


def encoded(values: pa.Array) -> SortedValues:
    type_ = values.type
    nothing = pa.nulls(len(values), pa.string())
    if pa.types.is_null(type_):
        return pa.nulls(len(values), pa.int64()), nothing
    if pa.types.is_large_string(type_) or pa.types.is_string(type_):
        return _code(values), values.cast(pa.string())
    if pa.types.is_floating(type_):
        return _ordered(values), nothing
    if pa.types.is_uint64(type_):
        flipped = np.asarray(values.fill_null(0)) ^ np.uint64(1 << 63)
        return pa.array(flipped.view(np.int64), mask=np.asarray(values.is_null())), nothing
    if pa.types.is_temporal(type_) and not pa.types.is_date64(type_):
        narrow = pa.types.is_date32(type_) or pa.types.is_time32(type_)
        values = values.cast(pa.int32()) if narrow else values
    return values.cast(pa.int64()), nothing


def _code(values: pa.Array) -> pa.Array:
    """The kind of each string alone, by the rules of ``sortable`` for a column."""
    codes = np.full(len(values), OTHER, np.int64)
    if not len(values):
        return pa.array(codes)
    whole = sortable(values, "")
    if pa.types.is_integer(whole.type):
        codes[:] = WHOLE
    else:
        distinct = pc.dictionary_encode(values)
        kinds = np.array([_kind(value) for value in distinct.dictionary], np.int64)
        if len(kinds):
            codes = kinds[np.asarray(distinct.indices.fill_null(0))]
    return pa.array(codes, mask=np.asarray(values.is_null()))


def _kind(value: pa.Scalar) -> int:
    sort_type = sortable(pa.array([value.as_py()], pa.large_string()), "").type
    return (
        WHOLE
        if pa.types.is_integer(sort_type)
        else NUMBER
        if pa.types.is_floating(sort_type)
        else OTHER
    )


def _ordered(values: pa.Array) -> pa.Array:
    """Floats as integers in the same order; NaN counts as no value."""
    missing = np.asarray(pc.or_kleene(values.is_null(), pc.is_nan(values)).fill_null(True))
    plain_ = np.asarray(values.cast(pa.float64()).fill_null(0.0)) + 0.0  # −0 is 0
    bits = np.ascontiguousarray(plain_).view(np.int64)
    return pa.array(np.where(bits < 0, bits ^ _SIGN, bits), mask=missing)


def settled(number: pa.Array, string: pa.Array, code: int) -> SortedValues:
    """Strings as sort values, when all were seen; ``code`` is their highest kind."""
    if code == OTHER or not len(string):
        return pa.nulls(len(number), pa.int64()), string
    values = string.cast(pa.large_string())
    if code == NUMBER:
        whole = values.is_valid()
        numbers = pc.if_else(whole, values, pa.scalar(None, pa.large_string()))
        return _ordered(_floats(numbers)), pa.nulls(len(number), pa.string())
    return sortable(values, "").cast(pa.int64()), pa.nulls(len(number), pa.string())


def _floats(values: pa.Array) -> pa.Array:
    return pc.utf8_ltrim(pc.utf8_trim_whitespace(values), "+").cast(pa.float64())


def no_dates(criteria: Sequence[Criterion], number: int, example: str) -> SettingsError:
    """The error of ``as_dates``, which describes a whole column."""
    name = criteria[number].columns[0]
    try:
        as_dates(pa.array([example]), name)
    except SettingsError as error:
        return error
    raise AssertionError("a date was no date")


FILE_BITS = 40  # rows of a file
Keep = Callable[[str, "DataFrame"], "DataFrame"]


def file_positions(documents: DataFrame) -> DataFrame:
    position = sql.shiftleft(sql.col("file").cast("bigint"), FILE_BITS) + sql.col("row")
    return documents.withColumn("position", position)


def sorted_positions(documents: DataFrame, number: int, keep: Keep) -> DataFrame:
    """Positions by the order column ``number``, then by id; documents with equal ids by their
    content."""
    documents = _settled(documents, [number])
    by = [*_sorts(number, descending=False), *_last("id"), *_last("text_digest"), *_last("row")]
    return numbered(documents, by, "position", keep)


def places(documents: DataFrame, order: Order, keep: Keep) -> DataFrame:
    if order.by_position:
        return documents.withColumn("place", documents["position"])
    columns = [i for i, one in enumerate(order.criteria) if one.name == "column"]
    documents = _settled(documents, columns)
    by: list[Column] = []
    for number, criterion in enumerate(order.criteria):
        if criterion.name == "position":
            by.append(
                documents["position"].desc()
                if criterion.descending
                else documents["position"].asc()
            )
        else:
            by += _sorts(number, descending=criterion.descending)
    return numbered(documents, [*by, documents["position"].asc()], "place", keep)


def _last(name: str, *, descending: bool = False) -> list[Column]:
    column = sql.col(name)
    return [column.desc_nulls_last() if descending else column.asc_nulls_last()]


def _sorts(number: int, *, descending: bool) -> list[Column]:
    """The sort columns of a criterion; one of the two is null for all documents."""
    return [
        *_last(f"n{number}", descending=descending),
        *_last(f"s{number}", descending=descending),
    ]


def numbered(documents: DataFrame, by: Sequence[Column], name: str, keep: Keep) -> DataFrame:
    """A column ``name`` with the number of rows before, sorted ``by`` these columns."""
    ordered = documents.orderBy(*by).withColumn("_at", sql.monotonically_increasing_id())
    ordered = keep(name, ordered)
    of_part = sql.shiftright("_at", 33)
    counts = ordered.groupBy(of_part.alias("part")).count().collect()
    before, total = {}, 0
    for part, count in sorted((row["part"], row["count"]) for row in counts):
        before[part] = total
        total += count
    if not before:
        return ordered.withColumn(name, sql.lit(0).cast("bigint")).drop("_at")
    begins = sql.create_map(*[sql.lit(x) for item in before.items() for x in item])
    inside = sql.col("_at").bitwiseAND((1 << 33) - 1)
    return ordered.withColumn(name, (begins[of_part] + inside).cast("bigint")).drop("_at")


def _settled(documents: DataFrame, numbers: Sequence[int]) -> DataFrame:
    """Strings that are all numbers are ordered as numbers."""
    if not numbers:
        return documents
    asked = []
    for i in numbers:
        present = sql.col(f"s{i}").isNotNull()
        asked += [
            sql.max(sql.when(present, sql.col(f"n{i}"))),
            sql.count(sql.when(~present, sql.col(f"n{i}"))),
        ]
    kinds: Any = documents.agg(*asked).first()
    codes = {}
    for at, i in enumerate(numbers):
        code, typed = kinds[2 * at], kinds[2 * at + 1]
        if code is not None and typed:
            raise ColumnError(
                "The files have a column in types that cannot be compared: numbers and strings.",
                hint="give the column that a policy reads the same type in all files.",
            )
        if code is not None:
            codes[i] = int(code)
    return _cast(documents, codes) if codes else documents


def _cast(documents: DataFrame, codes: dict[int, int]) -> DataFrame:
    def cast(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield _cast_batch(batch, codes)

    return documents.mapInArrow(cast, documents.schema)


def _cast_batch(batch: pa.RecordBatch, codes: dict[int, int]) -> pa.RecordBatch:
    for number, code in codes.items():
        names = f"n{number}", f"s{number}"
        values = settled(batch.column(names[0]), batch.column(names[1]), code)
        for name, column in zip(names, values, strict=True):
            at = batch.schema.get_field_index(name)
            batch = batch.set_column(at, name, column)
    return batch


def undated(documents: DataFrame, order: Order) -> Undated | None:
    """The count of documents without a date, with an example, as a run on one machine reports it;
    also refuses a date column of which no value is a date."""
    found = None
    for number, criterion in enumerate(order.criteria):
        if criterion.name != "date":
            continue
        by = sql.col("position")
        written = sql.col(f"s{number}").rlike(r"\S")
        wrong = sql.min_by(f"s{number}", sql.when(written, by))
        counts: Any = documents.agg(sql.count(f"n{number}"), wrong, sql.count("*")).first()
        dated, example, total = counts
        if not dated and example:
            raise no_dates(order.criteria, number, example)
        if found is None and dated < total:
            found = Undated(criterion.columns[0], total - dated, total, example)
    return found


def without_repeated(
    documents: DataFrame, files: Sequence[str], paths: Mapping[int, Sequence[str]]
) -> DataFrame:
    """Rejects all documents of a file with the same id, except the first. ``paths`` has the paths
    of documents in folders, by the number of the folder."""
    accepted = documents.where("rejected is null")
    first = (
        accepted.groupBy("file", "id")
        .agg(
            sql.count("*").alias("_times"),
            sql.min("position").alias("_first"),
            sql.min_by("row", "position").alias("_row"),
        )
        .where("_times > 1")
    )

    def said(id: str | None, file: int, row: int | None) -> str | None:
        if id is None or row is None:  # Spark calls this for rejected documents too
            return None
        path = paths[file][row - 1] if file in paths else None
        return repeated(id, where(files[file], row, path))

    reason = sql.udf(said, "string")("id", "file", "_row")
    late = sql.col("rejected").isNull() & (sql.col("position") > sql.col("_first"))
    joined = documents.join(first, ["file", "id"], "left")
    marked = joined.withColumn("rejected", sql.when(late, reason).otherwise(sql.col("rejected")))
    return marked.select(*documents.columns)


def named_by_place(documents: DataFrame, files: Sequence[str]) -> tuple[DataFrame, Shared | None]:
    """Gives more colons to the name file:row of a document without an id, where another document of
    the file has that id, as on one machine."""
    place = [_by_number(dict(enumerate(files)))[sql.col("file")], sql.col("row").cast("string")]
    accepted = documents.where("rejected is null")
    several = accepted.groupBy("file", "id").agg(sql.count("*").alias("_times")).where("_times > 1")
    unnamed = sql.col("rejected").isNull() & sql.col("_times").isNotNull()
    unnamed &= sql.col("id") == sql.concat_ws(":", *place)
    marked = documents.join(several, ["file", "id"], "left").withColumn("_unnamed", unnamed)
    count = marked.where("_unnamed").count()
    if not count:
        return documents, None
    sign = "::"
    while True:
        name = sql.when(sql.col("_unnamed"), sql.concat_ws(sign, *place)).otherwise(sql.col("id"))
        named = marked.withColumn("id", name)
        taken = named.where("not _unnamed and rejected is null").select("id")
        chosen = named.where("_unnamed")
        if not chosen.join(taken, "id", "left_semi").limit(1).count():
            break
        sign += "::"
    example: Any = chosen.agg(sql.min_by("id", "position")).first()
    return named.select(*documents.columns), Shared(0, 0, example[0], count)


def _by_number(names: Mapping[int, str]) -> Column:
    return sql.create_map(*[sql.lit(x) for item in names.items() for x in item])


def told_apart(
    documents: DataFrame, labels: Mapping[int, str], prefix: str = ""
) -> tuple[DataFrame, Shared | None]:
    """Names documents with an id that several files have file:id, as on one machine. Ids are unique
    within a file already, and all begin with ``prefix``."""
    accepted = documents.where("rejected is null")
    several = accepted.groupBy("id").agg(sql.count("*").alias("_times")).where("_times > 1")
    counted: Any = several.agg(sql.count("*"), sql.sum("_times")).first()
    if not counted[0]:
        return documents, None
    sign, renamed = ":", _renamed(documents, several, labels, prefix, ":")
    while _repeats(renamed):
        sign += ":"
        renamed = _renamed(documents, several, labels, prefix, sign)
    chosen = renamed.where("rejected is null and _times is not null")
    example: Any = chosen.agg(sql.min_by("id", "position")).first()
    return renamed.select(*documents.columns), Shared(counted[0], counted[1], example[0])


def _renamed(
    documents: DataFrame, several: DataFrame, labels: Mapping[int, str], prefix: str, sign: str
) -> DataFrame:
    bare = sql.expr(f"substring(id, {len(prefix) + 1})")
    label = _by_number(labels)[sql.col("file")]
    name = sql.concat(sql.lit(prefix), label, sql.lit(sign), bare)
    joined = documents.join(several, "id", "left")
    shared = sql.col("_times").isNotNull()
    return joined.withColumn("id", sql.when(shared, name).otherwise(sql.col("id")))


def _repeats(documents: DataFrame) -> bool:
    accepted = documents.where("rejected is null")
    return bool(accepted.groupBy("id").count().where("count > 1").limit(1).count())
