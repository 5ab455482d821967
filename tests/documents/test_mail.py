"""Mail: messages and attachments are documents, and kept messages come back byte for byte."""

from __future__ import annotations

import gzip
import json
import mailbox
import random
import re
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import neardup as nd
from documents.extraction.office_files import docx, paragraph
from documents.outlook_files import compound, outlook
from documents.pages import ARTICLE, OTHER
from neardup.documents.mail import message_text
from neardup.documents.message import MOST_HEADER, MOST_MEMBERS, parsed_message
from neardup.documents.outlook import outlook_message, unpacked_rtf

BODY, ELSE = "\n\n".join(ARTICLE), "\n\n".join(OTHER)
WORD = docx("".join(map(paragraph, ARTICLE)))
REPLY = (
    "I agree with all of this, and the council should hear it before it meets on Friday at noon."
)


def message(number: int, text: str, *, id_: str | None = "", **headers: str) -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"] = "Ann Brown <ann@x.org>", "bob@x.org"
    made["Subject"] = headers.pop("subject", "Häfen")
    made["Date"] = f"Tue, 05 Mar 2024 10:{number:02}:00 +0100"
    if id_ is not None:
        made["Message-ID"] = f"<{id_ or f'm{number}@x.org'}>"
    for name, value in headers.items():
        made[name.replace("_", "-")] = value
    made.set_content(text)
    return made


def attached(made: EmailMessage, **files: bytes) -> EmailMessage:
    for name, data in files.items():
        full = name.replace("_", ".")
        made.add_attachment(data, maintype="application", subtype="octet-stream", filename=full)
    return made


def mails() -> list[EmailMessage]:
    quoted = "\n".join(f"> {line}" for line in BODY.split("\n"))
    return [
        message(1, f"{BODY}\n\n-- \nAnn\nThe Coast Ltd."),
        message(2, f"{REPLY}\n\nOn 5 Mar 2024, Ann wrote:\n{quoted}", References="<m1@x.org>"),
        attached(message(3, "See the report."), Report_docx=WORD, a_png=b"\x89PNG"),
        message(4, f"{BODY}\nFrom here on it is another line.", In_Reply_To="<m2@x.org>"),
        message(5, ELSE, id_="m1@x.org"),
    ]


def mbox(path: Path, made: list[EmailMessage]) -> Path:
    box = mailbox.mbox(path)
    for one in made:
        box.add(one)
    box.close()
    return path


COLUMNS = (
    "id",
    "from",
    "date",
    "thread",
    "family",
    "attachment",
    "quoted_words",
    "signature_words",
)


def rows(result: Any) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in COLUMNS) for row in result.kept.to_pylist()]


def test_a_mailbox_is_read_as_messages_and_attachments(tmp_path: Path) -> None:
    path = mbox(tmp_path / "in.mbox", mails())
    whole = nd.dedup(path, within="family")
    assert (whole.counts.kept, whole.counts.duplicates, whole.counts.rejected) == (6, 0, 0)
    ann, at = "Ann Brown <ann@x.org>", "2024-03-05T10:0{}:00+01:00"
    named = f"{path.as_posix()}:6"
    assert rows(whole) == [
        ("m1@x.org", ann, at.format(1), "m1@x.org", "m1@x.org", None, 0, 5),
        ("m2@x.org", ann, at.format(2), "m1@x.org", "m2@x.org", None, 127, 0),
        ("m3@x.org", ann, at.format(3), "m3@x.org", "m3@x.org", None, 0, 0),
        ("m3@x.org#Report.docx", ann, at.format(3), *["m3@x.org"] * 2, "Report.docx", None, None),
        ("m4@x.org", ann, at.format(4), "m1@x.org", "m4@x.org", None, 0, 0),
        (named, ann, at.format(5), "m1@x.org", named, None, 0, 0),
    ]  # fmt: skip
    assert whole.kept["text"].to_pylist()[1] == REPLY
    assert whole.kept["subject"].to_pylist()[0] == "Häfen"
    assert whole.kept["title"].to_pylist()[3] == "Report.docx"
    assert "\nFrom here on" in whole.kept["text"].to_pylist()[4]
    assert whole.info["passed_over"] == {"application/octet-stream": 1}


