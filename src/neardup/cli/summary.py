"""The summary of a run: sentences for people (stderr) and data (stdout)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.cli.command import Failure, echo
from neardup.errors import DataError
from neardup.wording import many, shortened

if TYPE_CHECKING:
    from neardup.engines.estimate.estimate import Estimate
    from neardup.runs.result import Result

SHOWN_REJECTED = 3
NOT_UTF8 = "is not valid UTF-8"  # words of a reason for rejecting a document
ENCODING_HINT = (
    "Hint: is the file in another encoding? CSV is read with --encoding windows-1252 or such; "
    "JSON Lines have to be converted to UTF-8."
)
ENOUGH_FOR_A_RATE = 1000  # below, start-up is all there is to measure


def data(result: Result, out: Path | None, seconds: float) -> dict[str, Any]:
    """``--json``: counts, the output folder, whether all pairs are listed, timings."""
    settings = result.info["settings"]
    annotated = {"annotated": result.info["annotated"]} if "annotated" in result.info else {}
    return {
        **annotated,
        "counts": vars(result.counts),
        "kinds": result.info["kinds"],
        "out": str(out) if out else None,
        "pairs": result.info["pairs"],
        "refused": result.info["refused"],
        "capped": result.info["capped"],
        **({"shared_ids": shared} if (shared := result.info.get("shared_ids")) else {}),
        **({"undated": undated} if (undated := result.info.get("undated")) else {}),
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
    summary = [f"{counts.sentence()}."]
    if not counts.documents:
        summary.append("No document was read: the inputs are empty.")
    if counts.too_short:
        are = "is" if counts.too_short == 1 else "are"
        kept = many(counts.too_short, "kept document")
        summary.append(f"{kept} {are} too short or too repetitive to compare.")
    summary += (
        _empty_lines(result)
        + _shared_lines(result)
        + _undated_lines(result)
        + _encoding_lines(result)
        + _page_lines(result)
        + _rejected_lines(result, out)
    )
    summary.append(
        f"{many(counts.clusters, 'cluster')}, {many(counts.pairs, 'pair')}"
        f"{_completeness(result)}, by the method {result.info['settings']['method']}."
    )
    summary.append(_threshold_line(result))
    summary += _expected_lines(result)
    from neardup.methods import registry

    settings = result.info["settings"]
    method = registry.build(settings["method"], settings["parameters"])
    summary += method.remarks(counts.too_short)
    summary += _unlike_lines(result) + _kind_lines(result) + _refused_lines(result)
    summary += _capped_lines(result)
    if counts.documents >= ENOUGH_FOR_A_RATE:
        summary.append(f"{seconds:.1f} s, {_rate(counts.documents, size, seconds)}.")
    return summary + _action_lines(result, out) + _next_step(result, out)


def _unlike_lines(result: Result) -> list[str]:
    """A line with the ways in which a collection differs from what the model was trained on, and
    the effect; no line if it does not differ."""
    if not (ways := result.info.get("unlike")):
        return []
    calibrated = "calibration" in result.info["artefacts"]
    effect = "The threshold of the model is used, and no lower-scoring pair is accepted. "
    return [
        f"This collection is unlike what the model was trained on: {', '.join(ways)}. "
        f"{effect if calibrated else ''}Its probabilities may be wrong."
    ]


def _kind_lines(result: Result) -> list[str]:
    """How many duplicates are of each kind, and why some have none."""
    from neardup.runs.run_tables import UNKNOWN

    counts = dict(result.info["kinds"])
    unknown = counts.pop(UNKNOWN, 0)
    parts = [f"{count:,} {kind}" for kind, count in counts.items()]
    if unknown and result.info["settings"]["kinds"] == "none":
        parts.append(f"{unknown:,} not classified (--kinds none)")
    elif unknown:
        parts.append(f"{unknown:,} not classified, because a text could not be read again")
    return [f"Kinds of duplicates: {', '.join(parts)}."] if parts else []


def _refused_lines(result: Result) -> list[str]:
    refused = result.info["refused"]
    if not refused:
        return []
    accepts = "templates" in result.info["settings"]["parameters"]
    hint = " --set templates=accept lets such pairs pass." if accepts else ""
    if refused == 1:
        said = "1 pair shares boilerplate but differs in content; it is not treated as duplicates."
        return [said + hint]
    return [
        f"{refused:,} pairs share boilerplate but differ in content; they are not treated as "
        f"duplicates.{hint}"
    ]


def _completeness(result: Result) -> str:
    """Capped pairs are neither complete nor partial in the sense of ``max_pairs``; a line says
    so."""
    capped = result.pairs_complete and result.info["capped"]
    return "" if capped else f" ({result.info['pairs']})"


def _capped_lines(result: Result) -> list[str]:
    """A warning where duplicates may be missing because too many documents are alike."""
    if not (capped := result.info["capped"]):
        return []
    from neardup.matching.candidates import MOST_COMPARED

    return [
        f"{many(capped, 'document')} had more candidates than are compared "
        f"({MOST_COMPARED} at a time, fewer where hardly any match, the most similar first); a few "
        "of their duplicates may be missing."
    ]


def _threshold_line(result: Result) -> str:
    """The threshold, where it comes from, and how many pairs were accepted below it."""
    import pyarrow.compute as pc

    from neardup.artefacts.calibration import below_threshold, origin_of

    calibration = result.info["artefacts"].get("calibration")
    if calibration is None:
        return f"Threshold {result.threshold:.4g}."
    line = f"Threshold {calibration['threshold']:.4g} ({origin_of(result.info['artefacts'])})."
    if calibration["by"] == "planted":
        return line
    if unread := calibration.get("unread"):
        line += f" {many(unread, 'pair')} that share little text were refused without reading them."
    below = pc.sum(pc.less(result.pairs["score"], calibration["threshold"])).as_py() or 0
    return f"{line} {below_threshold(below, calibration)}".rstrip()


def _expected_lines(result: Result) -> list[str]:
    """How good the answer is likely to be, where this run made its calibration itself."""
    from neardup.artefacts.calibration import expected_of

    return list(filter(None, [expected_of(result.info)]))


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
    """Empty texts are often a mistake in how the files were written."""
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
    """Ids that occur in several files and therefore got the file in front."""
    from neardup.documents.clashes import Shared

    shared = result.info.get("shared_ids")
    return [Shared(**shared).sentence()] if shared else []


def _undated_lines(result: Result) -> list[str]:
    from neardup.decisions.order import Undated

    undated = result.info.get("undated")
    return [Undated(**undated).sentence()] if undated else []


def _encoding_lines(result: Result) -> list[str]:
    """An encoding other than UTF-8 was detected or stated; either way it is shown."""
    others = {n: c for n, c in result.info.get("encodings", {}).items() if n != "utf-8"}
    if not others:
        return []
    named = ", ".join(f"{count:,} as {name}" for name, count in others.items())
    return [f"Text files that are not UTF-8 were read: {named}."]


def _page_lines(result: Result) -> list[str]:
    """The extractors of pages, if there are several, and the records of a crawl without a page."""
    lines = []
    if len(by := result.info.get("extracted", {})) > 1:
        lines.append(
            "Pages read: " + ", ".join(f"{count:,} by {how}" for how, count in by.items()) + "."
        )
    if passed := result.info.get("passed_over", {}):
        named = ", ".join(f"{count:,} {name}" for name, count in list(passed.items())[:5])
        lines.append(f"Skipped, because they hold no text: {named}.")
    return lines


def _rejected_lines(result: Result, out: Path | None) -> list[str]:
    count = result.counts.rejected
    shown = rejected(result, SHOWN_REJECTED)
    lines = [f"  rejected: {result.where(row)}: {shortened(row['reason'], 300)}" for row in shown]
    if count > len(shown):
        at = ", in rejected.jsonl" if out else "; -o FOLDER writes all of them to rejected.jsonl"
        lines.append(f"  … and {count - len(shown):,} more{at}")
    if any(NOT_UTF8 in row["reason"] for row in shown) and not mostly_rejected(result):
        lines.append(f"  {ENCODING_HINT}")
    return lines


def mostly_rejected(result: Result) -> list[str]:
    return rejection_lines(result.info.get("mostly_rejected", []))


def rejection_lines(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Files of which most was rejected for one reason, and what may help."""
    from neardup.runs.rejections import Rejection

    return [f"Error: {Rejection(**one).sentence()} Hint: {one['hint']}" for one in found]


