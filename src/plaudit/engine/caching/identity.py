"""Identify a reward by its settings and its source code, the same in every process, folder and checkout.

The identity consists of the reward's class or function, its settings, the text of the user's modules that define them
and of those that they import, and the versions of Python, plaudit and the installed packages that those modules import.
A module counts by its text with line ends as `\\n`, wherever its file is. Settings are taken apart as pickling does, so
`__getstate__` can leave out connections. Data that a module reads is not part of the identity.
"""

import ast
import copyreg
import hashlib
import pickle
import platform
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from types import CellType, FunctionType, ModuleType, NoneType
from typing import Any, NamedTuple, TypeAlias

from plaudit.contract.function import RewardFunction
from plaudit.version import __version__

DIGEST_SIZE = 16
_Module: TypeAlias = tuple[str, Path]  # its top-level package, and its file
_ATOMS = {NoneType: repr, bool: repr, int: hex, float: repr, complex: repr, str: repr, bytes: repr}
_STANDARD = Path(sysconfig.get_paths()["stdlib"])
_NOT_REDUCED = (TypeError, AttributeError, ValueError, RuntimeError, OSError, pickle.PicklingError)


class NotIdentified(Exception):
    """A value is neither plain data nor code with a source file."""


def reward_key(reward: RewardFunction) -> str:
    """A short key that changes with a reward's code and settings; a setting that is not plain data counts by type."""
    try:
        return RewardIdentity(reward, strict=False).digest().hex()
    except NotIdentified:
        return hashlib.blake2b(repr(reward).encode(), digest_size=DIGEST_SIZE).hexdigest()


@dataclass(frozen=True, slots=True)
class RewardContents:
    """The parts of a reward's cache key, so that two keys can be compared part by part."""

    key: str
    python: str
    plaudit: str
    files: dict[str, str]
    """The user's source files, each with a hash of its text."""
    packages: dict[str, str]
    """The installed packages that these import, with their versions."""
    settings: str
    """A hash of the reward's class or function and its settings."""


def reward_contents(reward: RewardFunction) -> RewardContents:
    """The key of a reward, which is that of `reward_key`, and its parts; raises NotIdentified."""
    identity = RewardIdentity(reward, strict=False)
    sources, described = identity.describe()
    return RewardContents(
        identity.digest().hex(),
        platform.python_version(),
        __version__,
        {str(file): source.identity for (_, file), source in sources.items() if not _is_installed(file)},
        {package: _version_of(package) for package, file in sources if _is_installed(file)},
        _hash(described).hex(),
    )


def identify(value: Any) -> bytes:
    """Bytes that are equal for equal values of the same types; raises NotIdentified."""
    return _hash(_Description(strict=True, texts={}).describe(value, "it"))


class RewardIdentity:
    """The identity of one reward; source files are read once, settings at every `digest()`."""

    def __init__(self, reward: RewardFunction, *, strict: bool = True) -> None:
        self._reward, self._strict = reward, strict
        self._sources: dict[_Module, _Source] = {}
        self._texts: dict[Path, str] = {}

    def digest(self) -> bytes:
        """The identity as bytes; raises NotIdentified."""
        sources, described = self.describe()
        identities = sorted({source.identity for source in sources.values()})
        return _hash((platform.python_version(), __version__, identities, described))

    def describe(self) -> "tuple[dict[_Module, _Source], tuple[Any, ...]]":
        """The modules with their texts, and the reward's code and settings as nested tuples; raises NotIdentified."""
        description = _Description(self._strict, self._texts)
        try:
            described = description.describe(self._reward, self._reward.name)
        except RecursionError:
            raise NotIdentified(f"{self._reward.name} holds data that contains itself, or is too deep") from None
        modules, waiting = set[_Module](), description.modules
        while waiting:
            if (module := waiting.pop()) not in modules:
                modules.add(module)
                source = self._sources.get(module) or self._sources.setdefault(module, _read(module))
                waiting |= source.imports
        return {module: self._sources[module] for module in modules}, described


