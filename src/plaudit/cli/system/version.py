"""`plaudit version`."""

import platform

from plaudit.cli.console import print_result
from plaudit.version import __version__

__all__ = ["version"]


def version() -> None:
    """Show the version of plaudit and of Python."""
    print_result(f"plaudit {__version__} (Python {platform.python_version()}, {platform.system()})")
