"""``neardup demo``: a run on ten small documents that shows the output."""

from __future__ import annotations

import click

from neardup.cli.command import echo
from neardup.cli.options import debug_option
from neardup.wording import score_text

FLOOD = (
    "The river rose by two metres overnight and flooded the old town, where firefighters carried "
    "forty residents out of their houses in boats while the mayor asked everyone to stay away "
    "from the bridges until the water goes down."
)
STRIKE = (
    "Train drivers will walk out on Friday for twenty four hours after talks about pay broke down "
    "late last night; the railway expects that only one train in three will run and offers "
    "travellers their money back."
)
LIBRARY = (
    "The city library has put ten thousand photographs of the harbour from the years between the "
    "wars online, most of them taken by an unknown sailor whose albums were found in an attic."
)
DOCUMENTS = [
    {"id": "flood", "text": FLOOD},
    {"id": "flood-copy", "text": FLOOD},
    {"id": "flood-shouted", "text": FLOOD.upper().replace(",", " –")},
    {"id": "flood-edited", "text": FLOOD.replace("goes down", "has gone")},
    {"id": "flood-revised", "text": FLOOD.replace("forty", "thirty").replace("two", "three")},
    {"id": "strike", "text": STRIKE},
    {"id": "strike-agency", "text": f"(agency) {STRIKE} More follows."},
    {"id": "library", "text": LIBRARY},
    {"id": "weather", "text": "Sun in the south, rain in the north, wind from the west at first."},
    {"id": "short", "text": "Correction follows."},
]

EXPLAINED = "flood-edited"


@click.command(short_help="Show a run on a few built-in documents.")
@debug_option
def demo() -> None:
    """Find near-duplicates in a few built-in documents, and explain one of them."""
    from neardup.api import dedup
    from neardup.cli.terminal import show_table

    result = dedup(DOCUMENTS)
    rows = [
        (row["id"], row["decision"], row["reason"], row["kept_id"] or "", _score(row["score"]))
        for row in result.decisions.to_pylist()
    ]
    echo(f"{result.counts.sentence()}.\n")
    show_table(("document", "decision", "reason", "kept instead", "score"), rows)
    echo(f"\nIn Python, result.explain({EXPLAINED!r}) explains a decision:\n")
    echo(str(result.explain(EXPLAINED)))
    echo("\nTry your own documents: neardup dedup documents.jsonl -o out")


def _score(score: float | None) -> str:
    return "" if score is None else score_text(score)
