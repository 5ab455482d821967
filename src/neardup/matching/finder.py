"""The way to meet that a method declares → the code that finds who meets.

Here alone is decided which file of ``matching/`` serves which ``meeting``: for all documents of a
collection (``candidates``) and for one document after the other (``postings``).
"""

from __future__ import annotations

from neardup.matching.candidates import Candidates, Leaders, Verify
from neardup.matching.near_bits import near_candidates
from neardup.matching.paths import path_candidates
from neardup.matching.postings import Postings
from neardup.matching.rare import rare_candidates
from neardup.matching.shared_keys import KeyPostings, key_candidates
from neardup.matching.window import SlottedWindow
from neardup.methods.meeting import Meeting, NearBits, RarePrefix, SharedKeys, SharedWindow


def candidates(meeting: Meeting, leaders: Leaders, verify: Verify) -> Candidates:
    """The pairs of leaders that meet, verified, and hot groups."""
    way = meeting.batch
    if isinstance(way, SharedKeys):
        return key_candidates(way, leaders, verify)
    if isinstance(way, RarePrefix):
        return rare_candidates(way, leaders, verify)
    if isinstance(way, NearBits):
        return near_candidates(way, leaders, verify)
    return path_candidates(way, leaders, verify)


def postings(meeting: Meeting, period: int | None = None) -> Postings:
    """What makes arrivals meet. ``period``: how much time one slot of a window takes; None where
    documents are never too old."""
    way = meeting.arrival
    if isinstance(way, SharedWindow):
        return SlottedWindow(way.share, period)
    return KeyPostings(way.least)
