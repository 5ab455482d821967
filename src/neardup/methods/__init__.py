"""Stage 4: keys, evidence and score of a document. One file a method, by its name.

``method.py`` says what a method is, ``registry.py`` lists them, ``parameters.py`` and
``written.py`` read and check what users write. The rest is shared between methods:

- all: ``preparing`` (words, short documents, digests), ``fractions`` (thresholds)
- on sets: ``overlap`` (measures, prefixes), ``minhash`` (values, bands); of ``shingles`` alone:
  ``sketches`` (samples, also for ``supershingles``), ``weighted``
- on idf: ``idf_terms`` (table, terms, lexicon), ``vectors`` (measures on weighted sets)
- on rarity: ``rarity`` (classes, noise, templates); ``profiles``, ``seeking``, ``trained`` are of
  ``learned``
- ``bit_tables`` is of ``simhash``, ``plane_tables`` of ``semantic``, ``parts`` of ``combined``
"""
