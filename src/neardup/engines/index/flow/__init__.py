"""A flow of items from folder to folder: what ``neardup watch`` does.

Items come from a source (``folder.py``, ``lines.py``). They are claimed into a folder of work
(``work.py``), added to the index (``deciding.py``), and go to one of three places (``places.py``):
originals forwarded, duplicates and unreadable ones set aside with a note. ``flow.py`` drives that.
``reading.py``, ``feeds.py`` and ``html.py`` make items of files.

The file system is the journal: an item whose staged file is there is not done, one whose file is
gone is. So a flow that was killed at any moment goes on by doing what it does anyway: it finishes
what is staged, and asks the index what was decided before it decides.
"""
