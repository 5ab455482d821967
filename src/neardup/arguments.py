"""The keyword arguments of the public functions, typed, so that editors complete them and type
checkers catch a misspelt one.

A ``TypedDict`` for each kind of call lists names and types; defaults and meanings stand in the
dataclass that receives them. ``documented`` shows these in the signature and the docstring at run
time. Parameters of methods of other packages go into ``set`` or into the method itself.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from neardup.methods.parameters import parameters

if TYPE_CHECKING:
    from neardup.methods.base import Method

WIDTH = 96
F = TypeVar("F", bound=Callable[..., Any])


class MethodArguments(TypedDict, total=False):
    """Parameters of the built-in methods, and what other tools call them (``num_perm``)."""

    antecedents: Sequence[str]
    bin: int | None
    bits: int | None
    boilerplate: Sequence[str]
    calibrate: bool | None
    chain: int
    clip: float
    common: int
    distance: int | None
    dropped: float
    encoder: Any
    every: int
    family: str
    features: str
    fields: Sequence[tuple[str, int]] | Sequence[str] | Mapping[str, int]
    form: str
    frequencies: str | Path | None
    idf: str | Path | None
    idf_max: float
    idf_min: float
    jaccard_threshold: float
    k: int | None
    keys: str
    length: int | None
    length_ratio: float
    length_tolerance: float
    lexicons: int
    lone: float
    max_chars: int
    max_days: int
    measure: str
    methods: Sequence[str]
    min_chars: int
    min_count: int
    min_documents: int
    min_equal: int
    min_spots: int
    min_terms: int
    min_unique: int
    min_words: int
    miss_rate_limit: float
    model: str | Path | None
    modulus: int
    most: int
    ngram: int
    ngram_size: int
    num_perm: int
    order: str
    packed: bool
    per: str
    permutations: int
    q: int
    rule: str
    sample_limit: int
    sampling: str
    seed: int
    similarity_threshold: float
    size: int | None
    tables: int
    templates: str
    terms: str
    tf: str
    unit: str
    variant: str
    vocabulary: str | None
    weak_bits: int
    weights: str
    words: int


class ReadingArguments(TypedDict, total=False):
    """Settings that say how documents are read and compared, whatever is done with them."""

    set: Mapping[str, Any]
    text: str
    id: str | None
    date: str | None
    encoding: str | None
    extract: str | None
    within: str | None
    workers: int | None
    memory: str | int
    limit: int | None
    max_pairs: int
    strict: bool


class RunArguments(ReadingArguments, MethodArguments, total=False):
    """The fields of ``settings.Settings``, and a recipe."""

    method: str | Method
    threshold: float | str | None
    keep: str
    policy: str | Path | Mapping[str, Any] | None
    clusters: str
    kinds: str
    max_document: str | int
    max_file: str | int
    max_ratio: int
    against: Sequence[str | Path]
    signatures: bool
    engine: str
    master: str | None
    recipe: str | Path | None


class GroupArguments(MethodArguments, total=False):
    """The fields of ``engines.ranked.Listing``, and the settings of its method."""

    representative: str
    collapse: bool
    text: str
    id: str | None
    rank: str | None
    score: str | None
    signatures: str | Sequence[bytes | None] | None
    method: str | Method
    threshold: float | None
    set: Mapping[str, Any]
    date: str | None
    artefacts: Mapping[str, Any] | None
    workers: int | None
    memory: str | int
    recipe: str | Path | None


class IndexArguments(MethodArguments, total=False):
    """The fields of ``engines.index.index_settings.IndexSettings``."""

    method: str | Method | Sequence[str | Method] | None
    threshold: float | str | None
    set: Mapping[str, Any]
    text: str | None
    id: str | None
    date: str | None
    window: str | None
    against: str | None
    artefacts: Any
    run: str | Path | None
    texts: bool | None
    passages: bool | None
    within: str | None
    source: str | None
    kinds: bool | None
    memory: str | int | None
    clipping: str | None
    recipe: str | Path | None


class PassageArguments(TypedDict, total=False):
    """Settings of ``passages``, ``clean`` and ``trace``."""

    min_words: int
    unit: str
    gap: int
    similarity: float
    keep: str
    text: str
    id: str | None
    date: str | None
    source: str | None
    workers: int | None
    memory: str | int
    limit: int | None


def documented(*holders: type[Any], only: Sequence[str] | None = None) -> Callable[[F], F]:
    """Lists the fields of ``holders``, or ``only`` some of them, in the signature of a function in
    place of its ``**keywords``, and with type, default and meaning in its docstring."""
    fields = {f.name: f for holder in holders for f in parameters(holder)}
    listed = [f for name, f in fields.items() if only is None or name in only]

    def show(function: F) -> F:
        signature = inspect.signature(function)
        *named, rest = signature.parameters.values()
        kind = inspect.Parameter.KEYWORD_ONLY
        shown = [
            inspect.Parameter(f.name, kind, default=f.default, annotation=f.type) for f in listed
        ]
        others = [rest.replace(name="parameters", annotation=Any)] if only is None else []
        function.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*named, *shown, *others]
        )
        lines = [
            textwrap.fill(
                f"``{f.name}``: {f.meaning} ({f.type}; default {f.default!r})",
                WIDTH,
                initial_indent="    ",
                subsequent_indent="        ",
            )
            for f in listed
        ]
        head = inspect.getdoc(function) or ""
        function.__doc__ = "\n".join([head, "", "Keyword arguments:", *lines])
        return function

    return show
