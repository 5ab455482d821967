"""The driver for documents that come one by one: an index that is asked and added to.

``index.py`` is what users see. A document is signed (``signing.py``), compared with what the index
holds in memory (``memory.py``, kept up with the store by ``cache.py``), decided by the rule
(``arrivals.py``) and written to a store (``store.py``: in memory, SQLite …) before the answer is
given. ``windows.py`` says how long it is remembered, ``opening.py`` what a store was made with,
``entries.py`` what is there; ``taking.py`` takes whole collections in, ``refresh.py`` signs again.
"""
