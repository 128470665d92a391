"""The rest of the standard library in memory, since a child can open no file.

Compiled modules are read once, in the server, into one private mapping that a fork does not copy. Modules that need a
shared library of their own must have been imported by the server; they cannot be had from here.
"""

import importlib.util
import marshal
import mmap
import os
import struct
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType

__all__ = ["Archive"]

LEFT_OUT = {
    "__pycache__", "site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "tkinter", "turtledemo",
    "ensurepip", "pydoc_data", "distutils", "lib-dynload", "venv", "idle_test",
}  # fmt: skip
COMPILED, SOURCE = b"C", b"S"


class Archive:
    """An importer of modules from one block of memory."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[int, int, bool, str]] = {}
        descriptor = os.memfd_create("archive")
        end = 0
        for name, path, is_package in _modules(sysconfig.get_path("stdlib")):
            content = _content(path)
            os.write(descriptor, content)
            self._places[name] = (end, len(content), is_package, path)
            end += len(content)
        self._memory = mmap.mmap(descriptor, end, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
        os.close(descriptor)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a module that is here."""
        place = self._places.get(name)
        if place is None:
            return None
        spec = ModuleSpec(name, self, origin=place[3], is_package=place[2])  # type: ignore[arg-type]
        if place[2]:
            spec.submodule_search_locations = []
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Modules are made as usual."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a module's code in it."""
        exec(self.get_code(module.__name__), module.__dict__)

    def get_code(self, name: str) -> CodeType:
        """The code of a module."""
        start, length, _, path = self._places[name]
        kind, content = self._memory[start : start + 1], self._memory[start + 1 : start + length]
        code: CodeType = (
            marshal.loads(content) if kind == COMPILED else compile(content, path, "exec", dont_inherit=True)
        )
        return code


def _modules(root: str, prefix: str = "") -> Iterator[tuple[str, str, bool]]:
    """(name, path, is it a package) of the modules under a folder."""
    for entry in sorted(os.scandir(root), key=lambda entry: entry.name):
        if entry.name in LEFT_OUT or entry.name.startswith(("config-", "__main__")):
            continue
        if entry.is_dir():
            start = os.path.join(entry.path, "__init__.py")
            if os.path.exists(start):
                yield prefix + entry.name, start, True
                yield from _modules(entry.path, f"{prefix}{entry.name}.")
        elif entry.name.endswith(".py") and entry.name != "__init__.py" and prefix + entry.name[:-3] not in sys.modules:
            yield prefix + entry.name[:-3], entry.path, False


def _content(path: str) -> bytes:
    """A module's compiled code where its cache is up to date, else its source, which is compiled when needed."""
    seen = os.stat(path)
    try:
        with open(importlib.util.cache_from_source(path), "rb") as file:
            cached = file.read()
    except OSError:  # never imported before, or not ours to read
        cached = b""
    fresh = importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, int(seen.st_mtime) & 0xFFFFFFFF, seen.st_size)
    if cached[: len(fresh)] == fresh:
        return COMPILED + cached[len(fresh) :]
    with open(path, "rb") as file:
        return SOURCE + file.read()
