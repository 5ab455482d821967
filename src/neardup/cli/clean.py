"""``neardup clean``: documents without the copies of repeated passages."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import echo, show_json
from neardup.cli.passage_options import (
    out_option,
    passage_settings,
    refuse_documents,
    rejected_line,
    search_engine,
    search_options,
    searched,
    target_of,
    unit_option,
    words_option,
)
from neardup.wording import many

if TYPE_CHECKING:
    from neardup.passages.cleanup import Cleaned
    from neardup.runs.result import Result
    from neardup.settings import Settings


def _numbers(ctx: click.Context, option: click.Parameter, value: str | None) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in shared.listed(ctx, option, value) or ())
    except ValueError:
        hint = "Hint: write numbers with commas, such as 3,17."
        raise click.BadParameter(f"{value!r} is no list of numbers. {hint}", ctx, option) from None


@click.command(
    short_help="Remove repeated passages from documents.",
    epilog="""\b
Examples:
  neardup clean crawl.jsonl -o out
  neardup clean 'pages/*.parquet' --text body --unit line --keep oldest --date seen -o out""",
)
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@out_option
@click.option(
    "--remove",
    metavar="CLASS,CLASS",
    callback=shared.listed,
    help="Classes of passages to remove.  [default: all but quotation]",
)
@click.option(
    "--except",
    "spare",
    metavar="N,N",
    callback=_numbers,
    help="Passages that stay, by their numbers in passages.parquet of a run with the same "
    "settings; `neardup review` shows them.",
)
@words_option(20)
@unit_option("sentence")
@click.option(
    "--floor",
    metavar="N",
    type=click.IntRange(min=0),
    default=5,
    help="Report cleaned documents with fewer words than this.  [default: 5]",
)
@click.option(
    "--annotate",
    is_flag=True,
    help="Remove nothing; write the places into a field passages of each document (JSON Lines).",
)
@click.option(
    "--then",
    metavar="dedup|RECIPE",
    help="Also remove near-duplicates among the cleaned documents, as `neardup dedup` does, or as "
    "a recipe says (a TOML file, or the name of a paper). The kept ones are kept.* beside "
    "documents.*, with duplicates.parquet.",
)
@search_options
def clean(
    inputs: tuple[str, ...],
    out: Path | None,
    remove: tuple[str, ...] | None,
    floor: int,
    annotate: bool,
    spare: tuple[int, ...],
    then: str | None,
    **options: Any,
) -> None:
    """Remove the copies of repeated passages from the documents of INPUT, and keep one of each.

    --keep says which copy stays. Only whole units are removed. The folder OUT holds what `neardup
    passages` writes, and OUT/applied/1 the cleaned documents in the format of INPUT
    (documents.*) with removed.parquet. INPUT is not changed; `neardup undo OUT` takes the cleaned
    documents back.
    """
    target = target_of(out, options)
    settings = passage_settings(options, unit="sentence")
    from neardup.passages.cleanup import USUAL, Cleaning, cleaned

    engine = search_engine(options)
    cleaning = Cleaning(tuple(remove or USUAL), floor, annotate, spare)
    next_step = partial(_deduplicated, _then_settings(then, options), options) if then else None
    made = searched(
        inputs,
        target,
        options,
        lambda documents, *how: cleaned(documents, settings, cleaning, *how, engine=engine),
    )
    made.then = next_step
    folder = made.save(target.folder)
    if options["as_json"]:
        counts = made.counts | ({"then": vars(made.result.counts)} if made.result else {})
        show_json({"counts": counts, "passages": made.found.counts, "folder": str(folder)})
    elif not options["quiet"]:
        lines = [*_cleaned_lines(made), f"Written to {folder}."]
        echo("\n".join([*lines, f"Take it back: neardup undo {out}"]))
    refuse_documents(made.found.documents, folder, options)


def _cleaned_lines(made: Cleaned) -> list[str]:
    counts = made.counts
    lines = [f"{made.sentence()}.", f"{many(counts['changed'], 'document')} changed."]
    lines += _staying(made)
    if counts["below_floor"]:
        lines.append(
            f"{many(counts['below_floor'], 'document')} left with fewer than "
            f"{made.cleaning.floor} words; removed.parquet lists them."
        )
    if counts["untouched"]:
        lines.append(f"{many(counts['untouched'], 'page')} left as they are: only text is cleaned.")
    lines += rejected_line(made.found)
    if made.result:
        lines.append(f"Then {made.result.counts.sentence()}: kept.* and duplicates.parquet.")
    return lines


def _staying(made: Cleaned) -> list[str]:
    """Which passages were found and not removed, and how they would be."""
    classes = Counter(made.found.passages["class"].to_pylist())
    others = [name for name in classes if name not in made.cleaning.remove]
    if not others or others == ["quotation"]:
        return []
    found = ", ".join(f"{classes[name]:,} {name}" for name in others)
    settings = made.found.documents.settings
    hints = [f"Remove them too: --remove {','.join((*made.cleaning.remove, *others))}"]
    if not settings.source:
        column = "a column that names the site or paper of a document (--source COL)"
        hints.append(f"{column} tells boilerplate")
    if "template" in others and settings.gap:
        hints.append("--gap 0 --unit line judges each line apart from those that vary beside it")
    return [f"Passages of other classes stay: {found}. {'; '.join(hints)}."]


def _then_settings(then: str, options: dict[str, Any]) -> Settings:
    from neardup.papers.recipe import read_recipe
    from neardup.settings import Settings, refuse_early

    written = {name: options[name] for name in ("text", "id", "date", "keep", "workers")}
    written = {name: value for name, value in written.items() if value is not None}
    settings = Settings(**{**({} if then == "dedup" else read_recipe(then)), **written})
    refuse_early(settings)
    return settings


def _deduplicated(settings: Settings, options: dict[str, Any], written: list[Path]) -> Result:
    """The run of ``dedup`` over the cleaned documents, which were just written."""
    from neardup.documents.collection import collect_inputs
    from neardup.documents.file_formats import is_known
    from neardup.engines.execution import execute
    from neardup.plan import resolve
    from neardup.progress import of_command

    plan = resolve(settings)
    named = [(None, path) for path in written if path.is_dir() or is_known(path)]  # but no lists
    documents = collect_inputs(named, encoding=options["encoding"])
    progress = of_command(quiet=options["quiet"] or options["as_json"])
    try:
        return execute(documents, plan, progress=progress)
    finally:
        progress.finish()
