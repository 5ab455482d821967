"""How low a threshold one pass can bear.

Where unrelated texts share half their features, as with character grams, a pass at 0.3 compares
nearly all pairs. What it would cost is seen on a few documents: candidates grow with the square of
the collection.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from neardup.api import execute
from neardup.documents import Collection
from neardup.documents.tables import arrow_source
from neardup.evaluation.cuts import Setting
from neardup.plan import Settings, resolve

SAMPLE = 200  # documents to try it on
CANDIDATES = 2_000_000  # to score at most, or so many …
PER_DOCUMENT = 50  # … for each document


def bearable(setting: Setting, settings: Settings, drawn: pa.Table, documents: int) -> Setting:
    """Without the cuts that are too low; never without the setting's own."""
    own = setting.method.threshold
    few = drawn.slice(0, SAMPLE)
    growth = (max(documents, len(few)) / max(len(few), 1)) ** 2
    most = max(CANDIDATES, PER_DOCUMENT * documents)
    for number, cut in enumerate(setting.cuts):
        wide = setting.wide if number == 0 else setting.at(cut)
        if (
            cut.threshold >= own
            or _candidates(few, replace(settings, method=wide)) * growth <= most
        ):
            return replace(setting, wide=wide, cuts=setting.cuts[number:])
    return setting


def _candidates(few: pa.Table, settings: Settings) -> int:
    plan = resolve(
        replace(settings, set={}, threshold=None, limit=None, kinds="none"), every_pair=True
    )
    names = {"id": plan.columns.id_name, "text": plan.columns.text}
    table = few.select([n for n in few.column_names if n in names or n in plan.columns.delivered])
    table = table.rename_columns([names.get(name, name) for name in table.column_names])
    return int(execute(Collection([arrow_source(table)]), plan).info["candidates"])
