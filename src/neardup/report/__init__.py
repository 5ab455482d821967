"""The report of a run: one HTML file for managers and engineers, offline, without a script.

``page.py`` puts it together; the other files make one part of it each, from the tables of the run.
Texts are read again only for the few pairs that are shown. The same run gives the same bytes,
timings apart, and at most about a megabyte however large the collection is.
"""
