"""Lockstep: hundreds of episodes share their batches, in an order that no environment changes."""

import asyncio
import random

import pytest

from plaudit.agents import AgentInstance, EpisodeLimits, LockstepSampler, SamplingParams
from tests.agents.toy_episodes import ToyModel, answers_with, play_episodes


class Dawdles(AgentInstance):
    """Answers after a random time, and is done after as many turns as its label says, at most four."""

    def __init__(self):
        self.turns = 0

    async def step(self, states, **kwargs):
        await asyncio.sleep(random.random() / 100)
        self.turns += 1
        return {"environment_feedback": "?", "done": self.turns > states["label"] % 4, "rewards": [1.0]}


def test_hundreds_of_episodes_take_as_many_draws_as_the_longest_has_turns():
    model = ToyModel()
    episodes = play_episodes(Dawdles, ["a"] * 300, EpisodeLimits(), model)
    assert [len(requests) for requests in model.asked] == [300, 225, 150, 75]
    assert [episode.reward for episode in episodes] == [1.0, 2.0, 3.0, 4.0] * 75


def test_which_environment_answers_first_changes_nothing():
    first, second = (play_episodes(Dawdles, ["a"] * 20, EpisodeLimits(), ToyModel(7)) for _ in range(2))
    assert first == second


def test_a_model_that_cannot_draw_is_an_error_of_the_run_and_not_of_the_episodes():
    class Broken(ToyModel):
        def draw(self, requests):
            raise MemoryError("no memory left")

    with pytest.raises(MemoryError, match="no memory left"):
        play_episodes(answers_with("?"), ["a"] * 3, EpisodeLimits(), Broken())


def test_an_error_of_the_model_is_raised_even_where_an_episode_swallows_it():
    def draw(requests):
        raise MemoryError("no memory left")

    lockstep = LockstepSampler(draw)

    async def swallows():
        try:
            await lockstep.generate([1], SamplingParams())
        except MemoryError:
            return

    async def play():
        return await lockstep.play([swallows, swallows])

    with pytest.raises(MemoryError):
        asyncio.run(play())


def test_an_episode_may_ask_for_several_actions_at_once():
    model = ToyModel()
    lockstep = LockstepSampler(model.draw)

    async def asks():
        return await asyncio.gather(*[lockstep.generate([place], SamplingParams()) for place in range(3)])

    async def play():
        return await lockstep.play([asks])

    [drawn] = asyncio.run(play())
    assert len(drawn) == 3
