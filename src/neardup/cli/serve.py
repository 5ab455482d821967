"""``neardup serve``: an index over HTTP; ``neardup token``: who may use it from elsewhere;
``neardup mcp``: tools for an agent, over stdin and stdout."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import Commands, echo, show_json
from neardup.cli.index import store_argument
from neardup.cli.index_options import hint_of, new_index_options, open_index_options, opened_or_new
from neardup.errors import UsageError

if TYPE_CHECKING:
    from neardup.web.guard import Guard
    from neardup.web.limits import Limits

PORT = 8765
LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
ELSEWHERE_RATE = 1000.0  # requests a second of one client, where others than this machine may ask
SWITCH = 0.001  # seconds
LIMITS = {
    "max_body": "body",
    "max_text": "text",
    "max_batch": "batch",
    "max_waiting": "waiting",
    "timeout": "seconds",
}
SERVER = ("host", "names", "token_file", "read_only", "rate")


@click.command(short_help="Serve an index over HTTP.")
@store_argument
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=PORT, show_default=True, help="Port; 0 takes any free one.")
@click.option(
    "--name",
    "names",
    metavar="HOST",
    multiple=True,
    help="Another name of this server that clients use. Repeatable.",
)
@click.option(
    "--token-file",
    metavar="FILE",
    type=shared.PATH,
    help="Accept only clients with a token of FILE (`neardup token new`). Required if --host can "
    "be reached from other machines.",
)
@click.option("--read-only", is_flag=True, help="Answer requests, but refuse changes.")
@click.option(
    "--rate",
    metavar="N",
    type=click.FloatRange(min=0),
    help="Requests per second for each client, with bursts of twice as many; 0 sets no limit.  "
    "[default: no limit on this machine, else 1000]",
)
@click.option(
    "--max-body",
    metavar="N",
    type=click.IntRange(min=1),
    help="Bytes per request, and per line of a stream.  [default: 16000000]",
)
@click.option(
    "--max-text",
    metavar="N",
    type=click.IntRange(min=1),
    help="Characters per text.  [default: 4000000]",
)
@click.option(
    "--max-batch",
    metavar="N",
    type=click.IntRange(min=1),
    help="Documents per request.  [default: 1000]",
)
@click.option(
    "--max-waiting",
    metavar="N",
    type=click.IntRange(min=1),
    help="Documents that may wait to be written; above it, clients are asked to retry.  "
    "[default: 2000]",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="Time limit for receiving a request and for answering it.  [default: 30]",
)
@click.option(
    "--run",
    metavar="FOLDER",
    help="Start with the method, tables and kept documents of a run (new index only).",
)
@new_index_options
@open_index_options
@shared.verbose_option
@shared.quiet_option
@shared.debug_option
def serve(store: str, port: int, quiet: bool, **options: Any) -> None:
    """Serve the index STORE over HTTP: check, add, update, remove, compare, group.

    STORE: a file (SQLite) or postgresql://…; it is created if it does not exist. Ctrl-C or SIGTERM
    finishes the accepted requests, then stops. /openapi.json describes every request.
    """
    from neardup.web.server import address_of, bind, check_extra, run

    check_extra()
    from neardup.web.app import Login, Part, make_app
    from neardup.web.flow_pages import FlowPart
    from neardup.web.service.service import Service

    # The writer is Python too: at 5 ms, the usual, a check would wait for it that long.
    sys.setswitchinterval(SWITCH)
    server = {name: options.pop(name) for name in SERVER}
    limits = _limits(options)
    guard = _guard(server)
    with opened_or_new(store, options, create=not server["read_only"]) as index:
        hint_of(index, quiet=quiet)
        bound = bind(server["host"], port)
        service = Service(index, limits)
        parts: list[Part] = [service, FlowPart(store, lambda: index)]
        parts += [Login(guard.access)] if guard.access else []
        app = make_app(parts, service.behind(guard))
        line = f"{index.store.url} at {address_of(bound)} (Ctrl-C stops it)"  # without a password
        started = None if quiet else lambda: echo(line, err=True)
        run(app, bound, started=started, stopping=service.stop, seconds=limits.seconds)
    if not quiet:
        echo("Stopped; everything that was accepted is stored.", err=True)


@click.command(
    short_help="Serve an agent over MCP.",
    epilog="""\b
