"""Estimates the cost and the duplicates of a run from a sample of its input; nothing is written."""
