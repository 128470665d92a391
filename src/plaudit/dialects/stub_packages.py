"""Stubs of foreign packages, importable where the package is not installed.

The finder is the last on `sys.meta_path`, so an installed package is always found first; and if a package is installed,
no module of it is a stub. Names that a stub does not have can be imported, since most files use them only in a training
script that is not run here; using one raises an error that names the package.
"""

import importlib
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import Any, NoReturn, TypeAlias, cast

from plaudit.errors import MissingPackage, did_you_mean

StubTable: TypeAlias = Mapping[str, Mapping[str, object]]
"""Module name → the names in it and what they are: `{"flux.rewards": {"RewardOutput": RewardOutput}}`."""


@dataclass(frozen=True, slots=True)
class LazyStub:
    """A name or a table that is imported on first use, because it needs other packages."""

    module: str
    name: str

    def get(self) -> object:
        """The object itself."""
        return getattr(importlib.import_module(self.module), self.name)


Packages: TypeAlias = Mapping[str, StubTable | LazyStub]
"""A package's name → the table of its modules, which may be imported later."""


class NameIsMissing(MissingPackage):
    """Something that plaudit does not provide was used."""


class Missing(type):
    """The class of names that cannot be had here: they can be annotations and bases, other use raises their `error`.

    A class with such a base can be defined, since files define more than their rewards, but not used either.
    """

    error: Exception | SystemExit

    def _refuse(cls, *_: Any, **__: Any) -> NoReturn:
        raise cls.error

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        cls._refuse()

    __call__ = __instancecheck__ = __subclasscheck__ = __bool__ = __iter__ = __getitem__ = _refuse


class StubFinder(MetaPathFinder, Loader, AbstractContextManager["StubFinder"]):
    """While entered, these packages can be imported; afterwards `sys.modules` has none of them."""

    def __init__(self, packages: Packages) -> None:
        self.packages = dict(packages)

    def __enter__(self) -> "StubFinder":
        sys.meta_path.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.meta_path.remove(self)
        for name, module in sys.modules.copy().items():  # a list would run Python while another thread imports
            if self._is_ours(module):
                del sys.modules[name]
                package, _, child = name.rpartition(".")
                if package in sys.modules:  # a folder that only happens to bear the package's name
                    vars(sys.modules[package]).pop(child, None)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root = fullname.partition(".")[0]
        if root not in self.packages or not self._is_absent(root):
            return None
        if self._has_module(fullname) or self._is_ours(sys.modules.get(root)):
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = _StubModule(spec.name, f"Plaudit's stub of {spec.name}, which is not installed.")
        names = self.table(spec.name).get(spec.name, {})
        vars(module).update({name: each for name, each in names.items() if not isinstance(each, LazyStub)})
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run: the module was made with its names."""

    def look_up(self, module: str, name: str) -> object:
        """The object for a name that a module does not hold yet."""
        if self._has_module(f"{module}.{name}"):
            raise AttributeError(name)  # the import system then imports the submodule
        names = self.table(module).get(module, {})
        stub = names.get(name)
        if isinstance(stub, LazyStub):
            return stub.get()
        root = module.partition(".")[0]
        error = NameIsMissing(
            f"{name!r} of {module} is needed, which plaudit does not provide where {root} is not installed"
            f"{did_you_mean(name, names) or ';'} install {root}",
            name=root,
        )
        return Missing(name, (), {"error": error, "__module__": module})

    def table(self, module: str) -> StubTable:
        """The table of a module's package."""
        root = module.partition(".")[0]
        table = self.packages[root]
        if isinstance(table, LazyStub):
            table = self.packages[root] = cast("StubTable", table.get())
        return table

    def _has_module(self, name: str) -> bool:
        return any(each == name or each.startswith(f"{name}.") for each in self.table(name))

    def _is_absent(self, root: str) -> bool:
        """True when the package is ours, unknown, or a mere folder without an `__init__.py`."""
        module = sys.modules.get(root)
        return module is None or self._is_ours(module) or getattr(module, "__file__", None) is None

    def _is_ours(self, module: ModuleType | None) -> bool:
        return getattr(getattr(module, "__spec__", None), "loader", None) is self


class _StubModule(ModuleType):
    def __getattr__(self, name: str) -> object:
        loader = self.__spec__.loader if self.__spec__ else None
        if name.startswith("__") or not isinstance(loader, StubFinder):
            raise AttributeError(name)
        return loader.look_up(self.__name__, name)
