"""Stage 2: what of a text is compared. Words, normal forms and the options that define them."""
