"""Stage 5: keys and evidence → candidates → pairs that are verified on their evidence.

``candidates`` maps the ``meeting`` of a method to the code of that way, and defines groups,
candidate pairs, and the postings by which an index remembers its documents. Each way but the
shortest has a file, which serves a whole collection and single arrivals: ``shared_keys``, ``rare``
(prefixes of the rarest features), ``paths`` and ``window``.
``scorer`` decides which pairs pass, ``verify`` scores many pairs in blocks, ``evidence`` stores the
data on which they are scored. ``consistency`` and ``background`` find where duplicates begin: by
the consistency of groups, and by a gap in the scores.
"""
