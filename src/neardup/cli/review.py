"""``neardup review``: look at what was found, in the browser."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from neardup.cli.options import debug_option
from neardup.errors import UsageError

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@click.command(short_help="Look at what was found, in the browser.")
@click.argument("target", metavar="RUN|STORE")
@click.option(
    "--with",
    "others",
    metavar="RUN",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Another run over the same documents, to be judged together with it; may be repeated.",
)
@click.option(
    "--lists",
    metavar="FILE",
    help="Result lists in which sets of duplicates are to be marked, as `neardup label lists` "
    "takes them.",
)
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port.  [default: any]",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    help="An address of this machine that others cannot reach.  [default: 127.0.0.1]",
)
@click.option("--no-browser", is_flag=True, help="Only say the address; open nothing.")
@debug_option
def review(
    target: str,
    others: tuple[Path, ...],
    lists: str | None,
    port: int,
    host: str,
    no_browser: bool,
) -> None:
    """Show RUN, the folder of a finished run, or STORE, an index, as pages in the browser, until
    Ctrl-C.

    Clusters and pairs with filters and search, two texts side by side, what another threshold would
    decide, and what the policy does. What is changed by hand in a run goes to RUN/review, and
    `neardup apply` takes it into account; the files of the run stay as they are. Nobody outside
    this machine can see the pages, and they load nothing from elsewhere.
    """
    from neardup.web.server import address_of, bind, check_extra, run

    check_extra()
    if host not in LOOPBACK:
        raise UsageError(
            f"{host} is an address that others may reach; the review is for this machine alone.",
            hint=f"give one of {', '.join(LOOPBACK)}, and reach it through an SSH tunnel.",
        )
    from neardup.web.app import make_app
    from neardup.web.guard import Guard
    from neardup.web.review_app import review_parts

    app = make_app(review_parts(target, others, lists), Guard())
    with bind(host, port) as bound:
        address = address_of(bound)

        def started() -> None:
            shown = "the index" if "://" in target else target  # it may have a password in it
            click.echo(f"Review of {shown}: {address} (Ctrl-C ends it)")
            if not no_browser:
                _open(address)

        with contextlib.suppress(KeyboardInterrupt):  # the way it is meant to end
            run(app, bound, started=started)


def _open(address: str) -> None:
    """A machine without a browser has the address on its terminal."""
    import webbrowser

    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(address)
