"""eˣ with the same bits on every machine: additions and products alone, which are exact to the last
bit by IEEE 754. What a system's own function gives may differ in that bit, and with it a decision.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_LOWEST, _HIGHEST = -700.0, 700.0
_LN2_HIGH = 6.93147180369123816490e-01  # its last 21 bits are 0: k times it is exact
_LN2_LOW = 1.90821492927058770002e-10
_TAYLOR = tuple(1 / math.factorial(n) for n in range(14))


def exp(x: Floats) -> Floats:
    """eˣ = 2ᵏ · eʳ with |r| ≤ ln 2 / 2; beyond ±700 as at ±700."""
    x = np.clip(np.asarray(x, np.float64), _LOWEST, _HIGHEST)
    k = np.rint(x * (1 / math.log(2)))
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    total = np.full_like(r, _TAYLOR[-1])
    for term in _TAYLOR[-2::-1]:
        total = total * r + term
    return np.asarray(np.ldexp(total, k.astype(np.int32)), np.float64)


def sigmoid(x: Floats) -> Floats:
    """1 / (1 + e⁻ˣ), never falling as x grows."""
    small = exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))
