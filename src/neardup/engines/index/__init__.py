"""The engine for documents that come one by one: an index that is checked and added to.

``index.py`` has the class that users see. A document is signed (``signing.py``), compared with the
documents in memory (``index_memory.py``), decided (``arrival_rule.py`` has the rule for one
arrival, ``arrivals.py`` the events of documents that come and go) and written to a store before the
answer is returned. ``store.py`` is the contract of stores; ``sqlite.py``, ``postgresql.py`` (with
``connection.py``) and ``store.py`` implement it. ``time_window.py`` defines how long a document is
remembered.

``index_settings.py`` has the settings of a user and those stored in an index,
``index_artefacts.py`` the tables with which it begins. ``refresh.py`` adds whole collections and
signs documents again, and ``entries.py`` lists the documents of an index. ``flow/`` implements
``neardup watch``.
"""
