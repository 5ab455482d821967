"""Maps the ``meeting`` that a method declares to the code that finds which documents meet.

This is the only place that decides which file of ``matching/`` serves which way to meet:
``candidates`` for all documents of a collection, ``postings`` for documents that arrive one by one.
"""

from __future__ import annotations

from neardup.matching.candidates import Candidates, Leaders, Verify
from neardup.matching.near_bits import near_candidates
from neardup.matching.paths import path_candidates
from neardup.matching.postings import Postings
from neardup.matching.rare import rare_candidates
from neardup.matching.shared_keys import KeyPostings, key_candidates
from neardup.matching.window import UNCLIPPED, SlottedWindow
from neardup.methods.meeting import Meeting, NearBits, RarePrefix, SharedKeys, SharedWindow


def candidates(meeting: Meeting, leaders: Leaders, verify: Verify) -> Candidates:
    """The verified pairs of leaders that meet, and hot groups."""
    way = meeting.batch
    if isinstance(way, SharedKeys):
        return key_candidates(way, leaders, verify)
    if isinstance(way, RarePrefix):
        return rare_candidates(way, leaders, verify)
    if isinstance(way, NearBits):
        return near_candidates(way, leaders, verify)
    return path_candidates(way, leaders, verify)


def postings(
    meeting: Meeting, period: int | None = None, clip: tuple[float, float] = UNCLIPPED
) -> Postings:
    """An empty memory of documents for later arrivals. ``period`` is the time that one slot of a
    window covers; None if documents never expire. ``clip`` are the shares of documents above and
    below which a feature is not looked up, where features are."""
    way = meeting.arrival
    if isinstance(way, SharedWindow):
        return SlottedWindow(way.share, period, clip)
    return KeyPostings(way.least)
