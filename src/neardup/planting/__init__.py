"""Copies of documents with known edits, and traps: known answers where no labels are.

A run calibrates itself by them (``engines/batch/threshold_choice.py``), an evaluation measures with
them (``evaluation/planting/``).
"""
