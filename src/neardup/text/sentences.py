"""The sentences of a text, in any script.

``. ! ? …`` end a sentence where white space or the end of the text follows; the marks of scripts
that put no space after them (``。！？`` and their kin) always do. Closing quotes and brackets
belong to what they close. A blank line ends a sentence, a single line break does not: hard-wrapped
copies of one text break their lines elsewhere. There is no list of abbreviations: "Dr. Who" is cut
in two, in every copy alike. Nothing is lost: the sentences joined are the text.
"""

from __future__ import annotations

from itertools import pairwise

from neardup import _native
from neardup.text.words import buffers


def sentences(text: str) -> list[str]:
    """With the white space that follows each."""
    values, offsets = buffers([text])
    ends, _ = _native.sentences(values, offsets)
    whole = bytes(values)
    return [whole[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends.tolist())]
