"""Which pairs of texts a reader would take for one: the texts are read again and compared.

Few pairs are asked for, those that may pass as exceptions below the threshold or that share little
of their texts. A text that cannot
be read again passes with no other, so that nothing is dropped for a text that nobody looked at.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from neardup.documents import Collection, Columns
from neardup.engines.batch.references import reference_texts
from neardup.plan import Plan
from neardup.progress import Progress
from neardup.runs.texts_again import Means, TextsAgain, reread, text_keys
from neardup.schema import Array
from neardup.text.recognition import recognised


def recognised_pairs(
    collection: Collection, plan: Plan, progress: Progress, a: Array, b: Array, floor: int
) -> npt.NDArray[np.bool_]:
    """Which pairs of texts, given by their digests, share at least ``floor`` percent."""
    wanted, numbers = np.unique(np.concatenate([a, b]), return_inverse=True)
    own = (collection, Columns(text=plan.columns.text, id=plan.columns.id))
    progress.stage("rereading", unit="documents", total_bytes=collection.plain_size())
    means = Means(plan.workers, plan.texts_limit, None, progress)
    again = reread(wanted, [own, *reference_texts(plan)], text_keys, means)
    progress.stage("comparing", len(a), unit="pairs")
    try:
        pairs = numbers[: len(a)], numbers[len(a) :]
        return _compared(again, *pairs, floor, plan.workers, progress)
    finally:
        again.store.close()


def _compared(
    again: TextsAgain, a: Array, b: Array, floor: int, workers: int, progress: Progress
) -> npt.NDArray[np.bool_]:
    def enough(pair: tuple[int, int]) -> bool:
        numbers = np.array(pair)
        progress.advance(1)
        if (again.slot[numbers] < 0).any():
            return False
        one, other = again.strings(numbers)
        return recognised(one, other).reaches(floor)

    with ThreadPoolExecutor(workers) as pool:
        return np.array(list(pool.map(enough, zip(a.tolist(), b.tolist(), strict=True))), np.bool_)
