"""The lists of a run report: the largest clusters, the weakest pairs side by side, and documents.

Each list shows the first few and says which file of the run folder has the rest.
"""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.decisions.kinds import kind_phrase
from neardup.decisions.order import Undated
from neardup.report.html_page import (
    WARNING,
    Cell,
    Html,
    Table,
    bar,
    card,
    folded,
    html,
    name,
    place,
    prose,
    table_html,
    wrapped,
)
from neardup.report.run_view import Run, Texts, counted
from neardup.report.side_by_side import fragment
from neardup.text.alignment import align
from neardup.wording import many, score_text, shortened

MOST = 50


def duplicates(run: Run) -> Html:
    if not run.counts.duplicates:
        return Html("")
    rows: list[tuple[Cell, ...]] = [
        (
            name(row["id"], 60),
            name(row["kept_id"], 60),
            float(row["score"]),
            row["kind"] or "not classified",
            wrapped(shortened(row["reason"], 100)),
            place(row["file"], row["row"], run.result.path_of(row)),
        )
        for row in run.result.duplicates.slice(0, MOST).to_pylist()
    ]
    header = ("duplicate", "of", "score", "kind", "reason", "where")
    text = _first(len(rows), run.counts.duplicates, "duplicate", "duplicates.parquet")
    table = folded(text, table_html(Table(header, rows)))
    reasons = counted(run.result.duplicates["reason"])
    often = sorted((-count, str(reason)) for reason, count in reasons.items())
    listed = "; ".join(f"{-count:,} {shortened(reason)}" for count, reason in often[:8])
    more = f"; {len(often) - 8:,} other reasons" if len(often) > 8 else ""
    return card("Duplicates", prose(f"Reasons: {listed}{more}."), table, anchor="aside")


def too_short(run: Run) -> Html:
    """Documents that are too short to compare, and the notes of methods."""
    text = []
    decisions = run.result.decisions
    short = decisions.filter(pc.starts_with(decisions["reason"], "too_short"))
    if len(short):
        text.append(
            f"{many(len(short), 'kept document')} {'is' if len(short) == 1 else 'are'} too short "
            "or too repetitive to compare. Such a document can only be a duplicate of an equal one."
        )
    text += [_flag(*one) for one in run.info.get("flags", {}).items() if one[0] != "too_short"]
    if undated := run.info.get("undated"):
        text.append(Undated(**undated).sentence())
    if not text:
        return Html("")
    first = short.slice(0, MOST).to_pylist()
    rows = [
        (name(row["id"], 60), place(row["file"], row["row"], run.result.path_of(row)))
        for row in first
    ]
    table = table_html(Table(("document", "where"), rows))
    said = _first(len(rows), len(short), "short document", "decisions.parquet")
    listed = folded(said, table) if rows else ""
    return card("Kept with a note", prose("\n\n".join(text)), listed, anchor="notes")


def _flag(flag: str, count: int) -> str:
    said = {
        "unreliable": "compared on little evidence",
        "undated": "no readable date, so dates were not compared",
        "mostly_numbers": "mostly numbers",
    }
    return f"{many(count, 'document')}: {said.get(flag, flag)}."


def rejected(run: Run) -> Html:
    if not run.counts.rejected:
        return card("Rejected", prose("Every document could be read."), anchor="rejected")
    decisions = run.result.decisions
    lost = decisions.filter(pc.equal(decisions["decision"], schema.REJECTED))
    rows: list[tuple[Cell, ...]] = [
        (
            place(row["file"], row["row"], run.result.path_of(row)),
            name(row["id"], 60),
            wrapped(shortened(row["reason"], 300)),
        )
        for row in lost.slice(0, MOST).to_pylist()
    ]
    text = _first(len(rows), run.counts.rejected, "rejected document", "rejected.jsonl")
    table = table_html(Table(("where", "id", "reason"), rows))
    text += " They are neither kept nor duplicates."
    return card("Rejected", prose(text), table, anchor="rejected")


def _first(shown: int, every: int, what: str, where: str) -> str:
    if shown == every:
        return f"{many(every, what).capitalize()}."
    return f"The first {shown} of {every:,} {what}s; all of them are in {where}."


MOST_PAIRS = 10
KEY = Html(
    '<p class="key nd-pair"><del>only in the kept one</del> <ins>only in the duplicate</ins> '
    "<mark>in both, at different places</mark></p>"
)
MOST_CHARACTERS = 16_000  # of both texts that one pair shows
LONGEST = 1_000_000  # characters of a text that is compared for a report
TYPEABLE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]{1,200}")


