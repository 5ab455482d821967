"""Byte streams of files: compression by name, whole lines, and output that appears when complete.

A *codec* defines how the bytes of a file become UTF-8, or a different encoding that contains ASCII:
the name of a compression, followed by ``+`` and UTF-16 or UTF-32 if the file is in one of these.
Only a file without a codec can be read from the middle.

A file of unknown encoding is decoded by its byte order mark, else as UTF-8, else as detected. Valid
UTF-8 never reaches the detector (chardet: it recognised all of 80 texts, the example news in
fifteen legacy encodings; charset-normalizer recognised 68). A guess with very low confidence, as
for a single word, is replaced by Windows-1252, the most common encoding.
"""

from __future__ import annotations

import codecs
import io
import json
import lzma
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import pyarrow as pa

from neardup.documents.open_files import Limits, OpenFiles, TooLong, shown
from neardup.documents.remote import Place
from neardup.errors import SettingsError, UnreadableError
from neardup.files import whole_file

CHUNK_BYTES = 8 << 20
CODECS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}
_PIECE = 1 << 14
_SKIPPED = 1 << 20  # bytes of a line above the limit that are read at a time
NO_LIMITS = Limits(sys.maxsize, sys.maxsize, sys.maxsize)


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
    packing = packing_of(codec)
    files = files or OpenFiles()
    try:
        stream = files.stream(path)
        if packing is not None:
            packed_size = path.stat().st_size
            stream = unpacked(_unpacking(stream, packing), files.limits, packed_size)
    except OSError as error:
        raise unreadable(path, error) from error
    return transcoded(stream, codec)


def transcoded(stream: IO[bytes], codec: str | None) -> IO[bytes]:
    """A stream of UTF-16 or UTF-32 as UTF-8, if the codec requires it."""
    encoding = wide_of(codec)
    if (codec or "").endswith(f"+{WHOLE_JSON}"):
        return cast(IO[bytes], io.BytesIO(_element_lines(stream)))
    if encoding is None:
        return stream
    return cast(IO[bytes], io.BufferedReader(_Transcoded(stream, encoding), 1 << 20))


def unpacked(packed: Any, limits: Limits = NO_LIMITS, packed_size: int = 0) -> IO[bytes]:
    """A buffered stream of the readable part of a compressed file that is open already."""
    raw = _Unpacked(packed, limits, packed_size)
    return cast(IO[bytes], io.BufferedReader(raw, 1 << 20))


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
    while block := stream.read(min(size, limits.document)):
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


@contextmanager
def writing(path: Path, codec: str | None) -> Iterator[IO[bytes]]:
    with whole_file(path) as part, part.open("wb", buffering=1 << 20) as file:
        if codec is None:
            yield file
            return
        with _packing(file, codec) as stream:
            yield cast(IO[bytes], stream)


def _packing(file: IO[bytes], codec: str) -> Any:
    if codec == "xz":
        return lzma.open(file, "wb")
    return pa.CompressedOutputStream(pa.PythonFile(file, "w"), codec)


# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
)
# The width of a character and the place of an ASCII byte in it, for data without a mark.
_WIDE = (("utf-32-le", 4, 0), ("utf-32-be", 4, 3), ("utf-16-le", 2, 0), ("utf-16-be", 2, 1))
_ENOUGH = 1 << 16  # bytes that the detector gets
# Measured on the first 12 to 400 characters of the same texts: a higher limit loses right guesses.
LEAST_CONFIDENCE = 0.05


class Decoded(NamedTuple):
    """The text and its encoding, or the reason why there is none."""

    text: str | None
    reason: str | None = None
    encoding: str | None = None


def wide_encoding(start: bytes) -> str | None:
    """UTF-16 or UTF-32, if the first bytes of lines or records show it: by their mark, or because
    the first two characters are ASCII between zeros. None for all encodings that contain ASCII
    bytes."""
    for mark, marked, name in _MARKS:
        if start.startswith(mark):
            return marked if name != "UTF-8" else None
    for encoding, width, place in _WIDE:
        first = start[: 2 * width]
        letters = first[place::width]
        if len(letters) == 2 and 0 not in letters and first.count(0) == len(first) - 2:
            return encoding
    return None


