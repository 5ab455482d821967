"""Names of methods and parameters in papers and other tools: for hints, never as names.

If such a name were accepted, one thing would have two names. Parameters of datasketch and
text-dedup are the exception (``registry.ALIASES``), because they have the same meaning there.
"""

from __future__ import annotations

import re

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
    "levenshtein editdistance fuzzy fuzzymatching rapidfuzz ratio": (
        "small edits inside words are found by `qgrams`."
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