def refuse_rejected(lines: Sequence[str], out: Path | None, *, accepted: bool, quiet: bool) -> None:
    """Fails if most documents of a file were rejected, although everything was written."""
    if lines and accepted and not quiet:
        echo("\n".join(lines), err=True)
    if lines and not accepted:
        again = "; the corrected command replaces it with --overwrite" if str(out) != "-" else ""
        written = f"The output was written to {out}{again}. " if out else ""
        last = f"{written}With --accept-rejected the exit code is 0."
        raise Failure("\n".join([*lines, last]), DataError.exit_code)


def _rate(documents: int, size: int | None, seconds: float) -> str:
    seconds = max(seconds, 1e-9)
    rate = f"{documents / seconds:,.0f} documents/s"
    return f"{rate}, {size / seconds / 1e6:,.1f} MB/s" if size else rate


def _next_step(result: Result, out: Path | None) -> list[str]:
    summary = _renamed(result)
    if out:
        stem = "annotated" if "annotated" in result.info else "kept"
        files = sorted(path.name + "/" * path.is_dir() for path in out.glob(f"{stem}*"))
        tables = ["report.html", "decisions.parquet", "duplicates.parquet", "pairs.parquet"]
        tables += ["actions.parquet"] if result.info["settings"]["policy"] else []
        from neardup.runs.export import ENDINGS

        tables += [f"export{ENDINGS[form]}" for form in result.info.get("export", ())]
        listed = ", ".join([*files, *tables])
        summary.append(f"Written to {out}: {listed}, run.json …")
    if out and len(result.pairs):
        summary.append(f"Look at it in the browser: {shlex.join(['neardup', 'review', str(out)])}")
    if out and len(result.duplicates) and (example := _example(result, out)):
        summary.append(f"Look at the weakest pair: {example}")
    return summary


