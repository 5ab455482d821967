"""Pages to text: HTML, PDF, office files, books and crawl records, with title, author and date.

``Extraction`` has the settings; an ``Extractor`` extracts each page once, in separate processes.
This package imports neither sources nor tables, so that the processes start fast.
"""
