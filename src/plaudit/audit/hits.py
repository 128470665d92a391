"""Responses that were paid, and the finding that several of them make: shrunk, with a rate and a test to paste.

Shrinking leaves out halves, quarters and so on down to single words; what an operator needs to be wrong stays, in its
order and as words of its own: "1." of a list is not kept by "1.0789".
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from plaudit.audit.findings import (
    Attacker,
    AttackFinding,
    Level,
    Witness,
    component_values,
    paying_component,
)
from plaudit.audit.oracle import is_wrong
from plaudit.audit.samples import SampleMaker, replace_response
from plaudit.audit.subject import BudgetSpent, Subject, is_overrun
from plaudit.audit.tasks import Task
from plaudit.contract.output import RewardOutput
from plaudit.report.coverage import wilson_interval
from plaudit.trajectory import Trajectory

ISOLATED = 'backend="processes", deadline_s=5.0'
FEW = 3
NEUTRAL = "the lamp stood by the door"
OUTWEIGHS = "form outweighs the answer"
OUTWEIGHS_REMEDY = "gate what is not correctness on it (`.gate`, `plaudit.compose.bonus`), or lower its weight"
ANY_TEXT = "any text is paid, whatever it says"
ANY_LENGTH = "length is paid: any text of this length earns it"


@dataclass(frozen=True, slots=True)
class Hit:
    """A wrong response that earned at least `threshold`, where an honest one earned `honest_reward`."""

    task: Task
    sample: Trajectory
    output: RewardOutput
    threshold: float
    honest_reward: float | None
    honest: RewardOutput | None = None
    core: tuple[str, ...] = ()
    copies: int = 1
    """The number of copies of the sample in its group."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """All that came of one operator: its hits, one per task at most, among the tasks that it was tried on."""

    family: str
    operator: str
    attacker: Attacker
    remedy: str
    hits: tuple[Hit, ...]
    tried: int
    can_shrink: bool = True
    message: str = ""
    is_loss: bool = False
    """True where the responses are right and earn too little."""


@dataclass(frozen=True)
class Reporter:
    """Turns hits into findings."""

    subject: Subject
    maker: SampleMaker
    spec: str

    def report(self, attempt: Attempt) -> list[AttackFinding]:
        """One finding per component that paid; none without hits."""
        by_component: dict[str, list[Hit]] = {}
        for hit in attempt.hits:
            component = paying_component(self.subject.reward.name, hit.honest, hit.output)
            by_component.setdefault(component, []).append(hit)
        return [self._finding(attempt, component, hits) for component, hits in by_component.items()]

    def _finding(self, attempt: Attempt, component: str, hits: Sequence[Hit]) -> AttackFinding:
        hit = min(hits, key=lambda each: len(each.sample.response))
        if attempt.can_shrink:
            hit = self._shrink(hit)
        rate = len(hits) / max(1, attempt.tried)
        return AttackFinding(
            family=attempt.family,
            operator=attempt.operator,
            attacker=attempt.attacker,
            severity=_level(attempt, rate),
            component=component,
            rate=rate,
            interval=wilson_interval(rate, max(1, attempt.tried)),
            prompts=attempt.tried,
            cause=self._cause(attempt, hit),
            witness=_witness(hit),
            message=attempt.message or _message(attempt, hit),
            remedy=attempt.remedy,
            test=_write_test(self.spec, attempt, hit),
        )

    def _cause(self, attempt: Attempt, hit: Hit) -> str:
        """The cause of the reward: any text, any text of that length, or the subject of the attack (by its remedy)."""
        reward = hit.output.reward
        if attempt.is_loss or attempt.attacker is Attacker.INVARIANT or reward is None:
            return f"{attempt.family}: {attempt.remedy}"
        controls = [
            NEUTRAL,
            (f"{NEUTRAL} " * (1 + len(hit.sample.response) // len(NEUTRAL)))[: len(hit.sample.response)],
        ]
        try:
            short, long = self.subject.rewards([replace_response(hit.sample, each) for each in controls])
        except BudgetSpent:
            return f"{attempt.family}: {attempt.remedy}"
        if short is not None and short >= min(hit.threshold, reward):
            return ANY_TEXT
        if long is not None and long >= min(hit.threshold, reward):
            return ANY_LENGTH
        return f"{attempt.family}: {attempt.remedy}"

    def _shrink(self, hit: Hit) -> Hit:
        outputs: dict[str, RewardOutput] = {}

        def is_finding(responses: Sequence[str]) -> list[bool]:
            samples = [replace_response(hit.sample, response) for response in responses]
            scored = self.subject.score(samples)
            outputs.update(zip(responses, scored, strict=True))
            return [
                output.reward is not None and output.reward >= hit.threshold and is_wrong(hit.task, response)
                for response, output in zip(responses, scored, strict=True)
            ]

        try:
            response = shrink(hit.sample.response, hit.core, is_finding)
        except BudgetSpent:
            return hit
        if response == hit.sample.response:
            return hit
        sample = replace_response(hit.sample, response)
        return Hit(hit.task, sample, outputs[response], hit.threshold, hit.honest_reward, hit.honest, hit.core)


def _level(attempt: Attempt, rate: float) -> Level:
    """The level of the finding; a reward on one of two prompts may be chance."""
    if attempt.attacker is Attacker.ANSWER_FREE:
        return Level.MEDIUM if rate < 1.0 and attempt.tried < FEW else Level.HIGH
    return Level.MEDIUM if attempt.attacker is Attacker.INVARIANT or rate >= 0.5 else Level.LOW


def _witness(hit: Hit) -> Witness:
    return Witness(
        prompt=hit.sample.prompt_text,
        response=hit.sample.response,
        reward=hit.output.reward,
        honest_reward=hit.honest_reward,
        ground_truth=hit.sample.ground_truth,
        status=hit.output.status.value,
        components=component_values(hit.output),
        columns={**hit.sample.columns, **hit.sample.metadata},
    )


def _message(attempt: Attempt, hit: Hit) -> str:
    paid = "nothing" if hit.output.reward is None else f"{hit.output.reward:g}"
    honest = "" if hit.honest_reward is None else f"; an honest wrong answer earns {hit.honest_reward:g}"
    return f"{attempt.operator}: a wrong response earns {paid}{honest}"


def _plain(hit: Hit) -> dict[str, Any]:
    plain = hit.sample.to_dict()
    return {name: value for name, value in plain.items() if name not in ("tokens", "training_step")}


def _write_test(spec: str, attempt: Attempt, hit: Hit) -> str:
    """A test that scores the witness; with a deadline if the witness overran one."""
    name = re.sub(r"\W+", "_", attempt.operator.lower()).strip("_")
    reward, limits = hit.output.reward, f", {ISOLATED}" if is_overrun(hit.output) else ""
    if attempt.is_loss:
        name, claim = f"answer_is_not_{name}", f"output.reward is not None and output.reward >= {hit.threshold!r}"
    elif hit.copies > 1:
        equal = f"all(each.reward == output.reward < {_limit(hit.threshold, reward or 0.0)} for each in others)"
        name, claim = f"{name}_does_not_happen", f"output.reward is not None and {equal}"
    elif reward is None:
        name, claim = f"{name}_is_scored", 'output.status not in ("timeout", "memory")'
    else:
        name, claim = (
            f"{name}_does_not_pay",
            f"output.reward is None or output.reward < {_limit(hit.threshold, reward)}",
        )
    target, samples = ("[output, *others]", f"[sample] * {hit.copies}") if hit.copies > 1 else ("[output]", "[sample]")
    return (
        "import plaudit\n\n\n"
        f"def test_{name}():\n"
        f"    sample = {write_dict(_plain(hit))}\n"
        f"    {target} = plaudit.score({spec!r}, {samples}{limits})\n"
        f"    assert {claim}\n"
    )


def _limit(threshold: float, reward: float) -> str:
    """The threshold in few digits, where the reward still reaches it."""
    short = float(f"{threshold:.6g}")
    return repr(short if short <= reward else min(threshold, reward))


def write_dict(plain: dict[str, Any]) -> str:
    """A dict as Python; a long repetition is written as one."""
    parts = []
    for name, value in plain.items():
        text = repr(value)
        if isinstance(value, str) and len(value) > 400:
            unit = re.match(r"(.{1,200}?)\1+", value, re.DOTALL)
            if unit and len(unit[0]) > len(value) - 400:
                text = f"{unit[1]!r} * {len(unit[0]) // len(unit[1])} + {value[len(unit[0]) :]!r}"
        parts.append(f"{name!r}: {text}")
    return "{" + ", ".join(parts) + "}"


_PARTS = re.compile(r"\s+|</?\w+>|\\\w+|\w+|.", re.DOTALL)
MOST_ROUNDS = 60
LONG = 4000


def shrink(response: str, core: Sequence[str], is_finding: Callable[[Sequence[str]], list[bool]]) -> str:
    """The shortest response found; several candidates are passed to `is_finding` at once."""
    parts = _PARTS.findall(response)
    keeps = partial(_keeps, core, as_words=_keeps(core, response, as_words=True))
    if len(response) > LONG:  # a flood: its length is the point, and halving finds the dose
        return _halve(response, keeps, is_finding)
    size, rounds = max(1, len(parts) // 2), 0
    while size and rounds < MOST_ROUNDS:
        rounds += 1
        shorter = _without_some(parts, size)
        kept = [each for each in shorter if keeps("".join(each))]
        answers = is_finding(["".join(each) for each in kept]) if kept else []
        passing = [each for each, passed in zip(kept, answers, strict=True) if passed]
        if passing:
            parts = min(passing, key=len)
            size = min(size, max(1, len(parts) // 2))
        elif size == 1:
            break
        else:
            size //= 2
    text = "".join(parts)
    trimmed = text.strip()
    return trimmed if trimmed != text and keeps(trimmed) and is_finding([trimmed])[0] else text


def _without_some(parts: list[str], size: int) -> list[list[str]]:
    return [parts[:start] + parts[start + size :] for start in range(0, len(parts), size)]


def _halve(response: str, keeps: Callable[[str], bool], is_finding: Callable[[Sequence[str]], list[bool]]) -> str:
    for _ in range(MOST_ROUNDS):
        half = response[: len(response) // 2]
        if len(half) < 2 or not keeps(half) or not is_finding([half])[0]:
            return response
        response = half
    return response


def _keeps(core: Sequence[str], text: str, *, as_words: bool) -> bool:
    """Whether the text contains the parts of the core in order; `as_words`: none within a longer word."""
    start = 0
    for part in core:
        pattern = rf"(?<!\w){re.escape(part)}(?!\w)" if as_words else re.escape(part)
        match = re.compile(pattern).search(text, start)
        if match is None:
            return False
        start = match.end()
    return True
