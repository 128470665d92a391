"""How other systems write rewards: one file per system, found by looking into `trainers/` and `environments/`."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from plaudit.contract.function import FunctionReward, RewardFunction
from plaudit.dialects import environments, trainers
from plaudit.dialects.dialect import Dialect, ForeignReward, System
from plaudit.dialects.export import Export
from plaudit.dialects.standins import Packages, StandIns
from plaudit.errors import RewardNotLoaded, did_you_mean

__all__ = [
    "DIALECTS", "EXPORTS", "STAND_INS", "SYSTEMS", "Dialect", "Export", "StandIns", "System", "convention_of",
    "dialects_of", "recognise", "stand_ins",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """The tables, made when first asked for: a built-in reward needs no other system's convention."""
    if name not in _TABLES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _TABLES[name]()


@cache
def _systems() -> dict[str, System]:
    modules = [
        importlib.import_module(f"{folder.__name__}.{found.name}")
        for folder in (trainers, environments)
        for found in pkgutil.iter_modules(folder.__path__)
    ]
    return {module.SYSTEM.name: module.SYSTEM for module in modules}


@cache
def _dialects() -> tuple[Dialect, ...]:
    return tuple(dialect for system in _systems().values() for dialect in system.dialects)


@cache
def _exports() -> dict[str, tuple[System, Export]]:
    return {
        f"{system.name}:{export.form}" if export.form else system.name: (system, export)
        for system in _systems().values()
        for export in system.exports
    }


@cache
def _packages() -> Packages:
    return {root: answers for system in _systems().values() for root, answers in system.stand_ins.items()}


_TABLES: dict[str, Callable[[], Any]] = {
    "SYSTEMS": _systems, "DIALECTS": _dialects, "EXPORTS": _exports, "STAND_INS": _packages,
}  # fmt: skip
ForeignReward.find_packages = staticmethod(_packages)

if TYPE_CHECKING:
    SYSTEMS: dict[str, System]
    DIALECTS: tuple[Dialect, ...]
    EXPORTS: dict[str, tuple[System, Export]]
    STAND_INS: Packages


def dialects_of(candidate: Any, imports: Iterable[str] = (), name: str | None = None) -> list[Dialect]:
    """The conventions that a class, object or function may follow.

    Of several, those of the packages that its file imports; `name` allows only one system's.
    """
    allowed = [dialect for dialect in _dialects() if name in (None, dialect.name)]
    if not allowed:
        known = dict.fromkeys(dialect.name for dialect in _dialects())
        raise RewardNotLoaded(f"no dialect {name!r}{did_you_mean(str(name), known)} (there are {', '.join(known)})")
    fitting = [each for each in allowed if each.fits(candidate)]
    at_home = [each for each in fitting if name is not None or each.packages & set(imports)]
    return at_home or [each for each in fitting if each.recognises(candidate)]


def recognise(candidate: Any, imports: Iterable[str] = (), name: str | None = None) -> Dialect | None:
    """The convention that a class, object or function follows, or None; an error with the candidates where two fit."""
    fitting = dialects_of(candidate, imports, name)
    systems = dict.fromkeys(dialect.name for dialect in fitting)
    if len(systems) > 1:
        called = getattr(candidate, "__name__", type(candidate).__name__)
        raise RewardNotLoaded(
            f"{called} could be written for {' or '.join(systems)}; say which: dialect={next(iter(systems))!r} "
            f"(--dialect {next(iter(systems))})"
        )
    return fitting[0] if fitting else None


def convention_of(reward: RewardFunction) -> str:
    """What a plaudit reward is called beside the conventions of others."""
    return "plaudit function" if isinstance(reward, FunctionReward) else "plaudit"


def stand_ins() -> StandIns:
    """Answers for the names of absent packages, while entered."""
    return StandIns(_packages())
