"""Frozen things that are learned from a collection, each with a digest: idf tables, frequencies."""
