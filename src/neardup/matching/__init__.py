"""Stage 5: keys and evidence → candidates → pairs that are verified on their evidence.

Each way in which documents can meet has one file, which serves a whole collection and single
arrivals: ``shared_keys``, ``rare`` (prefixes of the rarest features), ``near_bits``, ``paths`` and
``window``. ``finder`` maps the ``meeting`` of a method to one of them. ``candidates`` defines
groups and candidate pairs; ``postings`` defines what an index remembers of its documents.
``scorer`` decides which pairs pass, ``verify`` scores many pairs in blocks, ``evidence`` stores the
data on which they are scored. ``consistency`` and ``background`` find where duplicates begin: by
the consistency of groups, and by a gap in the scores.
"""
