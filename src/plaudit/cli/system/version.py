"""`plaudit version`."""

import platform

from plaudit.cli.console import show
from plaudit.version import __version__

__all__ = ["version"]


def version() -> None:
    """Show the version of plaudit and of Python."""
    show(f"plaudit {__version__} (Python {platform.python_version()}, {platform.system()})")
