"""How other systems write rewards: one file per system, and the tables that bring them together here."""

from collections.abc import Iterable
from typing import Any

from plaudit.contract.function import FunctionReward, RewardFunction
from plaudit.dialects.dialect import Dialect, ForeignReward
from plaudit.dialects.standins import Packages, StandIns
from plaudit.dialects.trainers import agent_tunix, areal, flux, openrlhf, slime, swift, trl, twinkle, verl
from plaudit.errors import RewardNotLoaded, did_you_mean

__all__ = ["DIALECTS", "STAND_INS", "Dialect", "StandIns", "convention_of", "dialects_of", "recognise", "stand_ins"]

_SYSTEMS = (openrlhf, twinkle, agent_tunix, flux, trl, verl, swift, slime, areal)
DIALECTS: tuple[Dialect, ...] = tuple(dialect for system in _SYSTEMS for dialect in system.DIALECTS)
STAND_INS: Packages = {root: answers for system in _SYSTEMS for root, answers in system.STAND_INS.items()}
ForeignReward.packages = STAND_INS


def dialects_of(candidate: Any, imports: Iterable[str] = (), name: str | None = None) -> list[Dialect]:
    """The conventions that a class, object or function may follow.

    Of several, those of the packages that its file imports; `name` allows only one system's.
    """
    allowed = [dialect for dialect in DIALECTS if name in (None, dialect.name)]
    if not allowed:
        known = dict.fromkeys(dialect.name for dialect in DIALECTS)
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
    return StandIns(STAND_INS)