def test_kept_messages_are_written_byte_for_byte_and_families_stay_whole(tmp_path: Path) -> None:
    path = mbox(tmp_path / "in.mbox", mails())
    result = nd.dedup(path, keep="newest", date="date")
    decided = {row["id"]: row["kept_id"] for row in result.decisions.to_pylist()}
    assert decided["m1@x.org"] == decided["m3@x.org#Report.docx"] == "m4@x.org"
    result.save(tmp_path / "out")
    parts = re.split(rb"(?m)(?<=\n\n)(?=^From MAILER)", path.read_bytes())
    # The third message stays for its own text, although its attachment is a duplicate.
    assert (tmp_path / "out" / "kept.mbox").read_bytes() == b"".join(parts[1:])


def test_a_message_stays_if_only_its_attachment_is_kept(tmp_path: Path) -> None:
    other = docx("".join(map(paragraph, OTHER)))
    made = [message(1, BODY), attached(message(2, BODY), Other_docx=other)]
    path = mbox(tmp_path / "in.mbox", made)
    result = nd.dedup(path)
    assert result.kept["id"].to_pylist() == ["m1@x.org", "m2@x.org#Other.docx"]
    result.save(tmp_path / "out")
    assert (tmp_path / "out" / "kept.mbox").read_bytes() == path.read_bytes()


def test_files_of_mail_in_folders_archives_and_maildirs_give_the_same(tmp_path: Path) -> None:
    folder, maildir = tmp_path / "in", mailbox.Maildir(tmp_path / "maildir")
    folder.mkdir()
    sent = maildir.add_folder("Sent")
    archive = zipfile.ZipFile(tmp_path / "in.zip", "w")
    for number, one in enumerate(mails()):
        (folder / f"{number}.eml").write_bytes(bytes(one))
        archive.writestr(f"{number}.eml", bytes(one))
        (sent if number == 4 else maildir).add(one)
    archive.close()
    (folder / "note.txt").write_text(BODY, "utf-8")
    result = nd.dedup(folder)
    counts = result.counts
    assert (counts.kept, counts.duplicates) == (4, 3)
    result.save(tmp_path / "out")
    kept = sorted(path.name for path in (tmp_path / "out" / "kept").iterdir())
    assert kept == ["0.eml", "1.eml", "2.eml", "4.eml"]
    assert (tmp_path / "out/kept/2.eml").read_bytes() == (folder / "2.eml").read_bytes()
    paths = [result.path_of(row) for row in result.decisions.to_pylist()]
    assert paths[:4] == [f"{folder}/{n}" for n in ("0.eml", "1.eml", "2.eml", "2.eml#Report.docx")]
    for place in (tmp_path / "in.zip", tmp_path / "maildir"):
        again = nd.dedup(place).counts
        assert (again.kept, again.duplicates, again.rejected) == (4, 2, 0)


