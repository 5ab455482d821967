"""Pairs that people judged: one vocabulary of labels, one store, samples to judge, agreement."""
