"""Episodes that are played again must be the same: after others, beside others, with other global random numbers."""

import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

from plaudit.agents import Agent, EnvironmentHost, Example, LocalHost
from plaudit.audit.environments.playing import FIELDS, Play, Transcript, play_all, scripted
from plaudit.audit.environments.policies import STEPS, spam_calls
from plaudit.audit.environments.solutions import in_reverse, rewrite, spoil
from plaudit.audit.environments.target import write_call
from plaudit.audit.environments.violation import Violation

REFERENCES = 4
"""On how many examples episodes are played again."""


class Replays:
    """Plays the same episodes of an agent under different circumstances."""

    def __init__(self, agent: Agent, examples: Sequence[Example], deadline_s: float) -> None:
        self._agent, self._deadline_s, self.episodes = agent, deadline_s, 0
        calls = spam_calls(getattr(agent.environment, "tools", ()))
        chosen = examples[:: max(1, len(examples) // REFERENCES)][:REFERENCES]
        words = ["Done.", "a", "7"]
        self._plays = [
            Play(example.start, scripted([*actions, *words][:STEPS]))
            for example in chosen
            for actions in ([*example.actions, *calls], calls, in_reverse(example.actions), _spoiled(example.actions))
        ]
        self._others = [
            Play(example.start, scripted(actions, then))
            for example in examples
            for actions, then in (
                ([*calls, *example.actions][:STEPS], "Done."), (example.actions[: len(example.actions) // 2 + 1], None),
            )
        ]  # fmt: skip
        """Episodes to their end, and some that are given up on the way."""

    def find_difference(self, host: EnvironmentHost, open_host: Callable[[], EnvironmentHost]) -> Violation | None:
        """An episode that is not always the same; `host` must be new."""
        first = self._record(host)
        if self._agent.spec is not None:
            remedy = "take all chance from `start.seed`, and sort what comes from sets"
            if seen := self._in_new_process(first, open_host, self._plays):
                return _found("chance", seen, "an episode is another one in another process", remedy)
        self._record(host, self._others)
        seen = _first_difference(first, self._record(host))
        if seen is None and self._agent.spec is not None:
            seen = self._in_new_process(first, open_host, self._plays[::-1])
        if seen is not None:
            remedy = "keep state on the instance and make it anew in `reset`; nothing on the class, module or disk"
            return _found("state between episodes", seen, "an episode depends on those before it", remedy)
        return self._find_chance()

    def _in_new_process(
        self, first: Sequence[Transcript], open_host: Callable[[], EnvironmentHost], plays: Sequence[Play]
    ) -> tuple[Transcript, str] | None:
        """The first episode that differs in a new process, in which `plays` are all that was played."""
        host = open_host()
        try:
            again = self._record(host, plays)
        finally:
            host.close()
        return _first_difference(first, again if plays is self._plays else again[::-1])

    def _find_chance(self) -> Violation | None:
        """An episode that differs with other global random numbers, or beside others, in this process."""
        host = LocalHost(self._agent.environment)
        state = random.getstate()
        try:
            records = [self._record(host, seed=seed) for seed in (1, 2)]
            together = self._record(host, seed=2, at_once=len(self._plays))
        finally:
            random.setstate(state)
        for played in records[0]:
            if played.changed_start:
                message = "an episode changes its start, which others share"
                return _found("state between episodes", (played, "its ground truth or metadata"), message, "copy it")
        if seen := _first_difference(*records):
            return _found(
                "chance", seen, "the same seed and actions led to another episode", "take all chance from `start.seed`"
            )
        if seen := _first_difference(records[1], together):
            remedy = "keep state on the instance"
            return _found("state between episodes", seen, "an episode depends on others at the same time", remedy)
        return None

    def _record(
        self, host: EnvironmentHost, plays: Sequence[Play] | None = None, *, seed: int | None = None, at_once: int = 1
    ) -> list[Transcript]:
        if seed is not None:
            _seed_globals(seed)
        plays = self._plays if plays is None else plays
        self.episodes += len(plays)
        return play_all(host, plays, STEPS, self._deadline_s, at_once=at_once)


def _spoiled(actions: Sequence[str]) -> list[str]:
    """The actions with other arguments in calls, and with other words."""
    written = rewrite(actions, lambda call: write_call(call.name, spoil(call.arguments)))
    return [f"{action}zz" if action in actions else action for action in written]


def _found(family: str, seen: tuple[Transcript, str], message: str, remedy: str) -> Violation:
    played, what = seen
    return Violation(family, "played again", played, f"{message}: {what}", remedy)


def _first_difference(first: Sequence[Transcript], second: Sequence[Transcript]) -> tuple[Transcript, str] | None:
    for one, other in zip(first, second, strict=True):
        if one.outcome() != other.outcome():
            return other, _describe_difference(one, other)
    return None


def _describe_difference(one: Transcript, other: Transcript) -> str:
    if one.observation != other.observation:
        return f"first observation {one.observation!r:.80} and {other.observation!r:.80}"
    for index, (left, right) in enumerate(zip(one.results, other.results, strict=False)):
        for name in FIELDS:
            if getattr(left, name) != getattr(right, name):
                return f"step {index + 1}: {name} {getattr(left, name)!r:.80} and {getattr(right, name)!r:.80}"
    return f"{len(one.results)} and {len(other.results)} steps"


def _seed_globals(seed: int) -> None:
    random.seed(seed)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed)
