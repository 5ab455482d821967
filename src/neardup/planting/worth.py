"""What a cut is worth on known answers."""

from __future__ import annotations


def worth(recall: float, wrong: float) -> float:
    """F1 in a collection with as many traps as copies, where ``recall`` of the copies are found and
    ``wrong`` is the share of traps that pass."""
    return 2 * recall / (1 + recall + wrong)
