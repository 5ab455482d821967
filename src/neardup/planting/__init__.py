"""Synthetic pairs with known answers, for collections without labels.

Edited copies of documents are duplicates; decoys and forms share a frame only and are not. A run
calibrates itself with them (``engines/batch/threshold_choice.py``); an evaluation measures with
them (``evaluation/planted_experiment.py``).
"""
