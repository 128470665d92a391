"""The reward under audit: scored through the engine, within a budget of calls and seconds, each sample once.

A reward that looks at a group or a batch sees every response beside the same companions, so that two values can be
compared. A function of batches that does not say so is tried with a copy of a sample beside it.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import msgspec

from plaudit.contract.output import RewardOutput, Status
from plaudit.engine import Scorer
from plaudit.engine.batch_dependence import undeclared_batch_functions
from plaudit.errors import InvalidSettings
from plaudit.trajectory import Trajectory

PORTION = 32
MOST_OVERRUNS = 6


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of an audit: scored samples, and seconds."""

    calls: int = 6000
    seconds: float = 300.0

    def __post_init__(self) -> None:
        if self.calls < 1 or not self.seconds > 0:
            raise InvalidSettings(f"a budget is at least one call and some time, got {self.calls}, {self.seconds} s")


class BudgetSpent(Exception):
    """The budget is used up, or the reward overran its deadline too often; the message gives the reason."""


class Subject:
    """Scores responses with the reward under audit, and counts what that costs."""

    def __init__(self, scorer: Scorer, retry_scorer: Scorer, budget: Budget, *, isolated: bool) -> None:
        self.reward = scorer.reward
        self.scope = scorer.reward.scope
        self.isolated = isolated
        """Whether a response may hang or end the process that scores it."""
        self.calls = 0
        self.overruns = 0
        self.overrunning: Trajectory | None = None
        """The first sample that ran into the deadline or the memory limit."""
        self._scorer, self._retry_scorer, self._budget = scorer, retry_scorer, budget
        self._began = time.monotonic()
        self._known: dict[bytes, RewardOutput] = {}
        self._companions: dict[str, list[Trajectory]] = {}
        self._undeclared = bool(undeclared_batch_functions(scorer.reward))

    @property
    def seconds(self) -> float:
        """The seconds since the audit began."""
        return time.monotonic() - self._began

    def accompany(self, samples: Sequence[Trajectory]) -> None:
        """Set the companions of a prompt's responses, for rewards that compare; the first ones given stay."""
        for sample in samples:
            chosen = self._companions.setdefault(sample.prompt_text, [])
            if len(chosen) < 3:
                chosen.append(sample)

    def score(self, samples: Sequence[Trajectory]) -> list[RewardOutput]:
        """One output per sample, in order; raises BudgetSpent when there is no budget for them."""
        keys = [self._key(sample) for sample in samples]
        missing = {key: sample for key, sample in zip(keys, samples, strict=True) if key not in self._known}
        waiting = list(missing.items())
        for start in range(0, len(waiting), PORTION):
            portion = waiting[start : start + PORTION]
            self._check_budget(len(portion))
            outputs = self._run([sample for _, sample in portion], self._scorer)
            if self._undeclared and self._depends_on_batch([sample for _, sample in portion], outputs):
                self.scope = "batch"
                outputs = self._run([sample for _, sample in portion], self._scorer)
            self.calls += len(portion)
            overrunning = [sample for (_, sample), output in zip(portion, outputs, strict=True) if is_overrun(output)]
            self.overruns += len(overrunning)
            self.overrunning = self.overrunning or next(iter(overrunning), None)
            self._known.update(zip((key for key, _ in portion), outputs, strict=True))
        return [self._known[key] for key in keys]

    def rewards(self, samples: Sequence[Trajectory]) -> list[float | None]:
        """The numbers alone."""
        return [output.reward for output in self.score(samples)]

    def score_group(self, samples: Sequence[Trajectory]) -> list[RewardOutput]:
        """The outputs of these samples as a group of their own."""
        self._check_budget(len(samples))
        self.calls += len(samples)
        return self._scorer.score([msgspec.structs.replace(each, group=f"whole-{self.calls}") for each in samples])

    def confirm_overrun(self, sample: Trajectory) -> RewardOutput | None:
        """Score a sample that overran again, with more time and outside the budget; None if it ends in time.

        An overrun on a busy machine is no fault of the reward.
        """
        [output] = self._run([sample], self._retry_scorer)
        return output if is_overrun(output) else None

    def _depends_on_batch(self, samples: list[Trajectory], outputs: list[RewardOutput]) -> bool:
        """Whether the best and the worst paid sample earn another reward alone, or together with a copy."""
        self._undeclared = False
        rewards = [0.0 if output.reward is None else output.reward for output in outputs]
        for index in {rewards.index(max(rewards)), rewards.index(min(rewards))}:
            [alone], copies = (self._scorer.score([samples[index]] * count) for count in (1, 2))
            if {alone.reward, copies[0].reward, copies[1].reward} != {outputs[index].reward}:
                return True
        return False

    def _run(self, samples: list[Trajectory], scorer: Scorer) -> list[RewardOutput]:
        if self.scope == "sample":
            return scorer.score(samples)
        batches = [[*self._companions_of(sample), sample] for sample in samples]
        if self.scope == "batch":
            return [scorer.score(batch)[-1] for batch in batches]
        placed = [
            msgspec.structs.replace(member, group=f"audit-{self.calls + index}")
            for index, batch in enumerate(batches)
            for member in batch
        ]
        outputs = scorer.score(placed)
        return [outputs[end - 1] for end in accumulate(len(batch) for batch in batches)]

    def _companions_of(self, sample: Trajectory) -> list[Trajectory]:
        return self._companions.get(sample.prompt_text, [])

    def _check_budget(self, calls: int) -> None:
        if self.calls + calls > self._budget.calls:
            raise BudgetSpent(f"the budget of {self._budget.calls:,} calls is used up")
        if self.seconds > self._budget.seconds:
            raise BudgetSpent(f"the budget of {self._budget.seconds:g} s is used up")
        if self.overruns >= MOST_OVERRUNS:
            raise BudgetSpent(f"{self.overruns} responses ran into the deadline or the memory limit")

    @staticmethod
    def _key(sample: Trajectory) -> bytes:
        """The whole sample: a reward may read any of its fields and columns."""
        return repr(sample.to_dict()).encode(errors="surrogatepass")


def is_overrun(output: RewardOutput) -> bool:
    """Whether a sample ran into the deadline or the memory limit."""
    return output.status in (Status.TIMEOUT, Status.MEMORY)
