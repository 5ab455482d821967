"""Measures how good results are: sweeps, recommendations, planted copies, stability, training."""
