"""What the commands for passages have in common: options, reading, searching, refusing."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from neardup.cli import options as shared
from neardup.cli.command import (
    INTERRUPTED,
    STDOUT,
    Target,
    after_interruption,
    load_arrow,
    names_file,
)
from neardup.cli.summary import refuse_rejected, rejection_lines
from neardup.errors import UsageError
from neardup.wording import many

if TYPE_CHECKING:
    from neardup.documents import Collection
    from neardup.passages.passage_settings import PassageSettings
    from neardup.passages.passage_tables import Engine, Passages
    from neardup.passages.provenance import Comparison, Library
    from neardup.passages.search import Documents, Workspace
    from neardup.passages.traces import Traces
    from neardup.progress import Progress

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
SHOWN = 10


def words_option(default: int) -> Callable[[F], F]:
    return click.option(
        "--min-words",
        metavar="N",
        type=int,
        help=f"Words of the shortest passage.  [default: {default}]",
    )


def unit_option(default: str) -> Callable[[F], F]:
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
    callback=shared.source_column,
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
    shared.engine_option,
    shared.master_option,
    reading_options,
)


def passage_settings(options: dict[str, Any], **usual: Any) -> PassageSettings:
    if not on_spark(options):  # Spark brings pandas along
        load_arrow()
    from neardup.passages.passage_settings import settings_of

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


def texts_of(inputs: tuple[str, ...], options: dict[str, Any]) -> Collection:
    """Reads the inputs as ``_collection`` does, but a file of no known format is one text."""
    from neardup.documents.collection import Collection
    from neardup.documents.file_formats import is_known
    from neardup.documents.single_file import FileSource

    plain = [path for path in inputs if Path(path).is_file() and not is_known(Path(path))]
    files = [FileSource(Path(path), path, encoding=options["encoding"]) for path in plain]
    others = tuple(path for path in inputs if path not in plain)
    if not files:
        return _collection(inputs, options)
    return Collection([*(_collection(others, options).sources if others else ()), *files])


def target_of(out: Path | None, options: dict[str, Any]) -> Target:
    if out is None:
        raise click.UsageError("Missing option '-o' / '--out'. Hint: name the folder to write.")
    if out == STDOUT or names_file(out):
        raise UsageError(f"{out} is no folder.", hint="name a folder with -o.")
    target = Target(out, overwrite=options["overwrite"], resume=options["resume"])
    target.refuse_filled()
    return target


def search_engine(options: dict[str, Any]) -> Engine:
    """What finds passages, on this machine or on Spark."""
    if not on_spark(options):
        from neardup.passages.search import search

        return search
    from neardup.engines.spark.passage_search import searching
    from neardup.engines.spark.session import session

    return searching(session(master=options["master"]))


def _comparison(options: dict[str, Any]) -> Comparison | None:
    if not on_spark(options):
        return None
    from neardup.engines.spark.passage_search import comparing
    from neardup.engines.spark.session import session

    return comparing(session(master=options["master"]))


def on_spark(options: dict[str, Any]) -> bool:
    """Whether ``--engine`` asks for Spark, which is then there."""
    from neardup.settings import ENGINES

    engine = options.get("engine") or ENGINES[0]
    if engine not in ENGINES:
        raise UsageError(f"There is no engine {engine!r}.", hint=f"engines: {', '.join(ENGINES)}.")
    if engine == "spark":
        if options["resume"]:
            raise UsageError("--resume is for runs on this machine.", hint="leave it out.")
        from neardup.engines.spark.session import check_pyspark

        check_pyspark()
    return bool(engine == "spark")


def searched(
    inputs: tuple[str, ...],
    target: Target,
    options: dict[str, Any],
    work: Callable[[Collection, Progress, Workspace], T],
) -> T:
    """Reads the inputs, shows the progress, and refuses an output that would replace an input."""
    from neardup.passages.search import Workspace
    from neardup.progress import of_command

    collection = _collection(inputs, options)
    target.check(collection.paths)
    progress = of_command(quiet=options["quiet"] or options["as_json"])
    beside = target.folder.resolve().parent
    workspace = Workspace(beside if beside.is_dir() else None, target.journal)
    done = functools.partial(after_interruption, target.folder, resume=target.resume)
    click.get_current_context().meta[INTERRUPTED] = done
    try:
        return work(collection, progress, workspace)
    finally:
        progress.finish()


def refuse_documents(
    documents: Documents | Traces, out: Path | None, options: dict[str, Any]
) -> None:
    lines = rejection_lines(documents.mostly_rejected())
    refuse_rejected(lines, out, accepted=options["accept_rejected"], quiet=options["quiet"])


def rejected_line(found: Passages) -> list[str]:
    count = found.counts["rejected"]
    return [f"{many(count, 'document')} rejected: rejected.jsonl."] if count else []


def traced_documents(
    inputs: tuple[str, ...], against: tuple[str, ...], options: dict[str, Any], min_words: int
) -> Traces:
    settings = passage_settings(options, min_words=min_words)
    from neardup.passages.provenance import traced
    from neardup.progress import of_command

    documents = texts_of(inputs, options).limited(options["limit"])
    progress = of_command(quiet=options["quiet"] or options["as_json"])
    try:
        with _sources(against, options) as sources:
            engine = _comparison(options)
            return traced(documents, sources, settings, progress, engine=engine)
    finally:
        progress.finish()


@contextmanager
def _sources(against: tuple[str, ...], options: dict[str, Any]) -> Iterator[Collection | Library]:
    """The documents that may be sources, or the index that has them."""
    stores = [path for path in against if _is_index(path)]
    if not stores:
        yield texts_of(against, options)
        return
    if len(against) > 1:
        raise UsageError(f"{stores[0]} is an index, and it is not alone.", hint="name only one.")
    from neardup.cli.index_options import opened

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
