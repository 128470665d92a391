"""Where code comes from, as bytes that change when the code does.

The user's own code is known by the text of its file, an installed package by its version and the text of the one file,
the standard library by Python's version, and plaudit by all of its text: by its version alone, whoever works on plaudit
would be served stale scores.
"""

import enum
import functools
import hashlib
import importlib.util
import platform
import sys
import sysconfig
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["Home", "Origin", "origin_of"]

_FOLDER = Path(__file__).parents[2]
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_STANDARD = Path(sysconfig.get_paths()["stdlib"])


class Home(enum.Enum):
    """Whose code it is."""

    OWN = "the user's"
    INSTALLED = "an installed package's"
    STANDARD = "Python's"
    PLAUDIT = "plaudit's"


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose code a module holds, and what identifies that code."""

    home: Home
    identity: bytes


def origin_of(name: str | None) -> Origin:
    """The origin of the module called `name`; what was typed in or made at run time has no text."""
    root = (name or "").partition(".")[0]
    if root == _FOLDER.name:
        return Origin(Home.PLAUDIT, _all_of_plaudit())
    if root in sys.stdlib_module_names:
        return Origin(Home.STANDARD, platform.python_version().encode())
    file = _file_of(name or "")
    if not _INSTALLED.isdisjoint(file.parts) or file.is_relative_to(_STANDARD):
        return Origin(Home.INSTALLED, _version(root) + _digest([file]))
    return Origin(Home.OWN, _digest([file]))


def _file_of(name: str) -> Path:
    if name in sys.modules or "." in name or not name:
        return Path(getattr(sys.modules.get(name), "__file__", None) or "")
    spec = importlib.util.find_spec(name)  # of a top-level name, so that nothing is imported
    return Path((spec and spec.origin) or "")


def _version(package: str) -> bytes:
    try:
        return version(package).encode()
    except PackageNotFoundError:  # a distribution of another name
        return str(getattr(sys.modules.get(package), "__version__", "")).encode()


def _digest(files: list[Path]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for file in files:
        try:
            digest.update(file.read_bytes())
        except OSError:  # in a zip archive, or there never was a file
            digest.update(b"no file")
    return digest.digest()


@functools.cache
def _all_of_plaudit() -> bytes:
    return _digest(sorted(_FOLDER.rglob("*.py")))
