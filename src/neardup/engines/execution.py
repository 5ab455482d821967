"""Runs one plan on one collection with the engine that the plan names, and returns a Result.

Every run describes itself in the same form in ``run.json``. Its counts are checked before they are
reported.
"""

from __future__ import annotations

import functools
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import __version__, _native
from neardup.artefacts.artefact import Artefacts
from neardup.artefacts.calibration import Calibration
from neardup.decisions.order import Undated, rank_of_all
from neardup.documents.clashes import Shared
from neardup.documents.collection import Collection
from neardup.documents.columns import OURS
from neardup.documents.file_formats import address_of
from neardup.documents.remote import Place
from neardup.engines.batch.batch_run import find_kinds, run
from neardup.engines.batch.intake import counts_while_reading
from neardup.engines.batch.journal import Journal
from neardup.engines.batch.memory import relieve
from neardup.engines.batch.table_pass import with_artefacts
from neardup.errors import ConservationError, UsageError
from neardup.plan import Plan
from neardup.progress import LOG, Progress, Silent, logged, usual
from neardup.runs.rejections import Rejection, rejections
from neardup.runs.result import Result
from neardup.runs.run_tables import (
    UNKNOWN,
    Outcome,
    PairKinds,
    all_pairs,
    decisions_table,
    flag_counts,
    kind_counts,
    pairs_table,
)
from neardup.runs.signatures import write_signatures
from neardup.schema import Array

_STANDING_WORDS = 8  # of the shortest passage that a source repeats; footers are short


def execute(
    collection: Collection,
    plan: Plan,
    *,
    progress: Progress | None = None,
    folder: Path | None = None,
    resume: Path | None = None,
    decided: Callable[[Collection, Array, Artefacts], None] | None = None,
) -> Result:
    """``resume`` is the folder of a journal, by which an interrupted run goes on. ``decided`` is
    given the documents that were read, which of them are kept, and the artefacts, before kinds are
    found; not on Spark."""
    if collection.limit != plan.limit:
        collection = collection.limited(plan.limit)
    fields = plan.policy.fields or () if plan.policy else ()
    if plan.keep.columns or fields:  # every file must have them, before work starts
        collection.check_columns(plan.columns, [n for n in fields if n not in OURS])
    log = logged(progress or usual())
    if plan.method.asks_boilerplate:
        plan = with_boilerplate(collection, plan, log)
    if plan.engine == "spark" and resume:
        raise UsageError("--resume is for runs on this machine.", hint="leave it out for Spark.")
    if plan.engine == "spark":
        return _on_spark(collection, plan, log)
    journal = Journal(resume).open(collection, plan) if resume else None
    if journal or not counts_while_reading(plan):
        plan = with_artefacts(collection, plan, log, journal)
    outcome, plan = run(collection, plan, log, folder, journal)
    if decided:
        decided(collection, outcome.keep_mask(), plan.artefacts)
    room = None if plan.signatures else outcome.intake.hand_over()
    kinds = find_kinds(collection, plan, outcome, log, folder, room)
    del room
    relieve()
    result = _result_of(collection, plan, outcome, kinds)
    if plan.signatures:
        result.signatures = functools.partial(write_signatures, outcome, plan)
    total = outcome.intake.total
    del outcome, kinds  # they take as much memory as the tables
    relieve()
    _account(result, total)
    _log(result, plan)
    return result


def with_boilerplate(collection: Collection, plan: Plan, progress: Progress) -> Plan:
    """The plan with the texts that sources repeat, for a method that asks for them."""
    from neardup.passages.passage_settings import PassageSettings
    from neardup.passages.passage_tables import passages_of

    settings = PassageSettings(
        min_words=_STANDING_WORDS,
        workers=plan.workers,
        text=plan.columns.text,
        id=plan.columns.id,
    )
    texts = passages_of(collection, settings, progress).standing()
    LOG.info("%s passages that sources repeat do not count", len(texts))
    return replace(plan, method=plan.method.with_boilerplate(texts))


def _on_spark(collection: Collection, plan: Plan, progress: Progress) -> Result:
    """Runs on Spark; the tables of the result are brought to this machine."""
    from neardup.engines.spark.session import check_pyspark, session

    check_pyspark()
    from neardup.engines.spark.spark_files import FileInput
    from neardup.engines.spark.spark_run import run as run_on_spark

    spark = session(master=plan.master)
    spark_result = run_on_spark(spark, FileInput(spark, collection, plan), plan, progress=progress)
    tables = spark_result.collected()
    result = Result(
        tables.decisions,
        tables.pairs,
        {},
        rank=tables.rank,
        collection=lambda: collection,
        artefacts=spark_result.artefacts,
        text_digests=tables.text_digests,
    )
    result.info.update(
        {
            **_about(collection, spark_result.plan),
            **spark_result.info,
            "kinds": kind_counts(tables.decisions),
        }
    )
    _account(result, spark_result.counts.documents)
    if plan.signatures:
        result.signatures = spark_result.write_signatures
    else:
        spark_result.release()
    _log(result, spark_result.plan)
    return result


