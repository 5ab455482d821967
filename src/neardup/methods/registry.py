"""The methods by name: one table of built-in methods, and the entry points of other packages.

A method is imported only when it is used, so that listing the methods costs nothing. The module
reads methods as people write them, ``shingles words=3 text.digits=mask``, with the assignments that
``--set`` takes on the command line, and describes methods as data: threshold, miss rate,
parameters. Names that papers and other tools use are accepted only in hints: otherwise one thing
would have two names.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import SettingsError
from neardup.methods.parameters import check_type, parameters, summary
from neardup.wording import shortened

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from neardup.methods.base import Method

METHODS = {
    "combined": "neardup.methods.combined:Combined",
    "editdistance": "neardup.methods.editdistance:EditDistance",
    "exact": "neardup.methods.exact:Exact",
    "fingerprint": "neardup.methods.fingerprint:Fingerprint",
    "imatch": "neardup.methods.imatch:IMatch",
    "join": "neardup.methods.join:Join",
    "keywords": "neardup.methods.keywords:Keywords",
    "learned": "neardup.methods.learned:Learned",
    "qgrams": "neardup.methods.qgrams:Qgrams",
    "raregrams": "neardup.methods.raregrams:Raregrams",
    "rareshingles": "neardup.methods.rareshingles:Rareshingles",
    "semantic": "neardup.methods.semantic:Semantic",
    "shingles": "neardup.methods.shingles:Shingles",
    "simhash": "neardup.methods.simhash:SimHash",
    "spotsigs": "neardup.methods.spotsigs:SpotSigs",
    "supershingles": "neardup.methods.supershingles:Supershingles",
    "termvector": "neardup.methods.termvector:TermVector",
    "uniquewords": "neardup.methods.uniquewords:UniqueWords",
}
ENTRY_POINTS = "neardup.methods"
DEFAULT = "raregrams"
# What other tools call a parameter; taken where the method has no parameter of that very name.
ALIASES = {
    "num_perm": "permutations",
    "ngram": "words",
    "ngram_size": "words",
    "jaccard_threshold": "threshold",
    "similarity_threshold": "threshold",
}


def _plugins() -> EntryPoints:
    from importlib.metadata import entry_points  # slow to load, and most runs need none

    return entry_points(group=ENTRY_POINTS)


def names() -> list[str]:
    return sorted({*METHODS, *(entry.name for entry in _plugins())})


def check_name(name: str) -> None:
    """Refuses the name of a method that does not exist, without loading any method."""
    if name not in METHODS and name not in names():
        raise SettingsError(f"There is no method {shortened(name)!r}.", hint=_other(name))


def method_class(name: str) -> type[Any]:
    check_name(name)
    if name in METHODS:
        module, _, attribute = METHODS[name].partition(":")
        return getattr(importlib.import_module(module), attribute)  # type: ignore[no-any-return]
    return _plugins()[name].load()  # type: ignore[no-any-return]


def _other(name: str) -> str:
    """A hint at the method that was meant: the same name in other spelling, a name that other tools
    use, or a similar name."""
    same = [method for method in names() if plain(method) == plain(name)]
    if not same and (hint := other_name(name)):
        return hint
    import difflib

    near = same or difflib.get_close_matches(name.lower(), names(), 1)
    return f"did you mean {near[0]!r}?" if near else f"methods are {', '.join(names())}."


def parameter_names(cls: type[Any]) -> list[str]:
    return [field.name for field in dataclasses.fields(cls)]


def canonical(cls: type[Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters under their own names instead of aliases."""
    own_names = parameter_names(cls)
    named: dict[str, Any] = {}
    for key, value in parameters.items():
        alias = key not in own_names and ALIASES.get(key) in own_names
        name = ALIASES[key] if alias else key
        if name in named:
            raise SettingsError(f"{name} is given twice, also as {key}.", hint="give one of them.")
        named[name] = value
    return named


def build(name: str, parameters: dict[str, Any] | None = None) -> Method:
    """A method from its name and flat or nested parameters, as in recipes and ``--set``."""
    method: Method = construct(method_class(name), parameters or {}, name)
    return method


def changed(method: Method, parameters: dict[str, Any]) -> Method:
    """The same method with some parameters changed."""
    if not parameters:
        return method
    values = _values(type(method), parameters, method.name, method)
    for leader in values.keys() & method.follows.keys():
        for follower in method.follows[leader]:
            values.setdefault(follower, None)
    return dataclasses.replace(method, **values)


