"""What a policy does with the documents of a run: ranked and decided again, acted on, undone."""
