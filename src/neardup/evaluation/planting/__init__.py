"""Edited copies of the own documents, planted in the collection: what of them is found?

``planted`` makes such copies, as known duplicates where no labels are; ``evaluate`` plants them,
matches once and measures.
"""

from __future__ import annotations

from neardup.evaluation.planting.experiment import evaluate
from neardup.planting.plant import planted

__all__ = ["evaluate", "planted"]
