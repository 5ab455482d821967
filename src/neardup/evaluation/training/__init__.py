"""Training: labelled pairs of documents → a model that says which pairs are duplicates."""
