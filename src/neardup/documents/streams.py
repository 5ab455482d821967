"""Byte streams of files: compression by name, whole lines, and output that appears when complete.

A *codec* defines how the bytes of a file become UTF-8, or a different encoding that contains ASCII:
the name of a compression, followed by ``+`` and UTF-16 or UTF-32 if the file is in one of these.
Only a file without a codec can be read from the middle.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import json
import lzma
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from neardup.documents.open_files import LINE_BYTES, Limits, OpenFiles, TooLong, shown
from neardup.documents.remote import Place
from neardup.errors import InputError, UnreadableError
from neardup.files import whole_file

CHUNK_BYTES = 8 << 20
_PIECE = 1 << 14
_WRITTEN = 1 << 18  # bytes at a time
_SENT = 16 << 20  # bytes that the disk is given at a time
_SKIPPED = 1 << 20  # bytes of a line above the limit that are read at a time
NO_LIMITS = Limits(sys.maxsize, sys.maxsize, sys.maxsize)
# UTF-32 first: its mark begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
)
# The width of a character and the place of an ASCII byte in it, for data without a mark.
_WIDE = (("utf-32-le", 4, 0), ("utf-32-be", 4, 3), ("utf-16-le", 2, 0), ("utf-16-be", 2, 1))
WHOLE_JSON = "json"  # in place of an encoding: one JSON value whose elements are read as lines
MOST_JSON = 1 << 30  # bytes of such a file, which is parsed in memory


def packing_of(codec: str | None) -> str | None:
    """The compression of a codec."""
    return (codec or "").partition("+")[0] or None


def wide_of(codec: str | None) -> str | None:
    wide = (codec or "").partition("+")[2] or None
    return None if wide == WHOLE_JSON else wide


def open_binary(path: Place, codec: str | None, files: OpenFiles | None = None) -> IO[bytes]:
    """A buffered stream of the decompressed bytes, with UTF-16 and UTF-32 converted to UTF-8."""
    files = files or OpenFiles()
    try:
        stream = files.stream(path)
        if codec is None:
            return stream
        if packing := packing_of(codec):
            packed_size = path.stat().st_size
            stream = unpacked(_unpacking(stream, packing), files.limits, packed_size)
    except OSError as error:
        raise unreadable(path, error) from error
    return transcoded(stream, codec)


def reading_of(
    path: Place,
    codec: str | None,
    files: OpenFiles,
    encoding: str | None = None,
    file: str | None = None,
) -> tuple[str | None, str | None]:
    """The codec of lines or records, and the encoding of its output: UTF-16 and UTF-32 are read as
    UTF-8, whether they are stated or shown by the first bytes."""
    if encoding is not None and not encoding.startswith(("utf-16", "utf-32")):
        return codec, encoding
    try:
        with open_binary(path, codec, files) as stream:
            wide = wide_encoding(stream.read(8))
    except (OSError, EOFError) as error:
        raise unreadable(file or path, error) from error
    if encoding in ("utf-16", "utf-32") and not (wide or "").startswith(encoding):
        raise InputError(
            f"{file or path} cannot be read as {encoding}: its first bytes are no mark of that.",
            hint=f"state {encoding}-le or {encoding}-be, or leave --encoding out.",
        )
    wide = wide or encoding
    return (f"{codec or ''}+{wide}" if wide else codec), None


def wide_encoding(start: bytes) -> str | None:
    """UTF-16 or UTF-32, if the first bytes of lines or records show it: by their mark, or because
    the first two characters are ASCII between zeros. None for all encodings that contain ASCII
    bytes."""
    for mark, marked, name in MARKS:
        if start.startswith(mark):
            return marked if name != "UTF-8" else None
    for encoding, width, place in _WIDE:
        first = start[: 2 * width]
        letters = first[place::width]
        if len(letters) == 2 and 0 not in letters and first.count(0) == len(first) - 2:
            return encoding
    return None


def transcoded(stream: IO[bytes], codec: str | None) -> IO[bytes]:
    """A stream of UTF-16 or UTF-32 as UTF-8, if the codec requires it."""
    encoding = wide_of(codec)
    if (codec or "").endswith(f"+{WHOLE_JSON}"):
        return cast("IO[bytes]", io.BytesIO(_element_lines(stream)))
    if encoding is None:
        return stream
    return cast("IO[bytes]", io.BufferedReader(_Transcoded(stream, encoding), 1 << 20))


def unpacked(packed: Any, limits: Limits = NO_LIMITS, packed_size: int = 0) -> IO[bytes]:
    """A buffered stream of the readable part of a compressed file that is open already."""
    raw = _Unpacked(packed, limits, packed_size)
    return cast("IO[bytes]", io.BufferedReader(raw, 1 << 20))


def unpacked_document(data: bytes, packing: str, limits: Limits) -> tuple[bytes, str | None]:
    """The content of a compressed file that is one document, and the reason why it is not
    whole."""
    try:
        stream = unpacked(_unpacking(io.BytesIO(data), packing), limits, len(data))
        plain = stream.read(limits.document + 1)
    except (OSError, EOFError, lzma.LZMAError, pa.ArrowException) as error:
        return b"", f"file cannot be unpacked: {error}"
    if len(plain) > limits.document:
        return b"", f"file unpacks to more than {shown(limits.document)} (max_document)"
    return plain, stream.raw.fault  # type: ignore[attr-defined]


def _unpacking(stream: IO[bytes], packing: str) -> Any:
    if packing == "xz":
        return lzma.open(stream)
    return pa.CompressedInputStream(pa.PythonFile(stream, "r"), packing)


def _element_lines(stream: IO[bytes]) -> bytes:
    """The elements of a JSON array as lines, byte for byte but for line ends between their parts.
    What is no JSON is one last line, which is rejected as such."""
    with stream:
        data = stream.read(MOST_JSON + 1)
    if len(data) > MOST_JSON:
        raise OSError(f"one JSON value of more than {shown(MOST_JSON)}; convert it to JSON Lines")
    text = data.decode("utf-8-sig", "surrogateescape")
    lines = [" ".join(text[a:b].splitlines()) for a, b in _elements(text)]
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")


def _elements(text: str) -> Iterator[tuple[int, int]]:
    """Where the elements begin and end. An object is an element by itself, unless it is the answer
    of a search engine: then its list of results counts."""
    decode, blank = json.JSONDecoder().raw_decode, re.compile(r"[\s,]*")
    place = blank.match(text).end()  # type: ignore[union-attr]  # it matches everywhere
    if text[place : place + 1] == "{":
        place = _results_in(text, place)
    if text[place : place + 1] != "[":
        yield place, len(text)
        return
    place = blank.match(text, place + 1).end()  # type: ignore[union-attr]
    while place < len(text) and text[place] != "]":
        try:
            end = decode(text, place)[1]
        except (ValueError, RecursionError):
            end = len(text)
        yield place, end
        place = blank.match(text, end).end()  # type: ignore[union-attr]


RESULTS = (("hits", "hits"), ("response", "docs"))  # of Elasticsearch and OpenSearch, and of Solr


def _results_in(text: str, place: int) -> int:
    """Where the list of results begins in an answer, else where the object begins."""
    for path in RESULTS:
        at = place
        for name in path:
            at = _member(text, at, name)
        if at >= 0 and text[at : at + 1] == "[":
            return at
    return place


def _member(text: str, place: int, name: str) -> int:
    """Where the value of a member of the object at ``place`` begins; −1 if there is none."""
    decode, gap = json.JSONDecoder().raw_decode, re.compile(r"[\s,:]*")
    if place < 0 or text[place : place + 1] != "{":
        return -1
    place += 1
    try:
        while True:
            key, end = decode(text, gap.match(text, place).end())  # type: ignore[union-attr]
            value = gap.match(text, end).end()  # type: ignore[union-attr]
            if key == name:
                return value
            place = decode(text, value)[1]
    except (ValueError, RecursionError):
        return -1


class _Unpacked(io.RawIOBase):
    """The readable part of a compressed file. If it is truncated, broken or above the limits, the
    bytes end there and ``fault`` has the reason; a file without any readable bytes is an error."""

    def __init__(self, packed: Any, limits: Limits, packed_size: int) -> None:
        self._packed = packed
        self._limits, self._packed_size = limits, packed_size
        self._given = 0
        self.fault: str | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.fault is not None:
            return 0
        # A failed read returns nothing, so it is done in pieces; small ones first, for small files.
        size = min(len(buffer), max(256, min(self._given, _PIECE)))
        try:
            data = self._packed.read(size)
        except (OSError, EOFError, lzma.LZMAError, pa.ArrowException) as error:
            if self._given == 0:
                raise OSError(str(error)) from error
            self.fault = _fault(error)
            return 0
        buffer[: len(data)] = data
        self._given += len(data)
        self.fault = self._limits.unpacking_fault(self._given, self._packed_size)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._packed.close()
        super().close()


class _Transcoded(io.RawIOBase):
    """UTF-8 of a stream in a wider encoding, without its mark. Invalid characters become bytes that
    are no UTF-8, so that their document is rejected."""

    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)(_INVALID)
        self._ready, self._begun, self._ended = b"", False, False

    @property
    def fault(self) -> str | None:
        return fault_of(self._stream)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._ended:
            data = self._stream.read(_PIECE)
            self._ended = not data
            text = self._decoder.decode(data, final=self._ended and not self.fault)
            if text and not self._begun:
                text, self._begun = text.removeprefix("\ufeff"), True
            self._ready = text.encode("utf-8", "surrogatepass")
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def _as_surrogate(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "\udcff", error.end


_INVALID = "neardup.invalid"
codecs.register_error(_INVALID, _as_surrogate)


def _fault(error: Exception) -> str:
    if isinstance(error, EOFError) or "Truncated" in str(error):
        return "file is truncated: its compressed data end here; the rest is lost"
    return f"compressed data are broken here ({error}); the rest is lost"


def fault_of(stream: IO[bytes]) -> str | None:
    """The reason why a stream ended before its file did."""
    return getattr(getattr(stream, "raw", None), "fault", None)


def cause(error: Exception) -> str:
    """The message of an error, as a part of a sentence."""
    message = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return message.splitlines()[0].rstrip(". ")


def unreadable(path: Place | str, error: Exception) -> UnreadableError:
    reason = cause(error)
    return UnreadableError(
        f"Cannot read {path}: {reason}.",
        hint="check that the file is whole and readable.",
        reason=reason,
    )


def whole_lines(
    stream: IO[bytes], size: int = CHUNK_BYTES, limits: Limits = NO_LIMITS
) -> Iterator[bytes]:
    """Chunks of about ``size`` bytes that end where a line ends. A line that is incomplete because
    of a fault is left out; one above the limit is a chunk of its own, without its content."""
    size = min(size, limits.document)
    # A plain file shows where a line ends, so that a block need not be completed, which copies it.
    look_ahead = getattr(getattr(stream, "raw", None), "up_to_line_end", None)
    if size + LINE_BYTES > limits.document:  # such a block could hold a line above the limit
        look_ahead = None
    while block := stream.read(look_ahead(stream.tell(), size) if look_ahead else size):
        yield from whole_block(block, stream, limits)


def whole_block(block: bytes, stream: IO[bytes], limits: Limits) -> Iterator[bytes]:
    """The lines of a block, the last of them completed from the stream."""
    begin = block.rfind(b"\n") + 1
    rest = stream.readline(limits.document) if begin < len(block) else b""
    length = len(block) - begin + len(rest)
    if length <= limits.document + 1 and (not rest or rest.endswith(b"\n") or not stream.peek(1)):  # type: ignore[attr-defined]
        data = block + rest
        if fault_of(stream):
            data = data[: data.rfind(b"\n") + 1]
        if data:
            yield data
        return
    if begin:
        yield block[:begin]
    del block
    while not rest.endswith(b"\n") and (rest := stream.readline(_SKIPPED)):
        length += len(rest)
    if not fault_of(stream):
        yield TooLong.of("line", length, limits)


class UnwantedError(Exception):
    """Files are not written on, because nobody waits for them any more."""


class Digests(dict[Path, str]):
    """The SHA-256 digests of files by path. ``unwanted``, set by any thread, ends the writing."""

    unwanted = False


_DIGESTS: ContextVar[Digests | None] = ContextVar("digests", default=None)


@contextmanager
def digesting(digests: Digests | None = None) -> Iterator[Digests]:
    """Collects the digests of the bytes as they are written: reading them again takes longer."""
    digests = Digests() if digests is None else digests
    token = _DIGESTS.set(digests)
    try:
        yield digests
    finally:
        _DIGESTS.reset(token)


class _Pieces(io.FileIO):
    """Writes a little at a time. For a write of several megabytes Linux takes huge folios into its
    page cache, and in a virtual machine that memory is often not yet there: 0.5 GB in pieces of
    8 MB took 2 to 4 s of system time, and 0.15 s in pieces of up to 1 MB."""

    digest: Any = None
    digests: Digests | None = None
    _written = _sent = 0

    def write(self, data: Any) -> int:
        if self.digests is not None and self.digests.unwanted:
            raise UnwantedError
        piece = memoryview(data)[:_WRITTEN]
        count = super().write(piece)
        if self.digest:
            self.digest.update(piece[:count])
        self._written += count
        if self._written - self._sent >= _SENT:
            _send(self.fileno(), self._sent, self._written - self._sent)
            self._sent = self._written
        return count


def _send(file: int, begin: int, size: int) -> None:
    """Has the system begin to write these bytes to the disk, and does not wait: a file that is
    synced at the end would wait for all of them, 0.15 s for 0.5 GB."""
    import ctypes

    with suppress(AttributeError, OSError, TypeError):  # not Linux
        call = ctypes.CDLL(None).sync_file_range
        call(file, ctypes.c_longlong(begin), ctypes.c_longlong(size), 2)  # SYNC_FILE_RANGE_WRITE


@contextmanager
def writing(path: Path, codec: str | None) -> Iterator[IO[bytes]]:
    with whole_file(path) as part:
        pieces, digests = _Pieces(part, "w"), _DIGESTS.get()
        pieces.digest = None if digests is None else hashlib.sha256()
        pieces.digests = digests
        with io.BufferedWriter(pieces, _WRITTEN) as file:
            if codec is None:
                yield file
            else:
                with _packing(file, codec) as stream:
                    yield cast("IO[bytes]", stream)
        if digests is not None:
            digests[path] = pieces.digest.hexdigest()


def _packing(file: IO[bytes], codec: str) -> Any:
    if codec == "xz":
        return lzma.open(file, "wb")
    return pa.CompressedOutputStream(pa.PythonFile(file, "w"), codec)
