"""The engine for documents that come one by one: an index that is checked and added to.

``index.py`` is what users see. A document is signed (``signing.py``), compared with what the index
holds in memory (``index_memory.py``, which also says whom it meets), decided (``arrival_rule.py``
is the rule for one arrival, ``arrivals.py`` what happens when documents come and go) and written to
a store (``store.py`` is the contract; ``sqlite.py``, ``postgresql.py`` with its ``connection.py``,
``volatile.py``) before the answer is given. ``slots.py`` says how long a document is remembered.

``index_settings.py`` is what a user writes and what a store was made with, ``general_tables.py``
what an empty index begins with, ``refresh.py`` takes whole collections in and signs documents
again, ``entries.py`` says what an index holds. ``flow/`` is what ``neardup watch`` does.
"""
