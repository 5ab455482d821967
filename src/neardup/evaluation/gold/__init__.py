"""Gold: what is known of pairs of documents, from groups (a column) or from labelled pairs.

Documents are numbers from 0, in the order of the input, rejected ones included. A pair is
POSITIVE, NEGATIVE or UNKNOWN; unknown pairs help and hurt nobody. Where gold is ``complete``, a
pair that nothing is said of is negative, unless its texts are equal after normalisation: those are
duplicates whatever a label says, so such a pair is unknown.
"""

from neardup.evaluation.gold.contract import NEGATIVE, POSITIVE, UNKNOWN, Gold, Unused
from neardup.evaluation.gold.groups import GroupGold, from_groups
from neardup.evaluation.gold.pairs import PairGold, from_pairs

__all__ = [
    "NEGATIVE",
    "POSITIVE",
    "UNKNOWN",
    "Gold",
    "GroupGold",
    "PairGold",
    "Unused",
    "from_groups",
    "from_pairs",
]
