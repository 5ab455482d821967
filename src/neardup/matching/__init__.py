"""Stage 5: keys → candidates → pairs that are verified on their evidence."""
