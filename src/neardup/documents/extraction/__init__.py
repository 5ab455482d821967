"""Pages to text: HTML, PDF and what a crawl brings, with title, author and date.

``Extraction`` says how; an ``Extractor`` does it, in processes of its own, each page once. Nothing
here knows of sources or tables, so that the processes start fast.
"""