class _Description:
    """Turns values into nested tuples of text, and notes the modules of the code that it finds."""

    def __init__(self, strict: bool, texts: dict[Path, str]) -> None:
        self._strict, self._texts = strict, texts
        self.modules: set[_Module] = set()

    def describe(self, value: Any, path: str) -> tuple[Any, ...]:
        kind = type(value)
        if kind in _ATOMS:
            return kind.__name__, _ATOMS[kind](value)
        if kind in (list, tuple):
            return kind.__name__, *(self.describe(item, path) for item in value)
        if kind is dict:
            return "dict", *((self.describe(key, path), self.describe(value[key], f"{path}.{key}")) for key in value)
        if kind in (set, frozenset):
            return kind.__name__, *sorted((self.describe(item, path) for item in value), key=repr)
        if kind is FunctionType:
            return self._function(value, path)
        if isinstance(value, type):
            return self._class(value, path)
        if kind is ModuleType:
            return self._module(value.__name__, getattr(value, "__file__", None), path)
        return self._object(value, path)

    def _function(self, function: FunctionType, path: str) -> tuple[Any, ...]:
        names = function.__globals__  # __module__ may be that of a wrapped function
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        closure = {name: cell.cell_contents for name, cell in cells if cell != CellType()}  # which is an empty cell
        positions = list(function.__code__.co_positions())  # a module may define several functions of one name
        held = (positions, function.__defaults__, function.__kwdefaults__, vars(function))
        module = self._module(names.get("__name__", ""), names.get("__file__"), path)
        return *module, function.__qualname__, self.describe(held, path), self.describe(closure, path)

    def _class(self, cls: type, path: str) -> tuple[Any, ...]:
        module = sys.modules.get(cls.__module__)
        file = getattr(module, "__file__", None)
        name = (*self._module(cls.__module__, file, path), cls.__qualname__)
        if self._strict and file is not None and _find(module, cls.__qualname__) is not cls:
            raise NotIdentified(f"{path}: {cls.__qualname__} is not at the top level of its module; define it there")
        return name if _is_foreign(cls) else (*name, *(self.describe(base, path) for base in cls.__bases__))

    def _object(self, value: Any, path: str) -> tuple[Any, ...]:
        """An object as pickling takes it apart; those of installed packages may hold anything, except for rewards."""
        kind = type(value)
        if _is_foreign(kind) and not isinstance(value, RewardFunction):
            return self._opaque(value, path)
        try:
            parts = copyreg.dispatch_table.get(kind, _reduce)(value)  # type: ignore[no-untyped-call]  # in typeshed
        except _NOT_REDUCED:
            return self._opaque(value, path)
        if isinstance(parts, str):
            wrapped = self.describe(getattr(value, "__wrapped__", None), path)
            return kind.__name__, str(getattr(value, "__module__", "")), parts, wrapped
        made, arguments, state, items, pairs = (*parts, None, None, None)[:5]
        contents = (made, arguments, list(items or ()), list(pairs or ()))
        return "object", self.describe(kind, path), self.describe(contents, path), self.describe(state, path)

    def _module(self, name: str, file: str | None, path: str) -> tuple[Any, ...]:
        root = name.partition(".")[0]
        if root in sys.stdlib_module_names or root == "plaudit":
            return "module", name
        if file is not None:
            source = Path(file)
            self.modules.add((root, source))
            if not _is_installed(source):  # its name may depend on the folder that it was loaded from
                return "module", self._texts.get(source) or self._texts.setdefault(source, _text_hash(source))
        elif self._strict:
            raise NotIdentified(f"{path} was not loaded from a file, so its source is not known; put it into one")
        return "module", name

    def _opaque(self, value: object, path: str) -> tuple[Any, ...]:
        if not self._strict:
            return "object", f"{type(value).__module__}.{type(value).__qualname__}"
        raise NotIdentified(
            f"{path} is a {type(value).__name__}, which is not plain data; create it when it is first used, or define "
            "__getstate__ to leave it out"
        )


class _Source(NamedTuple):
    """The text of a user's module and what it imports, or the version of an installed package."""

    identity: str
    imports: set[_Module]


def _read(module: _Module) -> _Source:
    package, file = module
    if _is_installed(file):
        return _Source(f"{package} {_version_of(package)}", set())
    try:
        text = _read_text(file)
        tree = ast.parse(text) if file.suffix == ".py" else ast.Module([], [])
    except (OSError, SyntaxError, ValueError) as error:
        raise NotIdentified(f"the source file {file} cannot be read: {error}") from None
    located = (
        (root, path)
        for name, search in _imports(tree, file)
        if (root := name.partition(".")[0]) != "plaudit"  # whose version counts
        for path in _locate(name, search)
    )
    imports = {(root, path) for root, path in located if _is_installed(path) or not path.is_relative_to(_STANDARD)}
    return _Source(_text_hash(file), imports)


def _read_text(file: Path) -> bytes:
    """A file's bytes; line ends of Python files are those that the parser sees."""
    text = file.read_bytes()
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if file.suffix == ".py" else text


def _text_hash(file: Path) -> str:
    try:
        return hashlib.blake2b(_read_text(file), digest_size=DIGEST_SIZE).hexdigest()
    except OSError as error:
        raise NotIdentified(f"the source file {file} cannot be read: {error}") from None


def _imports(tree: ast.AST, file: Path) -> Iterator[tuple[str, list[str]]]:
    """Names of imported modules, also of those imported inside functions, and the folders to look for them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, [str(file.parent), *sys.path]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            search = [str(file.parents[node.level - 1])] if node.level else [str(file.parent), *sys.path]
            module = [node.module] if node.module else []
            yield from ((".".join([*module, alias.name]), search) for alias in node.names)


def _locate(name: str, search: list[str]) -> Iterator[Path]:
    """The files of a module and of the packages around it; nothing is imported."""
    loaded = getattr(sys.modules.get(name), "__file__", None)
    if loaded is not None:
        yield Path(loaded)
    for part in name.split("."):
        spec = PathFinder.find_spec(part, search)
        if spec is None:
            return
        if spec.origin is not None:
            yield Path(spec.origin)
        search = list(spec.submodule_search_locations or ())


def _find(module: ModuleType | None, name: str) -> Any:
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def _is_foreign(kind: type) -> bool:
    """Whether a class belongs to an installed package."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is not None and kind.__module__.partition(".")[0] != "plaudit" and _is_installed(Path(file))


def _is_installed(file: Path) -> bool:
    return not {"site-packages", "dist-packages"}.isdisjoint(file.parts)


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # the distribution has another name
        return " ".join(map(version, sorted(packages_distributions().get(package, ()))))


def _reduce(value: object) -> Any:
    return value.__reduce_ex__(2)


def _hash(described: Any) -> bytes:
    return hashlib.blake2b(repr(described).encode(), digest_size=DIGEST_SIZE).digest()
