"""``neardup compare``: two texts side by side, or why a run decided as it did on a document.

A comparison and an explanation are shown alike: as lines, with colours on a terminal, as JSON, or
as one HTML page.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import echo
from neardup.errors import InputError, SettingsError, UsageError
from neardup.wording import escaped_json, shortened, visible

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

    from neardup.documents.columns import Columns
    from neardup.methods.base import Method
    from neardup.runs.comparison import Comparison
    from neardup.runs.explanation import Explanation
    from neardup.text.alignment import Step

LINES = 200
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
OF_THE_RUN = {
    **{
        name: f"--{name}"
        for name in ("in", "strings", "method", "threshold", "text", "id", "recipe")
    },
    "assignments": "--set",
}


@click.command(short_help="Compare two texts, or explain a decision of a run.")
@click.argument("a", metavar="A")
@click.argument("b", metavar="[B]", required=False)
@click.option("--in", metavar="FILE", help="A and B are ids of documents in FILE.")
@click.option(
    "--run",
    metavar="FOLDER",
    type=shared.PATH,
    help="A and B are ids of documents in this run. A alone: why it was kept or not.",
)
@click.option("--strings", is_flag=True, help="A and B are the texts themselves.")
@click.option(
    "--method",
    metavar="NAME",
    help="Method whose verdict is shown.  [default: that of a run]",
)
@click.option("--threshold", metavar="T", type=float, help="Threshold of the method.")
@shared.set_option
@shared.recipe_option
@click.option("--date", metavar="COL", help="Date column, for methods that compare dates.")
@shared.text_option
@shared.id_option
@click.option(
    "--costs",
    metavar="I,D,S",
    help="Also show the edit distance of words and of characters, with these costs of an "
    "insertion, a deletion and a substitution, such as 1,1,1, and a cheapest alignment of words.",
)
@click.option(
    "--html",
    metavar="FILE",
    type=shared.PATH,
    help="Also write an HTML page, with up to a million characters of text.",
)
@click.option(
    "--lines",
    metavar="N",
    type=click.IntRange(min=0),
    default=LINES,
    show_default=True,
    help="Show this many lines of passages; 0 shows all.",
)
@shared.json_option
@shared.debug_option
def compare(
    a: str,
    b: str | None,
    run: Path | None,
    html: Path | None,
    lines: int,
    costs: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare A and B: what they share, where they differ, and whether they are duplicates.

    A and B are text files; or documents as FILE.jsonl#ID; or ids with --in FILE or --run FOLDER;
    or the texts themselves with --strings. In the passages, - marks text of A only and + text of B
    only; < and > mark where a passage was moved from and to.
    """
    from neardup.files import check_parent

    shown: Comparison | Explanation
    if html:
        check_parent(html)
    if run:
        _refuse_own_settings(options)
        shown = _of_run(run, a, b)
    elif b is None:
        raise click.UsageError("Missing argument 'B'. Hint: A alone is for --run FOLDER.")
    else:
        shown = _of_texts(a, b, options)
    if html:
        _write_page(html, shown.to_html())
    edits = _edit_distances(shown, costs) if costs else {}
    if as_json:
        echo(_json({**shown.to_dict(), **({"edit_distance": edits} if costs else {})}))
        return
    _show(shown, lines or None)
    if costs:
        echo(
            f"edit distance {edits['words']:,} of words, {edits['characters']:,} of characters, "
            f"with costs of {costs} for insertion, deletion and substitution"
        )
        for line in _edit_lines(edits["word_steps"], lines or None):
            echo(line)


def _edit_lines(edits: list[dict[str, Any]] | None, most: int | None) -> list[str]:
    """The alignment of the words, an edit a line."""
    if edits is None:
        return ["The texts are too long to list the edits."]
    listed = [
        f"  {edit['how']} {visible(' → '.join(filter(None, (edit['old'], edit['new']))))}"
        for edit in edits[:most]
    ]
    left = len(edits) - len(listed)
    return [*listed, f"  … {left:,} more edits; --lines 0 shows all."] if left else listed


def _edit_distances(shown: Comparison | Explanation, costs: str) -> dict[str, Any]:
    from neardup.runs.comparison import Comparison
    from neardup.text.alignment import Costs, edit_distance, steps
    from neardup.text.words import words

    written = Costs.parse(costs)
    compared = shown if isinstance(shown, Comparison) else shown.comparison
    if compared is None:
        raise UsageError("There is no second text to edit.", hint="leave --costs out.")
    a, b = words(compared.a), words(compared.b)
    cheapest = steps(a, b, written)
    alignment = None if cheapest is None else [_edit(step, a, b) for step in cheapest]
    distances = {
        "words": edit_distance(a, b, written),
        "characters": edit_distance(compared.a, compared.b, written),
    }
    return {**distances, "costs": written._asdict(), "word_steps": alignment}


def _edit(step: Step, a: list[str], b: list[str]) -> dict[str, Any]:
    """A step with the words that it changes."""
    old = None if step.how == "insert" else a[step.first]
    new = None if step.how == "delete" else b[step.second]
    return {**step._asdict(), "old": old, "new": new}


