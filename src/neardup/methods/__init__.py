"""Stage 4: keys, evidence and score of a document. Each method has one file of its name.

``base.py`` has the base class of all methods, ``meeting.py`` the ways in which documents meet,
``registry.py`` the list of methods and the parser of what users write, with the names that other
tools use, and ``parameters.py`` its checks. The remaining files are shared:

- by all methods: ``preparation`` (words, digests), ``thresholds`` (exact fractions, sweeps)
- by methods on sets: ``set_measures`` (and prefixes), ``minhash`` (values, bands, sketches)
- by methods on idf: ``idf_terms`` (table, terms, lexicon)
- by methods on weights: ``weighted_sets`` (measures on weighted sets, rarity, templates)
- ``profiles`` belongs to ``learned``, ``bit_tables`` to ``simhash``
"""
