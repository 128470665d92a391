"""The `plaudit` command."""

from plaudit.cli.app import main

__all__ = ["main"]
