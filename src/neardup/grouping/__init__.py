"""The driver for a ranked result list: few documents, an order, and an answer while a user waits.

``nd.group`` is for one list, :class:`Grouper` for a search engine that groups many and may have
stored a signature with each document.
"""

from neardup.grouping.grouper import Grouper, group

__all__ = ["Grouper", "group"]
