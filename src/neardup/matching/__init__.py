"""Stage 5: keys and evidence → candidates → pairs that are verified on their evidence.

One file for each way to meet, for a whole collection and for one document: ``shared_keys``,
``rare`` (prefixes of the rarest features), ``near_bits``, ``paths`` and ``window``; ``finder`` maps
the ``meeting`` of a method to them. ``candidates`` has groups and pairs, ``postings`` what an index
remembers. ``scorer`` decides which pairs pass, ``verify`` scores many of them in blocks,
``evidence`` holds what they are scored on, and ``background`` finds where duplicates begin.
"""
