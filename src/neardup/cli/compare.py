"""``neardup compare``: two texts side by side."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli.options import debug_option, json_option
from neardup.errors import InputError, UsageError

if TYPE_CHECKING:
    from neardup.documents import Columns
    from neardup.methods.method import Method

METHOD = "shingles"  # not the default of a run: two texts alone do not say what is rare
COLOURS = {"- ": "red", "+ ": "green"}
COLLECTIONS = (
    ".jsonl",
    ".ndjson",
    ".csv",
    ".tsv",
    ".parquet",
    ".pq",
    ".arrow",
    ".feather",
    ".gz",
    ".zst",
    ".bz2",
    ".xz",
)


@click.command(short_help="Compare two texts: measures, kind, passages.")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option(
    "--in",
    "collection",
    metavar="FILE",
    help="A and B are ids of documents in FILE.",
)
@click.option("--strings", is_flag=True, help="A and B are the texts themselves.")
@click.option("--method", metavar="NAME", default=METHOD, help="Say also what this method says.")
@click.option("--threshold", metavar="T", type=float, help="The threshold of the method.")
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="As in `dedup`.")
@click.option("--text", metavar="COL", default="text", help="The column of the text in FILE.")
@click.option("--id", metavar="COL", help="The column of the id in FILE.")
@json_option
@debug_option
def compare(
    a: str,
    b: str,
    collection: str | None,
    strings: bool,
    method: str,
    threshold: float | None,
    assignments: tuple[str, ...],
    text: str,
    id: str | None,
    as_json: bool,
) -> None:
    """Compare A and B: what they share, where they differ, and whether they are duplicates.

    A and B are text files; or documents as FILE.jsonl#ID; or ids with --in FILE; or the texts
    themselves with --strings. In the passages, - is only in A and + only in B.
    """
    from neardup.comparison import compare as compare_texts
    from neardup.documents import Columns

    made = _method(method, threshold, assignments)
    columns = Columns(text=text, id=id)
    if strings:
        texts = [a, b]
    elif collection:
        texts = _documents(collection, [a, b], columns)
    else:
        texts = [_named(name, columns) for name in (a, b)]
    compared = compare_texts(texts[0], texts[1], made)
    if as_json:
        click.echo(json.dumps(compared.to_dict(), indent=2, ensure_ascii=False))
        return
    for line in compared.lines():
        click.secho(line, fg=COLOURS.get(line[:2]))


def _method(name: str, threshold: float | None, assignments: tuple[str, ...]) -> Method:
    from neardup.methods.written import parse_assignments
    from neardup.plan import Settings, resolve

    parameters = parse_assignments(assignments)
    return resolve(Settings(method=name, threshold=threshold, set=parameters)).method


def _named(name: str, columns: Columns) -> str:
    path, sign, id = name.rpartition("#")
    if sign and not Path(name).exists():
        return _documents(path, [id], columns)[0]
    if Path(name).suffix.lower() in COLLECTIONS:
        raise UsageError(
            f"{name} holds many documents; which one is meant?",
            hint=f"write {name}#ID, or give two ids and --in {name}.",
        )
    return _file(name)


def _file(name: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"{name} cannot be read: {error.strerror}.",
            hint="A and B are files; give --strings to compare texts, --in FILE to compare by id.",
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8: {error.reason} at byte {error.start}.") from error


def _documents(path: str, ids: list[str], columns: Columns) -> list[str]:
    """Reads only as far as the last of them."""
    import pyarrow.compute as pc

    from neardup.documents import collect

    found: dict[str, str] = {}
    for chunk in collect(path).chunks(columns):
        records = chunk.read().records
        for id in set(ids) - found.keys():
            place = pc.index(records.column("id"), id).as_py()
            if place >= 0:
                found[id] = records.column("text")[place].as_py()
        if len(found) == len(set(ids)):
            return [found[id] for id in ids]
    missing = ", ".join(repr(id) for id in ids if id not in found)
    raise InputError(
        f"{path} has no usable document with the id {missing}.",
        hint="--id COL names the column of the ids; without one an id is FILE:ROW.",
    )
