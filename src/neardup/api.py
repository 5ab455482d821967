"""The functions users call: ``find`` and ``dedup``. Settings in, a Result out."""

from __future__ import annotations

from typing import Any, Unpack

from neardup.arguments import RunArguments, documented
from neardup.documents.collection import collect
from neardup.engines.execution import execute
from neardup.papers.recipe import with_recipe
from neardup.plan import Plan, resolve
from neardup.runs.result import Result
from neardup.settings import Settings, settings_of


@documented(Settings)
def dedup(documents: Any, **settings: Unpack[RunArguments]) -> Result:
    """Find near-duplicates and decide which documents to keep.

    ``documents``: a list of texts or dicts, a pandas, polars or pyarrow table, anything with the
    Arrow PyCapsule protocol, or paths; or a dict of several of these by name. ``settings`` are the
    fields of ``neardup.settings.Settings``: ``method``, ``threshold``, ``keep`` … Parameters
    of the method may be given directly, such as ``words=3`` (or ``ngram=3`` as in other tools), or
    as ``set={"words": 3}``, or in the method, ``method=nd.Shingles(words=3)``. ``recipe`` names a
    file of settings or the system of a paper: ``recipe="broder1997"``.
    """
    return _run(documents, resolve(settings_of(with_recipe(settings))))


@documented(Settings)
def find(documents: Any, **settings: Unpack[RunArguments]) -> Result:
    """Find all near-duplicate pairs and their clusters.

    ``documents`` and ``settings`` are those of ``neardup.dedup``.
    """
    return _run(documents, resolve(settings_of(with_recipe(settings)), every_pair=True))


def _run(documents: Any, plan: Plan) -> Result:
    return execute(collect(documents, plan.encoding, plan.extraction, plan.limits), plan)
