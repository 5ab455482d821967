"""``neardup review``: inspect a run or an index in the browser."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from neardup.cli.command import echo
from neardup.cli.options import debug_option
from neardup.errors import UsageError

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@click.command(short_help="Inspect a run or an index in the browser.")
@click.argument("target", metavar="RUN|STORE")
@click.option(
    "--with",
    "others",
    metavar="RUN",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Another run over the same documents, to be judged together with it. Repeatable.",
)
@click.option(
    "--lists",
    metavar="FILE",
    help="Result lists in which people mark duplicates, in the format of `neardup label lists`.",
)
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port.  [default: any free one]",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    help="Local address that other machines cannot reach.  [default: 127.0.0.1]",
)
@click.option("--no-browser", is_flag=True, help="Print the address and do not open a browser.")
@debug_option
def review(
    target: str,
    others: tuple[Path, ...],
    lists: str | None,
    port: int,
    host: str,
    no_browser: bool,
) -> None:
    """Show RUN, the folder of a finished run, or STORE, an index, in the browser, until Ctrl-C.

    The pages show clusters and pairs with filters and search, two texts side by side, the decisions
    at another threshold, and the effect of the policy. Changes made by hand in a run are stored in
    RUN/review, and `neardup apply` takes them into account; the files of the run are not changed.
    The pages cannot be seen from other machines and load nothing from elsewhere.
    """
    from neardup.web.server import address_of, bind, check_extra, run

    check_extra()
    if host not in LOOPBACK:
        raise UsageError(
            f"{host} can be reached from other machines; the review is for this machine only.",
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
            echo(f"Review of {shown}: {address} (Ctrl-C stops it)")
            if not no_browser:
                _open(address)

        with contextlib.suppress(KeyboardInterrupt):  # the way it is meant to end
            run(app, bound, started=started)


def _open(address: str) -> None:
    """Without a browser, the address on the terminal is enough."""
    import webbrowser

    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(address)
