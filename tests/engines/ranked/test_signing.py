"""Signatures as bytes: what is in them, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.engines.ranked import Grouper
from neardup.errors import NeardupError, SettingsError, SignatureError

TEXTS = [
    "the harbour will be rebuilt in stone after the council voted on tuesday night to pay for it",
    "too short",
    "train drivers walk out on friday for a whole day after their talks about pay broke down late",
]


def test_golden() -> None:
    """Stored signatures stay readable; if this fails, step SIGNATURE_FORMAT."""
    (made,) = Grouper(words=5, threshold=0.8).sign(["too short"])
    assert made is not None
    assert made.startswith(b"nd\x03\x08shingles")
    assert (
        made[12:].hex()
        == (
            "26c3e31b8a3cbcf6" + "44136fa355b3678a"  # the parameters, the artefacts
            "8166b3c4d6c49bc4"  # of what follows
            "01"
            + "01000000"
            + "01000000"
            + "0900000000000000"  # too short, one key, nine characters
            "fcd08f26549ab2ab" + "c33b2f7eb8f18596"  # the text, its normal form
            "ec1959c3bdd910ea" + "b2ffc2448e4586b0e07a1cbad9cc0bbe"  # the key, the evidence
        )
    )


def test_only_what_has_a_text_is_signed() -> None:
    made = Grouper().sign([TEXTS[0], None, TEXTS[0]])
    assert made[1] is None
    assert made[0] == made[2]
    grouped = Grouper().group(["x", "y", "z"], signatures=made)
    assert [[member.position for member in group] for group in grouped] == [[1, 3], [2]]
    assert grouped[1].representative.flags == "signature is missing"


def test_a_signature_does_not_depend_on_its_list() -> None:
    grouper = Grouper()
    assert grouper.sign(TEXTS) == [grouper.sign([text])[0] for text in TEXTS]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"threshold": 0.6}, "2 of 3 .* row 2 has other parameters"),
        ({"method": "simhash"}, "row 2 is of simhash, expected shingles"),
    ],
)
def test_unlike_ones_are_refused(other: dict[str, object], said: str) -> None:
    mixed = Grouper().sign(TEXTS[:1]) + Grouper(**other).sign(TEXTS[1:])
    with pytest.raises(SignatureError, match=said):
        nd.group(TEXTS, signatures=mixed)


def test_artefacts_make_a_difference() -> None:
    small, large = (
        Grouper(method="termvector", artefacts=nd.dedup(texts, method="termvector").artefacts)
        for texts in (TEXTS[:1], TEXTS)
    )
    with pytest.raises(SignatureError, match="row 1 has other artefacts"):
        large.group(TEXTS, signatures=small.sign(TEXTS))


def test_a_method_that_counts_each_list_cannot_sign() -> None:
    with pytest.raises(SettingsError, match="termvector needs idf of a collection"):
        Grouper(method="termvector").sign(TEXTS)


@given(st.data())
def test_cut_or_changed_ones_are_refused(data: st.DataObject) -> None:
    good = Grouper().sign(TEXTS)
    broken = bytearray(good[2] or b"")
    place = data.draw(st.integers(0, len(broken) - 1))
    if data.draw(st.booleans()):
        broken[place] ^= data.draw(st.integers(1, 255))
    else:
        del broken[place:]
    with pytest.raises(NeardupError, match=r"row 3 (was cut|has|is)"):
        nd.group(TEXTS, signatures=[*good[:2], bytes(broken)])
