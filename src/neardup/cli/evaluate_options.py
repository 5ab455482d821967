"""The options of ``neardup evaluate``, in the order of its help."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from neardup.cli.options import EXTRACT, debug_option, json_option, listed, verbose_option

F = TypeVar("F", bound=Callable[..., Any])


_GOLD = (
    click.option(
        "--group", metavar="COL", help="Gold: documents with equal values in COL are duplicates."
    ),
    click.option(
        "--pairs",
        metavar="FILE",
        multiple=True,
        help="Gold: a file of labelled pairs (JSON Lines, CSV, TSV, Parquet, Arrow) with the "
        "columns a, b and label. May be repeated.",
    ),
    click.option(
        "--columns",
        metavar="A,B,LABEL",
        callback=listed,
        help="What the columns of --pairs are called.  [default: a,b,label]",
    ),
    click.option(
        "--positive",
        metavar="LABELS",
        callback=listed,
        help="Labels of duplicates, with commas.  [default: true,1,duplicate,yes]",
    ),
    click.option(
        "--negative",
        metavar="LABELS",
        callback=listed,
        help="Labels of pairs that are none; others count neither way.  [default: false,0,not,no]",
    ),
    click.option(
        "--complete/--labelled-only",
        default=None,
        help="Whether pairs that gold does not name are no duplicates, or unknown.  [default: "
        "--group complete, --pairs labelled-only]",
    ),
)
_INSTEAD = (
    click.option(
        "--run",
        metavar="RUN",
        type=click.Path(path_type=Path),
        help="Instead of INPUT: a finished run, by the scores in its folder.",
    ),
    click.option(
        "--plant",
        is_flag=True,
        help="Without gold: plant edited copies of the documents and measure what is found.",
    ),
    click.option(
        "--edit",
        "edits",
        metavar="NAME[=RATE]",
        multiple=True,
        help="Of --plant: an edit to make. May be repeated.  [default: all of them]",
    ),
    click.option("--paper", metavar="NAME", help="Repeat an experiment of a paper on INPUT."),
    click.option("--papers", is_flag=True, help="List the experiments of the papers."),
    click.option("--source", metavar="COL", help="Of --paper: the column of the site or outlet."),
    click.option(
        "--sample",
        metavar="N",
        type=int,
        help="How many are drawn: copies an edit (--plant), pairs a treatment (--paper).",
    ),
    click.option("--seed", metavar="N", type=int, help="What they are drawn by.  [default: 0]"),
)
_METHOD = (
    click.option(
        "--method",
        "methods",
        metavar="METHOD",
        multiple=True,
        help="A method, with parameters if in quotes: 'shingles words=3'. May be repeated.  "
        "[default: rareshingles]",
    ),
    click.option(
        "--set",
        "assignments",
        metavar="KEY=VALUE",
        multiple=True,
        help="A parameter of every method; may be repeated.",
    ),
    click.option(
        "--threshold", metavar="T", type=float, help="One threshold.  [default: the method's]"
    ),
    click.option(
        "--sweep", is_flag=True, help="Many thresholds, at the price of one run a method."
    ),
    click.option(
        "--thresholds",
        metavar="LIST",
        help="A sweep over these: FROM:TO:STEP, or numbers with commas.  [default: 0.3:0.95:0.05]",
    ),
    click.option(
        "--recommend",
        "wish",
        metavar="WISH",
        help="Recommend for f1, precision=0.99 or recall=0.95; sweeps unless a threshold is "
        "given.  [default: f1]",
    ),
    click.option(
        "--clusters",
        metavar="rule|components",
        default="rule",
        help="Which clusters are compared with gold's.  [default: rule]",
    ),
)
_READING = (
    click.option("--text", metavar="COL", help="The column of the text.  [default: text]"),
    click.option(
        "--id", metavar="COL", help="The column of the id.  [default: id if there, else file:row]"
    ),
    click.option("--date", metavar="COL", help="The column of the date."),
    click.option(
        "--encoding",
        metavar="NAME",
        help="The encoding of text files and CSV.  [default: text files detected, CSV UTF-8]",
    ),
    click.option("--extract", metavar="HOW", help=EXTRACT),
    click.option(
        "--within", metavar="COL", help="Compare only documents with the same value in COL."
    ),
    click.option("--workers", metavar="N", type=int, help="Threads.  [default: all cores]"),
    click.option("--memory", metavar="SIZE", help="Beyond it, use the disk.  [default: 1GB]"),
    click.option("--limit", metavar="N", type=int, help="Read only the first N documents."),
    click.option(
        "--max-pairs",
        metavar="N",
        type=int,
        help="Beyond it, pairs are left out and recall is too low.  [default: 10000000]",
    ),
)
_OUTPUT = (
    click.option(
        "-o",
        "--out",
        metavar="OUT",
        type=click.Path(path_type=Path),
        help="The folder for evaluation.json, sweep.parquet, report.html and scored pairs. Stopped "
        "in the middle, the same command goes on there.",
    ),
    json_option,
    verbose_option,
    click.option("--quiet", is_flag=True, help="No progress; errors are shown."),
    debug_option,
)
READING = (
    *("text", "id", "date", "encoding", "extract", "within"),
    *("workers", "memory", "limit", "max_pairs"),
)


def evaluate_options(command: F) -> F:
    for option in reversed((*_GOLD, *_METHOD, *_INSTEAD, *_READING, *_OUTPUT)):
        command = option(command)
    return command
