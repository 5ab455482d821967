"""``neardup passages``, ``clean`` and ``trace``: what is copied inside documents."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from neardup.cli import options as shared
from neardup.cli.command import INTERRUPTED, echo, load_arrow, show_json
from neardup.cli.summary import refuse_rejected, rejection_lines
from neardup.cli.target import STDOUT, Target, after_interruption, names_file
from neardup.errors import UsageError
from neardup.wording import many, shortened

if TYPE_CHECKING:
    from neardup.documents import Collection
    from neardup.passages.cleanup import Cleaned
    from neardup.passages.passage_tables import Passages
    from neardup.passages.provenance import Library, Traces
    from neardup.passages.search import Documents, PassageSettings, Workspace
    from neardup.progress import Progress
    from neardup.runs.result import Result
    from neardup.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
SHOWN = 10
PARTS = 20
ALARM = 0.5  # of an evaluation item, weighed by rarity


def _words_option(default: int) -> Callable[[F], F]:
    return click.option(
        "--min-words",
        metavar="N",
        type=int,
        help=f"Words of the shortest passage.  [default: {default}]",
    )


def _unit_option(default: str) -> Callable[[F], F]:
    return click.option(
        "--unit",
        metavar="word|sentence|line|paragraph",
        help=f"Passages consist of whole units.  [default: {default}]",
    )


gap_option = click.option(
    "--gap",
    metavar="N",
    type=int,
    help="Words that an edited copy may change, add or leave out in one place; 0 finds only exact "
    "copies.  [default: 8]",
)
similarity_option = click.option(
    "--similarity",
    metavar="S",
    type=float,
    help="Share of the words of an edited copy that must agree.  [default: 0.75]",
)
source_option = click.option(
    "--source",
    metavar="COL",
    help="Column that names the source of a document; URLs count by their host.  [default: source, "
    "url or the name of the input]",
)
out_option = click.option(
    "-o", "--out", metavar="OUT", type=shared.PATH, help="Folder to write.  [required]"
)
reading_options = shared.with_options(
    shared.text_option,
    shared.id_option,
    shared.encoding_option,
    shared.extract_option,
    shared.limit_option,
    shared.workers_option,
    shared.json_option,
    shared.verbose_option,
    shared.quiet_option,
    shared.accept_rejected_option,
    shared.debug_option,
)
# What `passages` and `clean` have in common, behind their own options.
search_options = shared.with_options(
    gap_option,
    similarity_option,
    source_option,
    shared.keep_option,
    shared.date_option,
    shared.overwrite_run_option,
    shared.resume_option,
    shared.memory_option,
    reading_options,
)


def _settings(options: dict[str, Any], **usual: Any) -> PassageSettings:
    from neardup.passages.search import settings_of

    names = ("min_words", "unit", "gap", "similarity", "keep", "text", "id", "date", "source")
    given = {name: options.get(name) for name in (*names, "workers", "memory", "limit")}
    return settings_of(usual | {name: value for name, value in given.items() if value is not None})


def _collection(inputs: tuple[str, ...], options: dict[str, Any]) -> Collection:
    from neardup.documents.collection import collect_inputs
    from neardup.documents.extraction.extractor import Extraction

    if not inputs:
        raise click.UsageError("Missing argument 'INPUT...'. Hint: name files, or - for stdin.")
    load_arrow()
    extraction = Extraction(options["extract"])
    named = [(None, path) for path in inputs]
    return collect_inputs(named, encoding=options["encoding"], extraction=extraction)


def _texts(inputs: tuple[str, ...], options: dict[str, Any]) -> Collection:
    """As ``_collection``, but a file of no known format is one text."""
    from neardup.documents.collection import Collection
    from neardup.documents.file_paths import is_known
    from neardup.documents.folder import FileSource

    plain = [path for path in inputs if Path(path).is_file() and not is_known(Path(path))]
    files = [FileSource(Path(path), path, encoding=options["encoding"]) for path in plain]
    others = tuple(path for path in inputs if path not in plain)
    if not files:
        return _collection(inputs, options)
    return Collection([*(_collection(others, options).sources if others else ()), *files])


def _target(out: Path | None, options: dict[str, Any]) -> Target:
    if out is None:
        raise click.UsageError("Missing option '-o' / '--out'. Hint: name the folder to write.")
    if out == STDOUT or names_file(out):
        raise UsageError(f"{out} is no folder.", hint="name a folder with -o.")
    target = Target(out, overwrite=options["overwrite"], resume=options["resume"])
    target.refuse_filled()
    return target


@click.command(
    short_help="Find passages that documents share.",
    epilog="""\b
