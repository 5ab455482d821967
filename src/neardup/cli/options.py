"""The options of commands, each declared once, and how those of a run become settings.

What is written on the command line wins over the recipe, the recipe over the defaults. An option
that was not given is None and changes nothing, so no default is declared here a second time.
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
PATH = click.Path(path_type=Path)
F = TypeVar("F", bound=Callable[..., Any])


def with_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """All of these options, in the order of ``--help``."""

    def declare(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return declare


def _debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[DEBUG] = value


def _verbose(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        from neardup.cli.terminal import show_log

        show_log(ctx)


def listed(_ctx: click.Context, _option: click.Parameter, value: str | None) -> list[str] | None:
    """The parts of a value that is written with commas."""
    return None if value is None else [part.strip() for part in value.split(",")]


class Threshold(click.ParamType):  # type: ignore[type-arg]  # older releases of click have none
    name = "threshold"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str:
        if value == "auto":
            return "auto"
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number, such as 0.8, nor auto.", param, ctx)


def methods_named(
    _ctx: click.Context, _option: click.Parameter, value: tuple[str, ...]
) -> str | Method | None:
    """A single method by its name, so that other options may change it; several as one method."""
    if len(value) < 2:
        return value[0] if value else None
    from neardup.methods.combined import one_or_any

    return one_or_any(list(value))


# Every command
debug_option = click.option(
    "--debug",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_debug,
    help="Show the traceback of an error.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object to stdout, and nothing else."
)
accept_rejected_option = click.option(
    "--accept-rejected",
    is_flag=True,
    help="Exit with 0 even if most documents of a file were rejected for one reason.",
)
verbose_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_verbose,
    help="Show the log: stages with counts and seconds, and warnings.",
)
quiet_option = click.option(
    "--quiet", is_flag=True, help="Show no progress and no summary; errors are shown."
)
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace an existing file.")
overwrite_run_option = click.option(
    "--overwrite",
    is_flag=True,
    help="Write into a folder that is not empty; an earlier run in it is replaced when this "
    "one is done.",
)
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Show what would be done; write nothing."
)

# Reading documents
text_option = click.option("--text", metavar="COL", help="Text column.  [default: text]")
default_text_option = click.option(
    "--text", metavar="COL", default="text", help="Text column.  [default: text]"
)
id_option = click.option(
    "--id", metavar="COL", help="Id column.  [default: id if it exists, else file:row]"
)
date_option = click.option(
    "--date", metavar="COL", help="Date column, for newest and oldest and for dates in methods."
)
encoding_option = click.option(
    "--encoding",
    metavar="NAME",
    help="Encoding of text files and CSV.  [default: text files are detected; CSV is UTF-8, "
    "or UTF-16 or UTF-32 where its first bytes show that]",
)
extract_option = click.option(
    "--extract",
    metavar="HOW",
    help="How HTML becomes text: trafilatura, resiliparse (fast), all-text or none. If given, it "
    "is applied to the text column too.  [default: trafilatura for pages, none for columns]",
)
limits_options = (
    click.option(
        "--max-document",
        metavar="SIZE",
        help="Reject lines, records and single files above this size.  [default: 100MB]",
    ),
    click.option(
        "--max-file",
        metavar="SIZE",
        help="Read a compressed file up to this unpacked size.  [default: 1TB]",
    ),
    click.option(
        "--max-ratio",
        metavar="N",
        type=int,
        help="Read a compressed file above 200 MB up to N times its packed size.  [default: 2000]",
    ),
)
limit_option = click.option(
    "--limit", metavar="N", type=int, help="Read only the first N documents."
)

# Comparing them
method_option = click.option(
    "--method",
    metavar="NAME",
    help="Comparison method; `neardup methods` lists them.  [default: raregrams]",
)
methods_option = click.option(
    "--method",
    metavar="NAME",
    multiple=True,
    callback=methods_named,
    help="Comparison method, with parameters if quoted ('shingles words=3'). Repeatable: a match "
    "by any of them counts, and the answer names it.  [default: raregrams]",
)
threshold_option = click.option(
    "--threshold",
    metavar="T|auto",
    type=Threshold(),
    help="Score from which two documents are duplicates; auto sets it by the collection.  "
    "[default: auto for raregrams, rareshingles and learned, else the default of the method]",
)
set_option = click.option(
    "--set",
    "assignments",
    metavar="KEY=VALUE",
    multiple=True,
    help="Parameter of the method, such as words=3 or text.digits=mask. Repeatable.",
)
text_set_option = click.option(
    "--set",
    "assignments",
    metavar="text.KEY=VALUE",
    multiple=True,
    help="What counts as the same word, such as text.case=keep. Repeatable.",
)
recipe_option = click.option(
    "--recipe",
    metavar="FILE|NAME",
    help="Read settings from a TOML file, or take those of a paper by name (`neardup "
    "papers`). Options win over the recipe.",
)
within_option = click.option(
    "--within", metavar="COL", help="Compare only documents with the same value in COL."
)


def source_column(_ctx: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Refuses NAME=INPUT, which --source takes in dedup and find."""
    if value and "=" in value:
        raise click.UsageError(
            f"--source got {value!r}; here it takes the column that names the source of a document."
            " Hint: name a column; inputs with names, --source NAME=INPUT, are for dedup and find."
        )
    return value


