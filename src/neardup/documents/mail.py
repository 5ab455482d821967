"""Mail: messages and their attachments are documents, a message and its attachments a family.

Messages come as files (.eml, .msg) in folders and archives, as Maildir folders, and as mailboxes
(.mbox). What is compared is the body without quoted history and signature, whose words are counted;
attachments that hold text are documents after their message. The id of a message is its Message-ID;
if it has none, or a message before it has the same, it is named by its file or its row. A message
is kept, byte for byte and with all attachments, if the message or one of its attachments is.

A mailbox is divided where a line ``From `` follows a blank line and is followed by a header. Memory
is bounded: of a message above ``--max-document`` only the beginning is read, which usually has the
body, and what is not whole is rejected.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from neardup.documents.archive import ArchiveSource
from neardup.documents.columns import Mask
from neardup.documents.encodings import decoded
from neardup.documents.extraction.page import META, Extracted, Meta, Page
from neardup.documents.file_formats import CODECS, EML, MSG, TEXT, named_format, unpacked_name
from neardup.documents.folder import FolderSource
from neardup.documents.folder_entries import Entry, local_entries
from neardup.documents.message import (
    MESSAGE,
    Member,
    Message,
    body_text,
    messages,
    parsed_message,
    unescaped,
)
from neardup.documents.news_items import xml_document
from neardup.documents.outlook import outlook_message
from neardup.documents.quotation import body_of
from neardup.documents.remote import Place, Remote
from neardup.documents.single_file import FileSource
from neardup.documents.source import Write
from neardup.documents.streams import unpacked_document, unreadable, writing

COLUMNS = (
    *("message_id", "subject", "from", "to", "thread", "family", "attachment"),
    *("quoted_words", "signature_words"),
)
CHUNK_MESSAGES = 256
_MAILDIR_FILE = re.compile(r"(^|/)(cur|new)/\d{6,}\.[^/]+$")


class Letter(NamedTuple):
    """Where a document of a message is found: ``number`` 0 is the message itself."""

    file: Entry
    number: int
    kind: str
    id: str
    family: str
    thread: str


def is_message(name: str) -> bool:
    return unpacked_name(name).endswith((EML, MSG)) or _MAILDIR_FILE.search(name) is not None


def is_maildir(path: Place) -> bool:
    return isinstance(path, Path) and all((path / name).is_dir() for name in ("cur", "new", "tmp"))


if TYPE_CHECKING:
    _Base = FolderSource
else:
    _Base = object


class Mail(_Base):
    """A folder, a file or an archive in which some files are messages."""

    has_families = True

    def is_message(self, entry: Entry) -> bool:
        return is_message(entry.name)

    @cached_property
    def letters(self) -> dict[str, Letter]:
        return {}

    @cached_property
    def passed(self) -> Counter[str]:
        """Attachments that hold no text, by type."""
        return Counter()

    @cached_property
    def entries(self) -> list[Entry]:
        threads: dict[str, str] = {}
        entries: list[Entry] = []
        self.passed.clear()
        for file in super().entries:
            if self.is_message(file):
                entries += self._family(file, len(entries) + 1, threads)
            else:
                entries.append(file)
        return entries

    def _family(self, file: Entry, row: int, threads: dict[str, str]) -> Iterator[Entry]:
        """The message and its attachments. ``threads`` has those of the messages before it."""
        try:
            message = None if file.problem else self._message(file)
        except OSError as error:
            file = file._replace(problem=f"file cannot be read: {error.strerror or error}")
            message = None
        if message is None:
            yield file
            return
        own = message.id
        id_ = own if own and own not in threads else self.made_id(file, row)
        parents = message.parents
        thread = threads.get(parents[0], parents[0]) if parents else own or id_
        if own:
            threads.setdefault(own, thread)
        self.letters[file.name] = Letter(file, 0, MESSAGE, id_, id_, thread)
        self.passed.update(message.passed)
        yield file._replace(problem=message.problem)
        for number, (name, member) in enumerate(_named(message.members), 1):
            letter = Letter(file, number, member.kind, f"{id_}#{name}", id_, thread)
            self.letters[f"{file.name}#{name}"] = letter
            yield Entry(f"{file.name}#{name}", member.size, member.problem, file.modified)

    def made_id(self, file: Entry, row: int) -> str:  # noqa: ARG002 (of a mailbox)
        return super().id_of(file)

    def _message(self, file: Entry) -> Message:
        """The message of a file. The last one is remembered: its members are read together."""
        last: tuple[str, Message] | None = self.__dict__.get("_last")
        if last is None or last[0] != file.name:
            self.__dict__["_last"] = last = file.name, self._parsed(file)
        return last[1]

    def _parsed(self, file: Entry) -> Message:
        limits = self.files.limits
        if file.size > limits.document:
            fault = limits.document_fault("message", file.size)
            return parsed_message(self.beginning(file, limits.document), cut=fault)
        data = self.content(file)
        self._check_content(file, crc32(data))
        if packing := CODECS.get(os.path.splitext(file.name)[1].lower()):
            data, reason = unpacked_document(data, packing, limits)
            if reason:
                return parsed_message(b"")._replace(problem=reason)
        if unpacked_name(file.name).endswith(MSG):
            return outlook_message(data)
        return parsed_message(data)

    def beginning(self, file: Entry, size: int) -> bytes:
        place = self.locate(file)
        if isinstance(place, Remote):
            return place.read_bytes()[:size]
        with self.files.stream(place) as stream:
            return stream.read(size)

    def read(self, entries: Sequence[Entry]) -> list[Extracted]:
        opened = [self._document(entry) for entry in entries]
        texts = self._extracted(entries, [content for content, _ in opened])
        return [
            _headed(text, head) if head else text
            for text, (_, head) in zip(texts, opened, strict=True)
        ]

    def _document(self, entry: Entry) -> tuple[Page | Extracted, dict[str, Any]]:
        """The content of a document, and its columns if it is one of a message."""
        letter = self.letters.get(entry.name)
        if letter is None:
            return self._opened(entry), {}
        try:
            message = self._message(letter.file)
        except OSError as error:
            return Extracted(None, f"file cannot be read: {error.strerror or error}"), {}
        whole = Member(None, MESSAGE, message, None, message.problem)
        member = [whole, *message.members][letter.number]
        head = {
            "message_id": message.id,
            "subject": message.header("Subject"),
            "from": message.header("From"),
            "to": message.header("To"),
            "date": message.date,
            "thread": letter.thread,
            "family": letter.family,
            "attachment": member.name,
        }
        if entry.problem:
            return Extracted(None, entry.problem), head
        return self._member_text(member), head

    def _member_text(self, member: Member) -> Page | Extracted:
        if member.message is not None:
            return message_text(member.message)
        if member.part is None:
            return Extracted(None, member.problem)
        data = member.part.content()
        if member.kind == MSG:
            return message_text(outlook_message(data))
        if member.kind != TEXT and self.extractor.extraction.pages:
            return Page(member.kind, data, member.part.fields.get_content_charset())
        if (member.name or "").lower().endswith(".xml"):
            return xml_document(data)
        text, reason, encoding = decoded(data)
        return Extracted(text, reason, encoding=encoding)

    @property
    def names(self) -> tuple[str, ...]:
        return ("id", "text", *META, *COLUMNS)

    @property
    def chunk_files(self) -> int:
        return CHUNK_MESSAGES

    def kind_of(self, entry: Entry) -> str | None:
        letter = self.letters.get(entry.name)
        return letter.kind if letter else super().kind_of(entry)

    def id_of(self, entry: Entry) -> str:
        letter = self.letters.get(entry.name)
        if letter is None:
            return super().id_of(entry)
        return letter.id.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    def locate(self, entry: Entry) -> Place:
        letter = self.letters.get(entry.name)
        return super().locate(letter.file if letter else entry)

    def files_of(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """The files with kept documents: a message stays whole."""
        letters = ((entry, self.letters.get(entry.name)) for entry in entries)
        return list(dict.fromkeys(letter.file if letter else entry for entry, letter in letters))

    def _check_unchanged(self, entries: Sequence[Entry]) -> None:
        super()._check_unchanged(self.files_of(entries))


def message_text(message: Message) -> Extracted:
    if message.problem:
        return Extracted(None, message.problem)
    body = body_of(body_text(message), message.header("Subject"))
    counts = (len(part.split()) for part in (body.quoted, body.signature))
    return Extracted(body.text, more=dict(zip(COLUMNS[-2:], counts, strict=True)))


def _headed(text: Extracted, head: dict[str, Any]) -> Extracted:
    """The date is that of the message also for attachments, which share what it says."""
    title = text.meta.title or head["attachment"] or head["subject"]
    own = Meta(title, None if head["attachment"] else head["from"], head["date"])
    return replace(text, meta=own.over(text.meta), more={**head, **text.more})


def _named(members: Sequence[Member]) -> Iterator[tuple[str, Member]]:
    """Members with names that differ."""
    seen: set[str] = set()
    for number, member in enumerate(members, 1):
        name = member.name or "part"
        name = f"{number}-{name}" if name in seen else name
        seen.add(name)
        yield name, member


@dataclass
class MailFolder(Mail, FolderSource):
    """Messages as files, among others."""


@dataclass
class Maildir(MailFolder):
    """The messages in ``cur`` and ``new``, also of its sub-folders, whose names begin with a
    dot."""

    def is_message(self, entry: Entry) -> bool:  # noqa: ARG002 (all are)
        return True

    def feed_places(self) -> Sequence[Place]:
        return ()

    @cached_property
    def _listed(self) -> list[Entry]:
        top = Path(str(self.path))
        boxes = [top, *(one for one in sorted(top.iterdir()) if is_maildir(one))]
        entries = [
            entry._replace(name=(box / sub / entry.name).relative_to(top).as_posix())
            for box in boxes
            for sub in ("cur", "new")
            for entry in local_entries(box / sub)
        ]
        return sorted(entries, key=lambda entry: entry.name.split("/"))


@dataclass
class MailFile(Mail, FileSource):
    """One message as a file."""

    def path_of(self, row: int) -> str | None:
        _, sign, attachment = self.entries[row - 1].name[len(self.file) :].partition("#")
        return f"{super().path_of(row)}{sign}{attachment}"


@dataclass
class MailArchive(Mail, ArchiveSource):
    """An archive with messages among its files."""

    def beginning(self, file: Entry, size: int) -> bytes:  # noqa: ARG002
        raise OSError(0, self.files.limits.document_fault("message", file.size))


def with_mail(source: FolderSource) -> FolderSource:
    """The same source, which reads messages if some of its files are ones."""
    twins = {FolderSource: MailFolder, FileSource: MailFile, ArchiveSource: MailArchive}
    twin = twins.get(type(source))
    reads = source.extractor.extraction.pages and any(is_message(e.name) for e in source.entries)
    if twin is None or not reads:
        return source
    given = [one.name for one in fields(source) if one.init]
    made: FolderSource = twin(**{name: getattr(source, name) for name in given})
    return made


@dataclass
class MboxSource(Mail, ArchiveSource):
    """The messages of an mbox; ``path`` is the file, and messages are named by their numbers."""

    what, form, is_file = "a mailbox", "mbox", True

    @property
    def codec(self) -> str | None:
        return CODECS.get(os.path.splitext(self.path.name.lower())[1])

    @property
    def _is_zip(self) -> bool:
        return False

    def is_message(self, entry: Entry) -> bool:
        return entry.problem is None

    @property
    def _members(self) -> Iterator[Entry]:
        with self.files.stream(self._plain) as stream:
            for number, (offset, size) in enumerate(messages(stream), 1):
                self._places[str(number)] = offset, size
                yield Entry(str(number), size)
        if not self._places and self._packed.st_size:
            raise unreadable(self.path, OSError("expected a line 'From ' and a header"))
        if self._fault:
            yield Entry("(the rest of the mailbox)", 0, self._fault)

    def content(self, entry: Entry) -> bytes:
        return unescaped(super().content(entry))

    def beginning(self, file: Entry, size: int) -> bytes:
        with self.files.stream(self._plain) as stream:
            stream.seek(self._places[file.name][0])
            return unescaped(stream.read(size))

    def made_id(self, file: Entry, row: int) -> str:  # noqa: ARG002 (of a folder)
        return f"{self.file}:{row}"

    def path_of(self, row: int) -> str | None:  # noqa: ARG002 (of many documents in a file)
        return None

    def locate(self, entry: Entry) -> Place:  # noqa: ARG002 (as of a file)
        return self.path

    @contextmanager
    def writer(self, sources: Sequence[Any], path: Path) -> Iterator[Write]:  # noqa: ARG002
        with writing(path, named_format(path)[1]) as stream:
            yield lambda source, keep: source.copy_messages(keep, stream)

    def copy_messages(self, keep: Mask, out: IO[bytes]) -> int:
        """Writes the kept messages as they are, and returns the number of documents."""
        files = self.files_of([e for e in self._kept(keep) if e.name in self.letters])
        with self.files.stream(self._plain) as stream:
            for file in files:
                offset, size = self._places[file.name]
                stream.seek(offset)
                while size and (data := stream.read(min(size, 1 << 20))):
                    out.write(data)
                    size -= len(data)
        self._check_unchanged(files)
        return len(self.entries)
