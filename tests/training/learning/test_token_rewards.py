"""Token rewards reach the policy update of a whole run."""

import pytest

from plaudit import RewardOutput, reward
from plaudit.training import train
from tests.training.runs import metrics, small

QUICK = ("training.reward_backend=inline", "model.warm_start_steps=5")


@reward
def early_digits(trajectory):
    """A tenth for every digit, paid at the digit itself."""
    texts = [trajectory.response[start:end] for start, end in trajectory.tokens.offsets]
    paid = [0.1 if text.isdigit() else 0.0 for text in texts]
    return RewardOutput(sum(paid), token_rewards=paid, token_unit="token")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The first update of three runs that draw the same samples and earn the same rewards."""
    found = {}
    for name, credit in (("tokens", "tokens"), ("again", "tokens"), ("outcome", "outcome")):
        folder = tmp_path_factory.mktemp("credit") / name
        train(small(folder, "steps=2", f"training.credit={credit}", "eval.every=0", *QUICK), reward=early_digits)
        found[name] = metrics(folder)[1:]
    return found


def test_the_same_samples_earn_the_same_whatever_gets_the_credit(runs):
    assert runs["tokens"][0]["reward"] == runs["outcome"][0]["reward"] > 0.0


def test_token_rewards_change_the_gradient_and_so_what_is_sampled_next(runs):
    assert runs["tokens"][0]["grad_norm"] != pytest.approx(runs["outcome"][0]["grad_norm"], rel=1e-3)
    assert runs["tokens"][1]["entropy"] != runs["outcome"][1]["entropy"]


def test_the_difference_is_significant(runs):
    for name in ("reward", "grad_norm", "entropy"):
        assert runs["tokens"][1][name] == runs["again"][1][name]
