"""The body of a message: what its author wrote, apart from quoted history and signature."""

from __future__ import annotations

import pytest

from neardup.documents.message import CLOSE, OPEN
from neardup.documents.quotation import LONGEST_SIGNATURE, Signatures, body_of

OLD = "> The harbour is closed.\n> It will be open on Friday."


@pytest.mark.parametrize(
    ("text", "own", "quoted", "signature"),
    [
        ("Only this.\nAnd that.", "Only this.\nAnd that.", 0, 0),
        (f"I agree.\n\nOn Tue, 5 Mar 2024, Ann wrote:\n{OLD}", "I agree.", 17, 0),
        (f"I agree.\n\nOn 5 Mar 2024, Ann <a@x>\nwrote:\n\n{OLD}", "I agree.", 17, 0),
        (f"Am 5. März schrieb Ann:\n{OLD}\n\nEinverstanden.", "Einverstanden.", 15, 0),
        (f"One.\n{OLD}\nTwo.\n> Third.\nThree.", "One.\nTwo.\nThree.", 11, 0),
        ("I agree.\n-- \nAnn\nThe Coast Ltd.", "I agree.", 0, 5),
        (f"I agree.\n-- \nAnn\nOn 5 March Bob wrote:\n{OLD}", "I agree.", 15, 2),
        ("I agree.\n\nSent from my iPhone", "I agree.", 0, 4),
        (
            "I agree.\n________________________________\nFrom: Ann <a@x>\nSent: Tuesday\nTo: Bob\n"
            "Subject: Harbour\n\nThe harbour is closed.",
            "I agree.",
            14,
            0,
        ),
        ("I agree.\n-----Original Message-----\nThe harbour is closed.", "I agree.", 6, 0),
        (f"Yes.\nOn 5 March Ann wrote:\n{OPEN}\nThe harbour.\n{CLOSE}\nBye.", "Yes.\nBye.", 7, 0),
        ("I agree.\nOn 5 March 2024 Ann wrote:\n\nThe harbour is closed.", "I agree.", 10, 0),
        # What looks alike and is none.
        ("Dear all,\nfrom: here\nto the end", "Dear all,\nfrom: here\nto the end", 0, 0),
        ("He wrote:\n\nNothing is lost.", "He wrote:\n\nNothing is lost.", 0, 0),
    ],
)  # fmt: skip
def test_the_parts_of_a_body(text: str, own: str, quoted: int, signature: int) -> None:
    body = body_of(text)
    assert body.text == own
    assert (len(body.quoted.split()), len(body.signature.split())) == (quoted, signature)


def test_a_long_text_after_two_dashes_is_no_signature() -> None:
    text = "First.\n--\n" + "\n".join(f"Line {n}." for n in range(40))
    assert body_of(text).text == text


def test_no_line_is_examined_twice_for_the_end_of_a_signature() -> None:
    lines, examined = ["--"] * 200, []
    signatures = Signatures(lines, lambda i: bool(examined.append(i)))
    begins = [signatures.begins(i) for i in range(len(lines))]
    assert examined == list(range(len(lines)))
    assert begins.index(True) == len(lines) - LONGEST_SIGNATURE


def test_what_is_forwarded_belongs_to_the_message() -> None:
    text = (
        "See below.\n---------- Forwarded message ---------\nFrom: Ann\nTo: B\nDate: 1\n\nClosed."
    )
    assert body_of(text).text == text
    assert body_of(f"Look.\n{OLD}", "Fwd: Harbour").text == f"Look.\n{OLD}"


def test_a_message_that_is_only_a_quotation_is_taken_as_a_whole() -> None:
    assert body_of(OLD).text == OLD
