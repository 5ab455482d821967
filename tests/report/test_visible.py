"""Nothing that acts reaches a terminal or a page."""

from __future__ import annotations

import json
import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from neardup.report.side_by_side import flowed
from neardup.wording import ACTING, escaped_json, visible

DRAWN = {*"\t\n\u200c\u200d\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"} | {
    chr(code) for code in range(0x600, 0x606)
}
every_character = st.text(st.characters(exclude_categories=()))


def test_every_character_that_acts_is_known() -> None:
    for one in map(chr, range(sys.maxunicode + 1)):
        acts = unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") and one not in DRAWN
        assert not acts or ACTING.match(one), hex(ord(one))


def test_symbols() -> None:
    assert visible("\x1b[31m\x00\x7f\x9b\u202e\ud800") == "␛[31m␀␡⟨009B⟩⟨202E⟩⟨D800⟩"
    assert visible("a\r\nb\rc\td") == "a\nb\nc\td"
    assert visible("می‌خواهم 👩‍👩‍👧") == "می‌خواهم 👩‍👩‍👧"


@given(every_character)
def test_nothing_acts_afterwards(text: str) -> None:
    assert not ACTING.search(visible(text))
    visible(text).encode()
    assert "\n" not in flowed(text)


@given(every_character)
def test_json_says_the_same(text: str) -> None:
    written = escaped_json(json.dumps([text], ensure_ascii=False))
    assert not ACTING.search(written)
    assert json.loads(written) == json.loads(json.dumps([text]))
