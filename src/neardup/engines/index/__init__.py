"""The driver for documents that come one by one: an index that is asked and added to.

``index.py`` is what users see: what changes an index; ``checking.py`` is what is asked of it,
``entries.py`` what is there, ``stats.py`` what that takes. A document is signed (``signing.py``; a
``signature.py``), compared with what the index holds in memory (``memory.py``; ``meeting.py`` says
whom it meets, ``cache.py`` keeps up with the store), decided (``rule.py`` is what holds for all,
``arrivals.py`` what happens when documents come and go) and written to a store (``store.py``: in
memory, SQLite …) before the answer is given. ``windows.py`` says how long it is remembered.
``settings.py`` is what a user writes, ``opening.py`` what a store was made with, ``frozen.py`` its
artefacts. ``taking.py`` takes whole collections in, ``refresh.py`` signs again.
"""
