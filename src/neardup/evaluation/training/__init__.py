"""Trains models on labelled pairs of documents; a model decides which pairs are duplicates."""
