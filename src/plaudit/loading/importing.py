"""Import user code from a folder: files by path, modules by name; a file in a package as a member of it.

Everything is undone after an import: the folder leaves `sys.path`, stubs for absent packages leave `sys.modules`.
Modules stay, so that pickling works; a sibling `helpers.py` of one folder makes way for that of the next folder.
"""

import ast
import hashlib
import importlib
import importlib.util
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, NamespaceLoader, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

from plaudit.dialects import StubFinder, stub_finder
from plaudit.errors import RewardNotLoaded, did_you_mean
from plaudit.loading.execution.statements import execute
from plaudit.loading.failures import describe, explain_failures
from plaudit.loading.loaded_files import FILES, LOCK, NEIGHBOURS, LoadedFile
from plaudit.loading.names import imported_packages

_siblings: dict[str, Path] = {}
_OF_PROJECT = (".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
"""Files that mark the folder that a project is run from."""


def module_from_file(path: Path, text: str | None = None) -> ModuleType:
    """The module that a file holds; the same one again for as long as the file does not change.

    With `text`, the module is executed from it as if the file held it, and stays the module of that file.
    """
    path = path.resolve()
    if not os.path.isfile(path):  # unlike Path.is_file, says no to names that are too long
        raise _no_such_file(path)
    with LOCK:
        stat = path.stat()
        stamp = (stat.st_mtime_ns, stat.st_size)
        known = FILES.get(path)
        if known is None or known.stamp != stamp or text is not None:
            FILES[path] = known = _execute(path, stamp, text)
        return known.module


def module_at(dotted: str, folder: Path) -> tuple[ModuleType | None, list[str]]:
    """The module that the longest beginning of `dotted` names, and what is left over; `folder` is importable too.

    The module may import stubs, but is never one itself.
    """
    parts = dotted.split(".")
    with _import_from(folder):
        for end in range(len(parts), 0, -1):
            name = ".".join(parts[:end])
            with explain_failures(f"importing {name}"):  # looking for a module imports the packages above it
                spec = _spec(name)
            if spec is not None and isinstance(spec.loader, StubFinder):
                raise _is_stub(dotted, parts[0])
            if spec is not None:
                with explain_failures(f"importing {name}", Path(spec.origin or name)):
                    return importlib.import_module(name), parts[end:]
    return None, parts


def _execute(path: Path, stamp: tuple[int, int], text: str | None) -> LoadedFile:
    with explain_failures(f"importing {path.name}", path):
        source = path.read_bytes() if text is None else text.encode()
        tree = ast.parse(source if text is None else text, path)
    package, root = _package_of(path, tree)
    digest = hashlib.sha256(str(path).encode(errors="surrogateescape")).hexdigest()
    stem = re.sub(r"[^0-9a-zA-Z_]", "_", path.stem)
    name = f"{package}.{stem}" if package else f"{stem}_{digest[:12]}"
    packages, before = _project_packages(path, tree), list(warnings.filters)
    with (
        _import_from(root, path.parent, packages=packages),
        _run_as_script(path),
        explain_failures(f"importing {path.name}", path),
    ):
        failed = _import_package(package, root) if package else None
        if package and _file_of(sys.modules.get(name)) == path and path not in FILES and text is None:
            return LoadedFile(stamp, sys.modules[name])  # the package's own __init__ has imported it
        spec, replaced = importlib.util.spec_from_file_location(name, path), sys.modules.get(name)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses and pickle look modules up there
        try:
            failures = execute(tree, source, module, str(path))
        except BaseException:
            del sys.modules[name]
            sys.modules |= {name: replaced} if replaced else {}
            raise
    notes = [] if failed is None else [f"the package {package} cannot be imported here: {describe(failed)}"]
    filters = {id(each): each for each in warnings.filters if all(each is not old for old in before)}
    return LoadedFile(stamp, module, failures, notes, filters)


@contextmanager
def _run_as_script(path: Path) -> Iterator[None]:
    """While entered, the command line is the file without arguments, and imports write no compiled files."""
    before = sys.argv, sys.dont_write_bytecode
    sys.argv, sys.dont_write_bytecode = [str(path)], True
    try:
        yield
    finally:
        sys.argv, sys.dont_write_bytecode = before


class _NeighbourLoader(SourceFileLoader):
    """Executes a module of the file's folder or project: what it imports of absent packages cannot be used."""

    def exec_module(self, module: ModuleType) -> None:
        source = self.get_data(self.path)
        failures = execute(ast.parse(source, self.path), source, module, self.path, only_imports=True)
        NEIGHBOURS[module.__name__] = LoadedFile((0, 0), module, failures)


class _ProjectFinder(MetaPathFinder):
    """Finds modules of the file's folders, and packages of its project that nothing else finds."""

    def __init__(self, folders: Sequence[Path], packages: Mapping[str, Path]) -> None:
        self._packages = packages
        held = [part for name, folder in packages.items() for part in (folder / name, folder / f"{name}.py")]
        self._folders = (*(f"{folder}{os.sep}" for folder in folders), *map(str, held))

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in sys.builtin_module_names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None and path is None and fullname in self._packages:
            spec = PathFinder.find_spec(fullname, [str(self._packages[fullname])], target)
            if spec is not None and spec.origin is None:
                return spec  # a folder without an __init__.py
        origin = "" if spec is None or spec.origin is None else spec.origin
        is_installed = {"site-packages", "dist-packages"} & set(Path(origin).parts)
        if spec is None or is_installed or not origin.startswith(self._folders):
            return None
        if isinstance(spec.loader, SourceFileLoader):
            spec.loader = _NeighbourLoader(fullname, origin)
        return spec


def _import_package(package: str, root: Path) -> BaseException | None:
    """Import the package that a file belongs to. If that fails, import its bare folders instead: rewards often
    are in copies of a trainer that cannot be imported here, and need only sibling modules. Returns the error.
    """
    try:
        importlib.import_module(package)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - reported with the reward
        parts = package.split(".")
        for depth in range(1, len(parts) + 1):
            name = ".".join(parts[:depth])
            if name not in sys.modules:
                spec = ModuleSpec(name, None, is_package=True)
                spec.submodule_search_locations = [str(root.joinpath(*parts[:depth]))]
                sys.modules[name] = importlib.util.module_from_spec(spec)
        return error
    return None


def _package_of(path: Path, tree: ast.Module) -> tuple[str, Path]:
    """The package that a file belongs to, and the folder it is imported from; no package for a file on its own.

    Folders with an `__init__.py` are packages. Without one, a file that imports its neighbours by dots belongs to as
    many folders above it as it has dots.
    """
    depth = 0
    while (path.parents[depth] / "__init__.py").exists() and path.parents[depth].name.isidentifier():
        depth += 1
    levels = [node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    depth = depth or max(levels, default=0)
    names = [folder.name for folder in path.parents[:depth]]
    if not depth or not all(name.isidentifier() for name in names):
        return "", path.parent
    return ".".join(reversed(names)), path.parents[depth]


def _project_packages(path: Path, tree: ast.Module) -> dict[str, Path]:
    """The packages that a file can import when its project runs, with the folders that contain them.

    These are those in the folders of its project or in their `src`, and a package that the file itself is in. Copies of
    trainers rarely can be imported, so packages with a stub are not looked for.
    """
    above = list(path.parents)[1:]
    depth = next((at for at, folder in enumerate(above) if any((folder / name).exists() for name in _OF_PROJECT)), -1)
    folders = [each for folder in above[: depth + 1] for each in (folder, folder / "src")]
    others = imported_packages(tree) - set(stub_finder().packages)
    held = ((name, next((folder for folder in folders if _holds(folder, name)), None)) for name in others)
    around = {folder.name: folder.parent for folder in path.parents[:-1] if folder.name in others}
    return around | {name: folder for name, folder in held if folder is not None}


def _holds(folder: Path, name: str) -> bool:
    """Whether a folder has a package or a module of that name."""
    return (folder / f"{name}.py").is_file() or any((folder / name).glob("*.py"))


def _file_of(module: ModuleType | None) -> Path | None:
    file = None if module is None else vars(module).get("__file__")
    return None if file is None else Path(file).resolve()


@contextmanager
def _import_from(*folders: Path, packages: Mapping[str, Path] | None = None) -> Iterator[None]:
    """While entered, modules in these folders (the first folder first) and stubs of absent packages can be imported.

    For a file, `packages` are the packages of its project by name, with the folders that contain them.
    """
    paths = [str(folder) for folder in dict.fromkeys(folders)]
    finders = [] if packages is None else [_ProjectFinder(folders, packages)]
    folders = (*folders, *(packages or {}).values())
    with LOCK, stub_finder():
        for folder in folders:
            _forget_siblings(folder)
        importlib.invalidate_caches()
        sys.path[:0] = paths
        sys.meta_path[:0] = finders
        before = set(sys.modules)
        try:
            yield
        finally:
            for each in finders:
                sys.meta_path.remove(each)
            for path in paths:
                if path in sys.path:
                    sys.path.remove(path)
            for name in set(sys.modules) - before:
                if "." not in name and (home := _home_of(name, folders)):
                    _siblings[name] = home
            _forget_empty_packages(set(sys.modules) - before)


def _forget_empty_packages(names: set[str]) -> None:
    """Forget mere folders that were taken for packages and in which nothing was imported."""
    for name in names & set(sys.modules):
        is_folder = isinstance(getattr(sys.modules[name].__spec__, "loader", None), NamespaceLoader)
        if is_folder and not any(loaded.startswith(f"{name}.") for loaded in sys.modules):
            del sys.modules[name]
            _siblings.pop(name, None)


def _forget_siblings(folder: Path) -> None:
    """Forget siblings of other folders that have the name of one of this folder."""
    for name, home in list(_siblings.items()):
        if home != folder and ((folder / f"{name}.py").exists() or (folder / name).is_dir()):
            del _siblings[name]
            for loaded in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
                del sys.modules[loaded]


def _home_of(name: str, folders: Sequence[Path]) -> Path | None:
    """The one of these folders that a top-level module was imported from, if any."""
    module = sys.modules[name]
    paths = [_file_of(module), *(Path(path) for path in vars(module).get("__path__", ()))]
    return next((folder for folder in folders for location in paths if location and folder in location.parents), None)


def _spec(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            return None
        raise  # the package is there, but imports something that is not
    except ValueError:  # a module that was run rather than imported
        return None


def _is_stub(dotted: str, root: str) -> RewardNotLoaded:
    return RewardNotLoaded(
        f"{dotted} names the package {root!r}, which is not installed; plaudit has a stub for it inside reward files, "
        f"not for rewards of its own: install {root}, or name one of plaudit's (`plaudit rewards` lists them)"
    )


def _no_such_file(path: Path) -> RewardNotLoaded:
    if os.path.isdir(path):
        return RewardNotLoaded(f"{path} is a folder; name a .py file in it")
    if not os.path.isdir(path.parent):
        return RewardNotLoaded(f"no file {path}: there is no folder {path.parent}")
    nearby = sorted(file.name for file in path.parent.glob("*.py"))
    listed = f" (in {path.parent}: {', '.join(nearby[:10])})" if nearby else f" (no .py files in {path.parent})"
    return RewardNotLoaded(f"no file {path}{did_you_mean(path.name, nearby)}{listed}")
