"""What every HTML page of neardup is made of: safe text, tables, bars, one look, no script."""