Row = dict[str, Any]  # of the decisions; that of a duplicate names its kept document


def compare_command(pair: Row) -> str | None:
    """The command that compares the pair, to be pasted where the report lies; None for ids that
    nobody can type."""
    ids = (pair["kept_id"], pair["id"])
    if not all(map(TYPEABLE.fullmatch, ids)):
        return None
    ends_options = ["--"] if any(id.startswith("-") for id in ids) else []
    return shlex.join(["neardup", "compare", "--run", ".", *ends_options, *ids])


def weakest(run: Run) -> list[Row]:
    """The rows of ``Result.weakest``, with the reason of each."""
    table = run.result.duplicates
    first = pc.sort_indices(table, [("score", "ascending")])[:MOST_PAIRS]
    rows: list[Row] = table.take(first).to_pylist()
    return rows


def weakest_pairs(run: Run, pairs: list[Row], texts: Texts) -> Html:
    if not pairs:
        return Html("")
    text = (
        "The duplicates that are least similar to their kept document. A wrong threshold shows "
        "here first: if these are right, the others most likely are; if they are wrong, use a "
        "higher threshold."
    )
    if run.counts.duplicates > len(pairs):
        text = f"The first {len(pairs)} of {run.counts.duplicates:,}. {text}"
    items = [
        _item(
            f"{number}. score {score_text(pair['score'], pair['kind'])}, "
            f"{pair['kind'] or 'not classified'}",
            f"{_called(pair['id'], texts)}, a duplicate of {_called(pair['kept_id'], texts)}",
            side_by_side(pair, texts),
            first=number == 1,
        )
        for number, pair in enumerate(pairs, 1)
    ]
    fault = prose(f"{WARNING}The texts could not be read again: {texts.fault}")
    key = fault if texts.fault else KEY
    return card("Weakest pairs", prose(text), key, *items, anchor="weakest")


def _called(id: str, texts: Texts) -> Html:
    """The title of a document with its id, or the id alone if it has no title."""
    if (title := texts.titles.get(id)) is None:
        return name(id, 60)
    both = (f"<bdi>{html(shortened(written, 60))}</bdi>" for written in (title, id))
    return wrapped(Html("{} ({})".format(*both)))


def _item(summary: str, ids: str, content: str, *, first: bool) -> str:
    """One of a numbered list; the first is open."""
    return (
        f"<details class=item{' open' if first else ''}><summary>{html(summary)} "
        f"<small>{ids}</small></summary>{content}</details>"
    )


def side_by_side(pair: Row, texts: Texts) -> str:
    """The kept document on the left, the duplicate on the right; then the command for all of it."""
    ids: tuple[str, str] = pair["kept_id"], pair["id"]
    why = f"Why: {shortened(pair['reason'])}."
    if pair["kind"] is not None:
        kind = kind_phrase(pair["kind"], pair["direction"])
        why += f" Kind: {kind}, confidence {pair['confidence'] or 0:.2f}."
    command = compare_command(pair)
    shown = f" All of it: <code>{html(command)}</code>" if command else ""
    more = f"<p class=more>{html(why)}{shown}</p>"
    if texts.fault:
        return more
    kept, aside = map(texts.texts.get, ids)
    if kept is None or aside is None:
        return "<p class=more>The kept document is a reference, whose text was not read.</p>"
    if max(len(kept), len(aside)) > LONGEST:
        size = f"{len(kept):,} and {len(aside):,} characters"
        return f"<p class=more>{size}: too long to be shown here.</p>{more}"
    first, second = (shortened(texts.titles.get(id, id)) for id in ids)
    names = f"kept: {first}", f"duplicate: {second}"
    alignment = align(kept, aside, texts.words)
    return fragment(kept, aside, alignment, names=names, most=MOST_CHARACTERS, folds=False) + more


MOST_CLUSTERS = 10
MOST_MEMBERS = 8
CLUSTERS = {
    "rule": "A cluster is a kept document with its duplicates.",
    "average": "A cluster is documents whose mean score over all their pairs reaches the "
    "threshold.",
}
CONNECTED = "A cluster is all documents that are connected by pairs, directly or through others."
SIZES = (2, 3, 4, 5, 6, 11, 21, 51, 101, 1001, 10001, 100001)
RANGES = [
    f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}" for low, high in pairwise(SIZES)
]
RANGES.append(f"{SIZES[-1]:,} or more")


