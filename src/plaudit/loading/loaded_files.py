"""The modules that were loaded from files by path.

Imports nothing of plaudit: whoever sends rewards asks it, and is imported by every worker process that starts.
"""

import sys
import threading
from pathlib import Path
from types import ModuleType

__all__ = ["FILES", "LOCK", "modules_by_path"]

LOCK = threading.RLock()
"""Held while a file is imported."""
FILES: dict[Path, tuple[tuple[int, int], ModuleType]] = {}
"""With the time and size of each file as it was read."""


def modules_by_path() -> list[ModuleType]:
    """The modules loaded from files so far: no other process can import them by name."""
    with LOCK:
        return [module for _, module in FILES.values() if sys.modules.get(module.__name__) is module]
