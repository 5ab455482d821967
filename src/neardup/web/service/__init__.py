"""The HTTP service over an index: ``/v1``, metrics, and a page that says what there is.

``part.py`` has the routes, ``writing.py`` the one writer, ``streaming.py`` documents line by line,
``tools.py`` what needs no index.
"""