def file_lines(result: Result, file: Path | None) -> list[str]:
    if file is None:
        return []
    what = "all documents, annotated" if "annotated" in result.info else "the kept documents"
    return [
        f"Written to {file}: {what}, without a run folder. "
        "Hint: -o FOLDER writes the decisions and the report too."
    ]


def _action_lines(result: Result, out: Path | None) -> list[str]:
    """What the policy would do; ``neardup apply`` does it."""
    if not out or not result.info["settings"]["policy"]:
        return []
    from neardup.runs.application import action_counts, counted

    actions = counted(action_counts(result.actions))
    return [f"Actions of the policy: {actions}. To apply them: neardup apply {out}"]


def _renamed(result: Result) -> list[str]:
    """The names of the added columns, if the input already had one of the usual names."""
    names = result.info.get("annotated", ["cluster"])
    if names[0] == "cluster":
        return []
    return [f"The input already has such columns; the added ones are {', '.join(names)}."]


def _example(result: Result, out: Path) -> str | None:
    """The command that shows the pair where the threshold would err first."""
    if not all(result.info["inputs"]):
        return None  # a pipe cannot be read again
    weakest = result.weakest(1).to_pylist()[0]
    ids = [weakest["kept_id"], weakest["id"]]
    if any(shortened(id) != id for id in ids):
        return None  # too long to copy
    ends_options = ["--"] if any(id.startswith("-") for id in ids) else []
    return shlex.join(["neardup", "compare", "--run", str(out), *ends_options, *ids])


def estimate_lines(found: Estimate) -> list[str]:
    """``--dry-run`` for people: each figure with its uncertainty."""
    if found.whole:
        sample = "all documents were read; only time, memory and disk are estimates"
        duplicates = f"{found.duplicates_low:,}"
    else:
        sample = f"from {found.sample_documents:,} documents, {found.sample_share:.1%} of the input"
        duplicates = _estimated_duplicates(found)
    spool = f", {size(found.spool)} of it while the run lasts" if found.spool else ""
    return [
        f"documents   {found.documents:,} ({sample})",
        f"time        {found.seconds:,.1f} s ± a third",
        f"memory      {size(found.memory)} ± a third",
        f"disk        {size(found.disk)}{spool}",
        f"duplicates  {duplicates}",
        f"rejected    {found.rejected:,}",
        "Nothing was written.",
    ]


def _estimated_duplicates(found: Estimate) -> str:
    low, high = f"{found.duplicates_low:,}", f"{found.duplicates_high:,}"
    if found.duplicates_likely is None:
        return (
            f"{low} if copies are near each other, up to {high} if they are anywhere; "
            "a sample from the start does not show which"
        )
    likely = f"{found.duplicates_likely:,}"
    return f"about {likely} if most copies come in twos, fewer in larger groups ({low} to {high})"


def size(count: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            break
        count /= 1000
    return f"{count:,.0f} {unit}" if count >= 10 or unit == "bytes" else f"{count:,.1f} {unit}"
