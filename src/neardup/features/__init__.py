"""Stage 3: features of texts (q-grams, spots, terms, dates, vectors) and measures between them."""
