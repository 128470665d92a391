"""Import user code from a folder: files by path, modules by name.

Everything is undone after an import: the folder leaves `sys.path`, stand-ins for absent packages leave `sys.modules`.
Modules stay, so that pickling works; a sibling `helpers.py` of one folder makes way for that of the next folder.
"""

import hashlib
import importlib
import importlib.util
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from plaudit.dialects import stand_ins
from plaudit.errors import RewardNotLoaded, did_you_mean
from plaudit.loading.failures import explain_failures

__all__ = ["module_at", "module_from_file", "modules_by_path"]

_lock = threading.RLock()
_files: dict[Path, tuple[tuple[int, int], ModuleType]] = {}
_siblings: dict[str, Path] = {}


def module_from_file(path: Path) -> ModuleType:
    """The module that a file holds; the same one again for as long as the file does not change."""
    path = path.resolve()
    if not os.path.isfile(path):  # unlike Path.is_file, says no to names that are too long
        raise _no_such_file(path)
    with _lock:
        stat = path.stat()
        stamp = (stat.st_mtime_ns, stat.st_size)
        known = _files.get(path)
        if known is None or known[0] != stamp:
            _files[path] = known = (stamp, _execute(path))
        return known[1]


def modules_by_path() -> list[ModuleType]:
    """The modules loaded from files so far: no other process can import them by name."""
    with _lock:
        return [module for _, module in _files.values() if sys.modules.get(module.__name__) is module]


def module_at(dotted: str, folder: Path) -> tuple[ModuleType | None, list[str]]:
    """The module that the longest beginning of `dotted` names, and what is left over; `folder` is importable too."""
    parts = dotted.split(".")
    with _import_from(folder):
        for end in range(len(parts), 0, -1):
            name = ".".join(parts[:end])
            with explain_failures(f"importing {name}"):  # looking for a module imports the packages above it
                spec = _spec(name)
            if spec is not None:
                with explain_failures(f"importing {name}", Path(spec.origin or name)):
                    return importlib.import_module(name), parts[end:]
    return None, parts


class _SourceLoader(SourceFileLoader):
    """Always compiles: compiled files are matched by the second, and a file may change twice in one."""

    def get_code(self, fullname: str) -> CodeType | None:
        return self.source_to_code(self.get_data(self.path), self.path)


def _execute(path: Path) -> ModuleType:
    digest = hashlib.sha256(str(path).encode(errors="surrogateescape")).hexdigest()
    name = f"{re.sub(r'[^0-9a-zA-Z_]', '_', path.stem)}_{digest[:12]}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_SourceLoader(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module  # where dataclasses and pickle look it up
    done = False
    try:
        with _import_from(path.parent), explain_failures(f"importing {path.name}", path):
            spec.loader.exec_module(module)
        done = True
    finally:
        if not done:
            _restore(name, before)
    return module


def _restore(name: str, before: ModuleType | None) -> None:
    del sys.modules[name]
    if before is not None:
        sys.modules[name] = before


@contextmanager
def _import_from(folder: Path) -> Iterator[None]:
    with _lock, stand_ins():
        _forget_siblings(folder)
        importlib.invalidate_caches()
        sys.path.insert(0, str(folder))
        before = set(sys.modules)
        try:
            yield
        finally:
            if str(folder) in sys.path:
                sys.path.remove(str(folder))
            for name in set(sys.modules) - before:
                if "." not in name and _is_inside(folder, sys.modules[name]):
                    _siblings[name] = folder


def _forget_siblings(folder: Path) -> None:
    """Forget siblings of other folders that would stand in for those of this one."""
    for name, home in list(_siblings.items()):
        if home != folder and ((folder / f"{name}.py").exists() or (folder / name).is_dir()):
            del _siblings[name]
            for loaded in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
                del sys.modules[loaded]


def _is_inside(folder: Path, module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and folder in Path(file).parents


def _spec(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            return None
        raise  # the package is there, but imports something that is not
    except ValueError:  # a module that was run rather than imported
        return None


def _no_such_file(path: Path) -> RewardNotLoaded:
    if os.path.isdir(path):
        return RewardNotLoaded(f"{path} is a folder; name a .py file in it")
    if not os.path.isdir(path.parent):
        return RewardNotLoaded(f"no file {path}: there is no folder {path.parent}")
    nearby = sorted(file.name for file in path.parent.glob("*.py"))
    listed = f" (in {path.parent}: {', '.join(nearby[:10])})" if nearby else f" (no .py files in {path.parent})"
    return RewardNotLoaded(f"no file {path}{did_you_mean(path.name, nearby)}{listed}")
