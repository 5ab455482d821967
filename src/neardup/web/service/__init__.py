"""The HTTP service over an index: ``/v1``, metrics, and a page that says what there is.

``service.py`` puts it together, ``routes.py`` has the routes, ``writer.py`` the one writer,
``bodies.py`` reads documents, also line by line, ``tools.py`` what needs no index.
"""
