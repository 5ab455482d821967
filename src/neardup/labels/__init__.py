"""Pairs that people judged: one vocabulary, one store, samples, agreement."""
