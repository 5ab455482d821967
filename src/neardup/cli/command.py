"""What all commands share: loading on demand, help in sections, one sentence for a failure, and the
output: a folder that has to be empty, one file, or the standard output.

A group loads a command only when it is called. A failure is one sentence on stderr and an exit
code; ``--debug`` adds the traceback.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import click

from neardup.draft import Draft, refuse_filled
from neardup.errors import NeardupError, UsageError, without_password
from neardup.wording import escaped_json, sayable, shortened, visible

if TYPE_CHECKING:
    from neardup.documents.remote import Place


class Commands(click.Group):
    """``homes``: name → module:command, in the order of ``--help``."""

    def __init__(self, *arguments: Any, homes: dict[str, str], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.homes = homes

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.homes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.homes:
            if not (ctx.resilient_parsing or cmd_name.startswith("-")):
                ctx.fail(f"There is no command {cmd_name!r}. Hint: {self._near(cmd_name)}")
            return None
        module, _, name = self.homes[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def _near(self, name: str) -> str:
        import difflib

        near = difflib.get_close_matches(name, self.homes, 1)
        return f"did you mean {near[0]!r}?" if near else f"commands are {', '.join(self.homes)}."


class Sectioned(click.Command):
    """A command with many options: ``--help`` lists them by section, as ``sections`` (title →
    options by their long names) says."""

    def __init__(
        self, *arguments: Any, sections: Mapping[str, Sequence[str]], **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self.sections = sections

    def make_parser(self, ctx: click.Context) -> Any:
        """Short names are found among the long ones; else click would first search for the long
        names that are nearest to a short one."""
        parser = super().make_parser(ctx)
        parser._long_opt.update(parser._short_opt)
        return parser

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = {p.opts[-1]: p.get_help_record(ctx) for p in self.get_params(ctx)}
        for title, names in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([record for name in names if (record := records[name])])


def echo(message: Any = "", *, err: bool = False, nl: bool = True) -> None:
    """Every line that a command prints: what documents and file names hold cannot control the
    terminal."""
    click.echo(visible(without_password(str(message))), err=err, nl=nl)


def show_json(data: Any, default: Callable[[Any], Any] | None = None) -> None:
    import json

    echo_json(json.dumps(data, indent=2, ensure_ascii=False, default=default))


def echo_json(written: str, *, nl: bool = True) -> None:
    click.echo(escaped_json(without_password(written)), nl=nl)


class _Without:
    """Hides libraries that pyarrow would import only because they are installed, pandas first (a
    third of the start of a small run). pyarrow tries it once; a conversion that needs pandas
    imports it later all the same."""

    def find_spec(self, name: str, *_: object) -> None:
        if name in ("pandas", "cloudpickle", "dateutil"):
            raise ImportError(name)


def load_arrow() -> None:
    """Imports numpy and pyarrow without what no command needs, which would be half of their time.
    For the process of a command only, never for a user's own."""
    if "pyarrow" in sys.modules or not OWN_PROCESS:
        return
    for name in ("_add_newdocs", "_add_newdocs_scalars"):  # docstrings of compiled functions
        sys.modules[f"numpy._core.{name}"] = ModuleType(name)
    finder = _Without()
    sys.meta_path.insert(0, finder)
    try:
        import numpy as np
        import pyarrow as pa

        np.ma = _NoMasks("numpy.ma")
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
    _load_compute()


class _NoMasks(ModuleType):
    """A substitute for numpy.ma, which pyarrow and numpy ask whether an array is masked. The real
    module is imported when anything else of it is used; until then there are no masked arrays."""

    MaskedArray = type("MaskedArray", (), {})

    def is_masked(self, _: object) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("numpy.ma"), name)


class _Functions:
    """The registry of Arrow's functions, which lists the one that pyarrow.compute needs at once."""

    def __init__(self, registry: Any) -> None:
        self.get_function = registry.get_function

    def list_functions(self) -> list[str]:
        return ["utf8_zero_fill"]


def _load_compute() -> None:
    """Imports pyarrow.compute, which would wrap and document 280 functions, so that it wraps a
    function when it is first asked for."""
    import pyarrow._compute as kernels

    of_docstrings = ModuleType("docscrape")
    of_docstrings.NumpyDocString = lambda _: {"Parameters": ()}  # type: ignore[attr-defined]
    sys.modules["pyarrow.vendored.docscrape"] = of_docstrings
    registry = kernels.function_registry()
    kernels.function_registry = lambda: _Functions(registry)
    try:
        import pyarrow.compute as pc

        options_of, wrapper_of = pc._get_options_class, pc._make_generic_wrapper
    except (AttributeError, ImportError, KeyError, TypeError):  # a pyarrow that does it otherwise
        for name in ("pyarrow.vendored.docscrape", "pyarrow.compute"):
            sys.modules.pop(name, None)
        return
    finally:
        kernels.function_registry = lambda: registry

    def wrapped(name: str) -> Any:
        try:
            function = registry.get_function({"and_": "and", "or_": "or"}.get(name, name))
        except KeyError:
            raise AttributeError(f"module 'pyarrow.compute' has no attribute {name!r}") from None
        setattr(pc, name, wrapper_of(name, function, options_of(function), function.arity))
        return getattr(pc, name)

    pc.__getattr__ = wrapped


