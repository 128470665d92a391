"""Answer for a foreign package's documented names while a reward file is imported, where that package is absent.

The finder stands last on `sys.meta_path`, so an installed package is always found first; and once a package is the real
one, nothing inside it is answered for either.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import TypeAlias

from plaudit.errors import did_you_mean

__all__ = ["Answers", "StandIns"]

Answers: TypeAlias = Mapping[str, Mapping[str, object]]
"""Module name → the names in it and what they are: `{"flux.rewards": {"RewardOutput": RewardOutput}}`."""


class StandIns(MetaPathFinder, Loader, AbstractContextManager["StandIns"]):
    """While entered, imports of the answered modules succeed; afterwards no trace of them is left."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.packages = {
            ".".join(parts[:end]) for name in answers for parts in [name.split(".")] for end in range(1, len(parts))
        }

    def __enter__(self) -> "StandIns":
        sys.meta_path.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.meta_path.remove(self)
        for name, module in list(sys.modules.items()):
            if self._made(module):
                del sys.modules[name]
                package, _, child = name.rpartition(".")
                if package in sys.modules:  # a folder that only happens to bear the package's name
                    vars(sys.modules[package]).pop(child, None)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root = fullname.partition(".")[0]
        if root not in self.packages or not self._absent(root):
            return None
        if fullname in self.answers or fullname in self.packages:
            return ModuleSpec(fullname, self, is_package=fullname in self.packages)
        if not self._made(sys.modules.get(root)):
            return None
        raise ModuleNotFoundError(self._unanswered(fullname, root, self._within(root)), name=fullname)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = _StandIn(spec.name, f"Plaudit's answers for {spec.name}, which is not installed.")
        vars(module).update(self.answers.get(spec.name, {}))
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run: the module was made with its names."""

    def missing(self, module: str, name: str) -> Exception:
        """The error for a name that is not among a module's answers."""
        if f"{module}.{name}" in (*self.answers, *self.packages):
            return AttributeError(name)  # the import system then imports the submodule
        known = self.answers.get(module) or self._within(module)
        return ImportError(self._unanswered(name, module, known), name=module)

    def _within(self, package: str) -> list[str]:
        return [name for name in self.answers if name.startswith(f"{package}.")]

    def _absent(self, root: str) -> bool:
        """True when the package is ours, unknown, or a mere folder without an `__init__.py`."""
        module = sys.modules.get(root)
        return module is None or self._made(module) or getattr(module, "__file__", None) is None

    def _made(self, module: ModuleType | None) -> bool:
        return getattr(getattr(module, "__spec__", None), "loader", None) is self

    def _unanswered(self, name: str, within: str, known: Iterable[str]) -> str:
        known, root = sorted(known), within.partition(".")[0]
        return (
            f"no {name!r} in {within}{did_you_mean(name, known) or ';'} plaudit answers only for {', '.join(known)} "
            f"where {root} is not installed; install {root} for the rest"
        )


class _StandIn(ModuleType):
    def __getattr__(self, name: str) -> object:
        loader = self.__spec__.loader if self.__spec__ else None
        if name.startswith("__") or not isinstance(loader, StandIns):
            raise AttributeError(name)
        raise loader.missing(self.__name__, name)
