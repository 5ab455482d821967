"""The vote of single measures, which steadies a machine.

A machine weighs measures against each other by what the labels happen to show, and few labels, or
labels of few sorts, show much by chance. Each measure alone has two numbers to learn, so its
log-odds hold elsewhere too. A third of the say goes to the mean of those that tell best alone
(a logarithmic opinion pool, Genest & Zidek 1986): half of a collection teaches the other as well as
without, a few dozen labels teach much more, and so do labels of another collection
(docs/learning.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup.artefacts.discriminants import Linear
from neardup.evaluation.training.averaging import Machine
from neardup.evaluation.training.data import Data
from neardup.evaluation.training.scores import fit_platt, log_loss

SHARE = 1 / 3  # of the say
VOTERS = 7  # of the measures


def vote_of(data: Data, columns: Sequence[int]) -> Machine:
    """In log-odds, in the form of a linear machine."""
    alone = [fit_platt(data.x[:, column], data.y) for column in columns]
    told = zip(alone, columns, strict=True)
    losses = [log_loss(one.probability(data.x[:, column]), data.y) for one, column in told]
    voters = np.argsort(losses, kind="stable")[:VOTERS]
    weights = np.zeros(len(columns))
    weights[voters] = [alone[at].slope / len(voters) for at in voters]
    b = float(np.mean([alone[at].offset for at in voters]))
    plain = np.zeros(len(columns)), np.ones(len(columns))
    return Machine(tuple(columns), *plain, Linear(weights, b))
