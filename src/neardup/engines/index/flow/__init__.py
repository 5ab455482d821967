"""A flow of items from folder to folder, as ``neardup watch`` runs it.

Items come from a folder (``watched_folder.py``) or from files and pipes that hold several
(``items.py``). They are claimed into a working folder (``workplace.py``), added to the index
(``flow.py``, which drives everything), and moved to one of three places (``places.py``): originals
are forwarded, duplicates and unreadable items are set aside with a note. ``items.py`` defines an
item; ``flow_settings.py`` holds the settings of the user.

The file system is the journal: an item is done when its staged file is gone. A flow that was killed
at any moment therefore recovers by its normal steps: it finishes what is staged, and looks up
earlier decisions in the index before it decides.
"""
