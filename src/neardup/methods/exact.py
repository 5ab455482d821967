"""Exact duplicates: texts with equal bytes or equal normal forms, confirmed on the text itself.

The key is a digest. The evidence is the text or its normal form, on which every copy is confirmed,
so two texts are never taken for duplicates because their digests collide. The normal form consists
of the folded words, joined by single spaces (``text/words.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.errors import SettingsError
from neardup.methods.base import Method, Prepared, Scores
from neardup.methods.parameters import require_one_of
from neardup.methods.preparation import TEXT_SEED
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text

_NORMAL = "1 for texts that are equal after normalisation, else 0"
FORMS = ("normal", "bytes")


@dataclass(frozen=True)
class Exact(Method):
    """Copies that are equal, to the byte or after normalisation.

    ``form``: "normal" (equal after normalisation) or "bytes".
    ``threshold``: always 1.
    ``text``: what counts as the same word.
    """

    form: str = "normal"
    threshold: float = 1.0
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "exact"
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint8)
    confirms_copies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_one_of(FORMS, self, "form")
        if self.threshold != 1:
            raise SettingsError(
                f"exact: threshold is {self.threshold}, but exact copies have score 1.",
                hint="leave the threshold out, or take --method shingles.",
            )

    @property
    def reason(self) -> str:
        return "equal text" if self.form == "bytes" else "equal normal form"

    @property
    def score_meaning(self) -> str:
        return "1 for equal texts, else 0" if self.form == "bytes" else _NORMAL

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        texts = Ragged.of_strings(batch.column("text"))
        options = self.text.native()
        normal = Ragged(*_native.normal_forms(texts.values, texts.offsets, options))
        evidence = normal if self.form == "normal" else texts
        digests = np.stack([_digests(evidence, 1), _digests(evidence, 2)], axis=1)
        count = len(texts)
        return Prepared(
            keys=Ragged(digests[:, 0].copy(), np.arange(count + 1, dtype=np.int64)),
            probes=np.ones(count, np.int32),
            evidence=evidence,
            digests=digests,
            text_digests=_digests(texts, TEXT_SEED),
            normal_digests=_digests(normal, 8),
            flags=np.zeros(count, np.uint8),
        )

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        equal = _native.equal_pairs(evidence.values, evidence.offsets, a, b).view(np.bool_)
        return Scores(equal, equal.astype(np.float64))


def _digests(ragged: Ragged, seed: int) -> Array:
    digests: Array = _native.bytes_digests(ragged.values, ragged.offsets, seed)
    return digests
