"""`plaudit version`."""

import platform

from plaudit import __version__
from plaudit.cli.console import show

__all__ = ["version"]


def version() -> None:
    """Show the version of plaudit and of Python."""
    show(f"plaudit {__version__} (Python {platform.python_version()}, {platform.system()})")
