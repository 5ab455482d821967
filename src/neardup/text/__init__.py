"""Stage 2: words and normal forms of texts, the options that define them, and text alignment."""
