"""How other systems write rewards. A file in `systems/` has a `SYSTEM`, or `SYSTEMS` where several share code."""

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from typing import Any

from plaudit.contract.function import FunctionReward, RewardFunction
from plaudit.dialects import systems
from plaudit.dialects.dialect import Dialect, ForeignReward, System
from plaudit.dialects.stub_packages import Packages, StubFinder
from plaudit.errors import RewardNotLoaded, did_you_mean

__all__ = [
    "Dialect", "StubFinder", "System", "convention_of", "dialects_of", "install_stubs", "known_systems", "modules_with",
    "recognise", "stub_finder",
]  # fmt: skip


_WITHOUT_DIALECT = (
    System("nemo_gym", "NeMo Gym"),  # rewards of ours are exported to it
    System("openai", "OpenAI graders"),  # JSON files, which are loaded by their path
)


@cache
def known_systems() -> dict[str, System]:
    """The systems by name, imported on first use: a built-in reward needs no other system's convention."""
    modules = [
        importlib.import_module(f"{systems.__name__}.{module_info.name}")
        for module_info in pkgutil.iter_modules(systems.__path__)
    ]
    known = list(_WITHOUT_DIALECT)
    for module in modules:
        known += getattr(module, "SYSTEMS", None) or [module.SYSTEM]
    return {system.name: system for system in sorted(known, key=lambda each: each.name)}


@cache
def _dialects() -> tuple[tuple[System, Dialect], ...]:
    return tuple((system, dialect) for system in known_systems().values() for dialect in system.dialects)


@cache
def _packages() -> Packages:
    return {root: table for system in known_systems().values() for root, table in system.stubs.items()}


ForeignReward.find_packages = staticmethod(_packages)


def dialects_of(candidate: Any, imports: Iterable[str] = (), name: str | None = None) -> list[Dialect]:
    """The conventions that a class, object or function may follow.

    Of several, those of the packages that its file imports; `name` allows only one system's, or one form of it.
    """
    return [dialect for _, dialect in _candidates(candidate, imports, name)]


def _candidates(candidate: Any, imports: Iterable[str], name: str | None) -> list[tuple[System, Dialect]]:
    known: dict[str, list[tuple[System, Dialect]]] = {}
    for system, dialect in _dialects():
        known.setdefault(f"{system.name}:{dialect.form}" if dialect.form else system.name, []).append((system, dialect))
    if name is not None and name not in known:
        raise RewardNotLoaded(f"no dialect {name!r}{did_you_mean(name, known)} (there are {', '.join(known)})")
    allowed = [each for each in _dialects() if not each[1].form] if name is None else known[name]
    accepting = [(system, dialect) for system, dialect in allowed if dialect.accepts(candidate)]
    at_home = [each for each in accepting if name is not None or each[0].is_imported_by(imports)]
    return at_home or [each for each in accepting if each[1].matches(candidate)]


def recognise(candidate: Any, imports: Iterable[str] = (), name: str | None = None) -> Dialect | None:
    """The convention that a class, object or function follows, or None; an error with the candidates where two fit."""
    fitting = _candidates(candidate, imports, name)
    systems = dict.fromkeys(system.name for system, _ in fitting)
    if len(systems) > 1:
        called = getattr(candidate, "__name__", type(candidate).__name__)
        raise RewardNotLoaded(
            f"{called} could be written for {' or '.join(systems)}; say which: dialect={next(iter(systems))!r} "
            f"(--dialect {next(iter(systems))})"
        )
    return fitting[0][1] if fitting else None


def convention_of(reward: RewardFunction) -> str:
    """The name of a reward's convention; plaudit's own rewards have one too."""
    return "plaudit function" if isinstance(reward, FunctionReward) else "plaudit"


def stub_finder() -> StubFinder:
    """A finder that makes the stubs of absent packages importable while it is entered."""
    return StubFinder(_packages())


@cache
def install_stubs() -> None:
    """Make the packages that plaudit has stubs for importable in this process, where they are not installed.

    For scripts, notebooks and a `conftest.py`: afterwards `from flux.rewards import RewardFunction` works anywhere. A
    reward file that plaudit loads needs no such call, and neither does a script under `plaudit run`.
    """
    stub_finder().__enter__()


def modules_with(name: str) -> list[str]:
    """The modules of stubbed packages that have a name; of each package the first one, which is the most general."""
    stubs, matching = stub_finder(), []
    for root in stubs.packages:
        modules = sorted(stubs.table(root).items(), key=lambda each: each[0].count("."))
        matching += [module for module, names in modules if name in names][:1]
    return matching