Examples:
  neardup passages crawl.jsonl -o out
  neardup passages train.parquet --against evals.jsonl -o out""",
)
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@out_option
@_words_option(20)
@_unit_option("word")
@click.option(
    "--against",
    metavar="EVALS",
    multiple=True,
    help="Instead, report how much of each document of EVALS stands in INPUT: contamination.jsonl "
    "and contamination.parquet. The shortest passage then has 13 words. Repeatable.",
)
@search_options
def passages(
    inputs: tuple[str, ...], out: Path | None, against: tuple[str, ...], **options: Any
) -> None:
    """Find every passage that occurs more than once in INPUT, exactly or with small edits.

    The folder OUT holds passages.parquet (each passage with its class and the evidence for it),
    occurrences.parquet (where it stands, in characters of the original text), rejected.jsonl,
    report.html and run.json. Classes: boilerplate, notice, template, quotation, copied,
    repetition.
    """
    target = _target(out, options)
    if against:
        _contamination(inputs, target, against, options)
        return
    from neardup.passages.passage_tables import passages_of

    settings = _settings(options)
    found = _searched(
        inputs, target, options, lambda documents, *how: passages_of(documents, settings, *how)
    )
    found.save(target.folder)
    if options["as_json"]:
        show_json({"counts": found.counts, "folder": str(target.folder)})
    elif not options["quiet"]:
        echo("\n".join([*_lines(found), f"Written to {target.folder}: {_written()}."]))
    _refuse_rejected(found.documents, target.folder, options)


def _searched(
    inputs: tuple[str, ...],
    target: Target,
    options: dict[str, Any],
    work: Callable[[Collection, Progress, Workspace], T],
) -> T:
    """Reads the inputs, shows the progress, and refuses an output that would replace an input."""
    from neardup.cli.terminal import progress_for
    from neardup.passages.search import Workspace

    collection = _collection(inputs, options)
    target.check(collection.paths)
    progress = progress_for(quiet=options["quiet"] or options["as_json"])
    beside = target.folder.resolve().parent
    workspace = Workspace(beside if beside.is_dir() else None, target.journal)
    done = functools.partial(after_interruption, target.folder, resume=target.resume)
    click.get_current_context().meta[INTERRUPTED] = done
    try:
        return work(collection, progress, workspace)
    finally:
        progress.finish()


def _refuse_rejected(
    documents: Documents | Traces, out: Path | None, options: dict[str, Any]
) -> None:
    lines = rejection_lines(documents.mostly_rejected())
    refuse_rejected(lines, out, accepted=options["accept_rejected"], quiet=options["quiet"])


def _written() -> str:
    from neardup.passages.passage_folder import FILES

    return ", ".join(FILES)


def _lines(found: Passages) -> list[str]:
    from neardup.passages.passage_tables import CLASSES

    counted = [f"{found.counts[f'class_{n}']:,} {n}" for n in CLASSES if found.counts[f"class_{n}"]]
    lines = [f"{found.sentence()}."]
    if counted:
        lines.append(f"Classes of passages: {', '.join(counted)}.")
    lines += _rejected_line(found)
    for row in found.passages.slice(0, SHOWN).to_pylist():
        text = shortened(row["text"], 60)
        lines.append(f"{row['occurrences']:>7,} × {row['words']:,} words  {row['class']}: {text}")
    return lines


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
@_words_option(20)
@_unit_option("sentence")
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
    then: str | None,
    **options: Any,
) -> None:
    """Remove the copies of repeated passages from the documents of INPUT, and keep one of each.

    --keep says which copy stays. Only whole units are removed. The folder OUT holds what `neardup
    passages` writes, and OUT/applied/1 the cleaned documents in the format of INPUT
    (documents.*) with removed.parquet. INPUT is not changed; `neardup undo OUT` takes the cleaned
    documents back.
    """
    from neardup.passages.cleanup import USUAL, Cleaning, cleaned

    target = _target(out, options)
    settings = _settings(options, unit="sentence")
    cleaning = Cleaning(tuple(remove or USUAL), floor, annotate)
    next_step = partial(_deduplicated, _then_settings(then, options), options) if then else None
    made = _searched(
        inputs,
        target,
        options,
        lambda documents, *how: cleaned(documents, settings, cleaning, *how),
    )
    made.then = next_step
    folder = made.save(target.folder)
    if options["as_json"]:
        counts = made.counts | ({"then": vars(made.result.counts)} if made.result else {})
        show_json({"counts": counts, "passages": made.found.counts, "folder": str(folder)})
    elif not options["quiet"]:
        lines = [*_cleaned_lines(made), f"Written to {folder}."]
        echo("\n".join([*lines, f"Take it back: neardup undo {out}"]))
    _refuse_rejected(made.found.documents, folder, options)


def _cleaned_lines(made: Cleaned) -> list[str]:
    counts = made.counts
    lines = [f"{made.sentence()}.", f"{many(counts['changed'], 'document')} changed."]
    if counts["below_floor"]:
        lines.append(
            f"{many(counts['below_floor'], 'document')} left with fewer than "
            f"{made.cleaning.floor} words; removed.parquet lists them."
        )
    if counts["untouched"]:
        lines.append(f"{many(counts['untouched'], 'page')} left as they are: only text is cleaned.")
    lines += _rejected_line(made.found)
    if made.result:
        lines.append(f"Then {made.result.counts.sentence()}: kept.* and duplicates.parquet.")
    return lines


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
    from neardup.cli.terminal import progress_for
    from neardup.documents.collection import collect_inputs
    from neardup.documents.file_paths import is_known
    from neardup.engines.execution import execute
    from neardup.plan import resolve

    plan = resolve(settings)
    named = [(None, path) for path in written if path.is_dir() or is_known(path)]  # but no lists
    documents = collect_inputs(named, encoding=options["encoding"])
    progress = progress_for(quiet=options["quiet"] or options["as_json"])
    try:
        return execute(documents, plan, progress=progress)
    finally:
        progress.finish()


def _rejected_line(found: Passages) -> list[str]:
    count = found.counts["rejected"]
    return [f"{many(count, 'document')} rejected: rejected.jsonl."] if count else []


@click.command(
    short_help="Show which passages of a document come from where.",
    epilog="""\b