class Cluster(NamedTuple):
    """``members``: rows of the decisions, the kept ones first, then the least alike."""

    size: int
    members: list[Row]
    weakest: Row | None


def largest(run: Run) -> list[Cluster]:
    table, decisions, groups = run.result.clusters, run.result.decisions, run.grouped[1]
    size = np.asarray(table["size"], dtype=np.int64)
    chosen = np.argsort(-size, kind="stable")[:MOST_CLUSTERS]
    numbers = np.asarray(pc.fill_null(decisions["cluster"], -1), dtype=np.int64)
    kept = np.asarray(pc.equal(decisions["decision"], schema.KEPT))
    score = np.where(kept, -1.0, np.asarray(decisions["score"].fill_null(0.0)))
    clusters = []
    for i, number in zip(chosen, table["cluster"].take(pa.array(chosen)).to_pylist(), strict=True):
        rows = np.flatnonzero(numbers == number)
        rows = rows[np.argsort(score[rows], kind="stable")[:MOST_MEMBERS]]
        members: list[Row] = decisions.take(pa.array(rows)).to_pylist()
        for row, code in zip(members, groups.codes[rows], strict=True):
            row["group"] = groups.names[code] if code >= 0 else None
        aside = (row for row in members if row["decision"] == schema.DUPLICATE)
        clusters.append(Cluster(int(size[i]), members, next(aside, None)))
    return clusters


def sizes(run: Run) -> Html:
    size = np.asarray(run.result.clusters["size"], dtype=np.int64)
    if not len(size):
        return card("Cluster sizes", prose("There are no clusters."), anchor="sizes")
    place = np.searchsorted(SIZES, size, side="right") - 1
    clusters = np.bincount(np.maximum(place, 0), minlength=len(SIZES))
    documents = np.bincount(np.maximum(place, 0), weights=size, minlength=len(SIZES)).astype(int)
    most = int(documents.max())
    rows: list[tuple[Cell, ...]] = [
        (RANGES[i], int(clusters[i]), int(documents[i]), bar(int(documents[i]), most, "pairs"))
        for i in range(len(SIZES))
        if clusters[i]
    ]
    text = prose(
        f"{many(int(size.sum()), 'document')} in {many(len(size), 'cluster')}, the largest of "
        f"{int(size.max()):,}. {CLUSTERS.get(str(run.settings.get('clusters')), CONNECTED)}"
    )
    table = Table(("documents in a cluster", "clusters", "documents in them", ""), rows)
    return card("Cluster sizes", text, table_html(table), anchor="sizes")


def largest_clusters(run: Run, clusters: list[Cluster], texts: Texts) -> Html:
    if not clusters:
        return Html("")
    every = len(run.result.clusters)
    text = (
        "Each begins with its kept document, followed by its least similar duplicates. Unfold one "
        "to see the weakest pair side by side."
    )
    if every > len(clusters):
        text = f"The first {len(clusters)} of {every:,}. {text}"
    items = [_cluster(run, i, one, texts) for i, one in enumerate(clusters, 1)]
    return card(
        "Largest clusters", prose(text), "" if texts.fault else KEY, *items, anchor="largest"
    )


def _cluster(run: Run, number: int, cluster: Cluster, texts: Texts) -> str:
    kept = [i for i, row in enumerate(cluster.members) if row["decision"] == schema.KEPT]
    first = cluster.members[0]
    rows: list[tuple[Cell, ...]] = [
        (
            _called(row["id"], texts),
            "kept" if i in kept else "duplicate",
            name(row["group"], 40),
            name(texts.dates.get(row["id"]), 40),
            None if i in kept else float(row["score"]),
            "" if i in kept else row["kind"] or "not classified",
            place(row["file"], row["row"], run.result.path_of(row)),
        )
        for i, row in enumerate(cluster.members)
    ]
    header = ("document", "", run.grouped[0], "date", "score", "kind", "where")
    more = cluster.size - len(rows)
    rest = f"<p>… and {more:,} more, in decisions.parquet.</p>" if more > 0 else ""
    pair = side_by_side(cluster.weakest, texts) if cluster.weakest else ""
    return _item(
        f"{number}. {many(cluster.size, 'document')}",
        f"kept: {_called(first['id'] if 0 in kept else first['kept_id'], texts)}",
        f"{table_html(Table(header, rows, marked=kept))}{rest}{pair}",
        first=number == 1,
    )
