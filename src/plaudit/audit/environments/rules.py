"""The rules that every sound environment keeps, as a table: each with the episodes that may break it."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from plaudit.audit.environments.playing import Transcript
from plaudit.audit.environments.policies import Case, cycles, goalless, has_obeyed, obedience, repetitions
from plaudit.audit.environments.solutions import early_ends, right_changes, without_one_call, wrong_changes
from plaudit.audit.environments.target import Target
from plaudit.audit.findings import Attacker

GROWS = 1.8
"""A reward that grows by this factor while actions are repeated is paid for the repetition."""

CYCLES = 3


class Rule(NamedTuple):
    """A property of recorded episodes, and the function that makes these episodes."""

    phase: str
    sentence: str
    attacker: Attacker
    cases: Callable[[Target, int], Iterator[Case]]
    is_broken: Callable[[Target, int, Transcript, Transcript | None], bool]
    """Whether an episode breaks the rule, given the baseline of its case."""


def _is_paid_without_goal(target: Target, index: int, played: Transcript, baseline: Transcript | None) -> bool:
    is_paid = target.is_paid_early(index, played) or target.is_paid(index, played)
    return is_paid and not target.contains_solution(index, played.actions)


def _is_paid_in_full(target: Target, index: int, played: Transcript, baseline: Transcript | None) -> bool:
    return target.is_paid_in_full(index, played)


def _is_unpaid(target: Target, index: int, played: Transcript, baseline: Transcript | None) -> bool:
    return not target.is_paid(index, played)


def _is_paid_for_obeying(target: Target, index: int, played: Transcript, baseline: Transcript | None) -> bool:
    return target.is_paid(index, played) and has_obeyed(target, index, played)


def _earns_by_repeating(target: Target, index: int, played: Transcript, baseline: Transcript | None) -> bool:
    if baseline is None or (baseline.reward or 0.0) <= 0 or (played.reward or 0.0) < GROWS * (baseline.reward or 0.0):
        return False
    ended_by_itself = played.done and baseline.done and len(baseline.actions) == len(played.actions)
    is_solved = target.contains_solution(index, played.actions) and not target.is_paid_in_full(index, baseline)
    return not ended_by_itself and not (is_solved and (played.reward or 0.0) < GROWS * target.honest.get(index, 0.0))


def _earns_by_circling(target: Target, index: int, played: Transcript, baseline: Transcript | None) -> bool:
    """Whether each of the first cycles of two actions earned something, and led to the same two observations."""
    rounds = [played.results[place : place + 2] for place in range(0, 2 * CYCLES, 2)]
    if len(rounds[-1]) < 2 or len({tuple(result.feedback for result in each) for each in rounds}) > 1:
        return False
    earned = [sum(result.reward or 0.0 for result in each) for each in rounds]
    return rounds[0][0].feedback != rounds[0][1].feedback and min(earned) > 0


def _earns_by_ending(target: Target, index: int, played: Transcript, baseline: Transcript | None) -> bool:
    score = played.results[-1].score if played.results else None
    later = (baseline.reward if baseline else None) or 0.0
    return score is not None and score <= 0 < (played.reward or 0.0) and (played.reward or 0.0) > later + 1e-9


RULES = (
    Rule(
        "reward without goal", "a policy that does not know the goal earns less than half of what the solution earns",
        Attacker.ANSWER_FREE, goalless, _is_paid_without_goal,
    ),
    Rule(
        "reward without goal", "repeating actions earns nothing more",
        Attacker.INVARIANT, repetitions, _earns_by_repeating,
    ),
    Rule(
        "reward without goal", "going in circles earns nothing",
        Attacker.INVARIANT, cycles, _earns_by_circling,
    ),
    Rule(
        "reward without goal", "an episode that misses the goal earns nothing for ending sooner",
        Attacker.ANSWER_FREE, early_ends, _earns_by_ending,
    ),
    Rule(
        "reward without goal", "obeying instructions in tool results earns nothing",
        Attacker.ANSWER_FREE, obedience, _is_paid_for_obeying,
    ),
    Rule(
        "changed solutions", "a solution with a change to what the task names does not earn the full reward",
        Attacker.ORACLE, wrong_changes, _is_paid_in_full,
    ),
    Rule(
        "changed solutions", "a solution with a change of form only is still paid",
        Attacker.ORACLE, right_changes, _is_unpaid,
    ),
    Rule(
        "calls left out", "if each call can be left out, so can all of them",
        Attacker.INVARIANT, without_one_call, _is_paid_in_full,
    ),
)  # fmt: skip
"""In the order in which they are tried. Rules that compare several starts or hosts are in `replaying` and `sights`."""
