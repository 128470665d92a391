"""An answer is a literal in lowest form: a copy of the problem is not paid, its result is."""

import pytest

from plaudit import Trajectory
from plaudit.rewards import MathReward
from tests.verify.math.copied_problems import COPIED, PAID


def reward(answer, truth, response=r"So we get $\boxed{{{}}}$."):
    return MathReward().compute_reward(Trajectory("Work it out.", response.format(answer), ground_truth=truth)).reward


def test_there_are_three_hundred_copied_problems():
    assert len(COPIED) >= 300


@pytest.mark.parametrize("response", [r"\boxed{{{}}}", "The answer is ${}$.", "<answer>{}</answer>", "${}$"])
def test_no_copy_of_a_problem_is_paid(response):
    assert [copied for copied in COPIED if reward(*copied, response)] == []


def test_a_copy_that_is_a_literal_already_is_paid():
    assert [copied for copied in PAID if not reward(*copied)] == []


def test_the_result_of_every_problem_is_paid():
    assert [copied for copied in COPIED if not reward(copied.answer, copied.answer)] == []


def test_a_result_with_the_work_before_it_is_paid():
    chains = [c for c in COPIED if not set("=<>,:_") & set(c.expression) and r"\text" not in c.expression]
    lost = [c for c in chains if not reward(f"{c.expression} = {c.answer}", c.answer)]
    assert len(lost) <= 0.1 * len(chains), lost
