"""Every page and figure that neardup makes, as one file each: offline, without a script.

``html_page.py`` is the renderer and draws bars, ``figures.py`` draws charts, ``styles/`` has the
look. ``run_report.py`` puts the report of a run together from the sections in the other ``run_*``
files, ``side_by_side*.py`` show two texts on a page, on a terminal and in plain lines. Texts are
read again only for the few pairs that are shown. The same run gives the same bytes, timings apart,
and at most about a megabyte however large the collection is.
"""