# Deciding which to keep
KEEP = (
    "Which of several copies is kept: first, last, longest, shortest, newest, oldest, COLUMN:asc, "
    "COLUMN:desc, COLUMN:a,b,c (these values first, such as source:wire,web) or complete:COL,COL "
    "(most of these columns filled). 'newest; longest' resolves ties.  [default: {}]"
)
keep_option = click.option("--keep", metavar="ORDER", help=KEEP.format("first"))
policy_option = click.option(
    "--policy",
    metavar="FILE",
    type=PATH,
    help="TOML file with the order and the action for each kind of duplicate: keep, link, merge, "
    "drop or review.",
)
action_option = click.option(
    "--action",
    "actions",
    metavar="KIND=ACTION",
    multiple=True,
    help="Action for one kind of duplicate, instead of a policy file; default=ACTION covers all "
    "other kinds. Repeatable.",
)

# Resources
workers_option = click.option(
    "--workers", metavar="N", type=int, help="Number of threads.  [default: all cores]"
)
engine_option = click.option(
    "--engine",
    metavar="local|spark",
    help="Run on this machine or on Spark.  [default: local]",
)
master_option = click.option(
    "--master",
    metavar="URL",
    help="Spark master, such as local[4], yarn or spark://HOST:7077.  [default: Spark's own "
    "configuration]",
)
memory_option = click.option(
    "--memory", metavar="SIZE", help="Memory to use before writing to disk.  [default: 1GB]"
)
capped_memory_option = click.option(
    "--memory",
    metavar="SIZE",
    help="Most memory to use, at least 250MB; what is beyond goes to disk.  [default: 1GB, or what "
    "the documents need]",
)
resume_option = click.option(
    "--resume",
    is_flag=True,
    help="Record what is done beside OUT, and go on with it if the same command was interrupted "
    "or killed before.",
)
max_pairs_option = click.option(
    "--max-pairs",
    metavar="N",
    type=int,
    help="Above N pairs, list only pairs with a kept document.  [default: 10000000]",
)
seed_option = click.option(
    "--seed", metavar="N", type=int, default=0, help="Seed of the random choice.  [default: 0]"
)

# Labelled pairs
columns_option = click.option(
    "--columns",
    metavar="A,B,LABEL",
    callback=listed,
    help="Column names in the file of pairs.  [default: a,b,label]",
)
positive_option = click.option(
    "--positive",
    metavar="LABELS",
    callback=listed,
    help="Labels that mean duplicate, separated by commas.  [default: true,1,duplicate,yes]",
)
negative_option = click.option(
    "--negative",
    metavar="LABELS",
    callback=listed,
    help="Labels that mean not a duplicate; all other labels are ignored.  [default: "
    "false,0,not,no]",
)


