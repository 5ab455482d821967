"""What a run came to, for people (stderr) and as data (stdout)."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.wording import many, shortened

if TYPE_CHECKING:
    from neardup.engines.estimate.estimate import Estimate
    from neardup.runs.result import Result

SHOWN_REJECTED = 3
NO_VALLEY = "no clear valley"
ENOUGH_FOR_A_RATE = 1000  # below, start-up is all there is to measure


def data(result: Result, out: Path | None, seconds: float) -> dict[str, Any]:
    """``--json``: counts, where the files are, whether the pairs are all there, timings."""
    settings = result.info["settings"]
    annotated = {"annotated": result.info["annotated"]} if "annotated" in result.info else {}
    return {
        **annotated,
        "counts": vars(result.counts),
        "kinds": result.info["kinds"],
        "out": str(out) if out else None,
        "pairs": result.info["pairs"],
        "refused": result.info["refused"],
        **({"shared_ids": shared} if (shared := result.info.get("shared_ids")) else {}),
        "method": settings["method"],
        "parameters": settings["parameters"],
        "timings": {**result.info["timings"], "total": round(seconds, 3)},
        "rejected": rejected(result, SHOWN_REJECTED),
        "mostly_rejected": result.info.get("mostly_rejected", []),
        **_actions(result, out),
    }


def _actions(result: Result, out: Path | None) -> dict[str, Any]:
    if not out or not result.info["settings"]["policy"]:
        return {}
    from neardup.runs.application import action_counts

    return {"actions": action_counts(result.actions)}


def lines(result: Result, out: Path | None, seconds: float, size: int | None) -> list[str]:
    counts = result.counts
    told = [f"{counts.sentence()}."]
    if counts.too_short:
        have = "has" if counts.too_short == 1 else "have"
        told.append(
            f"{counts.too_short:,} of the kept {have} too little for the method to compare."
        )
    told += (
        _empty_lines(result)
        + _shared_lines(result)
        + _encoding_lines(result)
        + _page_lines(result)
        + _rejected_lines(result, out)
    )
    told.append(
        f"{many(counts.clusters, 'cluster')}, {many(counts.pairs, 'pair')} "
        f"({result.info['pairs']}); "
        f"{result.info['settings']['method']}{_cut(result)}."
    )
    told += _unlike_lines(result) + _kind_lines(result) + _refused_lines(result)
    if counts.documents >= ENOUGH_FOR_A_RATE:
        told.append(f"{seconds:.1f} s, {_rate(counts.documents, size, seconds)}.")
    return told + _action_lines(result, out) + _next_step(result, out)


def _unlike_lines(result: Result) -> list[str]:
    """That a model was not made for this, in which way, and what is done about it."""
    if not (ways := result.info.get("unlike")):
        return []
    calibrated = "calibration" in result.info["artefacts"]
    done = "The cut is the model's, nothing passes by standing out; probabilities may be wrong."
    return [
        f"This collection is unlike what the model was trained on: {', '.join(ways)}. "
        f"{done if calibrated else 'Probabilities may be wrong.'}"
    ]


def _kind_lines(result: Result) -> list[str]:
    """How many duplicates are of each kind; why some have none."""
    from neardup.runs.kind_pass import UNKNOWN

    counts = dict(result.info["kinds"])
    unknown = counts.pop(UNKNOWN, 0)
    told = [", ".join(f"{count:,} {kind}" for kind, count in counts.items())] if counts else []
    if unknown and result.info["settings"]["kinds"] == "none":
        told.append(f"{unknown:,} not classified (--kinds none)")
    elif unknown:
        told.append(f"{unknown:,} not classified, because a text could not be read again")
    return [f"Kinds of duplicates: {', '.join(told)}."] if told else []


def _refused_lines(result: Result) -> list[str]:
    refused = result.info["refused"]
    if not refused:
        return []
    what = "1 candidate pair has" if refused == 1 else f"{refused:,} candidate pairs have"
    return [f"{what} the same template and other content: no duplicates (templates=refuse)."]


def _cut(result: Result) -> str:
    """From which score on; where the collection was asked, what it said and how clearly."""
    import pyarrow.compute as pc

    made = result.info["artefacts"].get("calibration")
    if made is None:
        return f" ≥ {result.threshold:.4g}"
    at = f": cut {made['threshold']:.4g} ({_said(result, made)})"
    if made["by"] == "planted":
        return at
    faint = pc.sum(pc.less(result.pairs["score"], made["threshold"])).as_py() or 0
    if not faint:
        return at
    return f"{at}, {many(faint, 'pair')} {'stands' if faint == 1 else 'stand'} out below it"


def _said(result: Result, made: dict[str, Any]) -> str:
    """What put the cut there, and how sure that is."""
    if made["by"] == "unlike":
        return "the model's"
    if made["by"] == "usual":
        if made["refused"] is None:
            return "the model's" if "discriminant" in result.info["artefacts"] else NO_VALLEY
        return f"the valley at {made['refused']:.4g} is not steady, or loses planted copies"
    if made["by"] == "least doubt":
        own = result.info["artefacts"]["discriminant"]["threshold"]
        return f"the model's {own:.4g}, moved to where the fewest duplicates are in doubt"
    known = f"finds {made['found']:.0%} of planted copies, {made['trapped']:.0%} of traps pass"
    return f"clear valley, {known}" if made["by"] == "valley" else known


def rejected(result: Result, most: int) -> list[dict[str, Any]]:
    """The first rejected documents: file, row, id, reason."""
    import pyarrow.compute as pc

    table = result.decisions
    if not result.counts.rejected:
        return []
    lost = table.filter(pc.equal(table["decision"], "rejected")).slice(0, most)
    rows: list[dict[str, Any]] = lost.select(["file", "row", "id", "reason"]).to_pylist()
    return rows


def _empty_lines(result: Result) -> list[str]:
    """Nothing to compare and nothing to read: often a mistake of whoever wrote the files."""
    import pyarrow as pa

    from neardup.methods.preparation import text_digests

    if result.text_digests is None:
        return []
    nothing = text_digests(pa.record_batch({"text": pa.array([""], pa.large_string())}))
    accepted = result.decisions["decision"].to_numpy() != "rejected"
    count = int(((result.text_digests == nothing[0]) & accepted).sum())
    are = "is" if count == 1 else "are"
    return [f"{many(count, 'document')} {are} empty."] if count else []


def _shared_lines(result: Result) -> list[str]:
    """That ids were told apart by their files."""
    from neardup.documents.clashes import Shared

    shared = result.info.get("shared_ids")
    return [Shared(**shared).sentence()] if shared else []


def _encoding_lines(result: Result) -> list[str]:
    """What is not UTF-8 was a guess or was stated; either way it should be seen."""
    others = {n: c for n, c in result.info.get("encodings", {}).items() if n != "utf-8"}
    if not others:
        return []
    named = ", ".join(f"{count:,} as {name}" for name, count in others.items())
    return [f"Text files that are not UTF-8 were read: {named}."]


def _page_lines(result: Result) -> list[str]:
    """By what pages were read, where it was not all by one, and what of a crawl is no page."""
    told = []
    if len(by := result.info.get("extracted", {})) > 1:
        told.append(
            "Pages read: " + ", ".join(f"{count:,} by {how}" for how, count in by.items()) + "."
        )
    if passed := result.info.get("passed_over", {}):
        named = ", ".join(f"{count:,} {name}" for name, count in list(passed.items())[:5])
        told.append(
            f"Records that are no pages were passed over: {sum(passed.values()):,} ({named})."
        )
    return told


def _rejected_lines(result: Result, out: Path | None) -> list[str]:
    count = result.counts.rejected
    shown = rejected(result, SHOWN_REJECTED)
    told = [f"  rejected: {result.where(row)}: {shortened(row['reason'], 300)}" for row in shown]
    if count > len(shown):
        at = ", in rejected.jsonl" if out else "; -o FOLDER writes all of them to rejected.jsonl"
        told.append(f"  … and {count - len(shown):,} more{at}")
    return told


def mostly_rejected(result: Result) -> list[str]:
    """Files of which most was rejected for one reason, and what may help."""
    from neardup.runs.rejections import Rejection

    found = result.info.get("mostly_rejected", [])
    return [f"Error: {Rejection(**one).sentence()} Hint: {one['hint']}" for one in found]


def _rate(documents: int, size: int | None, seconds: float) -> str:
    seconds = max(seconds, 1e-9)
    rate = f"{documents / seconds:,.0f} documents/s"
    return f"{rate}, {size / seconds / 1e6:,.1f} MB/s" if size else rate


def _next_step(result: Result, out: Path | None) -> list[str]:
    told = _renamed(result)
    if out:
        stem = "annotated" if "annotated" in result.info else "kept"
        files = sorted(path.name + "/" * path.is_dir() for path in out.glob(f"{stem}*"))
        tables = ["report.html", "decisions.parquet", "duplicates.parquet", "pairs.parquet"]
        tables += ["actions.parquet"] if result.info["settings"]["policy"] else []
        listed = ", ".join([*files, *tables])
        told.append(f"Written to {out}: {listed}, run.json …")
    if out and len(result.pairs):
        told.append(f"Look at it in the browser: {shlex.join(['neardup', 'review', str(out)])}")
    if out and len(result.duplicates) and (example := _example(result, out)):
        told.append(f"Look at the weakest pair: {example}")
    return told


def file_lines(result: Result, file: Path | None) -> list[str]:
    if file is None:
        return []
    what = "all documents, annotated" if "annotated" in result.info else "the kept documents"
    return [
        f"Written to {file}: {what}, and no run folder. "
        "Hint: -o FOLDER writes the decisions and the report too."
    ]


def _action_lines(result: Result, out: Path | None) -> list[str]:
    """What the policy would do; it is done by another command."""
    if not out or not result.info["settings"]["policy"]:
        return []
    from neardup.runs.application import action_counts, counted

    told = counted(action_counts(result.actions))
    return [f"By the policy: {told}. Nothing of it is done yet: neardup apply {out}"]


def _renamed(result: Result) -> list[str]:
    """The added columns, where the input already had one of their usual names."""
    names = result.info.get("annotated", ["cluster"])
    if names[0] == "cluster":
        return []
    return [f"The input has columns of these names already, so ours are {', '.join(names)}."]


def _example(result: Result, out: Path) -> str | None:
    """The command that shows the pair where the threshold would err first."""
    if not all(result.info["inputs"]):
        return None  # what came through a pipe cannot be read again
    weakest = result.weakest(1).to_pylist()[0]
    ids = [weakest["kept_id"], weakest["id"]]
    if any(shortened(id) != id for id in ids):
        return None  # nobody can copy such a line
    ends_options = ["--"] if any(id.startswith("-") for id in ids) else []
    return shlex.join(["neardup", "compare", "--run", str(out), *ends_options, *ids])


def estimate_lines(found: Estimate) -> list[str]:
    """``--dry-run`` for people: each figure with how sure it is."""
    if found.whole:
        sample = "all documents were read; only time, memory and disk are estimates"
        duplicates = f"{found.duplicates_low:,}"
    else:
        sample = f"from {found.sample_documents:,} documents, {found.sample_share:.1%} of the input"
        duplicates = _estimated_duplicates(found)
    spool = f", {size(found.spool)} of it while the run lasts" if found.spool else ""
    return [
        f"documents   {found.documents:,} ({sample})",
        f"time        {found.seconds:,.1f} s, give or take a third",
        f"memory      {size(found.memory)}, give or take a third",
        f"disk        {size(found.disk)}{spool}",
        f"duplicates  {duplicates}",
        f"rejected    {found.rejected:,}",
        "Nothing was written.",
    ]


def _estimated_duplicates(found: Estimate) -> str:
    low, high = f"{found.duplicates_low:,}", f"{found.duplicates_high:,}"
    if found.duplicates_likely is None:
        return (
            f"{low} if copies stand near each other, up to {high} if they lie anywhere; "
            "a sample from the start cannot tell"
        )
    likely = f"{found.duplicates_likely:,}"
    return f"about {likely} if most copies come in twos, fewer in larger groups ({low} to {high})"


def size(count: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            break
        count /= 1000
    return f"{count:,.0f} {unit}" if count >= 10 or unit == "bytes" else f"{count:,.1f} {unit}"