def probable(data: bytes) -> str | None:
    """The probable encoding of a file that is not UTF-8; None if it cannot be determined. The data
    may end inside a character."""
    lines = [line for line in data.splitlines(keepends=True) if not line.isascii()]
    guess = decoded(b"".join(lines)[:_ENOUGH].rpartition(b"\n")[0] or data[:_ENOUGH])
    if guess.encoding in (None, "utf-8"):
        return None
    return re.sub("^cp(125[0-8])$", r"windows-\1", str(guess.encoding))


def canonical(name: str) -> str:
    """The name of an encoding as Python writes it; an unknown one is an error."""
    try:
        codec = codecs.lookup(name)
        "".encode(codec.name)  # not every codec makes text: base64, zip
    except (LookupError, UnicodeError, ValueError):
        raise SettingsError(
            f"encoding is {name!r}, which is not known.",
            hint="expected a name such as utf-8, windows-1252, koi8-r or shift_jis.",
        ) from None
    return codec.name


def decoded(data: bytes, encoding: str | None = None) -> Decoded:
    """The text in ``encoding`` if it is set; else by mark, as UTF-8, or as detected."""
    for mark, marked, name in _MARKS:
        if data.startswith(mark) and encoding in (None, marked, name.lower()):
            return _strict(data[len(mark) :], marked, name, len(mark))
    if encoding is not None:
        return _strict(data, encoding, encoding, 0)
    try:
        if b"\0" not in data:
            return Decoded(data.decode(), None, "utf-8")
    except UnicodeDecodeError:
        pass
    return _detected(data)


OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_TABLES = "file is a table in the format {}; give it as an input of its own"
_NO_TEXT = {
    OLE: "file is an old Word, Excel or PowerPoint file; save it as .docx, .pptx or .pdf, or "
    "convert it with `soffice --convert-to docx`",
    b"ARROW1\0\0": _TABLES.format("Arrow"),
    b"\xff\xff\xff\xff": _TABLES.format("Arrow (a stream)"),
    b"PAR1": _TABLES.format("Parquet"),
}  # by the first bytes


def _detected(data: bytes) -> Decoded:
    import chardet  # not for files in UTF-8

    for first, reason in _NO_TEXT.items():
        if data.startswith(first):
            return Decoded(None, reason)
    found = chardet.detect(data)
    guess = found["encoding"]
    if (place := data.find(b"\0")) >= 0 and (_is_utf8(data) or not _is_wide(guess)):
        return Decoded(None, f"file is binary: NUL at byte {place + 1}")
    sure = guess is not None and found["confidence"] >= LEAST_CONFIDENCE
    for name in (str(guess) if sure else "cp1252", "cp1252", "latin-1"):
        try:
            text = data.decode(name)
            if "\0" in text:  # what looked like UTF-16
                return Decoded(None, f"file is binary: NUL at byte {place + 1}")
            return Decoded(text, None, codecs.lookup(name).name)
        except (UnicodeDecodeError, LookupError):  # a name may be unknown to Python
            continue
    raise AssertionError("every byte is a character of Latin-1")


def _is_wide(guess: str | None) -> bool:
    return (guess or "").upper().startswith(("UTF-16", "UTF-32"))


def _is_utf8(data: bytes) -> bool:
    """Whether the data are valid UTF-8 and more than ASCII, which UTF-16 hardly ever is."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return not data.isascii()


def _strict(data: bytes, encoding: str, name: str, skipped: int) -> Decoded:
    try:
        return Decoded(data.decode(encoding), None, encoding)
    except UnicodeDecodeError as error:
        return Decoded(None, f"file is not valid {name} at byte {skipped + error.start + 1}")
