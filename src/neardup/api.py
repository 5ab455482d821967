"""The functions users call: ``find`` and ``dedup``. Settings in, a Result out."""

from __future__ import annotations

from typing import Any

from neardup.documents import collect
from neardup.engines.execution import execute
from neardup.papers.recipe import with_recipe
from neardup.plan import Plan, resolve
from neardup.runs.result import Result
from neardup.settings import settings_of


def dedup(documents: Any, **settings: Any) -> Result:
    """Find near-duplicates and decide which documents to keep.

    ``documents``: a list of texts or dicts, a pandas, polars or pyarrow table, anything with the
    Arrow PyCapsule protocol, or paths; or a dict of several of these by name. Settings are those of
    :class:`neardup.settings.Settings`: ``method``, ``threshold``, ``keep``, ``within``, ``text``,
    ``id``, ``date``, ``clusters`` … Others are parameters of the method: ``words=3``, or as
    elsewhere ``ngram=3``. ``recipe`` names a file of settings, or the system of a paper:
    ``recipe="broder"``.
    """
    return _run(documents, resolve(settings_of(with_recipe(settings))))


def find(documents: Any, **settings: Any) -> Result:
    """Find all near-duplicate pairs and their clusters; the same settings as :func:`dedup`."""
    return _run(documents, resolve(settings_of(with_recipe(settings)), every_pair=True))


def _run(documents: Any, plan: Plan) -> Result:
    return execute(collect(documents, plan.encoding, plan.extraction), plan)
