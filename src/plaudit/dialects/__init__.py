"""How other systems write rewards: one file per convention, and the tables that bring them together here.

The order of `DIALECTS` counts: what asks for the most particular names is tried first.
"""

from typing import Any

from plaudit.contract.function import FunctionReward, RewardFunction
from plaudit.dialects import agent_tunix, flux, openrlhf, twinkle
from plaudit.dialects.dialect import Dialect
from plaudit.dialects.standins import Answers, StandIns

__all__ = ["DIALECTS", "STAND_INS", "Dialect", "convention_of", "recognise", "stand_ins"]

DIALECTS: tuple[Dialect, ...] = (
    openrlhf.OPENRLHF_FILE,
    twinkle.TWINKLE_CLASS,
    twinkle.TWINKLE_FUNCTION,
    agent_tunix.AGENT_TUNIX_BATCH,
    agent_tunix.AGENT_TUNIX_FUNCTION,
    flux.FLUX_CLASS,
)

STAND_INS: Answers = {**flux.STAND_INS, **twinkle.STAND_INS, **agent_tunix.STAND_INS, **openrlhf.STAND_INS}


def recognise(candidate: Any) -> Dialect | None:
    """The foreign convention a class, object or function follows, or None."""
    return next((dialect for dialect in DIALECTS if dialect.recognises(candidate)), None)


def convention_of(reward: RewardFunction, imports: frozenset[str]) -> str:
    """Whose convention a plaudit reward was written in, given the packages that its file imports."""
    owner = next((dialect.convention for dialect in DIALECTS if dialect.owns(reward, imports)), None)
    return owner or ("plaudit function" if isinstance(reward, FunctionReward) else "plaudit")


def stand_ins() -> StandIns:
    """Answers for the documented names of absent packages, while entered."""
    return StandIns(STAND_INS)
