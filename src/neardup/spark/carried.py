"""What tasks need of the plan: it travels once to a machine, artefacts with their digests.

A task unpacks it when it first needs it and keeps it for the next task of its worker. Artefacts
that are not what they were when they left are refused.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from neardup.online.frozen import packed, unpacked
from neardup.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Carried:
    """Gives the plan in a task; ``broadcast`` holds it as bytes."""

    broadcast: Any
    digest: str

    def plan(self) -> Plan:
        return _unpacked(self.digest, _Bytes(self.broadcast))


@dataclass(frozen=True, eq=False)
class _Bytes:
    """Not part of what plans are remembered by: the digest is."""

    broadcast: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Bytes)

    def __hash__(self) -> int:
        return 0


def carried(spark: SparkSession, plan: Plan) -> Carried:
    """Threads are Spark's business: a task works alone."""
    alone = replace(plan, artefacts={}, workers=1)
    data = pickle.dumps((alone, packed(plan.artefacts), plan.digests))
    digest = hashlib.sha256(data).hexdigest()[:32]
    return Carried(spark.sparkContext.broadcast(data), digest)


@functools.lru_cache(maxsize=2)
def _unpacked(digest: str, data: _Bytes) -> Plan:  # noqa: ARG001 (what it is remembered by)
    plan, files, digests = pickle.loads(data.broadcast.value)
    made: Plan = replace(plan, artefacts=unpacked(files, plan.method, digests))
    return made