def policy_from(
    policy: Path | None, actions: tuple[str, ...], keep: str | None
) -> Path | dict[str, Any] | None:
    """A policy file, or the policy that ``--action`` options write; ``--keep`` goes with these."""
    if policy is None:
        return _policy_of(actions) if actions else None
    for option, value in (("--keep", keep), ("--action", actions)):
        if value:
            raise SettingsError(
                f"--policy and {option} are both given.",
                hint=f"write it into {policy}, or leave --policy out.",
            )
    return policy


def _policy_of(assignments: tuple[str, ...]) -> dict[str, Any]:
    actions: dict[str, str] = {}
    for assignment in assignments:
        kind, equals, action = assignment.partition("=")
        if not (kind and equals and action):
            raise SettingsError(
                f"--action got {assignment!r}; expected KIND=ACTION.",
                hint="--action identical=drop",
            )
        if kind in actions:
            raise SettingsError(f"--action names {kind!r} twice.", hint="name it once.")
        actions[kind] = action
    default = {DEFAULT: actions.pop(DEFAULT)} if DEFAULT in actions else {}
    return {"actions": actions, **default}


def settings_from(options: dict[str, Any]) -> Settings:
    """Takes the options that are settings out of ``options``; a command may have only some of
    them. Refuses a wrong value before anything heavy is loaded."""
    from neardup.methods.registry import parse_assignments
    from neardup.settings import Settings, check_least_memory, refuse_early

    base = {}
    if recipe := options.pop("recipe"):
        from neardup.papers.recipe import read_recipe

        base = read_recipe(recipe)
    parameters = parse_assignments(options.pop("assignments"))
    if files := options.pop("boilerplate", ()):
        from neardup.artefacts.boilerplate import texts_of

        auto = Path("auto") in files
        if auto and len(files) > 1:
            raise SettingsError(
                "--boilerplate is auto and a file; expected one of them.",
                hint="leave one out; a file of the name auto is ./auto.",
            )
        texts = [] if auto else [text for file in files for text in texts_of(file)]
        parameters["boilerplate"] = "auto" if auto else texts
    policy, actions = options.pop("policy", None), options.pop("actions", ())
    if policy or actions:
        policy = policy_from(policy, actions, options.get("keep"))
    names = Settings.__dataclass_fields__.keys() & options.keys()
    written = {name: options.pop(name) for name in sorted(names)} | {"policy": policy}
    written = {name: value for name, value in written.items() if value is not None}
    if base or parameters:
        written = merged(base, written, parameters)
    settings = Settings(**written)
    refuse_early(settings)
    if settings.engine == "local":
        check_least_memory(settings.memory)
    return settings


def merged(
    recipe: dict[str, Any], written: dict[str, Any], parameters: dict[str, Any]
) -> dict[str, Any]:
    """Parameters of the recipe belong to the recipe's method and are dropped with it."""
    from neardup.methods.registry import deep_merged

    settings = {**recipe, **written}
    other = "method" in written and written["method"] != recipe.get("method", written["method"])
    before = {} if other else _own_names(settings, recipe.get("set", {}))
    parameters = _own_names(settings, parameters)
    if other and "threshold" not in written:
        settings.pop("threshold", None)
    if "threshold" in parameters:
        settings.setdefault("threshold", None)
        if "threshold" not in written:
            settings["threshold"] = parameters["threshold"]
        parameters = {k: v for k, v in parameters.items() if k != "threshold"}
    return {**settings, "set": deep_merged(before, parameters)}


def _own_names(settings: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters by the names of the method itself, so that one wins over its alias elsewhere."""
    from neardup.methods import registry

    if registry.ALIASES.keys().isdisjoint(parameters):
        return parameters
    cls = registry.method_class(settings.get("method") or registry.DEFAULT)
    return registry.canonical(cls, parameters)
