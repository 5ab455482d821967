"""No kernel takes more instructions than recorded, at any level that valgrind knows."""

from __future__ import annotations

import pytest

from benchmarks import instruction_counts
from benchmarks.corpus import MissingError


@pytest.mark.valgrind
def test_instructions_of_kernels() -> None:
    try:
        losses = instruction_counts.check()
    except MissingError as missing:  # another compiler, or a build without its object files
        pytest.skip(str(missing))
    hint = "If it is meant to be so: python -m benchmarks.instruction_counts --record"
    assert not losses, "\n".join([*losses, hint])


def test_a_loss_is_named() -> None:
    recorded = {"words": {"sse4": 1000, "avx2": 500}}
    same = instruction_counts.losses({"words": {"sse4": 1040, "avx2": 400}}, recorded)
    assert same == []
    more = instruction_counts.losses({"words": {"avx2": 600}, "lines": {"avx2": 1}}, recorded)
    assert more == [
        "words at avx2: 600 instructions, 20% more than 500.",
        "lines at avx2 has no recorded count.",
    ]