def leaders(method: Method) -> dict[str, Any]:
    """The values of those parameters from which the defaults of other parameters follow."""
    return {name: getattr(method, name) for name in method.follows}


def usual(method: Method) -> Method:
    """The method with the defaults that follow from its leading parameters."""
    defaults: Method = method_class(method.name)(**leaders(method))
    return defaults


def construct(cls: type[Any], parameters: dict[str, Any], where: str) -> Any:
    """A dataclass from checked values; an unknown name is refused with the nearest known one."""
    return cls(**_values(cls, parameters, where, None))


def _values(cls: type[Any], parameters: dict[str, Any], where: str, current: Any) -> dict[str, Any]:
    """Checked values by field; nested options start from ``current`` if it has them."""
    fields = {field.name: field for field in dataclasses.fields(cls)}
    values = {}
    if not ALIASES.keys().isdisjoint(parameters):
        parameters = canonical(cls, parameters)
    for key, value in parameters.items():
        if key not in fields:
            raise SettingsError(
                f"{where} has no parameter {key!r}.", hint=_instead(key, fields, where)
            )
        nested = fields[key].default_factory
        if isinstance(value, dict) and dataclasses.is_dataclass(nested):
            inner = getattr(current, key, None)
            options = _values(nested, value, f"{where}.{key}", inner)
            value = dataclasses.replace(inner, **options) if inner else nested(**options)
        if isinstance(value, Path):  # a plan is data, so files are named by strings
            value = str(value)
        check_type(fields[key], value, where)
        values[key] = value
    if "threshold" in values and "calibrate" in fields:  # an explicit threshold is not moved
        values.setdefault("calibrate", False)
    return values


def elsewhere(parameter: str) -> str | None:
    """A hint at the methods that have this parameter; None if no method has it."""
    own = ALIASES.get(parameter, parameter)
    owners = [name for name in METHODS if own in parameter_names(method_class(name))]
    if not owners:
        return None
    listed = owners[0] if len(owners) == 1 else f"{', '.join(owners[:-1])} and {owners[-1]}"
    return f"it is a parameter of {listed}; name the method too."


def _instead(key: str, there: Iterable[str], where: str) -> str:
    import difflib

    if key != "threshold" and where in METHODS and (other := elsewhere(key)):
        return other
    if near := difflib.get_close_matches(key, there, 1):
        return f"did you mean {near[0]!r}?"
    follows = "its threshold follows from others; " * (key == "threshold")
    return f"{follows}it has {', '.join(there)}."


def read_method(
    written: str, over: dict[str, Any] | None = None, date: str | None = None
) -> Method:
    """The method of a name and assignments, separated by spaces. ``over`` has precedence; ``date``
    is the date column for methods that use one, unless it is named already."""
    try:
        name, *assignments = shlex.split(written)
    except ValueError:
        raise SettingsError(
            f"{written!r} is no method.", hint="write a name and parameters: 'shingles words=3'."
        ) from None
    parameters = parse_assignments(assignments, f"the method {written!r}")
    parameters = deep_merged(parameters, over or {})
    if date is not None and "date" in parameter_names(method_class(name)):
        parameters.setdefault("date", date)
    return build(name, parameters)


def write_method(method: Method) -> str:
    """The name and the parameters that differ from the defaults; :func:`read_method` reads it."""
    plain = method_class(method.name)()
    led = leaders(method).items()
    leading = [_assignment(name, value) for name, value in led if value != getattr(plain, name)]
    return shlex.join([method.name, *leading, *_assignments(method, usual(method), "")])


def _assignment(name: str, value: Any) -> str:
    return f"{name}={json.dumps(value, ensure_ascii=False)}"


def _assignments(options: Any, plain: Any, prefix: str) -> list[str]:
    written = []
    for field in dataclasses.fields(options):
        value, usual = getattr(options, field.name), getattr(plain, field.name)
        if value == usual:
            continue
        if dataclasses.is_dataclass(value):
            written += _assignments(value, usual, f"{prefix}{field.name}.")
        else:
            written.append(_assignment(prefix + field.name, value))
    return written


