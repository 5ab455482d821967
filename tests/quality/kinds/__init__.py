"""How often the kind of a pair is told right: on planted edits, whose kind is known."""