def _refuse_own_settings(options: dict[str, Any]) -> None:
    written = [option for name, option in OF_THE_RUN.items() if options[name]]
    if written:
        raise SettingsError(
            f"{', '.join(written)} cannot be given with --run, which has its own settings.",
            hint="leave them out, or leave --run out and name the documents with --in FILE.",
        )


def _of_run(run: Path, a: str, b: str | None) -> Comparison | Explanation:
    from neardup.runs.explanation import compare_documents
    from neardup.runs.stored_run import load

    result = load(run)
    return result.explain(a) if b is None else compare_documents(result, a, b)


def _of_texts(a: str, b: str, options: dict[str, Any]) -> Comparison:
    from neardup.documents.columns import Columns
    from neardup.runs.comparison import NAMES
    from neardup.runs.comparison import compare as compare_texts
    from neardup.runs.texts_again import beside

    method = _method(options)
    columns = Columns(text=options["text"] or "text", id=options["id"])
    if options["strings"]:
        return compare_texts(a, b, method, names=NAMES)
    columns = replace(columns, extra=method.columns)
    if options["in"]:
        documents = _documents(options["in"], [a, b], columns)
    else:
        documents = [_named(name, columns) for name in (a, b)]
    texts = [one if isinstance(one, str) else one["text"][0].as_py() for one in documents]
    records = [one for one in documents if not isinstance(one, str)]
    more = beside(records, method.columns) if len(records) == 2 else {}
    return compare_texts(texts[0], texts[1], method, names=(a, b), columns=more)


def _method(options: dict[str, Any]) -> Method:
    from neardup.plan import resolve

    names = ("recipe", "method", "threshold", "assignments", "date")
    written = {name: options[name] for name in names}
    return resolve(shared.settings_from(written)).method


def _named(name: str, columns: Columns) -> str | pa.RecordBatch:
    """A text, or a document with the columns that the method reads."""
    path, sign, id = name.rpartition("#")
    if sign and not Path(name).exists():
        return _documents(path, [id], columns)[0]
    if Path(name).suffix.lower() in COLLECTIONS:
        raise UsageError(
            f"{name} holds many documents; which one is meant?",
            hint=f"write {name}#ID, or give two ids and --in {name}.",
        )
    return _page(Path(name)) or _file(name)


def _page(path: Path) -> str | None:
    """The text of a page, an office file or a message as a run reads it; None where it is
    none."""
    from neardup.documents.collection import collect
    from neardup.documents.columns import Columns
    from neardup.documents.file_formats import EML, KINDS, MSG

    if path.suffix.lower() not in (*KINDS, EML, MSG) or not path.is_file():
        return None
    for chunk in collect([path]).chunks(Columns()):
        batch = chunk.read()
        if batch.rejected:
            raise InputError(
                f"{path} cannot be compared: {batch.rejected[0].reason}.",
                hint="`neardup dedup --extract none` reads pages as they are.",
            )
        text: str = batch.records["text"][0].as_py()
        return text
    return None


def _file(name: str) -> str:
    from neardup.documents.encodings import decoded

    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise InputError(
            f"{name} cannot be read: {error.strerror}.",
            hint="A and B are files; give --strings to compare texts, --in FILE to compare by id.",
        ) from error
    found = decoded(raw)
    if found.text is None:
        raise InputError(
            f"{name} cannot be read as text: {found.reason}.",
            hint="A and B are text files in any encoding that can be told.",
        )
    return found.text


def _documents(path: str, ids: list[str], columns: Columns) -> list[pa.RecordBatch]:
    from neardup.documents.collection import collect
    from neardup.runs.texts_again import records_by_id

    found = records_by_id(collect(path).told_apart(columns)[0], ids, columns)
    if missing := ", ".join(repr(shortened(id)) for id in ids if id not in found):
        raise InputError(
            f"{path} has no usable document with the id {missing}.",
            hint="--id COL names the column of the ids; without one an id is FILE:ROW.",
        )
    return [found[id] for id in ids]


def _show(shown: Comparison | Explanation, most: int | None) -> None:
    from neardup.runs.comparison import Comparison

    if isinstance(shown, Comparison):
        _show_comparison(shown, most)
        return
    for line in shown.head():
        echo(line)
    if shown.comparison:
        echo("\n" + shown.between())
        _show_comparison(shown.comparison, most)


def _show_comparison(compared: Comparison, most: int | None) -> None:
    """Prints a comparison. In a pipe or a file it has no colours and is the same at any width."""
    console = _console()
    if not console.is_terminal:
        echo("\n".join(compared.lines(most=most)))
        return
    from rich.text import Text

    from neardup.report import side_by_side_lines

    for name, value in [*compared.facts(), *compared.measure_facts()]:
        console.print(Text.assemble((f"{name:<12}", "dim"), visible(value)), soft_wrap=True)
    console.print()
    names = compared.names
    side_by_side_lines.show(
        console, compared.a, compared.b, compared.alignment, names=names, most=most
    )


def _console() -> Console:
    """Made anew each time, because it binds the stdout of the moment."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, emoji=False, markup=False)


def _json(data: dict[str, Any]) -> str:
    return escaped_json(json.dumps(data, indent=2, ensure_ascii=False))


def _write_page(path: Path, page: str) -> None:
    from neardup.files import write_text

    write_text(path, page)
    echo(f"Written to {path}.", err=True)
