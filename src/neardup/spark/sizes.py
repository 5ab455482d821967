"""How much there is, counted once when documents are signed: the work is cut by it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as sql

from neardup.methods.method import FLAGS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass
class Sizes:
    """Of the signed rows."""

    documents: int
    rejected: int
    key_bytes: int
    evidence_bytes: int
    flags: dict[str, int]


def sizes_of(rows: DataFrame) -> Sizes:
    flags = [
        sql.count(sql.when((sql.col("file") >= 0) & (sql.col("flags").bitwiseAND(bit) != 0), 1))
        for bit in FLAGS
    ]
    own = sql.col("file") >= 0
    found: Any = rows.agg(
        sql.count(sql.when(own, 1)),
        sql.count("rejected"),
        sql.sum(sql.length("keys")),
        sql.sum("size"),
        *flags,
    ).first()
    counts = dict(zip(FLAGS.values(), found[4:], strict=True))
    flagged = {name: int(count) for name, count in counts.items() if count}
    documents, rejected, keys, evidence = (int(value or 0) for value in found[:4])
    return Sizes(documents, rejected, keys, evidence, flagged)


def sizes_again(sizes: Sizes, documents: DataFrame) -> Sizes:
    """When documents with an id that others have were rejected, too."""
    nothing = sql.lit(None).cast("binary")
    slim = documents.withColumns({"keys": nothing, "size": sql.lit(0)})
    accepted = sizes_of(slim.where("rejected is null and file >= 0"))
    return replace(sizes, rejected=sizes.documents - accepted.documents, flags=accepted.flags)
