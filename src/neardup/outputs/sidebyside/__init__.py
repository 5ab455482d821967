"""Two texts side by side for people: on a terminal, in plain lines, on an HTML page.

Documents are hostile until shown otherwise: nothing of theirs reaches a terminal or a page before
``visible`` has made control characters symbols, and a page escapes all the rest.
"""
