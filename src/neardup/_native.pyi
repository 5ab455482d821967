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

_Side = tuple[Features, Features, Features, Bytes]
AlignedPairs = tuple[Offsets, Bytes, _Side, _Side, Offsets, Offsets, Bytes]

UNICODE_VERSION: str
MOST_SHINGLE_WORDS: int
CLASSIC_PRIME: int
INSTRUCTIONS: tuple[str, ...]  # what this machine has, the best last

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

class BitmapWindow:
    def __init__(self, slots: int, common: float, rare: float) -> None: ...
    def add(self, slot: int, grams: Features) -> int: ...
    def remove(self, document: int) -> bool: ...
    def drop(self, slot: int) -> None: ...
    def overlaps(
        self, grams: Features, num: int, den: int
    ) -> tuple[Offsets, Offsets, Offsets, int, int, int]: ...
    def sets(self, slot: int) -> tuple[Features, Offsets]: ...
    def documents(self, slot: int) -> int: ...
    def memory(self) -> tuple[int, int, int, int, int, int]: ...

class TermTable:
    def __init__(self, bytes: Bytes, offsets: Offsets) -> None: ...

class IdSet:
    def __init__(self) -> None: ...
    def add(self, digests: Hashes) -> NDArray[np.int64]: ...

class GroupPairs:
    def __init__(
        self,
        members: NDArray[np.int64],
        probes: Bytes,
        offsets: Offsets,
        budget: int,
        block: int,
    ) -> None: ...
    @property
    def largest(self) -> int: ...
    @property
    def count(self) -> int: ...
    def next(self) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None: ...

