"""Several files with schemas as one kept file: unified where Arrow can do so without loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from neardup.errors import InputError


class Typed(Protocol):
    """A file with a schema."""

    @property
    def file(self) -> str: ...

    def schema(self) -> pa.Schema: ...


def unified_schema(sources: Sequence[Typed]) -> pa.Schema:
    """One schema for all files, or an error that names the two files and the field that differ."""
    first, *others = sources
    unified = first.schema()
    for source in others:
        schema = source.schema()
        try:
            merged = pa.unify_schemas([unified, schema], promote_options="permissive")
        except pa.ArrowException as error:
            raise _unlike(first, source, unified, schema) from error
        unified = _nullable_where_missing(merged, unified, schema)
    return unified


def _nullable_where_missing(merged: pa.Schema, *parts: pa.Schema) -> pa.Schema:
    for i, field in enumerate(merged):
        if any(field.name not in part.names for part in parts):
            merged = merged.set(i, field.with_nullable(True))
    return merged


def _unlike(a: Typed, b: Typed, left: pa.Schema, right: pa.Schema) -> InputError:
    def clash(name: str) -> bool:
        pair = [pa.schema([left.field(name)]), pa.schema([right.field(name)])]
        try:
            pa.unify_schemas(pair, promote_options="permissive")
        except pa.ArrowException:
            return True
        return False

    name = next((name for name in left.names if name in right.names and clash(name)), "?")
    types = f"{left.field(name).type} and {right.field(name).type}" if name != "?" else "unlike"
    return InputError(
        f"{a.file} and {b.file} cannot be one kept file: column {name!r} has the types {types}.",
        hint="convert one of the files, or run them apart.",
    )


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with the columns, order and types of the schema; what is missing is null."""
    if table.schema.equals(schema):
        return table.replace_schema_metadata(schema.metadata)
    columns = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)
