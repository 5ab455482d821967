"""A flow of items from folder to folder: what ``neardup watch`` does.

Items come from a folder (``watched_folder.py``) or from files and pipes that hold several
(``item_files.py``). They are claimed into a folder of work (``workplace.py``), added to the index
(``flow.py``, which drives it all), and go to one of three places (``places.py``): originals are
forwarded, duplicates and unreadable items are set aside with a note. ``items.py`` says what an item
is, ``flow_settings.py`` what a user asked for.

The file system is the journal: an item whose staged file is there is not done, one whose file is
gone is. So a flow that was killed at any moment goes on by doing what it does anyway: it finishes
what is staged, and asks the index what was decided before it decides.
"""
