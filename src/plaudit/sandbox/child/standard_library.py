"""The standard library without files, since a child can open none.

Compiled modules are read once, in the server, into one private mapping that a fork does not copy. Extension modules
are loaded by the dynamic linker in the server; a child that imports one finds the library by its path in memory. All of
the standard library is offered this way, except the extension modules in `EXCLUDED` and what depends on them.
"""

import contextlib
import ctypes
import importlib.util
import io
import marshal
import mmap
import os
import struct
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from types import CodeType, ModuleType
from typing import Any

# Imported before the first fork, since programs use them all the time.
FREQUENT = [
    "abc", "array", "bisect", "cmath", "collections", "collections.abc", "contextlib", "copy", "dataclasses",
    "datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "io", "itertools", "json", "math",
    "numbers", "operator", "pickle", "queue", "random", "re", "statistics", "string", "struct", "textwrap",
    "threading", "time", "traceback", "types", "typing", "unicodedata", "zlib", "zoneinfo", "encodings.ascii",
    "encodings.latin_1", "_blake2", "_csv", "_md5", "_sha1", "_sha2", "_sha256", "_sha3", "_sha512", "_socket",
    "select",
]  # fmt: skip
# Extension modules that are of no use without a network, terminal, display, sound card or list of users.
EXCLUDED = frozenset({
    "_ssl", "_hashlib", "_curses", "_curses_panel", "readline", "_tkinter", "ossaudiodev", "nis", "spwd",
    "syslog", "_dbm", "_gdbm",
})  # fmt: skip
LEFT_OUT = {  # installers, graphical programs, tests
    "__pycache__", "site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "tkinter", "turtledemo",
    "ensurepip", "lib-dynload", "venv", "idle_test",
}  # fmt: skip
COMPILED, SOURCE = b"C", b"S"
ZONE = "zone:"


class StandardLibrary:
    """An importer of modules, and a reader of time zones, from memory."""

    def __init__(self, zones: str = "") -> None:
        self._entries: dict[str, tuple[int, int, bool, str]] = {}
        self._extensions = dict(_load_extensions(sysconfig.get_path("platstdlib") + "/lib-dynload"))
        with contextlib.closing(io.BytesIO()) as content:
            for name, path, is_package in _modules(sysconfig.get_path("stdlib")):
                self._add(content, name, _content(path), path, is_package=is_package)
            for name, path in _zones(zones):
                with open(path, "rb") as file:
                    self._add(content, ZONE + name, file.read(), path)
            self._memory = _mapped(content.getbuffer())
        if "zoneinfo" in sys.modules:
            vars(sys.modules["zoneinfo._common"])["load_tzdata"] = self._open_zone
            for module in ("zoneinfo", "zoneinfo._tzpath"):
                vars(sys.modules[module])["available_timezones"] = self._zone_names

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a module that is in memory."""
        if name in self._extensions:
            return importlib.util.spec_from_file_location(
                name, self._extensions[name], loader=ExtensionFileLoader(name, self._extensions[name])
            )
        if name not in self._entries:
            return None
        _, _, is_package, origin = self._entries[name]
        spec = ModuleSpec(name, self, origin=origin, is_package=is_package)  # type: ignore[arg-type]
        if is_package:
            spec.submodule_search_locations = []
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Modules are made as usual."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a module's code in it."""
        exec(self.get_code(module.__name__), module.__dict__)

    def get_code(self, name: str) -> CodeType:
        """The code of a module."""
        content, path = self._read(name), self._entries[name][3]
        code: CodeType = (
            marshal.loads(content[1:])
            if content[:1] == COMPILED
            else compile(content[1:], path, "exec", dont_inherit=True)
        )
        return code

    def _add(self, content: Any, name: str, entry: bytes, path: str, *, is_package: bool = False) -> None:
        self._entries[name] = (content.tell(), len(entry), is_package, path)
        content.write(entry)

    def _read(self, name: str) -> bytes:
        start, length, _, _ = self._entries[name]
        return self._memory[start : start + length]

    def _open_zone(self, key: str) -> io.BytesIO:
        if ZONE + key not in self._entries:
            raise sys.modules["zoneinfo"].ZoneInfoNotFoundError(f"No time zone found with key {key}")
        return io.BytesIO(self._read(ZONE + key))

    def _zone_names(self) -> set[str]:
        return {name.removeprefix(ZONE) for name in self._entries if name.startswith(ZONE)}


def _mapped(content: memoryview) -> mmap.mmap:
    """Bytes in a private mapping, of which a fork copies nothing."""
    descriptor = os.memfd_create("standard library")
    with content, os.fdopen(descriptor, "wb", 0) as file:
        left = content
        while left:
            left = left[file.write(left) :]
        return mmap.mmap(descriptor, len(content), flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)


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


def _load_extensions(folder: str) -> Iterator[tuple[str, str]]:
    """(name, path) of the extension modules, whose libraries are loaded from now on."""
    suffix = next(iter(EXTENSION_SUFFIXES))
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        name, path = entry.removesuffix(suffix), f"{folder}/{entry}"
        if entry.endswith(suffix) and name not in EXCLUDED and not name.startswith(("_test", "_xx", "xx")):
            with contextlib.suppress(OSError):  # a library that it needs is not installed
                ctypes.PyDLL(path)
                yield name, path


def _zones(folder: str) -> Iterator[tuple[str, str]]:
    """(key, path) of the time zones under a folder."""
    for root, folders, files in os.walk(folder) if folder else ():
        folders[:] = [name for name in folders if name not in ("posix", "right")]  # the same under other names
        for name in files:
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                if file.read(4) == b"TZif":
                    yield os.path.relpath(path, folder), path


def _content(path: str) -> bytes:
    """A module's compiled code where its cache is up to date, else its source, which is compiled when needed."""
    seen = os.stat(path)
    try:
        with open(importlib.util.cache_from_source(path), "rb") as file:
            cached = file.read()
    except OSError:  # never imported before, or not readable by us
        cached = b""
    fresh = importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, int(seen.st_mtime) & 0xFFFFFFFF, seen.st_size)
    if cached[: len(fresh)] == fresh:
        return COMPILED + cached[len(fresh) :]
    with open(path, "rb") as file:
        return SOURCE + file.read()
