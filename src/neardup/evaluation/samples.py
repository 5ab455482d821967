"""A sample and its key, and what assessors wrote into copies of it, read back from files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.errors import InputError, NeardupError
from neardup.evaluation.labels import DUPLICATE, NOT, UNDECIDED, Label, Pair
from neardup.evaluation.sampling import FORMAT, Key, Stratum, Treatment, key_path

# What people write, in lower case.
WRITTEN = {
    **dict.fromkeys(("duplicate", "dup", "yes", "y", "true", "1", "correct"), DUPLICATE),
    **dict.fromkeys(("not", "no", "n", "false", "0", "incorrect", "different"), NOT),
    **dict.fromkeys(("undecided", "unsure", "?"), UNDECIDED),
}


@dataclass
class Judged:
    """``open`` rows have no label yet."""

    labels: list[Label]
    open: int = 0


def read_key(sample: Path) -> Key:
    path = key_path(sample)
    try:
        written = json.loads(path.read_text("utf-8"))
        if written.get("format") != FORMAT:
            raise InputError(
                f"{path} has format {written.get('format')!r}; this version reads {FORMAT}.",
                hint="draw the sample again.",
            )
        return Key(
            written["seed"],
            tuple(_treatment(one) for one in written["treatments"]),
            {item: Pair(*pair) for item, pair in written["pairs"].items()},
        )
    except FileNotFoundError:
        raise InputError(
            f"{sample} has no key: {path} is not there.",
            hint="`neardup label sample` writes both; keep them together.",
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is no key of a sample: {error}.") from error


def _treatment(written: dict[str, Any]) -> Treatment:
    strata = tuple(Stratum(**{**one, "items": tuple(one["items"])}) for one in written["strata"])
    return Treatment(**{**written, "strata": strata})


def sample_rows(path: Path) -> list[dict[str, Any]]:
    return [row for _, row in _rows(path) if isinstance(row, dict)]


def read_judged(
    path: Path,
    pairs: Mapping[str, Pair],
    assessor: str,
    *,
    arbiter: bool = False,
    sample: str | None = None,
) -> Judged:
    """``pairs`` are the items of the sample. Rows name an item, or a and b of one; all that is
    wrong is reported at once, before anything is stored."""
    found, problems = Judged([]), []
    known = set(pairs.values())
    for number, row in _rows(path):
        try:
            label = _judged(row, pairs, known, assessor, arbiter=arbiter, sample=sample)
        except NeardupError as error:
            problems.append(f"{path}, line {number}: {error}")
            continue
        if label is None:
            found.open += 1
        else:
            found.labels.append(label)
    if problems:
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        raise InputError(" ".join(problems[:3]) + more, hint="nothing was stored.")
    return found


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        lines = path.read_text("utf-8-sig").split("\n")  # a text may hold other line ends
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError(
            f"Cannot read {path}: {reason}.", hint="give a JSON Lines file."
        ) from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}, line {number} is no JSON: {error}.") from error


def _judged(
    row: Any,
    pairs: Mapping[str, Pair],
    known: set[Pair],
    assessor: str,
    *,
    arbiter: bool,
    sample: str | None,
) -> Label | None:
    if not isinstance(row, dict):
        raise InputError("expected an object with item and label.")
    pair = _pair(row, pairs, known)
    written = row.get("label")
    if written is None or str(written).strip() == "":
        return None
    label = WRITTEN.get(str(written).strip().lower())
    if label is None:
        raise InputError(f"the label is {written!r}.", hint="expected duplicate, not or undecided.")
    kind, note, item = (
        str(row[k]).strip() if row.get(k) else None for k in ("kind", "note", "item")
    )
    return Label(
        pair.a,
        pair.b,
        label,
        assessor,
        kind=kind,
        note=note,
        item=item,
        arbiter=arbiter,
        sample=sample,
    )


def _pair(row: dict[str, Any], pairs: Mapping[str, Pair], known: set[Pair]) -> Pair:
    item = row.get("item")
    if item in pairs:
        return pairs[str(item)]
    if item is None and "a" in row and "b" in row:
        pair = Pair.of(row["a"], row["b"])
        if pair in known:
            return pair
        raise InputError(f"the pair {pair.a!r}, {pair.b!r} is not in the sample.")
    raise InputError(
        f"the item {item!r} is not in the sample.", hint="keep the rows' item as it is."
    )
