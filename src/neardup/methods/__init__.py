"""Stage 4: keys, evidence and score of a document. One file a method, by its name.

``base.py`` has the base class of all methods, ``meeting.py`` the ways in which documents meet,
``registry.py`` lists the methods and reads what users write,
``parameters.py`` checks it, ``synonyms.py`` leads other tools' names to ours. The rest is shared:

- all: ``preparation`` (words, short documents, digests), ``thresholds`` (exact fractions, sweeps)
- on sets: ``overlap`` (measures, prefixes), ``minhash`` (values, bands, sketches)
- on idf: ``idf_terms`` (table, terms, lexicon)
- on weights: ``weighted_sets`` (measures on weighted sets, rarity, templates)
- ``profiles`` is of ``learned``, ``bit_tables`` of ``simhash``
"""