def test_mailboxes_in_a_folder_and_several_mailboxes(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    mbox(tmp_path / "in" / "a.mbox", mails())
    packed = mbox(tmp_path / "b", mails()[:2]).read_bytes()
    (tmp_path / "in" / "b.mbox.gz").write_bytes(gzip.compress(packed))
    (tmp_path / "in" / "note.txt").write_text(BODY, "utf-8")
    result = nd.dedup(tmp_path / "in")
    assert (result.counts.documents, result.counts.duplicates) == (9, 5)
    result.save(tmp_path / "out")
    kept = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*box*")}
    assert kept == {"kept.files/a.mbox", "kept.files/b.mbox.gz"}
    assert gzip.decompress((tmp_path / "out/kept.files/b.mbox.gz").read_bytes()) == b""
    # A mailbox as mail programs store it has no extension.
    assert nd.dedup(tmp_path / "b").counts.documents == 2


def test_within_keeps_threads_apart(tmp_path: Path) -> None:
    made = [message(1, BODY), message(2, BODY), message(3, BODY, References="<m1@x.org>")]
    result = nd.dedup(mbox(tmp_path / "in.mbox", made), within="thread")
    assert result.kept["id"].to_pylist() == ["m1@x.org", "m2@x.org"]


def test_what_is_broken_is_rejected_and_the_rest_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    locked = message(1, "x")
    locked.replace_header("Content-Type", "application/pkcs7-mime")
    good = attached(message(2, ELSE), Report_docx=b"broken", b_pdf=b"broken", c_eml=b"broken")
    contents = {
        "a.eml": b"",
        "b.eml": b"\0\1\2" * 50,
        "c.eml": b"Subject: " + b"x" * MOST_HEADER,
        "d.eml": bytes(locked),
        "e.eml": bytes(good),
        "f.msg": b"broken",
        "g.msg": compound(outlook("Sealed", body="x", x001A="IPM.Note.SMIME")),
        "h.mbox": b"no mailbox at all",
        "i.mbox.gz": gzip.compress(mbox(tmp_path / "i", [message(9, BODY)]).read_bytes())[:-40],
    }
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    result = nd.dedup(folder)
    counts = result.counts
    assert counts.documents == counts.kept + counts.duplicates + counts.rejected
    said = {row["id"] or row["file"].rpartition("/")[2]: row["reason"]
            for row in result.decisions.to_pylist() if row["decision"] == "rejected"}  # fmt: skip
    expected = {
        "a.eml": "usual headers",
        "b.eml": "usual headers",
        "c.eml": "header has more than 1 MB",
        "m1@x.org": "S/MIME",
        "m2@x.org#Report.docx": "not a zip file",
        "m2@x.org#b.pdf": "PDF cannot be read",
        "m2@x.org#c.eml": "usual headers",
        "f.msg": "no file of Outlook",
        "g.msg": "S/MIME",
        "h.mbox": "a line 'From '",
    }
    for name, reason in expected.items():
        assert reason in said.pop(name), name
    assert "m2@x.org" in result.kept["id"].to_pylist()
    assert len(said) == 1  # what follows the message in the mailbox that is cut off


def test_too_many_attachments_and_levels() -> None:
    head = b"From: a\nContent-Type: multipart/mixed; boundary=b\n\n"
    assert parsed_message(head + b"--b\n" * 20_000).problem == "message has more than 10,000 parts"
    many = message(1, "x")
    attached(many, **{f"a{n}_txt": b"x" for n in range(MOST_MEMBERS + 5)})
    members = parsed_message(bytes(many)).members
    assert len(members) == MOST_MEMBERS + 1
    assert "more than 1,000 attachments" in (members[-1].problem or "")
    deep = message(1, "x")
    for _ in range(30):
        outer = message(1, "x")
        outer.add_attachment(deep)
        deep = outer
    assert any(
        "20 levels deep" in (one.problem or "") for one in parsed_message(bytes(deep)).members
    )


LARGE = """
import json, resource, sys
import neardup as nd

def dedup(path):
    return nd.dedup(path, max_document=1_000_000, method="exact", workers=1)

dedup(sys.argv[1]).save(sys.argv[3])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = dedup(sys.argv[2])
result.save(sys.argv[4])
rows = [(row["id"], row["decision"], row["reason"]) for row in result.decisions.to_pylist()]
print(json.dumps([resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, rows]))
"""


def test_a_large_attachment_costs_no_memory_and_its_message_is_kept(tmp_path: Path) -> None:
    small = mbox(tmp_path / "small.mbox", [message(1, BODY)])
    path = mbox(tmp_path / "in.mbox", [message(1, BODY)])
    text, _, _ = bytes(attached(message(2, ELSE), large_txt=b"x")).partition(b"eA==")
    with path.open("ab") as out:
        out.write(b"From - Tue Mar 05 10:00:00 2024\n" + text)
        for _ in range(100):
            out.write((b"d29yZCB3b3Jk" * 6 + b"\n") * (1 << 14))
        out.write(b"\n\nFrom - Tue Mar 05 10:00:00 2024\n" + bytes(message(3, REPLY)))
    places = (small, path, tmp_path / "small", tmp_path / "out")
    code = [sys.executable, "-c", LARGE, *map(str, places)]
    told = subprocess.run(code, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    kilobytes, rows = json.loads(told.stdout)
    assert kilobytes < 30_000  # the attachment has four times as many
    assert [row[:2] for row in rows] == [
        ["m1@x.org", "kept"],
        ["m2@x.org", "kept"],
        ["m2@x.org#large.txt", "rejected"],
        ["m3@x.org", "kept"],
    ]
    assert "message has 120 MB; the limit is 1 MB (max_document)" in rows[2][2]
    assert (tmp_path / "out" / "kept.mbox").stat().st_size == path.stat().st_size


def test_html_is_read_without_its_quotations() -> None:
    html = (
        f"<p>{REPLY}</p><div class=gmail_quote>On 5 Mar 2024, Ann wrote:<br>"
        f"<blockquote><p>{BODY}</p></blockquote></div><p>Bye.</p>"
    )
    made = message(1, "")
    made.set_content(html, subtype="html")
    found = message_text(parsed_message(bytes(made)))
    assert found.text == f"{REPLY}\nBye."
    made.set_content(" \n")
    made.add_alternative(html, subtype="html")
    assert message_text(parsed_message(bytes(made))).text == f"{REPLY}\nBye."
    plain = message(1, "The plain text.")
    plain.add_alternative(html, subtype="html")
    assert message_text(parsed_message(bytes(plain))).text == "The plain text."


def test_a_message_of_outlook_with_attachments_and_a_message_in_it(tmp_path: Path) -> None:
    inner = outlook("Inner", body=ELSE, top=False, attachments={"n.txt": b"in the inner one"})
    sent = datetime(2024, 3, 5, 9, tzinfo=UTC)
    more = {
        "x0C1A": "Ann Brown",
        "x5D01": "ann@x.org",
        "x1035": "<o1@x.org>",
        "x1042": "<m1@x.org>",
    }
    report = docx(paragraph("The report."))
    files = {"Report ü.docx": report, "a.png": b"\x89PNG", "big.txt": b"word " * 5000}
    tree = outlook("Häfen", body=BODY, sent=sent, nested=inner, attachments=files, **more)
    (tmp_path / "a.msg").write_bytes(compound(tree))
    result = nd.dedup(tmp_path / "a.msg", method="exact")
    kept = result.kept.to_pylist()
    names = [(row["id"], row["attachment"]) for row in kept]
    assert names == [
        ("o1@x.org", None),
        ("o1@x.org#Report ü.docx", "Report ü.docx"),
        ("o1@x.org#big.txt", "big.txt"),
        ("o1@x.org#inner", "inner"),
        ("o1@x.org#n.txt", "n.txt"),
    ]
    first = kept[0]
    assert [first[name] for name in ("subject", "from", "date", "thread")] == [
        "Häfen", "Ann Brown <ann@x.org>", "2024-03-05T09:00:00+00:00", "m1@x.org",
    ]  # fmt: skip
    assert kept[3]["text"] == ELSE


def test_bodies_of_outlook_in_html_and_rtf() -> None:
    html = compound(outlook("a", x1013=f"<p>{REPLY}</p>".encode()))
    assert message_text(outlook_message(html)).text == REPLY
    # Words that were there before are pairs of offset and length.
    packed = bytes([0] * 8) + b"LZFu" + bytes(4)
    plain = rb"{\rtf1 The pier.}"
    units = [plain[at : at + 8] for at in range(0, len(plain), 8)]
    packed = packed[:4] + len(plain).to_bytes(4, "little") + packed[8:]
    packed += b"".join(b"\0" + unit for unit in units)
    assert unpacked_rtf(packed) == plain
    assert message_text(outlook_message(compound(outlook("a", x1009=packed)))).text == "The pier."


@pytest.mark.parametrize("seed", range(20))
def test_damaged_files_of_outlook_end_in_a_message_or_a_reason(seed: int) -> None:
    whole = compound(outlook("a", body=BODY, attachments={"a.docx": WORD}))
    rng = random.Random(seed)
    data = bytearray(whole)
    for _ in range(rng.randrange(1, 40)):
        data[rng.randrange(8, len(data))] = rng.choice((0, 1, 255, rng.randrange(256)))
    found = outlook_message(bytes(data[: rng.randrange(100, len(data))]))
    assert found.problem or found.body


def test_decisions_and_rejected_documents_name_message_and_row(tmp_path: Path) -> None:
    path = mbox(tmp_path / "in.mbox", [message(1, BODY), attached(message(2, BODY), a_docx=b"x")])
    nd.dedup(path).save(tmp_path / "out")
    pairs = pq.read_table(tmp_path / "out" / "duplicates.parquet").to_pylist()
    assert pairs[0]["kept_id"] == "m1@x.org"
    lost = json.loads((tmp_path / "out" / "rejected.jsonl").read_text("utf-8"))
    assert (lost["row"], lost["id"]) == (3, "m2@x.org#a.docx")
