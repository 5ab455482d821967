"""The HTTP service and the pages: thin, no algorithm inside.

``app.py`` puts *parts* together (the service of an index, the review of a run, judging, the flow),
``guard.py`` stands before all of them, ``pages.py`` shows data as a page and as its JSON twin.
"""
