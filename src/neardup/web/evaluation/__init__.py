"""The evaluation of a run from its labels, as pages."""
