"""Stage 7: the Result and the run folder: tables, explanations, comparisons, apply and undo."""