Example:
  neardup mcp ~/articles ~/archive""",
)
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True, type=shared.PATH)
@click.option(
    "--write",
    is_flag=True,
    help="Offer the tools dedup, which writes a run to a new folder, and add, which stores a "
    "document in an index.  [default: tools that only read]",
)
@shared.debug_option
def mcp(folders: tuple[Path, ...], write: bool) -> None:
    """Serve an agent over the Model Context Protocol, on stdin and stdout.

    The tools are check, find, compare, explain and trace. They read only files in FOLDER.
    """
    from neardup.integrations.mcp import server

    server(folders, write=write).run()


def _limits(options: dict[str, Any]) -> Limits:
    from neardup.web.limits import Limits

    given = {field: options.pop(name) for name, field in LIMITS.items()}
    known = {field: value for field, value in given.items() if value is not None}
    return Limits(**known)


def _guard(server: dict[str, Any]) -> Guard:
    from neardup.web.access import Access, Tokens
    from neardup.web.guard import Guard
    from neardup.web.limits import Rate

    host, file, rate = server["host"], server["token_file"], server["rate"]
    local = host in LOOPBACK
    if not local and file is None:
        raise UsageError(
            f"{host} can be reached from other machines, and without a token anyone there could "
            "read and change the index.",
            hint="make one with `neardup token new --token-file FILE` and give --token-file FILE.",
        )
    if rate is None:
        rate = 0.0 if local else ELSEWHERE_RATE
    return Guard.of(
        _names(host, server["names"]),
        any_number=host in EVERYWHERE,
        access=None if file is None else Access(Tokens(file)),
        read_only=server["read_only"],
        rate=Rate(rate, burst=2 * rate) if rate else None,
    )


def _names(host: str, given: tuple[str, ...]) -> list[str]:
    import socket

    own = [socket.gethostname(), socket.getfqdn()] if host in EVERYWHERE else [host]
    return [*own, *given]


COMMANDS = {
    "new": "neardup.cli.serve:new",
    "list": "neardup.cli.serve:list_",
    "remove": "neardup.cli.serve:remove",
}


@click.group(cls=Commands, homes=COMMANDS, short_help="Create and remove tokens of a service.")
def token() -> None:
    """Manage tokens for `neardup serve --token-file FILE`. FILE contains only their hashes.

    A running server notices at once when a token is added to FILE or removed from it.
    """


file_option = click.option(
    "--token-file",
    "file",
    metavar="FILE",
    type=shared.PATH,
    required=True,
    help="File of the token hashes.",
)


@click.command(short_help="Create a token and print it once.")
@file_option
@click.option("--name", default="default", show_default=True, help="Name of the token in FILE.")
@click.option("--read-only", is_flag=True, help="The token allows no changes.")
@shared.debug_option
def new(file: Path, name: str, read_only: bool) -> None:
    """Create a token, add its hash to FILE, and print the token. It cannot be shown again."""
    from neardup.web.access import make_token

    echo(make_token(file, name, read_only=read_only))


@click.command("list", short_help="List the tokens of a file.")
@file_option
@shared.json_option
@shared.debug_option
def list_(file: Path, as_json: bool) -> None:
    """List the tokens of FILE with their names and rights."""
    from neardup.cli.terminal import show_table
    from neardup.web.access import read_tokens

    found = read_tokens(file)
    if as_json:
        data = [{"name": t.name, "read_only": t.read_only, "made": t.made} for t in found]
        show_json(data)
        return
    rows = [(one.name, "read" if one.read_only else "read and write", one.made) for one in found]
    show_table(("token", "may", "made"), rows)


@click.command(short_help="Remove a token from a file.")
@file_option
@click.argument("name")
@shared.debug_option
def remove(file: Path, name: str) -> None:
    """Remove the token NAME from FILE; from now on it is refused."""
    from neardup.web.access import remove_token

    remove_token(file, name)
    echo(f"{name} was removed.")
