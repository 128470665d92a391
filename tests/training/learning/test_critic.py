"""A critic learns what is to be earned, token by token, and survives a restart."""

import pytest
import torch

from plaudit import RewardOutput, Status, Tokens, Trajectory, reward
from plaudit.errors import PolicyError
from plaudit.training import train
from plaudit.training.advantages.credit import BatchCredit, Credit
from plaudit.training.advantages.estimators import GAEAdvantage
from plaudit.training.config.learning_keys import OptimizerConfig
from plaudit.training.config.reading import load_config
from plaudit.training.engine import Progress
from plaudit.training.learning.critic import Critic
from plaudit.training.model.loading import tiny_policy
from tests.training.runs import metrics, small

REWARDS = {"1=": 1.0, "2=": -0.5}
INLINE = "training.reward_backend=inline"


@pytest.fixture(scope="module")
def policy():
    return tiny_policy(seed=1)


def samples(policy, *, unscored=()):
    """Two prompts with two responses of different length each; what they earn depends on the prompt alone."""
    scored = []
    for place, (prompt, response) in enumerate([("1=", "ab"), ("1=", "c"), ("2=", "abc"), ("2=", "d")]):
        ids = policy.tokenizer(response, add_special_tokens=False)["input_ids"]
        output = RewardOutput(REWARDS[prompt])
        if place in unscored:
            output = RewardOutput.unscored(Status.ERROR, "boom")
        scored.append((Trajectory(prompt, response, tokens=Tokens(ids)), output))
    return scored


def trained(policy, critic, steps, **how):
    scored = samples(policy, **how)
    batch = policy.batch([trajectory for trajectory, _ in scored])
    for _ in range(steps):
        judged = critic.add_values(batch, BatchCredit.of(scored))
        critic.learn(batch, judged, GAEAdvantage(lam=1.0))
    return batch, critic.add_values(batch, BatchCredit.of(scored))


def test_a_new_critic_gives_the_value_zero(policy):
    _, judged = trained(policy, Critic(policy), 0)
    assert judged.values == [[0.0] * 2, [0.0], [0.0] * 3, [0.0]]


def test_a_critic_learns_the_return_of_each_prompt_and_gae_then_gives_no_advantage(policy):
    weights = {name: value.clone() for name, value in policy.model.state_dict().items()}
    _, judged = trained(policy, Critic(policy, OptimizerConfig(lr=3e-3)), 40)
    expected = [[1.0] * 2, [1.0], [-0.5] * 3, [-0.5]]
    for values, wanted in zip(judged.values, expected, strict=True):
        assert values == pytest.approx(wanted, abs=0.1)
    surprise = [value for estimate in GAEAdvantage(whitening=False).estimate(judged) for value in estimate]
    assert max(map(abs, surprise)) < 0.15
    assert all(torch.equal(value, weights[name]) for name, value in policy.model.state_dict().items())


def test_samples_that_were_not_scored_teach_the_critic_nothing(policy):
    critic = Critic(policy)
    scored = samples(policy, unscored=range(4))
    batch = policy.batch([trajectory for trajectory, _ in scored])
    before = critic.values(batch).detach()
    assert critic.learn(batch, critic.add_values(batch, BatchCredit.of(scored)), GAEAdvantage()) == {}
    assert torch.equal(critic.values(batch), before)


def test_a_restored_critic_continues_with_the_same_numbers(policy):
    torch.manual_seed(0)
    one = Critic(policy)
    trained(policy, one, 3)
    other = Critic(tiny_policy(seed=9))
    other.restore(one.state())
    assert trained(policy, other, 2)[1].values == trained(policy, one, 2)[1].values


def test_a_critic_of_another_kind_is_not_restored(policy):
    with pytest.raises(PolicyError, match="that of another model"):
        Critic(policy).restore({"head": {}})


def test_learning_needs_the_critics_own_values(policy):
    scored = samples(policy)
    batch = policy.batch([trajectory for trajectory, _ in scored])
    with pytest.raises(PolicyError, match="call `add_values` first"):
        Critic(policy).learn(batch, BatchCredit.of(scored), GAEAdvantage())


@reward
def praise(response):
    return 1.0


