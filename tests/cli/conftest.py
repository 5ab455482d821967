"""The fixtures of the command line's tests."""

from cli.sample import broken, docs, run

__all__ = ["broken", "docs", "run"]
