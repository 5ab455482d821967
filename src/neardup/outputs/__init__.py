"""Stage 7: the result, its questions and answers, and the folder of a run."""
