"""``neardup check``: fail a build if its documentation repeats itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli.command import echo, show_json
from neardup.cli.options import PATH, debug_option, json_option
from neardup.errors import SettingsError

if TYPE_CHECKING:
    from neardup.engines.prose import Checked

EXIT_FOUND = 1


@click.command(short_help="Fail a build if its documentation repeats itself.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=PATH)
@click.option(
    "--fail-on",
    metavar="KIND,SCORE",
    default="",
    help="Kinds of duplicates and the least score that fail, such as 0.7, or identical,revision, "
    "or revision,0.6.  [default: every kind, 0.5]",
)
@click.option(
    "--baseline",
    metavar="FILE",
    type=PATH,
    help="File of accepted pairs. Accepted copies that drift apart fail again.",
)
@click.option(
    "--update-baseline", is_flag=True, help="Write what is found to the baseline, and accept it."
)
@click.option(
    "--min-words",
    metavar="N",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Do not compare sections of fewer words.",
)
@json_option
@debug_option
@click.pass_context
def check(
    ctx: click.Context,
    paths: tuple[Path, ...],
    fail_on: str,
    baseline: Path | None,
    update_baseline: bool,
    min_words: int,
    as_json: bool,
) -> None:
    """Compare the sections of all Markdown, reStructuredText and text files in PATH, files or
    folders, and fail with exit code 1 if two of them repeat each other.

    Files are cut at their headings; fenced code is left out. A pair that is meant to repeat is
    accepted with --baseline FILE --update-baseline.
    """
    if update_baseline and baseline is None:
        raise click.UsageError("--update-baseline needs a file. Hint: name it with --baseline.")
    kinds, score = _split(fail_on)
    from neardup.engines.prose import SCORE
    from neardup.engines.prose import check as checked

    limits = {"score": SCORE if score is None else score, "min_words": min_words}
    found = checked(paths, kinds=kinds, baseline=baseline, **limits)  # type: ignore[arg-type]
    if update_baseline and baseline:
        found.update(baseline)
    _show(found, as_json=as_json)
    if update_baseline and not found.unread:
        echo(f"All of them are accepted in {baseline}.", err=True)
    elif not found.passed:
        ctx.exit(EXIT_FOUND)


def _split(fail_on: str) -> tuple[list[str], float | None]:
    """Kinds, and a score where a part is a number."""
    kinds, scores = [], []
    for part in filter(None, map(str.strip, fail_on.split(","))):
        try:
            scores.append(float(part))
        except ValueError:
            kinds.append(part)
    if len(scores) > 1 or not all(0 < score <= 1 for score in scores):
        raise SettingsError(
            f"--fail-on got {fail_on!r}; expected kinds and at most one score above 0, up to 1.",
            hint="--fail-on revision,0.6",
        )
    return kinds, scores[0] if scores else None


def _show(found: Checked, *, as_json: bool) -> None:
    if as_json:
        data = {name: getattr(found, name) for name in ("files", "sections", "unread", "gone")}
        listed = {n: [f.data() for f in getattr(found, n)] for n in ("findings", "accepted")}
        show_json({"passed": found.passed, **data, **listed})
        return
    for path, reason in found.unread.items():
        echo(f"{path}: {reason}")
    for finding in found.findings:
        echo("\n".join(finding.lines()))
    for a, b in found.gone:
        echo(f"The baseline accepts {a} with {b}, which are no longer similar.", err=True)
    echo(f"{found.sentence()}.", err=True)
