"""The review of a run or of an index: lists, pairs, clusters, thresholds, and changes by hand.

``review_source.py`` opens what is reviewed, ``review_tables.py`` makes arrays of it once,
``filters.py`` and ``pagination.py`` choose from them, ``review_texts.py`` reads and searches the
documents, ``review_state.py`` holds what is shown now, and ``review_pages.py`` puts the pages
together.
"""
