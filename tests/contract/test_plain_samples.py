"""Rewards on samples that are columns: numbers and words as on trajectories, and no trajectory without need."""

import math

import numpy as np
import pytest

from plaudit import RewardFunction, RewardOutput, Status, Trajectory, reward
from plaudit.contract import plain_samples
from plaudit.contract.boundary import score_each, score_plainly
from plaudit.contract.plain_samples import PlainSamples

PROMPTS, RESPONSES, TRUTHS = ["a?", "b?", "c?", "d?"], ["one", "", "three", "four"], ["one", None, 3, ["four"]]


def columns() -> PlainSamples:
    return PlainSamples(PROMPTS, RESPONSES, TRUTHS)


def trajectories() -> list[Trajectory]:
    return [Trajectory(*row) for row in zip(PROMPTS, RESPONSES, TRUTHS, strict=True)]


def length(response):
    return float(len(response))


def swapped(ground_truth, prompt, response):
    return float(ground_truth == response) + len(prompt) / 10


def with_default(response, bonus=0.5):
    return len(response) + bonus


def keyword_only(*, response):
    return float(len(response))


def with_columns(response, **rest):
    return float(len(response) + len(rest))


def whole(trajectory):
    return float(len(trajectory.response))


def failing(response):
    if not response:
        raise ValueError("nothing there")
    return float(len(response))


def stopping(response):
    if response == "three":
        raise StopIteration("early")
    return float(len(response))


def leaving(response):
    raise SystemExit(2)


def odd(response):
    return {"one": math.nan, "": math.inf, "three": 3, "four": True}[response]


def odder(response):
    return {"one": None, "": "1.5", "three": {3}, "four": RewardOutput(1.0, score=0.5)}[response]


class Half(float):
    pass


def of_another_class(response):
    return Half(0.5)


def token_rewards(response):
    return RewardOutput(1.0, token_rewards=[1.0])  # one word each, but for the empty response


async def later(response):
    return float(len(response))


def later_after_all(response):
    return later(response)


class Method:
    def check(self, response):
        return float(len(response))

    def __call__(self, response, ground_truth):
        return float(response == ground_truth)


class Doubled(RewardFunction):
    def compute_reward(self, trajectory):
        return 2.0 * len(trajectory.response)


REWARDS = [
    *map(reward, (length, swapped, with_default, keyword_only, with_columns, whole, failing, stopping, leaving, odd)),
    *map(reward, (odder, of_another_class, token_rewards, later_after_all, Method().check, Method())),
    Doubled(),
    0.5 * reward(length) + 0.5 * reward(failing),
    reward(length).gate(reward(swapped), at=0.5),
]


def told(output) -> tuple:
    if isinstance(output, float):
        output = RewardOutput(output)
    return output.reward, output.status, output.reason, output.score, output.token_rewards, output.components.keys()


@pytest.mark.parametrize("asked", REWARDS, ids=lambda each: each.name)
def test_the_same_numbers_statuses_and_words_as_on_trajectories(asked):
    expected = [told(output) for output in score_each(asked, trajectories())]
    assert [told(output) for output in score_plainly(asked, columns(), [0])] == expected
    assert [told(output) for output in score_plainly(asked, trajectories(), [0])] == expected
    assert [told(output) for output in score_plainly(asked, columns()[1:3], [0])] == expected[1:3]


def test_functions_of_plain_fields_are_called_without_a_trajectory(monkeypatch):
    monkeypatch.setattr(plain_samples, "Trajectory", lambda *_: pytest.fail("a trajectory was made"))
    assert score_plainly(reward(length), columns(), [0]) == [3.0, 0.0, 5.0, 4.0]
    assert score_plainly(reward(swapped), columns(), [0]) == [1.2, 0.2, 0.2, 0.2]
    assert [told(each)[1] for each in score_plainly(reward(failing), columns(), [0])].count(Status.ERROR) == 1


def test_how_many_samples_are_done_is_known_at_any_moment():
    done, seen = [5], []

    async def look_later(response):
        seen.append(done[0])
        return 1.0

    def look(response):
        seen.append(done[0])
        if response == "one":
            raise ValueError("nothing there")
        return look_later(response) if response == "three" else 1.0

    outputs = score_plainly(reward(look), columns(), done)
    assert [told(output)[0] for output in outputs] == [None, 1.0, 1.0, 1.0]
    assert (seen, done) == ([5, 6, 7, 7, 8], [9])
    assert score_plainly(reward(look), columns()[:0], done) == []
    assert done == [9]


def test_what_a_timer_raises_between_two_samples_moves_no_number_to_another():
    class Interrupted(list):
        def __setitem__(self, place, value):
            if value == 2 and self[0] == 1:
                super().__setitem__(place, value)
                raise TimeoutError("of a sample that was done long ago")
            super().__setitem__(place, value)

    done = Interrupted([0])
    with pytest.raises(TimeoutError):
        score_plainly(reward(length), columns(), done)
    assert done == [2]


def test_it_ends_early_behind_the_sample_that_is_later_than_due():
    done, past = [5], 0.0
    assert score_plainly(reward(length), columns(), done, past) == [3.0]
    assert done == [6]
    assert score_plainly(reward(length), columns()[:0], done, past) == []


def test_a_number_that_the_reward_goes_on_to_change_is_what_it_was():
    total = np.zeros(())

    def add_up(response):
        total[...] += len(response)
        return total

    assert [told(output)[0] for output in score_plainly(reward(add_up), columns(), [0])] == [3.0, 3.0, 8.0, 12.0]


def test_the_samples_are_a_sequence_of_trajectories():
    assert list(columns()) == trajectories()
    assert columns()[-1] == trajectories()[-1]
    assert list(columns()[1:]) == trajectories()[1:]
    assert columns()[:0].columns == ([], [], [])
    with pytest.raises(IndexError):
        columns()[4]
