"""Rewards that call an endpoint: `guarded` adds limits and retries, `Usage` sums what the calls cost."""

import asyncio
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import msgspec

from plaudit.contract.function import RewardFunction, RewardLike, as_reward
from plaudit.contract.output import RewardOutput
from plaudit.contract.results import as_output
from plaudit.contract.scoring import Style
from plaudit.endpoint.channel import CallFailed, Channel, Clock, EndpointPolicy, Sleep
from plaudit.errors import InvalidSettings
from plaudit.trajectory import Trajectory

_PROMPT = ("prompt_tokens", "input_tokens")
_RESPONSE = ("completion_tokens", "output_tokens")


def guarded(
    reward: RewardLike,
    policy: EndpointPolicy | None = None,
    *,
    clock: Clock = time.monotonic,
    sleep: Sleep = asyncio.sleep,
) -> RewardFunction:
    """`reward`, called as `policy` allows: `guarded(judge, EndpointPolicy(per_second=10))`.

    `reward` is async and takes one sample. Its outputs have `attempts` and `waited_s` in their metadata.
    """
    inner = as_reward(reward)
    if inner.call_style is not Style.SAMPLE or not inner.is_async:
        raise InvalidSettings(
            f"{inner.name} cannot be guarded: it must be async and take one sample at a time; "
            "guard the reward that calls the endpoint, not a combination around it"
        )
    return _GuardedReward(inner, Channel(policy or EndpointPolicy(), clock, sleep), clock)


class _GuardedReward(RewardFunction):
    """A reward whose calls go through a channel."""

    def __init__(self, reward: RewardFunction, channel: Channel, clock: Clock) -> None:
        self.reward, self.channel, self._clock = reward, channel, clock
        self.name, self.scope, self.bounds = reward.name, reward.scope, reward.bounds
        self.deterministic, self.concurrency = reward.deterministic, channel.policy.concurrency
        self.__doc__ = reward.__doc__

    async def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        began = self._clock()
        try:
            sent = await self.channel.send(partial(self.reward.compute_reward, trajectory))
        except CallFailed as given_up:
            report = {"attempts": given_up.attempts, "waited_s": given_up.waited_s}
            return RewardOutput.unscored(given_up.status, f"{self.name}: {given_up}", metadata=report)
        output = as_output(sent.value, trajectory, self._clock() - began)
        report = {"attempts": sent.attempts, "waited_s": sent.waited_s}
        return msgspec.structs.replace(output, metadata={**output.metadata, **report})

    def __repr__(self) -> str:
        return f"guarded({self.reward!r})"


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of the calls for some outputs: `Usage.of(outputs)`, or `a + b`.

    A reward reports usage as `metadata={"usage": {...}}`, with the names of OpenAI's or Anthropic's replies; `reported`
    counts such outputs. If an output and its components report the same call (a normalised reward keeps its raw
    output), the outermost report counts.
    """

    attempts: int = 0
    waited_s: float = 0.0
    reported: int = 0
    prompt_tokens: int = 0
    response_tokens: int = 0
    total_tokens: int = 0
    cost: float = 0.0

    @classmethod
    def of(cls, outputs: Iterable[RewardOutput]) -> "Usage":
        """The sum of the usage that all outputs and their components report."""
        total = cls()
        for output in outputs:
            for metadata in _reports(output):
                total += cls._from_metadata(metadata)
        return total

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @classmethod
    def _from_metadata(cls, metadata: Mapping[str, Any]) -> "Usage":
        reported = metadata.get("usage")
        usage = reported if isinstance(reported, Mapping) else {}
        prompt, response = int(_number(usage, *_PROMPT)), int(_number(usage, *_RESPONSE))
        return cls(
            attempts=int(_number(metadata, "attempts")),
            waited_s=_number(metadata, "waited_s"),
            reported=int(bool(usage)),
            prompt_tokens=prompt,
            response_tokens=response,
            total_tokens=int(_number(usage, "total_tokens")) or prompt + response,
            cost=_number(usage, "cost"),
        )


def _reports(output: RewardOutput) -> Iterator[Mapping[str, Any]]:
    if "usage" in output.metadata or "attempts" in output.metadata:
        yield output.metadata
        return
    for component in output.components.values():
        yield from _reports(component)


def _number(values: Mapping[str, Any], *names: str) -> float:
    """The first of the named values that is a number; what an endpoint leaves out or garbles counts as 0."""
    for name in names:
        value = values.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return value
    return 0.0
