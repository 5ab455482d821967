"""What a run would take and find, from a sample of its input, before anything is written."""
