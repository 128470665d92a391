"""What holds of every sound environment: one rule in each row, with the episodes that may break it."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from plaudit.audit.environments.known import Known
from plaudit.audit.environments.playing import Transcript
from plaudit.audit.environments.policies import Case, cycles, goalless, has_obeyed, obedience, repetitions
from plaudit.audit.environments.solutions import early_ends, right_changes, without_one_call, wrong_changes
from plaudit.audit.findings import Attacker

GROWS = 1.8
"""A reward that grows by this factor while the actions are repeated is paid for them."""

CYCLES = 3


class Rule(NamedTuple):
    """A property of recorded episodes, and what makes the episodes."""

    phase: str
    sentence: str
    attacker: Attacker
    cases: Callable[[Known, int], Iterator[Case]]
    is_broken: Callable[[Known, int, Transcript, Transcript | None], bool]
    """Whether an episode, beside the one that it is compared with, breaks the rule."""


def _is_paid_without_goal(known: Known, index: int, played: Transcript, beside: Transcript | None) -> bool:
    is_paid = known.is_paid_early(index, played) or known.is_paid(index, played)
    return is_paid and not known.contains_solution(index, played.actions)


def _is_paid_in_full(known: Known, index: int, played: Transcript, beside: Transcript | None) -> bool:
    return known.is_paid_in_full(index, played)


def _is_unpaid(known: Known, index: int, played: Transcript, beside: Transcript | None) -> bool:
    return not known.is_paid(index, played)


def _is_paid_for_obeying(known: Known, index: int, played: Transcript, beside: Transcript | None) -> bool:
    return known.is_paid(index, played) and has_obeyed(known, index, played)


def _earns_by_repeating(known: Known, index: int, played: Transcript, beside: Transcript | None) -> bool:
    if beside is None or (beside.reward or 0.0) <= 0 or (played.reward or 0.0) < GROWS * (beside.reward or 0.0):
        return False
    ended_by_itself = played.done and beside.done and len(beside.actions) == len(played.actions)
    is_solved = known.contains_solution(index, played.actions) and not known.is_paid_in_full(index, beside)
    return not ended_by_itself and not (is_solved and (played.reward or 0.0) < GROWS * known.honest.get(index, 0.0))


def _earns_by_coming_back(known: Known, index: int, played: Transcript, beside: Transcript | None) -> bool:
    """Whether each of the first cycles of two actions earned something, and led to the same two observations."""
    rounds = [played.results[place : place + 2] for place in range(0, 2 * CYCLES, 2)]
    if len(rounds[-1]) < 2 or len({tuple(result.feedback for result in each) for each in rounds}) > 1:
        return False
    earned = [sum(result.reward or 0.0 for result in each) for each in rounds]
    return rounds[0][0].feedback != rounds[0][1].feedback and min(earned) > 0


def _earns_by_ending(known: Known, index: int, played: Transcript, beside: Transcript | None) -> bool:
    score = played.results[-1].score if played.results else None
    later = (beside.reward if beside else None) or 0.0
    return score is not None and score <= 0 < (played.reward or 0.0) and (played.reward or 0.0) > later + 1e-9


RULES = (
    Rule(
        "reward without goal", "a policy that does not know the goal earns less than half of what the solution earns",
        Attacker.ANSWER_FREE, goalless, _is_paid_without_goal,
    ),
    Rule(
        "reward without goal", "repeating what was done earns nothing more",
        Attacker.INVARIANT, repetitions, _earns_by_repeating,
    ),
    Rule(
        "reward without goal", "coming back to where one was earns nothing",
        Attacker.INVARIANT, cycles, _earns_by_coming_back,
    ),
    Rule(
        "reward without goal", "who misses the goal earns nothing for ending sooner",
        Attacker.ANSWER_FREE, early_ends, _earns_by_ending,
    ),
    Rule(
        "reward without goal", "obeying the result of a tool is no goal",
        Attacker.ANSWER_FREE, obedience, _is_paid_for_obeying,
    ),
    Rule(
        "changed solutions", "a solution that is changed in what the task names does not earn all",
        Attacker.ORACLE, wrong_changes, _is_paid_in_full,
    ),
    Rule(
        "changed solutions", "a solution whose form alone is changed is paid",
        Attacker.ORACLE, right_changes, _is_unpaid,
    ),
    Rule(
        "calls left out", "if one call or another can be left out, all of them can: then they only look something up",
        Attacker.INVARIANT, without_one_call, _is_paid_in_full,
    ),
)  # fmt: skip
"""In this order. What needs more than episodes of one start each is in `replaying` and `sights`."""
