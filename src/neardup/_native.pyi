"""Native kernels: contiguous buffers in, contiguous buffers out, no GIL held while they compute.

Texts come as UTF-8 bytes and offsets. What a kernel does stands in its header under ``native/``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
Features = NDArray[np.uint32]
Hashes = NDArray[np.uint64]

UNICODE_VERSION: str
MOST_SHINGLE_WORDS: int

class TextOptions:
    def __init__(
        self,
        *,
        fold_case: bool = True,
        digits: int = 0,
        punctuation: int = 0,
        strip_diacritics: bool = False,
    ) -> None: ...
    @property
    def fold_case(self) -> bool: ...
    @property
    def digits(self) -> int: ...
    @property
    def punctuation(self) -> int: ...
    @property
    def strip_diacritics(self) -> bool: ...

class WordMap:
    def __init__(self, from_hashes: Hashes, to_hashes: Hashes) -> None: ...
    def __len__(self) -> int: ...

class TermCounts:
    def __init__(self) -> None: ...
    def add(self, values: Bytes, offsets: Offsets, options: TextOptions, filter: int) -> None: ...
    def add_counted(self, bytes: Bytes, offsets: Offsets, counts: Features) -> None: ...
    def merge(self, other: TermCounts) -> None: ...
    def sorted(self) -> tuple[Bytes, Offsets, Features]: ...
    def __len__(self) -> int: ...
    @property
    def documents(self) -> int: ...

class TermTable:
    def __init__(self, bytes: Bytes, offsets: Offsets) -> None: ...

class IdSet:
    def __init__(self) -> None: ...
    def add(self, digests: Hashes) -> NDArray[np.int64]: ...

class HotWalk:
    def __init__(
        self, members: NDArray[np.int64], looks: Bytes, offsets: Offsets, count: int
    ) -> None: ...
    def ranks(self) -> NDArray[np.int64]: ...
    def with_kept(self, begin: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def among(
        self, begin: int, end: int, chosen: Bytes, against: Bytes
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def remember(self, begin: int, end: int, kept: Bytes) -> None: ...
    def after(self, wanted: Bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...

def scan_jsonl(
    chunk: bytes, fields: Sequence[str], start_of_file: bool = False
) -> tuple[NDArray[np.uint8], NDArray[np.int64], list[Any]]: ...
def scan_csv(
    chunk: bytes, delimiter: str, columns: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Any], bool]: ...
def whole_csv_records(chunk: bytes, delimiter: str) -> int: ...
def select_lines(
    chunk: bytes, keep: Bytes, start_of_file: bool = False, previous_kept: bool = True
) -> tuple[bytes, int, bool]: ...
def count_lines(chunk: bytes) -> int: ...
def word_hashes(
    values: Bytes, offsets: Offsets, options: TextOptions, map: WordMap | None = None
) -> tuple[Hashes, Offsets]: ...
def words(
    values: Bytes, offsets: Offsets, options: TextOptions
) -> tuple[Bytes, Offsets, Offsets]: ...
def unique_words(
    values: Bytes, offsets: Offsets, options: TextOptions
) -> tuple[Bytes, Offsets, Hashes]: ...
def normal_forms(
    values: Bytes, offsets: Offsets, options: TextOptions
) -> tuple[Bytes, Offsets]: ...
def hash_words(bytes: Bytes, word_offsets: Offsets) -> Hashes: ...
def bytes_digests(values: Bytes, offsets: Offsets, seed: int) -> Hashes: ...
def equal_pairs(
    values: Bytes, offsets: Offsets, a: NDArray[np.int64], b: NDArray[np.int64]
) -> Bytes: ...
def shingle_hashes(words: Hashes, width: int) -> Hashes: ...
def shingle_set(words: Hashes, width: int) -> Features: ...
def minhash(hashes: Hashes, multipliers: Features) -> Features: ...
def overlaps(
    values: Features,
    offsets: Offsets,
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    needed: NDArray[np.int64],
) -> NDArray[np.int64]: ...
def weighted_overlaps(
    values: Hashes, offsets: Offsets, a: NDArray[np.int64], b: NDArray[np.int64], dot: bool
) -> Hashes: ...
def read_words(
    values: Bytes, offsets: Offsets, options: TextOptions, map: WordMap | None
) -> tuple[Hashes, Offsets, Hashes, Hashes, Hashes]: ...
def document_terms(
    values: Bytes,
    offsets: Offsets,
    options: TextOptions,
    filter: int,
    table: TermTable,
    low: int,
    high: int,
) -> tuple[Features, Features, Features, Offsets, Features]: ...
def keywords(
    values: Bytes,
    offsets: Offsets,
    options: TextOptions,
    filter: int,
    table: TermTable,
    *,
    idf: Features,
    unknown_idf: int,
    first_rank: int,
    tf: Features,
    k: int,
    sentences: bool,
    tuples: bool,
) -> tuple[Hashes, Offsets]: ...
def sentences(values: Bytes, offsets: Offsets) -> tuple[Offsets, Offsets]: ...
def prepare_shingles(
    values: Bytes,
    offsets: Offsets,
    text: TextOptions,
    map: WordMap | None,
    width: int,
    min_words: int,
    scheme: str,
    multipliers: Features,
    bands: int,
    rows: int,
    threshold_num: int,
    threshold_den: int,
    ignored: Hashes,
    piece_bytes: int = ...,
) -> dict[str, NDArray[Any]]: ...
def shingle_signatures(
    values: Bytes,
    offsets: Offsets,
    text: TextOptions,
    map: WordMap | None,
    width: int,
    ignored: Hashes,
    multipliers: Features,
) -> Features: ...
def shared_groups(
    keys: Hashes, offsets: Offsets, probes: NDArray[np.int32]
) -> tuple[NDArray[np.int64], Bytes, Offsets]: ...
def distinct_groups(members: NDArray[np.int64], probes: Bytes, offsets: Offsets) -> Bytes: ...
def share_key(
    keys: Hashes,
    offsets: Offsets,
    probes: NDArray[np.int32],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
) -> Bytes: ...
def group_pairs(
    members: NDArray[np.int64], probes: Bytes, offsets: Offsets, budget: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]: ...
def greedy(later: NDArray[np.int64], earlier: NDArray[np.int64], kept: Bytes) -> None: ...
def gather_memory(
    source: Bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64], out: Bytes
) -> None: ...
def gather_file(
    descriptor: int, starts: NDArray[np.int64], lengths: NDArray[np.int64], out: Bytes
) -> bool: ...
def count_features(features: Features, counts: Features) -> None: ...
def rare_weighted_prefixes(
    entries: Hashes,
    offsets: Offsets,
    needed: Hashes,
    squared: bool,
    counts: Features,
    part: int,
    parts: int,
) -> tuple[Hashes, Offsets, NDArray[np.int32]]: ...
def rare_vector_pairs(
    entries: Hashes,
    offsets: Offsets,
    needed: Hashes,
    counts: Features,
    common: int,
    part: int,
    parts: int,
) -> tuple[Hashes, Offsets, NDArray[np.int32]]: ...
def rare_prefixes(
    features: Features,
    offsets: Offsets,
    sizes: NDArray[np.int64],
    counts: Features,
    all: bool,
    part: int,
    parts: int,
) -> tuple[Hashes, Offsets, NDArray[np.int32]]: ...