Examples:
  neardup trace essay.txt --against sources/
  neardup trace essays/ --against library.jsonl --html traces.html
  neardup trace essay.txt --against library.db""",
)
@click.argument("inputs", nargs=-1, metavar="DOCUMENT...")
@click.option(
    "--against",
    metavar="COLLECTION|INDEX",
    multiple=True,
    required=True,
    help="Documents that may be the sources: files or folders, repeatable; or one index (`neardup "
    "index build STORE INPUT… --passages`), which answers in milliseconds.",
)
@_words_option(8)
@gap_option
@similarity_option
@click.option(
    "--html",
    "page",
    metavar="FILE",
    type=shared.PATH,
    help="Also write an HTML page: each text beside its sources, in colours.",
)
@reading_options
def trace(
    inputs: tuple[str, ...], against: tuple[str, ...], page: Path | None, **options: Any
) -> None:
    """Show which passages of each DOCUMENT stand in COLLECTION, where in both, and how much of the
    document they are.

    Copies with small edits count. DOCUMENT and COLLECTION are whatever `neardup dedup` reads: text
    files, folders of text, HTML, PDF and office files, books (.epub), JSON Lines, tables.
    """
    traces = _traced(inputs, against, options, min_words=8)
    if page:
        from neardup.passages.trace_page import trace_page
        from neardup.report.html_page import write_page

        write_page(page, trace_page(traces))
    if options["as_json"]:
        rejected = [{"where": lost.where, "reason": lost.reason} for lost in traces.rejected]
        shown = {"documents": [each.to_dict() for each in traces], "rejected": rejected}
        show_json({**shown, "unread": len(traces.unread)})
    elif not options["quiet"]:
        for each in traces:
            _show(each)
        for lost in traces.rejected[:SHOWN]:
            echo(f"{lost.where} was not traced: {lost.reason}.")
        if not len(traces) and not traces.rejected:
            echo(f"{', '.join(inputs)}: no document, so nothing was traced.")
        if traces.unread:
            count = many(len(traces.unread), "document")
            echo(
                f"{count} of the collection could not be read; {traces.unread[0].where}: "
                f"{traces.unread[0].reason}."
            )
        if page:
            echo(f"Written to {page}.")
    _refuse_rejected(traces, page, options)


def _traced(
    inputs: tuple[str, ...], against: tuple[str, ...], options: dict[str, Any], min_words: int
) -> Traces:
    from neardup.cli.terminal import progress_for
    from neardup.passages.provenance import traced

    settings = _settings(options, min_words=min_words)
    documents = _texts(inputs, options).limited(options["limit"])
    progress = progress_for(quiet=options["quiet"] or options["as_json"])
    try:
        with _sources(against, options) as sources:
            return traced(documents, sources, settings, progress)
    finally:
        progress.finish()


@contextmanager
def _sources(against: tuple[str, ...], options: dict[str, Any]) -> Iterator[Collection | Library]:
    """The documents that may be sources, or the index that has them."""
    stores = [path for path in against if _is_index(path)]
    if not stores:
        yield _texts(against, options)
        return
    if len(against) > 1:
        raise UsageError(f"{stores[0]} is an index, and it is not alone.", hint="name only one.")
    from neardup.cli.index import opened

    load_arrow()
    with opened(stores[0]) as index:
        yield index


def _is_index(path: str) -> bool:
    if path.startswith(("postgresql://", "postgres://", "sqlite:")):
        return True
    try:
        with Path(path).open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False  # the reader of documents explains what is wrong


def _show(each: Any) -> None:
    echo(f"{each.sentence()}.")
    for name, count, share in each.sources()[:PARTS]:
        echo(f"  {100 * share:5.1f} %  {many(count, 'passage')} of {shortened(name)}")
    for part in each.parts[:PARTS]:
        agrees = "exact" if part.similarity == 1 else f"{part.similarity:.0%} of the words"
        echo(
            f"  {part.begin:,}–{part.end:,} from {shortened(part.source)} "
            f"{part.source_begin:,}–{part.source_end:,}, {agrees}: "
            f"{shortened(each.text[part.begin : part.end], 70)}"
        )
    if len(each.parts) > PARTS:
        echo(f"  … and {len(each.parts) - PARTS:,} more passages; --json lists all")


def _contamination(
    inputs: tuple[str, ...], target: Target, against: tuple[str, ...], options: dict[str, Any]
) -> None:
    import json

    from neardup.draft import Draft
    from neardup.runs.run_folder import write_table, write_text
    from neardup.runs.run_info import PASSAGES

    traces = _traced(against, inputs, {**options, "limit": None}, min_words=13)
    table = traces.contamination()
    rows = table.to_pylist()
    counts = {
        "documents": len(rows),
        "touched": sum(row["coverage"] > 0 for row in rows),
        "contaminated": sum(row["weighted"] >= ALARM for row in rows),
    }
    with Draft(target.folder, "run.json") as draft:
        write_table(table, draft.path / "contamination.parquet")
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        write_text(draft.path / "contamination.jsonl", "".join(lines))
        write_text(draft.path / "run.json", json.dumps({"format": PASSAGES, "counts": counts}))
        draft.publish(["contamination.parquet", "contamination.jsonl", "run.json"])
    if options["as_json"]:
        show_json({"counts": counts, "folder": str(target.folder)})
    elif not options["quiet"]:
        echo(
            f"{counts['contaminated']:,} of {many(len(rows), 'document')} stand in the collection "
            f"by half or more, weighed by rarity; {counts['touched']:,} have some passage there."
        )
        worst = sorted(rows, key=lambda row: -row["weighted"])[:SHOWN]
        for row in worst:
            if row["weighted"] > 0:
                echo(
                    f"  {row['weighted']:6.1%} (unweighted {row['coverage']:.1%})  "
                    f"{shortened(row['id'])}, most of it in {shortened(row['source'])}"
                )
        echo(f"Written to {target.folder}: contamination.parquet, contamination.jsonl, run.json.")
    _refuse_rejected(traces, target.folder, options)
