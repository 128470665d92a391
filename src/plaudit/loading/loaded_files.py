"""The modules that were loaded from files by path.

Imports nothing of plaudit: the code that sends rewards uses it, and every worker process that starts imports that.
"""

import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

LOCK = threading.RLock()
"""Held while a file is imported."""


@dataclass
class LoadedFile:
    """A module, the time and size of its file when it was read, what failed, and the warning filters that it set."""

    stamp: tuple[int, int]
    module: ModuleType
    failures: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    filters: dict[int, Any] = field(default_factory=dict)
    is_reported: bool = False


FILES: dict[Path, LoadedFile] = {}
NEIGHBOURS: dict[str, LoadedFile] = {}
"""Modules that files import from their own folder or project, by name, where an import in them failed."""


def file_of(module: ModuleType) -> LoadedFile | None:
    """The file that a module was loaded from; None for a module that was imported by name."""
    return next((each for each in list(FILES.values()) if each.module is module), None)


def modules_by_path() -> list[ModuleType]:
    """The modules loaded from files so far: no other process can import them by name."""
    with LOCK:
        return [each.module for each in FILES.values() if sys.modules.get(each.module.__name__) is each.module]
