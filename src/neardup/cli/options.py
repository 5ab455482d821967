"""The options that ``find`` and ``dedup`` share, and how they become settings.

What is written on the command line wins over the recipe, the recipe over the defaults. An option
that was not given is None and changes nothing; so no default stands here a second time.

The options that say a policy, for ``dedup``, ``find`` and ``apply``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from neardup.cli.command import DEBUG
from neardup.errors import SettingsError

if TYPE_CHECKING:
    from neardup.methods.base import Method
    from neardup.settings import Settings

DEFAULT = "default"

policy_option = click.option(
    "--policy",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A TOML file with the order and what to do with duplicates by kind: keep, link, merge, "
    "drop or review.",
)
action_option = click.option(
    "--action",
    "actions",
    metavar="KIND=ACTION",
    multiple=True,
    help="A policy without a file: what to do with duplicates of a kind; default=ACTION for all "
    "others. May be repeated.",
)


def policy_from(
    policy: Path | None, actions: tuple[str, ...], keep: str | None
) -> Path | dict[str, Any] | None:
    """A file, or what the options say; ``keep`` belongs to the latter."""
    if policy is None:
        return _written(actions) if actions else None
    for option, given in (("--keep", keep), ("--action", actions)):
        if given:
            raise SettingsError(
                f"--policy and {option} are both given.",
                hint=f"write it into {policy}, or leave --policy out.",
            )
    return policy


def _written(actions: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, str] = {}
    for one in actions:
        kind, equals, action = one.partition("=")
        if not (kind and equals and action):
            raise SettingsError(
                f"--action got {one!r}; expected KIND=ACTION.", hint="--action identical=drop"
            )
        if kind in found:
            raise SettingsError(f"--action says {kind!r} twice.", hint="say it once.")
        found[kind] = action
    default = {DEFAULT: found.pop(DEFAULT)} if DEFAULT in found else {}
    return {"actions": found, **default}


F = TypeVar("F", bound=Callable[..., Any])


def _debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[DEBUG] = value


def _verbose(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        from neardup.cli.terminal import show_log

        show_log(ctx)


def listed(_ctx: click.Context, _option: click.Parameter, value: str | None) -> list[str] | None:
    """What was written with commas."""
    return None if value is None else [part.strip() for part in value.split(",")]


def _threshold(
    ctx: click.Context, option: click.Parameter, value: str | None
) -> float | str | None:
    if value is None or value == "auto":
        return value
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is neither a number, such as 0.8, nor auto.", ctx, option
        ) from None


def methods(
    _ctx: click.Context, _option: click.Parameter, value: tuple[str, ...]
) -> str | Method | None:
    """One as it is named, so that other options may change it; several as one."""
    if len(value) < 2:
        return value[0] if value else None
    from neardup.methods.combined import one_or_any

    return one_or_any(list(value))


debug_option = click.option(
    "--debug",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_debug,
    help="Show the traceback of an error.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else there."
)
verbose_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_verbose,
    help="Show the log: stages with counts and seconds, warnings.",
)

methods_option = click.option(
    "--method",
    metavar="NAME",
    multiple=True,
    callback=methods,
    help="How to compare. May be repeated, each with its parameters ('shingles words=3'): then one "
    "is enough, and it is said which.  [default: rareshingles]",
)
WITHIN = "Compare only documents with the same value in COL."

WHOSE = "The column that says whose a document is, for the flow page.  [default: source]"

EXTRACT = (
    "How HTML becomes text: trafilatura, resiliparse (fast), all-text or none; named, for the text "
    "column too.  [default: pages by trafilatura, columns are text]"
)
threshold_option = click.option(
    "--threshold",
    metavar="T|auto",
    callback=_threshold,
    help="The score from which two documents are duplicates; auto: the collection says. "
    "A number is a plain cut.  [default: auto for rareshingles, else the method's]",
)
KEEP = (
    "Which of several copies comes first: first, last, longest, shortest, newest, oldest, "
    "COLUMN:asc, COLUMN:desc, source:a,b,c or complete:COL,COL (most of these columns filled); "
    "several as 'newest; longest', for ties.  [default: first]"
)
_OPTIONS = (
    click.option(
        "--source",
        "sources",
        metavar="NAME=INPUT",
        multiple=True,
        help="An input with a name, for --keep source:… and --within source; after those without. "
        "May be repeated.",
    ),
    click.option("--method", metavar="NAME", help="How to compare.  [default: rareshingles]"),
    threshold_option,
    click.option(
        "--set",
        "assignments",
        metavar="KEY=VALUE",
        multiple=True,
        help="A parameter of the method, such as words=3 or text.digits=mask; may be repeated.",
    ),
    click.option(
        "--recipe",
        metavar="FILE|NAME",
        help="Settings from a TOML file, or those of a paper by name (`neardup methods --papers`); "
        "options win over them.",
    ),
    click.option("--text", metavar="COL", help="The column of the text.  [default: text]"),
    click.option(
        "--id", metavar="COL", help="The column of the id.  [default: id if there, else file:row]"
    ),
    click.option("--date", metavar="COL", help="The column of the date, for newest and oldest."),
    click.option(
        "--encoding",
        metavar="NAME",
        help="The encoding of text files and CSV.  [default: text files detected, CSV UTF-8]",
    ),
    click.option("--extract", metavar="HOW", help=EXTRACT),
    click.option("--within", metavar="COL", help=WITHIN),
    click.option("--keep", metavar="ORDER", help=KEEP),
    policy_option,
    action_option,
    click.option(
        "--against",
        metavar="REF",
        multiple=True,
        callback=lambda _ctx, _option, value: value or None,
        help="Files or the folder of an earlier run: its documents come first, are never set "
        "aside and never changed. May be repeated.",
    ),
    click.option(
        "--clusters",
        metavar="rule|components",
        help="Group by kept document, or by chains of pairs.  [default: rule]",
    ),
    click.option(
        "--kinds",
        metavar="decided|all|none",
        help="Say what sort of duplicates pairs are: each duplicate and what it was set aside for, "
        "all listed pairs, or only what needs no second reading.  [default: decided]",
    ),
    click.option(
        "--boilerplate",
        metavar="FILE",
        multiple=True,
        type=click.Path(path_type=Path),
        help="A text, or any input of texts, that does not count, such as a notice that all "
        "documents carry (rareshingles, shingles). May be repeated.",
    ),
    click.option(
        "--engine",
        metavar="local|spark",
        help="Where the work is done: on this machine, or by Spark.  [default: local]",
    ),
    click.option(
        "--master",
        metavar="URL",
        help="The Spark to run on, such as local[4], yarn or spark://HOST:7077.  "
        "[default: as Spark is configured]",
    ),
    click.option("--workers", metavar="N", type=int, help="Threads.  [default: all cores]"),
    click.option("--memory", metavar="SIZE", help="Beyond it, use the disk.  [default: 1GB]"),
    click.option("--limit", metavar="N", type=int, help="Read only the first N documents."),
    click.option(
        "--max-pairs",
        metavar="N",
        type=int,
        help="Beyond it, list only pairs with a kept document.  [default: 10000000]",
    ),
    click.option(
        "--strict",
        is_flag=True,
        default=None,
        help="Stop at the first document that cannot be used.",
    ),
    click.option(
        "--accept-rejected",
        is_flag=True,
        help="Exit with 0 even if most documents of a file were rejected for one reason.",
    ),
    click.option(
        "--annotate",
        is_flag=True,
        help="Write all documents, with the columns cluster, kept_id, score, kind and decision.",
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Estimate time, memory, disk and duplicates from a sample; write nothing.",
    ),
    click.option("--overwrite", is_flag=True, help="Write into a folder that is not empty."),
    json_option,
    verbose_option,
    click.option("--quiet", is_flag=True, help="No progress and no summary; errors are shown."),
    debug_option,
)


def run_options(command: F) -> F:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def settings_from(options: dict[str, Any]) -> Settings:
    """Takes the options of ``run_options`` out of ``options`` that are settings; a command may have
    only some of them."""
    from neardup.methods.registry import parse_assignments
    from neardup.papers.recipe import read_recipe
    from neardup.settings import Settings

    recipe = options.pop("recipe")
    base = read_recipe(recipe) if recipe else {}
    parameters = parse_assignments(options.pop("assignments"))
    if files := options.pop("boilerplate", ()):
        from neardup.documents.collection import texts_of

        parameters["boilerplate"] = [text for file in files for text in texts_of(file)]
    policy = policy_from(
        options.pop("policy", None), options.pop("actions", ()), options.get("keep")
    )
    names = Settings.__dataclass_fields__.keys() & options.keys()
    given = {name: options.pop(name) for name in sorted(names)} | {"policy": policy}
    return Settings(**merged(base, {k: v for k, v in given.items() if v is not None}, parameters))


def merged(
    recipe: dict[str, Any], given: dict[str, Any], parameters: dict[str, Any]
) -> dict[str, Any]:
    """Another method than the recipe's leaves the recipe's parameters behind: they are not its."""
    from neardup.methods.registry import deep_merged

    settings = {**recipe, **given}
    other = "method" in given and given["method"] != recipe.get("method", given["method"])
    before = {} if other else _own_names(settings, recipe.get("set", {}))
    parameters = _own_names(settings, parameters)
    if other and "threshold" not in given:
        settings.pop("threshold", None)
    if "threshold" in parameters:
        settings.setdefault("threshold", None)
        if "threshold" not in given:
            settings["threshold"] = parameters["threshold"]
        parameters = {k: v for k, v in parameters.items() if k != "threshold"}
    return {**settings, "set": deep_merged(before, parameters)}


def _own_names(settings: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """By the names that the method itself has, so that one wins over its alias elsewhere."""
    from neardup.methods import registry

    if registry.ALIASES.keys().isdisjoint(parameters):
        return parameters
    cls = registry.method_class(settings.get("method") or registry.DEFAULT)
    return registry.canonical(cls, parameters)
