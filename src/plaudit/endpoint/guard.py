"""Wrap a reward that calls an endpoint: each sample is sent within limits, and again when that may help."""

import asyncio
import time
from functools import partial

import msgspec

from plaudit.contract.function import RewardFunction, RewardLike, as_reward
from plaudit.contract.output import RewardOutput
from plaudit.contract.results import as_output
from plaudit.contract.scoring import Style
from plaudit.endpoint.channel import Channel, Clock, Sleep, Unanswered
from plaudit.endpoint.policy import EndpointPolicy
from plaudit.errors import InvalidSettings
from plaudit.trajectory import Trajectory

__all__ = ["guarded"]


def guarded(
    reward: RewardLike,
    policy: EndpointPolicy | None = None,
    *,
    clock: Clock = time.monotonic,
    sleep: Sleep = asyncio.sleep,
) -> RewardFunction:
    """`reward`, called as `policy` allows: `guarded(judge, EndpointPolicy(per_second=10))`.

    `reward` is async and takes one sample. Its outputs tell `attempts` and `waited_s` in their metadata.
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
        except Unanswered as given_up:
            report = {"attempts": given_up.attempts, "waited_s": given_up.waited_s}
            return RewardOutput.unscored(given_up.status, f"{self.name}: {given_up}", metadata=report)
        output = as_output(sent.value, trajectory, self._clock() - began)
        report = {"attempts": sent.attempts, "waited_s": sent.waited_s}
        return msgspec.structs.replace(output, metadata={**output.metadata, **report})

    def __repr__(self) -> str:
        return f"guarded({self.reward!r})"