class HotWalk:
    def __init__(
        self, members: NDArray[np.int64], looks: Bytes, offsets: Offsets, count: int, most: int
    ) -> None: ...
    def ranks(self) -> NDArray[np.int64]: ...
    def with_kept(self, begin: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def among(
        self, begin: int, end: int, chosen: Bytes, against: Bytes
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def remember(self, begin: int, end: int, kept: Bytes) -> None: ...
    def after(self, wanted: Bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def at_most(self, most: int) -> None: ...
    def capped(self) -> NDArray[np.uint8]: ...

class ShingleReader:
    def __init__(
        self,
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
    ) -> None: ...
    def read(self, text: bytes) -> tuple[bytes, int, bytes, bytes, int, int, int]: ...

class Postings:
    def __init__(self) -> None: ...
    def add(self, keys: Hashes, probes: int, number: int) -> None: ...
    def meet(
        self, keys: Hashes, probes: int, least: int = 1, most: int = 0
    ) -> NDArray[np.int64]: ...
    def keep(self, numbers: NDArray[np.int64]) -> None: ...
    def __len__(self) -> int: ...
    @property
    def bytes(self) -> int: ...

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
def line_starts(chunk: bytes) -> NDArray[np.uint32]: ...
def count_lines(chunk: bytes) -> int: ...
def instructions() -> str: ...
def use_instructions(name: str) -> None: ...
def word_hashes(
    values: Bytes, offsets: Offsets, options: TextOptions, map: WordMap | None = None
) -> tuple[Hashes, Offsets]: ...
def word_spans(
    values: Bytes, offsets: Offsets, options: TextOptions, map: WordMap | None = None
) -> tuple[Hashes, Offsets, Offsets, Offsets]: ...
def match_words(
    a: Hashes, b: Hashes, by_chance: bool = False
) -> tuple[Features, Features, bool]: ...
def align_pairs(
    values: Bytes,
    offsets: Offsets,
    left: Offsets,
    right: Offsets,
    options: TextOptions,
    map: WordMap | None = None,
    numbers: WordMap | None = None,
    by_chance: bool = False,
) -> AlignedPairs: ...
def measure_pairs(
    values: Bytes,
    offsets: Offsets,
    left: Offsets,
    right: Offsets,
    options: TextOptions,
    map: WordMap | None = None,
    numbers: WordMap | None = None,
) -> tuple[Offsets, Offsets, Offsets, Offsets, Offsets, Offsets, Offsets, Bytes]: ...
def words(
    values: Bytes, offsets: Offsets, options: TextOptions
) -> tuple[Bytes, Offsets, Offsets]: ...
def unique_words(
    values: Bytes, offsets: Offsets, options: TextOptions
) -> tuple[Bytes, Offsets, Hashes]: ...
def normal_forms(
    values: Bytes, offsets: Offsets, options: TextOptions
) -> tuple[Bytes, Offsets]: ...
def recognised_pairs(
    values: Bytes, offsets: Offsets, a: NDArray[np.int64], b: NDArray[np.int64], floor: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def hash_words(bytes: Bytes, word_offsets: Offsets) -> Hashes: ...
def bytes_digests(values: Bytes, offsets: Offsets, seed: int) -> Hashes: ...
def byte_kinds(values: Bytes, offsets: Offsets, kinds: Bytes) -> NDArray[np.int64]: ...
def equal_pairs(
    values: Bytes, offsets: Offsets, a: NDArray[np.int64], b: NDArray[np.int64]
) -> Bytes: ...
def shingle_hashes(words: Hashes, width: int) -> Hashes: ...
def shingle_set(words: Hashes, width: int) -> Features: ...
def minhash(hashes: Hashes, multipliers: Features) -> Features: ...
def sketch_minima(
    words: Hashes,
    offsets: Offsets,
    width: int,
    ignored: Hashes,
    multipliers: Features,
    addends: Features,
    values: int,
) -> tuple[Features, NDArray[np.int64]]: ...
def classic_minhash(hashes: Hashes, multipliers: Features, addends: Features) -> Features: ...
def sample_features(
    words: Hashes, offsets: Offsets, width: int, ignored: Hashes, modulus: int, limit: int
) -> tuple[Features, Offsets]: ...
def equal_places(
    values: Features, offsets: Offsets, a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.int64]: ...
def bottom_overlaps(
    values: Features, offsets: Offsets, a: NDArray[np.int64], b: NDArray[np.int64], limit: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def common_values(
    values: Hashes, offsets: Offsets, a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.int64]: ...
def band_keys(
    features: Features, offsets: Offsets, multipliers: Features, bands: int, rows: int
) -> Hashes: ...
def overlap(a: Features, b: Features, needed: int) -> int: ...
def overlaps(
    values: Features,
    offsets: Offsets,
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    needed: NDArray[np.int64],
) -> NDArray[np.int64]: ...
def overlaps_in_order(
    entries: Hashes,
    offsets: Offsets,
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    needed: NDArray[np.int64],
) -> NDArray[np.int64]: ...
def weighted_overlaps(
    values: Hashes, offsets: Offsets, a: NDArray[np.int64], b: NDArray[np.int64], dot: bool
) -> Hashes: ...
def shared_by_rarity(
    values: Hashes,
    offsets: Offsets,
    weights: NDArray[np.int64],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    needed: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def sizes_by_rarity(
    values: Hashes, offsets: Offsets
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]: ...
def profile_rows(sets: list[tuple[Features, Offsets]]) -> tuple[Features, Offsets]: ...
def compare_profiles(
    values: Hashes,
    offsets: Offsets,
    families: int,
    summed: int,
    a: NDArray[np.int64],
    b: NDArray[np.int64],
) -> NDArray[np.int64]: ...
def profile_sizes(
    values: Hashes, offsets: Offsets, families: int, summed: int
) -> NDArray[np.int64]: ...
def align_profiles(
    values: Hashes,
    offsets: Offsets,
    families: int,
    at: int,
    a: NDArray[np.int64],
    b: NDArray[np.int64],
) -> NDArray[np.int64]: ...
def qgram_sets(
    values: Bytes, offsets: Offsets, text: TextOptions, q: int, least: int, every: int
) -> tuple[Features, Offsets, NDArray[np.int64]]: ...
def sample_grams(
    values: Bytes, offsets: Offsets, text: TextOptions, q: int, most: int
) -> tuple[Hashes, Offsets]: ...
def weigh_grams(
    values: Hashes,
    offsets: Offsets,
    low: Bytes,
    high: Hashes,
    weight_of_count: NDArray[np.uint32],
) -> None: ...
def gram_features(values: Hashes) -> Features: ...
def gram_keys(
    values: Hashes,
    offsets: Offsets,
    rare: int,
    lone: int,
    bands: int,
    rows: int,
    fewest: int,
    own: int,
    own_share: int,
    multipliers: NDArray[np.uint32],
) -> tuple[Hashes, Offsets, NDArray[np.int32]]: ...
def compare_grams(
    values: Hashes, offsets: Offsets, a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.int64]: ...
def profile_keys(
    grams: Features,
    offsets: Offsets,
    low: Bytes,
    high: Hashes,
    classes: NDArray[np.int64],
    multipliers: NDArray[np.uint32],
    bands: int,
    rows: int,
    shared: int,
) -> tuple[Hashes, Offsets]: ...
def weigh_profiles(
    rows: Features,
    offsets: Offsets,
    tables: list[tuple[Bytes, Hashes, NDArray[np.uint32]]],
    noisy: int,
    fewest: int,
    share: float,
    grams: int,
    classes: NDArray[np.int64],
    multipliers: NDArray[np.uint32],
    bands: int,
    minima: int,
    shared: int,
) -> tuple[Hashes, Hashes, Offsets]: ...
def rare_grams(
    values: Hashes, offsets: Offsets, families: int, grams: int, least: int, every: int
) -> tuple[Hashes, Offsets, NDArray[np.int64], NDArray[np.int64]]: ...
def qgram_form(value: Bytes, text: TextOptions) -> bytes: ...
def spot_sets(
    words: Hashes, offsets: Offsets, antecedents: Hashes, distance: int, chain: int
) -> tuple[Features, Offsets]: ...
def read_words(
    values: Bytes,
    offsets: Offsets,
    options: TextOptions,
    map: WordMap | None,
    hashes: bool = True,
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
def prepare_simhash(
    values: Bytes,
    offsets: Offsets,
    text: TextOptions,
    map: WordMap | None,
    width: int,
    lanes: int,
    distinct: bool,
    min_words: int,
) -> tuple[Hashes, Features, Hashes, Hashes, Hashes]: ...
def simhash_sums(
    values: Bytes,
    offsets: Offsets,
    text: TextOptions,
    map: WordMap | None,
    width: int,
    lanes: int,
    distinct: bool,
    table: TermTable | None,
    weights: Features,
    unknown: int,
) -> NDArray[np.int64]: ...
def near_pairs(
    values: Hashes,
    codes: NDArray[np.int64],
    masks: Hashes,
    lanes: int,
    distance: int,
    table: int,
    most_pairs: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Offsets]: ...
def longer_paths(
    features: Features,
    ends: Offsets,
    rarity: Bytes,
    m: NDArray[np.int64],
    paths: Hashes,
    offsets: Offsets,
    few_bits: int,
    deepest: int,
) -> tuple[Hashes, Offsets]: ...
def parity_sketches(
    features: Features, ends: Offsets, num: int, den: int
) -> tuple[Hashes, Offsets]: ...
def meet(
    paths: Hashes,
    offsets: Offsets,
    by_size: Features,
    place: Features,
    sizes: NDArray[np.int64],
    words: Hashes,
    word_offsets: Offsets,
    num: int,
    den: int,
    few_bits: int,
    deepest: int,
    part: int,
    part_bits: int,
) -> tuple[Hashes, Hashes, Features, NDArray[np.int64], Offsets, int]: ...
def may_pass(
    sizes: NDArray[np.int64],
    words: Hashes,
    word_offsets: Offsets,
    num: int,
    den: int,
    a: Features,
    b: Features,
) -> NDArray[np.uint8]: ...
def bit_distances(
    values: Hashes, offsets: Offsets, a: NDArray[np.int64], b: NDArray[np.int64]
) -> NDArray[np.int64]: ...
def terms_of_words(
    words: Hashes, offsets: Offsets, table: TermTable, low: int, high: int, most: int
) -> tuple[Features, Features, Features, Offsets, Features]: ...
def mostly_numbers(values: Bytes, offsets: Offsets) -> Bytes: ...
def imatch_signatures(
    ranks: Features,
    offsets: Offsets,
    hashes: Hashes,
    lexicons: int,
    dropped: int,
    seed: int,
    min_terms: int,
) -> Hashes: ...
def fingerprints(
    ranks: Features, first: Features, offsets: Offsets, size: int, bin: int
) -> Hashes: ...
def term_vectors(
    ranks: Features, offsets: Offsets, days: Features, tokens: Features, size: int
) -> tuple[Features, Offsets]: ...
def vector_keys(
    values: Features,
    offsets: Offsets,
    sizes: NDArray[np.int64],
    paired: bool,
    part: int,
    parts: int,
) -> tuple[Hashes, Offsets]: ...
def common_terms(
    values: Features,
    offsets: Offsets,
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    days: int,
    length: tuple[int, int],
    shared: tuple[int, int],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
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
    keys: Hashes,
    offsets: Offsets,
    probes: NDArray[np.int32],
    rows: NDArray[np.int64],
    share: int = 0,
    shares: int = 1,
) -> tuple[NDArray[np.int64], Bytes, Offsets]: ...
def part_keys(
    keys: Hashes,
    offsets: Offsets,
    probes: NDArray[np.int32],
    places: NDArray[np.int32],
    spread: Hashes,
    part_bits: int,
) -> tuple[Hashes, NDArray[np.uint32], Offsets]: ...
def entry_groups(
    keys: Hashes, members: NDArray[np.uint32], part_bits: int
) -> tuple[NDArray[np.int64], Bytes, Offsets]: ...
def pack_groups(
    members: NDArray[np.int64], probes: Bytes, offsets: Offsets
) -> NDArray[np.uint32]: ...
def groups_between(
    packed: NDArray[np.uint32], first: int, last: int
) -> tuple[NDArray[np.int64], Bytes, Offsets]: ...
def group_digests(members: NDArray[np.int64], probes: Bytes, offsets: Offsets) -> Hashes: ...
def distinct_groups(members: NDArray[np.int64], probes: Bytes, offsets: Offsets) -> Bytes: ...
def shared_keys(
    keys: Hashes,
    offsets: Offsets,
    probes: NDArray[np.int32],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
) -> NDArray[np.int64]: ...
def share_key(
    keys: Hashes,
    offsets: Offsets,
    probes: NDArray[np.int32],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
) -> Bytes: ...
def greedy(later: NDArray[np.int64], earlier: NDArray[np.int64], kept: Bytes) -> None: ...
def gather_memory(
    source: Bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64], out: Bytes
) -> None: ...
def gather_file(
    descriptor: int, starts: NDArray[np.int64], lengths: NDArray[np.int64], out: Bytes
) -> bool: ...
def divide(values: Hashes, features: Features, weights: NDArray[np.uint16]) -> bool: ...
def join(features: Features, weights: NDArray[np.uint16]) -> Hashes: ...
def count_documents(features: Features, low: Bytes, high: Hashes) -> int: ...
def add_counts(features: Features, counts: NDArray[np.uint16], low: Bytes, high: Hashes) -> int: ...
def place_high_counts(entries: Hashes, high: Hashes) -> None: ...
def counts_of(features: Features, low: Bytes, high: Hashes) -> NDArray[np.uint16]: ...
def count_features(features: Features, counts: Bytes) -> None: ...
def most_shared(
    a: NDArray[np.int64], b: NDArray[np.int64], shared: NDArray[np.int32], most: int
) -> NDArray[np.uint8]: ...
def sharing_pairs(
    members: NDArray[np.int64],
    looks: Bytes,
    offsets: Offsets,
    documents: int,
    least: int,
    most: int = 0,
    first: int = 0,
    last: int = ...,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]: ...
def larger_pairs(
    members: NDArray[np.int64],
    looks: Bytes,
    offsets: Offsets,
    least: NDArray[np.int32],
    most_counted: int,
    most_pairs: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None: ...
def average_link(
    weights: NDArray[np.float64],
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    score: NDArray[np.float64],
    least: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
def rare_weighted_prefixes(
    entries: Hashes,
    offsets: Offsets,
    needed: Hashes,
    squared: bool,
    counts: Bytes,
    part: int,
    parts: int,
) -> tuple[Hashes, Offsets, NDArray[np.int32]]: ...
def rare_vector_pairs(
    entries: Hashes,
    offsets: Offsets,
    needed: Hashes,
    counts: Bytes,
    common: int,
    part: int,
    parts: int,
) -> tuple[Hashes, Offsets, NDArray[np.int32]]: ...
def rare_prefixes(
    features: Features,
    offsets: Offsets,
    sizes: NDArray[np.int64],
    counts: Bytes,
    all: bool,
    part: int,
    parts: int,
) -> tuple[Hashes, Offsets, NDArray[np.int32]]: ...

class Copies:
    def __init__(
        self,
        words: int,
        gram: int,
        window: int,
        gap: int,
        most: int,
        similarity: int,
        anchor: int = 0,
        anchor_window: int = 1,
    ) -> None: ...
    def hold(self, words: Hashes, offsets: Offsets) -> None: ...
    def borrow(self, words: Features, offsets: Offsets) -> None: ...
    def samples(self) -> int: ...
    def reserve(self, samples: int) -> None: ...
    @staticmethod
    def room(samples: int) -> tuple[int, int]: ...
    def lend(self, entries: Bytes, slots: Bytes, samples: int) -> None: ...
    @property
    def bytes(self) -> int: ...
    def find(self, documents: Features) -> None: ...
    def seeds(self, words: Features, offsets: Offsets) -> tuple[Features, Features, Offsets]: ...
    def seed_lists(
        self, occurrences: Features, contexts: Features, covered: Bytes | None
    ) -> Features: ...
    def listed(self, lists: Features, numbers: Features) -> Features: ...
    def adopt(self, copies: Features) -> None: ...
    def index(self) -> None: ...
    def against(self, words: Hashes, offsets: Offsets) -> Features: ...
    def copies(self) -> Features: ...
    def places(self) -> Offsets: ...
    def __len__(self) -> int: ...

CONTEXT_WORDS: int

def anchors(words: Hashes, offsets: Offsets, gram: int, window: int) -> tuple[Hashes, Offsets]: ...
def pack_anchors(postings: Hashes, first: int, count: int) -> tuple[Bytes, Offsets]: ...
def unpack_anchors(rows: list[bytes], numbers: Hashes) -> Hashes: ...
def find_anchors(rows: list[bytes], numbers: Hashes, anchors: Hashes) -> Features: ...
def text_spans(
    values: Bytes,
    offsets: Offsets,
    options: TextOptions,
    begins: Features,
    ends: Features,
    span_offsets: Offsets,
    unit: int,
) -> Offsets: ...