def _about(collection: Collection, plan: Plan) -> dict[str, Any]:
    """The part of the description that does not depend on the result."""
    return {
        "neardup": __version__,
        "settings": plan.describe(),
        "inputs": _inputs(collection),
        "artefacts": {name: artefact.describe() for name, artefact in plan.artefacts.items()},
        "against": [_from_anywhere(path) for path in plan.against],
        **({"by_name": True} if collection.inputs.mapped else {}),
        **collection.noticed(),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "pyarrow": pa.__version__,
            "unicode": _native.UNICODE_VERSION,
        },
        "peak_memory": _peak_memory(),
    }


def frozen(collection: Collection, plan: Plan, progress: Progress | None = None) -> Plan:
    """The plan with all artefacts learned from the collection, for an index that starts with
    them."""
    log = logged(progress or Silent())
    if plan.method.asks_boilerplate:
        plan = with_boilerplate(collection, plan, log)
    plan = with_artefacts(collection, plan, log)
    if plan.method.calibrate and Calibration.kind not in plan.artefacts:
        outcome, plan = run(collection, plan, log)
        outcome.intake.store.close()
    return plan


def _log(result: Result, plan: Plan) -> None:
    counts = result.counts
    LOG.info("%s; %s clusters, %s pairs", counts.sentence(), counts.clusters, counts.pairs)
    if counts.documents == plan.limit:
        LOG.warning("only the first %s documents were read: that is the limit", plan.limit)
    if undated := result.info["flags"].get("undated"):
        LOG.warning("%s documents have no date that can be read: it was not compared", undated)
    if unread := result.info.get("undated"):
        LOG.warning("%s", Undated(**unread).sentence())
    if ways := result.info.get("unlike"):
        LOG.warning("the collection is unlike what the model was trained on: %s", ", ".join(ways))
    if shared := result.info.get("shared_ids"):
        LOG.info("%s", Shared(**shared).sentence())
    if counts.rejected:
        LOG.warning("%s documents were rejected; decisions say why", counts.rejected)
    for entry in result.info["mostly_rejected"]:
        LOG.warning("%s Hint: %s", Rejection(**entry).sentence(), entry["hint"])
    if unknown := result.info["kinds"].get(UNKNOWN) if plan.kinds != "none" else None:
        LOG.warning("%s duplicates have no kind: a text could not be read again", unknown)
    if not result.pairs_complete:
        LOG.warning("pairs are partial: each duplicate has only the kept document it repeats")


def make_result(
    collection: Collection, plan: Plan, outcome: Outcome, kinds: PairKinds | None = None
) -> Result:
    result = _result_of(collection, plan, outcome, kinds)
    _account(result, outcome.intake.total)
    return result


def _result_of(
    collection: Collection, plan: Plan, outcome: Outcome, kinds: PairKinds | None
) -> Result:
    """The result without its counts."""
    intake, refs = outcome.intake, outcome.refs
    decisions = decisions_table(outcome, plan.method, kinds)
    digests = intake.prepared.text_digests[refs:]
    if len(digests) < intake.total:
        digests = np.zeros(intake.total, np.uint64)
        digests[intake.position[refs:]] = intake.prepared.text_digests[refs:]
    unlike = plan.method.unlike(plan.artefacts)
    pairs, complete = all_pairs(outcome, plan.pair_budget(intake.total))
    result = Result(
        decisions,
        pairs_table(outcome, pairs, kinds),
        {},
        rank=rank_of_all(outcome.rank[refs:] - refs, intake.position[refs:], intake.total),
        collection=lambda: collection,
        artefacts=plan.artefacts,
        text_digests=digests,
    )
    result.info |= {
        **_about(collection, plan),
        "pairs": "complete" if complete else "partial",
        "candidates": outcome.candidates,
        "refused": outcome.refused,
        "capped": outcome.capped,
        "kinds": kind_counts(decisions),
        "flags": flag_counts(intake.prepared.flags[refs:]),
        **({} if unlike is None else {"unlike": [*unlike]}),
        **({} if intake.shared is None else {"shared_ids": intake.shared._asdict()}),
        **({} if intake.undated is None else {"undated": intake.undated._asdict()}),
        "timings": {name: round(seconds, 3) for name, seconds in outcome.timings.items()},
    }
    return result


def _inputs(collection: Collection) -> list[dict[str, str] | None]:
    """The inputs as the user named them, with their absolute paths; None for inputs that cannot be
    read again."""
    addresses = (source.again for source in collection.sources)
    places = [
        _from_anywhere(path) if path else again
        for path, again in zip(collection.paths, addresses, strict=True)
    ]
    return [
        {"source": name, "file": file, "path": place} if place else None
        for name, file, place in zip(collection.inputs.names, collection.files, places, strict=True)
    ]


def _from_anywhere(path: Place | str) -> str:
    if isinstance(path, Path):
        return os.path.abspath(path)
    address = address_of(path) if isinstance(path, str) else path.address
    return address.again if address else str(path)


def _account(result: Result, total: int) -> None:
    """Adds the counts to the description of the result, and checks that no document is lost."""
    counts = result.counts
    result.info["counts"] = vars(counts)
    result.info["mostly_rejected"] = rejections(result) if counts.rejected else []
    if total != counts.documents or total != counts.kept + counts.duplicates + counts.rejected:
        raise ConservationError(
            f"{total} documents were read, but {counts.sentence()}.",
            hint="this is a bug in neardup; nothing was written. Please report it.",
        )


def _peak_memory() -> int | None:
    """The most bytes that this process has used; None if the system does not report it."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
