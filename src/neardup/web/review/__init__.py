"""The review of a run or of an index: lists, pairs, clusters, thresholds, and changes by hand.

``sources.py`` opens what is reviewed, ``tables.py`` makes arrays of it once, ``filters.py`` and
``orders.py`` choose from them, ``texts.py`` reads and searches the documents, ``state.py`` holds
what is shown now, and ``part.py`` has the pages.
"""
