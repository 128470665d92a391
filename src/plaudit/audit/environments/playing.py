"""Play an episode with a policy that is a function, and record its messages and rewards."""

import asyncio
import copy
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from plaudit.agents import Agent, Environment, EnvironmentHost, EpisodeStart, SamplingParams, StepResult
from plaudit.agents.hosts import ActionStates, EnvironmentCalls
from plaudit.contract.event_loop import run_in_new_loop
from plaudit.contract.output import RewardOutput
from plaudit.loading import load_agent
from plaudit.trajectory import message_text

FIELDS = ("feedback", "reward", "score", "done")
plain = operator.attrgetter(*FIELDS)
"""The values of a result that must be equal when the same actions are played again."""


@dataclass(slots=True)
class Transcript:
    """An episode so far: the first observation, and each action with its result."""

    start: EpisodeStart
    observation: str = ""
    actions: list[str] = field(default_factory=list)
    results: list[StepResult] = field(default_factory=list)
    failure: RewardOutput | None = None
    changed_start: bool = False
    """Whether the environment changed the start that it was given, in this process."""

    @property
    def feedback(self) -> list[str]:
        """The environment's feedback after each action."""
        return [result.feedback for result in self.results]

    @property
    def done(self) -> bool:
        """Whether the environment ended the episode."""
        return bool(self.results) and self.results[-1].done

    @property
    def reward(self) -> float | None:
        """The sum over the steps; None if the environment gave none, or failed."""
        rewards = [result.reward for result in self.results if result.reward is not None]
        return sum(rewards) if rewards and self.failure is None else None

    def outcome(self) -> tuple[Any, ...]:
        """The values that must be equal when the same actions are played again."""
        return self.observation, [*map(plain, self.results)], self.failure is None


Policy = Callable[[Transcript], str | None]
"""The next action; None stops the episode."""


def scripted(actions: Sequence[str], then: str | None = None) -> Policy:
    """Say the actions one after another, then `then` until the environment ends the episode."""
    return lambda transcript: actions[len(transcript.actions)] if len(transcript.actions) < len(actions) else then


class Play(NamedTuple):
    """An episode to be played."""

    start: EpisodeStart
    policy: Policy


def play_all(
    host: EnvironmentHost, plays: Sequence[Play], steps: int, deadline_s: float, *, at_once: int = 1
) -> list[Transcript]:
    """The episodes in order, each of at most `steps` steps, `at_once` at the same time."""

    async def run() -> list[Transcript]:
        transcripts: list[Transcript] = []
        for index in range(0, len(plays), at_once):
            together = [_play(host, *each, steps, deadline_s) for each in plays[index : index + at_once]]
            transcripts += await asyncio.gather(*together)
        return transcripts

    return run_in_new_loop(run())


def play_actions(
    environment: str | type | Agent, start: EpisodeStart, actions: Sequence[str], *, deadline_s: float = 5.0
) -> Transcript:
    """The episode of these actions in a new environment, for tests of what an audit found."""
    if not isinstance(environment, Agent):
        environment = load_agent(environment) if isinstance(environment, str) else Agent(environment)
    host = environment.build_host()
    try:
        return play_all(host, [Play(start, scripted(actions))], len(actions), deadline_s)[0]
    finally:
        host.close()


async def _play(
    host: EnvironmentHost, start: EpisodeStart, policy: Policy, steps: int, deadline_s: float
) -> Transcript:
    transcript = Transcript(start)
    calls = EnvironmentCalls(host, deadline_s)
    own_start = copy.deepcopy(start)
    text = start.prompt if issubclass(host.environment, Environment) or not start.messages else _join(start)
    try:
        await calls.open()
        first = await calls.call("create")
        first = first if isinstance(first, RewardOutput) else await calls.call("reset", own_start)
        if isinstance(first, RewardOutput):
            transcript.failure = first
            return transcript
        text = transcript.observation = text if first.text is None else first.text
        while len(transcript.actions) < steps and not transcript.done:
            action = policy(transcript)
            if action is None:
                break
            states = ActionStates(text, action or " ", own_start.ground_truth, SamplingParams())
            result = await calls.call("step", states)
            transcript.actions.append(action)
            if isinstance(result, RewardOutput):
                transcript.failure = result
                break
            transcript.results.append(result)
            text += action + result.feedback
        return transcript
    finally:
        transcript.changed_start = own_start != start
        await calls.end()


def _join(start: EpisodeStart) -> str:
    return "\n\n".join(message_text(message) for message in start.messages)
