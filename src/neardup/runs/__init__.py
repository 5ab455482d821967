"""Stage 7: the Result and the folder of a run: tables, explanations, comparisons, apply and
undo."""
