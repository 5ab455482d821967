"""The HTTP service and the pages: thin, no algorithm inside.

``app.py`` puts *parts* together (the service of an index, the review of a run, judging, the flow).
Each part lists its ``doors.py``; ``guard.py`` checks every request by them, and ``pages.py`` shows
data as a page and as its JSON twin.
"""
