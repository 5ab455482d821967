"""Stage 3: what of the words is compared. Feature sets, terms, dates, and measures between them."""