OWN_PROCESS: list[bool] = []  # filled by ``main``, when it runs for the arguments of the process
DEBUG = "neardup.debug"
INTERRUPTED = "neardup.interrupted"  # what to say about the output then; set by the command
EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command in the same way as Ctrl-C."""


def end_on_sigterm() -> None:
    """Makes SIGTERM raise ``Terminated`` in the process of a command; `watch` and the servers have
    handlers of their own."""
    import signal

    def end(*_: object) -> None:
        raise Terminated

    signal.signal(signal.SIGTERM, end)


class Failure(click.ClickException):
    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click reads it from the instance

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(visible(without_password(self.message)), file=file, err=file is None)


@contextmanager
def guarded(ctx: click.Context) -> Iterator[None]:
    """Click's own exceptions and a closed pipe pass through: click treats them well."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise
    except KeyboardInterrupt as interrupt:
        what = ctx.meta.get(INTERRUPTED, lambda: "nothing was written")()
        if isinstance(interrupt, Terminated):
            raise Failure(f"Terminated; {what}.", EXIT_TERMINATED) from None
        raise Failure(f"Interrupted; {what}.", EXIT_INTERRUPTED) from None
    except Exception as error:
        if ctx.meta.get(DEBUG):
            import traceback

            echo(traceback.format_exc(), err=True, nl=False)
        raise failure_of(error) from error


def failure_of(error: Exception) -> Failure:
    if isinstance(error, NeardupError):
        return Failure(f"Error: {sayable(str(error))}", error.exit_code)
    if isinstance(error, OSError) and error.strerror:
        where = f" {shortened(str(error.filename))}" if error.filename else ""
        return Failure(f"Error: the system says{where}: {error.strerror}.", 1)
    if isinstance(error, MemoryError):
        return Failure(
            "Error: the system gave no more memory. Hint: end other programs, or give a lower "
            "--memory to `dedup` and `find`.",
            1,
        )
    return Failure(
        f"Error: unexpected {type(error).__name__}: {error}. "
        "Hint: run again with --debug for the traceback, and please report it.",
        1,
    )


STDOUT = Path("-")
_OTHERS = (".txt", ".md", ".xlsx", ".zip", ".db", ".sqlite")
RUN = "run.json"  # as in runs/run_folder.py, which is too heavy to import here


def names_file(out: Path) -> bool:
    """Whether a path has the name of a file, and no folder of that name exists."""
    if out.is_dir() or out == STDOUT:
        return False
    from neardup.documents.file_formats import FORMATS, is_known, named_format

    if (is_known(out) and named_format(out)[0] not in FORMATS) or out.suffix.lower() in _OTHERS:
        raise UsageError(
            f"{out} has the name of a file in a format that runs do not write.",
            hint="name a folder with -o, or a file in the format of the input.",
        )
    return is_known(out)


def check_file(file: Path, inputs: Sequence[Place | None], *, overwrite: bool) -> None:
    """Refuses a file that would replace an input or, without ``overwrite``, anything else."""
    from neardup.runs.run_folder import spare_inputs

    spare_inputs(file, inputs)
    if file.exists() and not overwrite:
        raise UsageError(
            f"{file} already exists.", hint="name another file with -o, or give --overwrite."
        )


def check_folder(folder: Path, inputs: Sequence[Place | None], *, overwrite: bool) -> None:
    """Refuses a folder that holds an input, a run to which a policy was applied or, without
    ``overwrite``, anything else."""
    from neardup.runs.run_folder import spare_applied, spare_inputs

    spare_inputs(folder, inputs)
    spare_applied(folder)
    refuse_filled(folder, RUN, overwrite=overwrite)


class Target(NamedTuple):
    """An output folder with the answer to whether it may hold something."""

    folder: Path
    overwrite: bool
    resume: bool = False

    @property
    def journal(self) -> Path | None:
        """The folder of what an interrupted run has done, if this one is to go on with it."""
        return Draft(self.folder, RUN).journal if self.resume else None

    def refuse_filled(self) -> None:
        refuse_filled(self.folder, RUN, overwrite=self.overwrite)

    def check(self, inputs: Sequence[Place | None]) -> None:
        check_folder(self.folder, inputs, overwrite=self.overwrite)


def after_interruption(folder: Path, draft: Draft | None = None, *, resume: bool) -> str:
    """What an interrupted command tells of its output folder."""
    if draft is not None and draft.published:
        return f"{folder} holds the whole run"
    again = "; the same command goes on from here" if resume else ""
    if (folder / RUN).exists():
        return f"{folder} holds the earlier run{again}"
    return f"nothing was written to {folder}{again}"
