"""How good an answer is, and how long it stays one."""
