"""Exact duplicates: texts with equal bytes or equal normal forms, confirmed on the text itself.

The key is a digest. The evidence is the text or its normal form, on which every copy is confirmed,
so two texts are never taken for duplicates because their digests collide. The normal form consists
of the folded words, joined by single spaces (``text/words.py``).

With ``fields``, chosen columns are compared in place of the text (metadata hashing; Padmasree et
al. 2006, as Williams & Giles describe it). A document that has none of them is compared by its
text, and equals no document that has some.
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
from neardup.methods.preparation import TEXT_SEED, field_texts
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text

_NORMAL = "1 for texts that are equal after normalisation, else 0"
FORMS = ("normal", "bytes")


@dataclass(frozen=True)
class Exact(Method):
    """Copies that are equal, to the byte or after normalisation.

    ``form``: "normal" (equal after normalisation) or "bytes".
    ``fields``: columns to compare in place of the text, such as title and year; all must be equal.
    ``threshold``: always 1.
    ``text``: what counts as the same word.
    """

    form: str = "normal"
    fields: tuple[str, ...] = ()
    threshold: float = 1.0
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "exact"
    added: ClassVar[tuple[str, ...]] = ("fields",)
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint8)
    confirms_copies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_one_of(FORMS, self, "form")
        object.__setattr__(self, "fields", _names(self.fields))
        if self.threshold != 1:
            raise SettingsError(
                f"exact: threshold is {self.threshold}, but exact copies have score 1.",
                hint="leave the threshold out, or take --method shingles.",
            )

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name in self.fields if name != "text")

    @property
    def reason(self) -> str:
        if self.fields:
            return f"equal {', '.join(self.fields)}"
        return "equal text" if self.form == "bytes" else "equal normal form"

    @property
    def score_meaning(self) -> str:
        if self.fields:
            return f"1 for documents of equal {', '.join(self.fields)}, else 0"
        return "1 for equal texts, else 0" if self.form == "bytes" else _NORMAL

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        texts = Ragged.of_strings(batch.column("text"))
        options = self.text.native()
        normal = Ragged(*_native.normal_forms(texts.values, texts.offsets, options))
        evidence = normal if self.form == "normal" else texts
        if self.fields:
            evidence = self._records(batch, evidence)
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

    def _records(self, batch: pa.RecordBatch, own: Ragged) -> Ragged:
        """The fields of each document, separated; 0 or 1 in front tells texts and records apart."""
        columns = [field_texts(batch.column(name)) for name in self.fields]
        if self.form == "normal":
            options = self.text.native()
            columns = [
                Ragged(*_native.normal_forms(one.values, one.offsets, options)) for one in columns
            ]
        rows = zip(*([bytes(one[i]) for i in range(len(one))] for one in columns), strict=True)
        records = [
            b"\x01" + b"\x00".join(row) if any(row) else b"\x00" + bytes(own[i])
            for i, row in enumerate(rows)
        ]
        return Ragged.of_strings(pa.array(records, pa.large_binary()))

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        equal = _native.equal_pairs(evidence.values, evidence.offsets, a, b).view(np.bool_)
        return Scores(equal, equal.astype(np.float64))


def _digests(ragged: Ragged, seed: int) -> Array:
    digests: Array = _native.bytes_digests(ragged.values, ragged.offsets, seed)
    return digests


def _names(given: object) -> tuple[str, ...]:
    if isinstance(given, list | tuple) and all(isinstance(one, str) for one in given):
        return tuple(given)
    raise SettingsError(
        f"exact: fields are {given!r}; expected a list of columns.",
        hint="""such as --set 'fields=["title", "year"]'.""",
    )
