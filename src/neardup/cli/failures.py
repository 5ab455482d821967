"""How a command fails: one sentence on stderr and an exit code; a traceback only with --debug."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from neardup.errors import NeardupError
from neardup.names import sayable, shortened

DEBUG = "neardup.debug"
INTERRUPTED = "neardup.interrupted"  # what to say about the output then; set by the command
EXIT_INTERRUPTED = 130


class Failure(click.ClickException):
    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click reads it from the instance

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(self.message, file=file, err=file is None)


@contextmanager
def guarded(ctx: click.Context) -> Iterator[None]:
    """Click's own exceptions and a closed pipe pass through: click treats them well."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise
    except KeyboardInterrupt:
        what = ctx.meta.get(INTERRUPTED, lambda: "nothing was written")()
        raise Failure(f"Interrupted; {what}.", EXIT_INTERRUPTED) from None
    except Exception as error:
        if ctx.meta.get(DEBUG):
            import traceback

            click.echo(traceback.format_exc(), err=True, nl=False)
        raise failure_of(error) from error


def failure_of(error: Exception) -> Failure:
    if isinstance(error, NeardupError):
        return Failure(f"Error: {sayable(str(error))}", error.exit_code)
    if isinstance(error, OSError) and error.strerror:
        where = f" {shortened(str(error.filename))}" if error.filename else ""
        return Failure(f"Error: the system says{where}: {error.strerror}.", 1)
    return Failure(
        f"Error: unexpected {type(error).__name__}: {error}. "
        "Hint: run again with --debug for the traceback, and please report it.",
        1,
    )
