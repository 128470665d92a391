"""Continuous batching: whoever waits is drawn, nobody waits for the slow, and a seed gives the same episodes."""

import asyncio
import random

import pytest

from plaudit.agents import AgentInstance, ContinuousSampler, EpisodeLimits, EpisodeStart, Player, SamplingParams
from plaudit.errors import AgentError
from tests.agents.toy_episodes import ToyModel, answers_with, play_episodes


class Dawdles(AgentInstance):
    """Answers after a random time, and is done after as many turns as its label says, at most four."""

    def __init__(self):
        self.turns = 0

    async def step(self, states, **kwargs):
        await asyncio.sleep(random.random() / 100)
        self.turns += 1
        return {"environment_feedback": "?", "done": self.turns > states["label"] % 4, "rewards": [1.0]}


def test_episodes_that_answer_at_once_are_drawn_together():
    model = ToyModel()
    episodes = play_episodes(answers_with("?", "?", "?", rewards=1.0), ["a"] * 300, EpisodeLimits(), model)
    assert [len(requests) for requests in model.asked] == [300, 300, 300]
    assert {episode.reward for episode in episodes} == {3.0}


def test_a_slow_environment_delays_no_other_episode():
    order = []

    class OneWaits(AgentInstance):
        async def step(self, states, **kwargs):
            if states["label"] == 0:
                while len(order) < 4:
                    await asyncio.sleep(0.001)
            order.append(states["label"])
            return {"environment_feedback": "?", "done": len(order) > 4 or order.count(states["label"]) == 2}

    play_episodes(OneWaits, ["a"] * 3, EpisodeLimits())
    assert order[:4].count(0) == 0


def test_the_order_in_which_environments_answer_changes_nothing():
    first, second = (play_episodes(Dawdles, ["a"] * 20, EpisodeLimits(), ToyModel(7)) for _ in range(2))
    assert first == second


def test_a_model_that_cannot_draw_is_an_error_of_the_run_and_not_of_the_episodes():
    class Broken(ToyModel):
        def draw(self, requests):
            raise MemoryError("no memory left")

    with pytest.raises(MemoryError, match="no memory left"):
        play_episodes(answers_with("?"), ["a"] * 3, EpisodeLimits(), Broken())


def test_a_model_that_draws_too_few_actions_is_an_error_of_the_run_and_nobody_waits_for_them():
    class Forgets(ToyModel):
        def draw(self, requests):
            return super().draw(requests)[1:]

    with pytest.raises(AgentError, match="drew 2 actions for 3 requests"):
        play_episodes(answers_with("?"), ["a"] * 3, EpisodeLimits(), Forgets())


def test_an_error_of_the_model_is_raised_even_where_an_episode_swallows_it():
    def draw(requests):
        raise MemoryError("no memory left")

    sampler = ContinuousSampler(draw)

    async def swallows():
        try:
            await sampler.generate([1], SamplingParams())
        except MemoryError:
            return

    async def play():
        return await sampler.play([swallows, swallows])

    with pytest.raises(MemoryError):
        asyncio.run(play())


def test_an_episode_may_ask_for_several_actions_at_once():
    model = ToyModel()
    sampler = ContinuousSampler(model.draw)

    async def asks():
        return await asyncio.gather(*[sampler.generate([place], SamplingParams()) for place in range(3)])

    async def play():
        return await sampler.play([asks])

    [drawn] = asyncio.run(play())
    assert len(drawn) == 3


def test_a_model_that_fails_in_the_middle_of_episodes_ends_them_all_with_its_error():
    class Tires(ToyModel):
        def draw(self, requests):
            if requests[0].turn == 2:
                raise RuntimeError("the engine is gone")
            return super().draw(requests)

    with pytest.raises(RuntimeError, match="the engine is gone"):
        play_episodes(answers_with("?", "?", "?", "?"), ["a"] * 5, EpisodeLimits(), Tires())


def test_a_cancelled_batch_leaves_nothing_running():
    running = []

    class Notes(AgentInstance):
        async def step(self, states, **kwargs):
            running.append(1)
            try:
                await asyncio.sleep(60)
            finally:
                running.pop()

    model = ToyModel()
    sampler = ContinuousSampler(model.draw)
    player = Player(Notes, sampler, model.tokenizer, EpisodeLimits())

    async def cancel():
        playing = asyncio.create_task(sampler.play([lambda: player.play(EpisodeStart("a", 0), SamplingParams())] * 4))
        while len(running) < 4:
            await asyncio.sleep(0.001)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
        await asyncio.sleep(0)
        return len(running), len(asyncio.all_tasks())

    assert asyncio.run(cancel()) == (0, 1)