def test_a_critic_learns_at_the_given_rate(policy):
    critic = Critic(policy, OptimizerConfig(lr=1.0))
    scored = samples(policy)
    batch = policy.batch([trajectory for trajectory, _ in scored])
    critic.learn(batch, critic.add_values(batch, BatchCredit.of(scored)), GAEAdvantage(), lr=0.0)
    assert not critic.values(batch).any()
    critic.learn(batch, critic.add_values(batch, BatchCredit.of(scored)), GAEAdvantage(), lr=1e-3)
    assert critic.values(batch).all()


def test_a_critic_computed_in_micro_batches_learns_the_same(policy):
    scored = samples(policy)
    batch = policy.batch([trajectory for trajectory, _ in scored])
    learnt = {}
    for count in (1, 3):
        critic = Critic(policy, micro_batches=count)
        stats = critic.learn(batch, critic.add_values(batch, BatchCredit.of(scored)), GAEAdvantage())
        learnt[count] = (critic.values(batch).detach(), stats["value/loss"])
    assert learnt[1][1] == pytest.approx(learnt[3][1], rel=1e-5)
    assert torch.allclose(learnt[1][0], learnt[3][0], atol=1e-5)


def test_the_critic_of_a_run_accumulates_gradients_like_the_policy(tmp_path, monkeypatch):
    rows = []
    values = Critic.values
    monkeypatch.setattr(Critic, "values", lambda self, batch: rows.append(len(batch)) or values(self, batch))
    options = ("steps=1", "advantage=gae", "eval.every=0", "training.gradient_accumulation=4", INLINE)
    train(small(tmp_path / "run", *options), reward=praise)
    assert max(rows) == 4  # of 16 samples


def test_the_critic_of_a_run_follows_the_schedule_of_the_policy(tmp_path):
    options = ("steps=3", "advantage=gae", "eval.every=0", "checkpoint.every=0", INLINE)
    never_warm = "optimizer.warmup_steps=1000000000"
    train(small(tmp_path / "cold", *options, never_warm), reward=praise)
    train(small(tmp_path / "warm", *options), reward=praise)
    moved = {name: max(abs(row["value/mean"]) for row in metrics(tmp_path / name)[1:]) for name in ("cold", "warm")}
    assert moved["cold"] < 1e-6 < 1e-3 < moved["warm"]


def test_a_run_with_gae_trains_its_critic_and_resumes_to_the_same_numbers(tmp_path):
    def told(folder):
        return [{name: row[name] for name in ("reward", "value/loss")} for row in metrics(folder)[1:]]

    options = ("advantage=gae", "loss.name=ppo", "checkpoint.every=2", "eval.every=0")
    train(small(tmp_path / "whole", "steps=4", *options))
    assert len(told(tmp_path / "whole")) == 4
    half = small(tmp_path / "halves", "steps=4", *options)
    with pytest.raises(KeyboardInterrupt):
        train(half, progress=_StopsAfter(3))
    train(half, resume=True)
    assert told(tmp_path / "halves") == told(tmp_path / "whole")


class _StopsAfter(Progress):
    """Interrupts a run in the middle."""

    def __init__(self, last):
        self.last = last

    def step(self, step, metrics):
        if step == self.last:
            raise KeyboardInterrupt


def test_rewards_too_large_to_square_leave_the_critic_unchanged(policy):
    batch = policy.batch([Trajectory("12=", "1", tokens=Tokens(ids=[5, 6], mask=[1, 1]))])
    critic = Critic(policy)
    earned = BatchCredit([Credit.whole(1e29, 2)], ["a"])
    stats = critic.learn(batch, critic.add_values(batch, earned), GAEAdvantage())
    assert stats == {"value/skipped": 1.0}
    assert critic.values(batch).tolist() == [[0.0, 0.0]]


def test_the_critic_has_the_optimizer_of_the_config():
    config = load_config(overrides=["optimizer.betas=[0.5, 0.6]", "optimizer.eps=1e-4", "optimizer.weight_decay=0.1"])
    critic = Critic(tiny_policy(seed=1), config.optimizer)
    [group] = critic.state()["optimizer"]["adamw"]["param_groups"]
    assert (group["betas"], group["eps"], group["weight_decay"]) == ((0.5, 0.6), 1e-4, 0.1)