def parse_assignments(assignments: Iterable[str], where: str = "--set") -> dict[str, Any]:
    """``text.digits=mask`` → ``{"text": {"digits": "mask"}}``."""
    parsed: dict[str, Any] = {}
    for written in assignments:
        key, equals, value = written.partition("=")
        parts = key.strip().split(".")
        if not equals or not all(parts):
            raise SettingsError(
                f"{where} got {written!r}; expected KEY=VALUE.", hint="for example words=3."
            )
        nested: Any = toml_value(value.strip())
        for part in reversed(parts):
            nested = {part: nested}
        parsed = deep_merged(parsed, nested)
    return parsed


def toml_value(written: str) -> Any:
    """A TOML value (3, 0.5, true, "x", ["a", "b"]) if it can be read as one, else the string
    itself."""
    import tomllib

    try:
        read = tomllib.loads(f"value = {written}")
    except tomllib.TOMLDecodeError:
        return written
    return read["value"] if list(read) == ["value"] else written


def deep_merged(low: dict[str, Any], high: dict[str, Any]) -> dict[str, Any]:
    both = dict(low)
    for key, value in high.items():
        nested = isinstance(value, dict) and isinstance(low.get(key), dict)
        both[key] = deep_merged(low[key], value) if nested else value
    return both


def describe(method: Method) -> dict[str, Any]:
    cls = type(method)
    return {
        "name": method.name,
        "summary": summary(cls),
        "threshold": method.threshold,
        "complete": method.miss_rate == 0,
        "miss_rate": method.miss_rate,
        "resolved": method.resolved(),
        "parameters": [parameter._asdict() for parameter in parameters(cls)],
    }


_SPECIFIC = {
    "minhash minhashlsh lsh lshforest bands banding datasketch rensa gaoya textdedup": (
        "MinHash with LSH is `shingles`."
    ),
    "jaccard resemblance broder shingling wordngrams wshingling": (
        "the Jaccard resemblance of word shingles is `shingles`."
    ),
    "containment contain subset excerpt excerpts": (
        "containment is `shingles` with measure=containment (--set measure=containment)."
    ),
    "overlap dice ppjoin allpairs prefixfilter setsimilarityjoin ssjoin": (
        "all pairs of sets under a measure (jaccard, dice, cosine, max, containment) are `join`."
    ),
    "tfidf bm25 cosine cosinesimilarity vectorspace": (
        "terms by tf·idf, also by their cosine (measure=cosine), are `keywords`; `semantic` has "
        "the cosine of vectors."
    ),
    "embedding embeddings sbert bert sentencetransformers semhash semdedup model2vec vectors "
    "vector encoder neural transformer": "embeddings are `semantic`.",
    "svm classifier classification logistic logisticregression randomforest decisiontree trained "
    "model machinelearning ml": (
        "a model that was trained on pairs decides in `learned`; `neardup train` makes one."
    ),
    "ngram ngrams charngram charngrams characterngrams trigram trigrams ddd docq": (
        "n-grams of characters are `qgrams`; n-grams of words are `shingles`."
    ),
    "levenshtein fuzzy fuzzymatching rapidfuzz ratio": (
        "short texts within some edits are found by `editdistance`, small edits in longer ones by "
        "`qgrams`."
    ),
    "hash hashing sha1 sha256 sha md5 blake2 xxhash digest checksum identical equal bytes": (
        "copies that are equal are found by `exact`."
    ),
    "hamming charikar manku bits": "fingerprints that differ in few bits are `simhash`.",
    "megashingles sketch sketches altavista henzinger": (
        "groups of MinHash values are `supershingles`; `shingles` has the sketches of papers "
        "(sampling=)."
    ),
    "chowdhury lexicon signature": "one signature of the terms of middle idf is `imatch`.",
    "conrad rareterms": "the rarest terms with date and length are `termvector`.",
    "theobald spots stopwords antecedents": "stop words with what follows are `spotsigs`.",
    "idf idfshingles weightedjaccard weighted weightedminhash": (
        "shingles weighted by their rarity are `rareshingles`."
    ),
    "default usual auto calibrated": "the default is `raregrams`.",
    "ensemble vote voting several all any and or": "several methods together are `combined`.",
}
HINTS = {name: hint for names, hint in _SPECIFIC.items() for name in names.split()}


def plain(name: str) -> str:
    """The name without case and punctuation: ``MinHash-LSH`` and ``minhash_lsh`` are equal."""
    return re.sub(r"[^a-z0-9]+", "", name.lower())


def other_name(name: str) -> str | None:
    """A hint at the name that is used here; None if no other tool uses the name."""
    return HINTS.get(plain(name))
