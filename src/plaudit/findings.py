"""The findings of a check of a reward or an environment: rules of the contract, and the rule that each finding breaks.

An `error` breaks the contract; a `warning` is worth a look before training; an `info` breaks nothing.
"""

import enum
from dataclasses import dataclass
from typing import NamedTuple

from plaudit.markup import html_table

MAX_RESPONSE = 60


class Severity(enum.StrEnum):
    """The importance of a finding."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Rule(enum.StrEnum):
    """A promise of every reward or environment."""

    SCORED = "scored"
    TOTAL = "total"
    DEADLINE = "deadline"
    FINITE = "finite"
    ARITY = "arity"
    BOUNDS = "bounds"
    RANGE = "range"
    GROUND_TRUTH = "ground truth"
    GARBAGE = "garbage"
    CONTAINMENT = "containment"
    VARIED = "varied"
    PURE = "pure"
    DETERMINISTIC = "deterministic"
    STATELESS = "stateless"
    ORDER = "order"
    INDEPENDENT = "independent"
    ENDS = "ends"
    FINAL = "final"


class _Meaning(NamedTuple):
    severity: Severity
    remedy: str


_MEANINGS = {
    Rule.SCORED: _Meaning(Severity.ERROR, "correct the reward, or give check_reward trajectories that it can score"),
    Rule.TOTAL: _Meaning(
        Severity.ERROR,
        "a model may write anything: handle such responses, or return RewardOutput.unscored(Status.UNPARSED, reason)",
    ),
    Rule.DEADLINE: _Meaning(
        Severity.ERROR,
        "bound what it does: cut long responses, avoid nested repeats in regular expressions, put timeouts on calls; "
        "or give it a longer deadline",
    ),
    Rule.FINITE: _Meaning(Severity.ERROR, "return one finite number per response, or RewardOutput.unscored(...)"),
    Rule.ARITY: _Meaning(Severity.ERROR, "return one value per sample, in order, also for repeated samples"),
    Rule.BOUNDS: _Meaning(Severity.ERROR, "clip the value (`.clip(low, high)`) or declare wider `bounds`"),
    Rule.RANGE: _Meaning(
        Severity.INFO, "declare `bounds`, or bring the values into [0, 1] with `.clip()` or `.scale()`"
    ),
    Rule.GROUND_TRUTH: _Meaning(
        Severity.WARNING, "return RewardOutput.unscored(Status.SKIPPED, 'no ground truth') when it is None"
    ),
    Rule.GARBAGE: _Meaning(Severity.ERROR, "give a response without content no score"),
    Rule.CONTAINMENT: _Meaning(
        Severity.WARNING,
        "find the answer first and compare that, as `math` does; else a policy learns to list many answers",
    ),
    Rule.VARIED: _Meaning(
        Severity.WARNING, "look at a few with `plaudit explain`; equal rewards teach a policy nothing"
    ),
    Rule.PURE: _Meaning(
        Severity.ERROR, "work on a copy: a trainer that calls the function itself uses the changed samples"
    ),
    Rule.DETERMINISTIC: _Meaning(
        Severity.ERROR,
        "remove what is random or remembered, or declare `deterministic = False` so that nothing is cached",
    ),
    Rule.STATELESS: _Meaning(
        Severity.ERROR, "compute from the trajectory alone, or declare `deterministic = False` if memory is intended"
    ),
    Rule.ORDER: _Meaning(Severity.ERROR, "let no value depend on the position of its sample in the batch"),
    Rule.INDEPENDENT: _Meaning(
        Severity.ERROR, "score each sample on its own, or remove max_batch and declare scope = 'group' or 'batch'"
    ),
    Rule.ENDS: _Meaning(
        Severity.WARNING, "return done=True at the end: otherwise episodes are cut off at training.agent_max_steps"
    ),
    Rule.FINAL: _Meaning(
        Severity.WARNING,
        "answer a step after the end with done=True or an error; a reward there is not counted",
    ),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule: what was seen, on which response, and what to do about it."""

    rule: Rule
    severity: Severity
    message: str
    sample: str
    remedy: str
    response: str = ""
    """The whole response; `sample` is its beginning."""

    @classmethod
    def of(
        cls, rule: Rule, message: str, response: str, *, severity: Severity | None = None, remedy: str | None = None
    ) -> "Finding":
        """A finding with the rule's usual severity and remedy where none is given."""
        usual = _MEANINGS[rule]
        return cls(rule, severity or usual.severity, message, shorten(response), remedy or usual.remedy, response)

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        facts = {"finding": self.message, "response": self.sample, "what to do": self.remedy}
        return html_table([self.severity.value, self.rule.value], facts.items())

    def __str__(self) -> str:
        return f"{self.severity} ({self.rule}): {self.message}; response {self.sample}. Remedy: {self.remedy}"


def shorten(text: str) -> str:
    """A text as one short line in quotes: its beginning, and its length if it was cut.

    >>> shorten("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'… (100 characters)"
    """
    beginning = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:MAX_RESPONSE])
    return f"'{beginning}'" if len(text) <= MAX_RESPONSE else f"'{beginning}'… ({len(text):,} characters)"
