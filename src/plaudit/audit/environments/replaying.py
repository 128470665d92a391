"""Episodes that are played again must be the same: after others, beside others, with other global random numbers."""

import random
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from plaudit.agents import Agent, EnvironmentHost, Example, LocalHost
from plaudit.audit.environments.playing import Play, Transcript, play_all, scripted
from plaudit.audit.environments.policies import STEPS, spam_calls

__all__ = ["Difference", "Replays"]

REFERENCES = 4
"""On how many examples episodes are played again."""


class Difference(NamedTuple):
    """An episode that was another one when it was played again."""

    kind: str
    transcript: Transcript
    message: str
    remedy: str


class Replays:
    """Plays the same episodes of an agent under different circumstances."""

    def __init__(self, agent: Agent, examples: Sequence[Example], deadline_s: float) -> None:
        self._agent, self._deadline_s = agent, deadline_s
        self._calls = spam_calls(getattr(agent.environment, "tools", ()))
        chosen = examples[:: max(1, len(examples) // REFERENCES)][:REFERENCES]
        words = ["Done.", "a", "7"]
        self._plays = [
            Play(example.start, scripted([*actions, *words][:STEPS]))
            for example in chosen
            for actions in ([*example.actions, *self._calls], self._calls)
        ]
        self._others = [
            Play(example.start, scripted([*self._calls, *example.actions][:STEPS], "Done.")) for example in examples
        ]

    def __len__(self) -> int:
        return len(self._plays)

    def find_leak(self, host: EnvironmentHost, open_host: Callable[[], EnvironmentHost]) -> Difference | None:
        """An episode that differs after others were played; `host` must be new. The same in a new process is chance."""
        first = self._record(host)
        self._record(host, self._others)
        differing = _first_difference(first, self._record(host))
        if differing is None:
            return None
        if self._agent.spec is not None:
            other = open_host()
            try:
                if _first_difference(first, self._record(other)) is not None:
                    return None
            finally:
                other.close()
        transcript, what = differing
        remedy = "keep state on the instance and make it anew in `reset`; nothing on the class, the module or the disk"
        return Difference(
            "state between episodes", transcript, f"an episode depends on those before it: {what}", remedy
        )

    def find_chance(self) -> Difference | None:
        """An episode that differs with other global random numbers, or beside others, in this process."""
        host = LocalHost(self._agent.environment)
        state = random.getstate()
        try:
            records = [self._record(host, seed=seed) for seed in (1, 2)]
            together = self._record(host, seed=2, at_once=len(self._plays))
        finally:
            random.setstate(state)
        differing = _first_difference(*records)
        if differing is not None:
            transcript, what = differing
            message = f"the same seed and actions led to another episode: {what}"
            return Difference("chance", transcript, message, "take all chance from `start.seed`")
        differing = _first_difference(records[1], together)
        if differing is not None:
            transcript, what = differing
            message, remedy = f"an episode depends on others at the same time: {what}", "keep state on the instance"
            return Difference("state between episodes", transcript, message, remedy)
        return None

    def _record(
        self, host: EnvironmentHost, plays: Sequence[Play] | None = None, *, seed: int | None = None, at_once: int = 1
    ) -> list[Transcript]:
        if seed is not None:
            _seed_globals(seed)
        return play_all(host, self._plays if plays is None else plays, STEPS, self._deadline_s, at_once=at_once)


def _first_difference(first: Sequence[Transcript], second: Sequence[Transcript]) -> tuple[Transcript, str] | None:
    for one, other in zip(first, second, strict=True):
        if one.outcome() != other.outcome():
            return other, _describe_difference(one, other)
    return None


def _describe_difference(one: Transcript, other: Transcript) -> str:
    if one.observation != other.observation:
        return f"first observation {one.observation!r:.80} and {other.observation!r:.80}"
    for index, (left, right) in enumerate(zip(one.results, other.results, strict=False)):
        for name in ("feedback", "reward", "score", "done"):
            if getattr(left, name) != getattr(right, name):
                return f"step {index + 1}: {name} {getattr(left, name)!r:.80} and {getattr(right, name)!r:.80}"
    return f"{len(one.results)} and {len(other.results)} steps"


def _seed_globals(seed: int) -> None:
    random.seed(seed)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed)
