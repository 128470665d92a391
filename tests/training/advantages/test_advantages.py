"""Advantages are the papers' formulas on what was scored, and nothing on what was not."""

import itertools
import math
import statistics
import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from plaudit import RewardOutput, Status, Step, Tokens, Trajectory
from plaudit.errors import InvalidAdvantage, InvalidSettings
from plaudit.training.advantages.credit import BatchCredit, Credit, assign_credit, gae, returns
from plaudit.training.advantages.estimators import (
    ADVANTAGES,
    DrGRPOAdvantage,
    GAEAdvantage,
    GDPOAdvantage,
    GRPOAdvantage,
    OPOAdvantage,
    PassAtKAdvantage,
    ReinforceAdvantage,
    ReinforceBaselineAdvantage,
    RLOOAdvantage,
    advantage,
)

REWARDS = [1.0, 0.0, 0.5, 1.0, 0.2, 0.2, 0.9, -1.0, 2.0, 2.5, 0.0, 0.25]


def by_group(rewards=REWARDS, n=4):
    return torch.tensor(rewards, dtype=torch.float64).view(-1, n)


def whitened(values):
    return (values - values.mean()) / values.std(unbiased=False)


def leave_one_out(rewards):
    n = rewards.shape[1]
    return torch.stack([rewards[:, i] - rewards[:, [j for j in range(n) if j != i]].mean(1) for i in range(n)], 1)


FORMULAS = {
    "reinforce": (ReinforceAdvantage(), lambda r: whitened(r)),
    "williams": (ReinforceAdvantage(whitening=False), lambda r: r),
    "reinforce_baseline": (ReinforceBaselineAdvantage(), lambda r: whitened(r - r.mean(1, keepdim=True))),
    "rloo": (RLOOAdvantage(), leave_one_out),
    "grpo": (GRPOAdvantage(), lambda r: (r - r.mean(1, keepdim=True)) / (r.std(1, keepdim=True) + 1e-6)),
    "grpo by batch": (GRPOAdvantage(scale="batch"), lambda r: (r - r.mean(1, keepdim=True)) / (r.std() + 1e-6)),
    "grpo unscaled": (GRPOAdvantage(scale="none"), lambda r: r - r.mean(1, keepdim=True)),
    "dr_grpo": (DrGRPOAdvantage(), lambda r: r - r.mean(1, keepdim=True)),
}


@pytest.mark.parametrize(("estimator", "formula"), FORMULAS.values(), ids=FORMULAS)
def test_estimators_are_their_formulas(estimator, formula):
    expected = formula(by_group()).flatten().tolist()
    assert estimator(REWARDS, num_generations=4) == pytest.approx(expected, abs=1e-6)


def test_opo_weighs_the_baseline_by_length():
    lengths = [10, 1, 1, 4]
    baseline = (1.0 * 10 + 0.0 + 0.5 + 1.0 * 4) / 16
    expected = [reward - baseline for reward in REWARDS[:4]]
    assert OPOAdvantage()(REWARDS[:4], num_generations=4, lengths=lengths) == pytest.approx(expected)


def test_gdpo_normalises_each_component_then_whitens_their_weighted_sum():
    quality, brevity = by_group(), by_group(REWARDS[::-1]) * 100

    def normal(r):
        return (r - r.mean(1, keepdim=True)) / (r.std(1, keepdim=True) + 1e-6)

    expected = whitened(2 * normal(quality) + normal(brevity)).flatten().tolist()
    estimator = GDPOAdvantage(weights={"quality": 2.0, "brevity": 1.0})
    rewards = {"quality": quality.flatten(), "brevity": brevity.flatten()}
    assert estimator(rewards, num_generations=4) == pytest.approx(expected, abs=1e-6)


def test_gdpo_masks_a_sample_with_an_unscored_component_and_no_other():
    rewards = {"a": [1.0, None, 0.0, 0.5], "b": [0.0, 1.0, 1.0, 0.5]}
    advantages = GDPOAdvantage()(rewards, num_generations=4)
    assert advantages[1] is None
    assert None not in (advantages[0], advantages[2], advantages[3])


@pytest.mark.parametrize("kind", [list, tuple, torch.tensor], ids=["list", "tuple", "tensor"])
def test_rewards_may_come_in_any_container(kind):
    assert GRPOAdvantage()(kind(REWARDS), num_generations=4) == pytest.approx(
        GRPOAdvantage()(REWARDS, num_generations=4), abs=1e-6
    )


@pytest.mark.parametrize("name", sorted(set(ADVANTAGES) - {"gdpo", "gae", "maxrl"}))
@pytest.mark.parametrize("missing", [None, math.nan, torch.tensor(math.nan)], ids=["None", "nan", "tensor nan"])
def test_an_unscored_sample_has_no_advantage_and_changes_no_other(name, missing):
    others = advantage(name)([*REWARDS[:3], *REWARDS[4:]], groups=[0] * 3 + [1] * 4 + [2] * 4)
    masked = advantage(name)([*REWARDS[:3], missing, *REWARDS[4:]], num_generations=4)
    assert masked[3] is None
    assert [*masked[:3], *masked[4:]] == pytest.approx(others)


def test_an_unscored_sample_is_not_a_zero():
    assert GRPOAdvantage()([1.0, 1.0, None, 1.0], num_generations=4) == [0.0, 0.0, None, 0.0]
    assert GRPOAdvantage()([1.0, 1.0, 0.0, 1.0], num_generations=4)[0] > 0.1


@pytest.mark.parametrize("name", ["rloo", "grpo", "dr_grpo", "opo"])
def test_the_only_scored_sample_of_a_group_teaches_nothing(name):
    assert advantage(name)([None, 0.7, 1.0, 0.0], num_generations=2)[:2] == [None, 0.0]


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=12))
def test_group_advantages_sum_to_zero(rewards):
    for estimator in (GRPOAdvantage(), DrGRPOAdvantage(), RLOOAdvantage()):
        advantages = estimator(rewards, num_generations=len(rewards))
        assert math.fsum(advantages) == pytest.approx(0.0, abs=1e-6 * (1 + max(map(abs, advantages))))


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=8), st.floats(-5, 5), st.permutations(range(8)))
def test_advantages_ignore_a_shift_and_follow_the_order_of_samples(rewards, shift, order):
    plain = RLOOAdvantage()(rewards, num_generations=len(rewards))
    shifted = RLOOAdvantage()([reward + shift for reward in rewards], num_generations=len(rewards))
    assert shifted == pytest.approx(plain, abs=1e-6)
    order = [place for place in order if place < len(rewards)]
    turned = RLOOAdvantage()([rewards[place] for place in order], num_generations=len(rewards))
    assert turned == pytest.approx([plain[place] for place in order], abs=1e-9)


def test_groups_need_not_stand_together():
    mixed = GRPOAdvantage()([1.0, 5.0, 0.0, 9.0], groups=["a", "b", "a", "b"])
    apart = GRPOAdvantage()([1.0, 0.0, 5.0, 9.0], num_generations=2)
    assert mixed == pytest.approx([apart[0], apart[2], apart[1], apart[3]])


MISTAKES = {
    "not divisible": (lambda: GRPOAdvantage()([1.0] * 7, num_generations=4), "7 rewards.*num_generations=4"),
    "too few groups": (lambda: GRPOAdvantage()([1.0] * 4, groups=[0, 0]), "2 groups for 4 samples"),
    "too few lengths": (lambda: OPOAdvantage()([1.0] * 4, 4, lengths=[1]), "1 lengths for 4 rewards"),
    "zero generations": (lambda: GRPOAdvantage()([1.0], num_generations=0), "at least 1, got 0"),
    "nothing to compare": (lambda: GRPOAdvantage()([1.0, 0.0]), "2 samples came in 2 groups"),
    "infinite": (lambda: GRPOAdvantage()([1.0, math.inf], 2), r"rewards\[1\] is inf"),
    "text": (lambda: GRPOAdvantage()([1.0, "high"], 2), r"rewards\[1\] must be one number or None, got 'high'"),
    "nested": (lambda: GRPOAdvantage()(torch.ones(2, 2), 2), r"rewards\[0\] must be one number"),
    "unknown scale": (lambda: GRPOAdvantage(scale="grup"), "did you mean 'group'"),
    "gamma": (lambda: GRPOAdvantage(gamma=1.5), r"gamma: expected float <= 1.0, got 1.5"),
    "unknown estimator": (lambda: advantage("gpro"), "no advantage named 'gpro'; did you mean 'grpo'"),
    "gae without values": (lambda: GAEAdvantage()([1.0]), "needs a critic's values"),
    "gdpo without components": (lambda: GDPOAdvantage()([1.0]), "by component, as a mapping; got list"),
    "gdpo unknown weight": (lambda: GDPOAdvantage({"fromat": 1})({"format": [1, 2]}, 2), "did you mean 'format'"),
    "gdpo unequal": (lambda: GDPOAdvantage()({"a": [1, 2], "b": [1, 2, 3, 4]}, 2), "2 a for 4 samples"),
}


@pytest.mark.parametrize(("mistake", "message"), MISTAKES.values(), ids=MISTAKES)
def test_the_error_names_the_wrong_numbers(mistake, message):
    with pytest.raises((InvalidSettings, InvalidAdvantage), match=message):
        mistake()


def test_the_estimators_of_the_documents_are_all_there():
    documented = {"reinforce", "reinforce_baseline", "rloo", "group_norm", "dr_grpo", "gae"}
    assert documented <= set(ADVANTAGES)
    assert advantage("group_norm") == advantage("grpo")


def test_advantages_need_no_torch():
    code = (
        "import sys; from plaudit.training.advantages.estimators import GRPOAdvantage; "
        "print(GRPOAdvantage()([1.0, 0.0], num_generations=2), 'torch' in sys.modules, 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("] False False\n")


def sample(response, ids, output, *, group=0, mask=None, steps=()):
    offsets, end = [], 0
    for word in response.split():
        start = response.index(word, end)
        end = start + len(word)
        offsets.append((start, end))
    tokens = Tokens(ids, offsets=offsets if len(offsets) == len(ids) else None, mask=mask)
    return Trajectory("?", response, group=group, tokens=tokens, steps=list(steps)), output


def test_token_rewards_count_from_the_tokens_that_earn_them_and_the_rest_is_outcome():
    pair = sample("a good end", [5, 6, 7], RewardOutput(1.5, token_rewards=[0.0, 0.5, 0.0]))
    credit = assign_credit(*pair)
    assert credit == Credit(1.0, [0.0, 0.5, 0.0], [1, 1, 1])
    assert returns(credit) == [1.5, 1.5, 1.0]
    assert returns(credit, gamma=0.5) == [0.5 * (0.5 + 0.5 * 1.0), 0.5 + 0.5 * 1.0, 1.0]
    assert assign_credit(*pair, by="outcome").tokens == [0.0, 0.0, 0.0]


def test_step_rewards_land_on_the_last_token_chosen_in_their_step():
    steps = [Step("q", "a b", reward=0.25), Step("r", "c", reward=1.0)]
    pair = sample("", [1, 2, 9, 9, 3], RewardOutput(1.25), mask=[1, 1, 0, 0, 1], steps=steps)
    credit = assign_credit(*pair, by="steps")
    assert credit.tokens == [0.0, 0.25, 0.0, 0.0, 1.0]
    assert credit.outcome == 0.0
    with pytest.raises(InvalidAdvantage, match="2 steps but 1 runs"):
        assign_credit(*sample("", [1, 2], RewardOutput(1.0), steps=steps), by="steps")


def test_an_unscored_sample_has_no_credit():
    assert assign_credit(*sample("a", [1], RewardOutput.unscored(Status.TIMEOUT, "too slow"))) is None


def test_without_token_rewards_every_token_has_the_samples_advantage():
    scored = [sample("a b c", [1, 2, 3], RewardOutput(1.0)), sample("a", [1], RewardOutput(0.0))]
    estimates = GRPOAdvantage().estimate(BatchCredit.of(scored))
    high, low = GRPOAdvantage()([1.0, 0.0], num_generations=2)
    assert estimates == [[high] * 3, [low]]


def test_a_token_reward_lifts_the_tokens_up_to_it_and_not_those_after():
    good = sample("x good y z", [1, 2, 3, 4], RewardOutput(1.0, token_rewards=[0.0, 1.0, 0.0, 0.0]))
    other = sample("x y y z", [1, 3, 3, 4], RewardOutput(0.0, token_rewards=[0.0, 0.0, 0.0, 0.0]))
    estimates = RLOOAdvantage().estimate(BatchCredit.of([good, other]))
    assert estimates == [[1.0, 1.0, 0.0, 0.0], [-1.0, -1.0, 0.0, 0.0]]


def test_a_short_response_has_no_disadvantage_from_its_length():
    short = sample("x", [1], RewardOutput(1.0))
    long = sample("x good y", [1, 2, 3], RewardOutput(1.5, token_rewards=[0.0, 0.5, 0.0]))
    estimates = DrGRPOAdvantage().estimate(BatchCredit.of([short, long]))
    assert estimates[0] == [-0.25]
    assert estimates[1] == [0.25, 0.25, 0.0]


def test_kl_in_the_reward_is_paid_by_the_tokens_that_were_chosen():
    scored = [sample("", [1, 9, 2], RewardOutput(1.0), mask=[1, 0, 1])]
    paid = BatchCredit.of(scored).minus([[0.1, 5.0, 0.2]])
    assert paid.penalized_credits[0].tokens == [-0.1, 0.0, -0.2]
    assert ReinforceAdvantage(whitening=False).estimate(paid)[0] == pytest.approx([0.7, 0.8, 0.8])
    with pytest.raises(InvalidAdvantage, match="2 penalties for a response of 3 tokens"):
        ReinforceAdvantage().estimate(BatchCredit.of(scored).minus([[0.1, 5.0]]))


def test_whitening_counts_chosen_tokens_only():
    scored = [
        sample("", [1, 9, 9, 9], RewardOutput(1.0), mask=[1, 0, 0, 0], group=0),
        sample("", [1, 2, 3], RewardOutput(0.0), group=1),
    ]
    estimates = ReinforceAdvantage().estimate(BatchCredit.of(scored))
    expected = whitened(torch.tensor([1.0, 0.0, 0.0, 0.0]))
    assert [estimates[0][0], *estimates[1]] == pytest.approx(expected.tolist())


def test_gdpo_takes_the_components_of_outputs():
    def output(a, b):
        return RewardOutput(a + b, components={"a": RewardOutput(a), "b": RewardOutput(b)})

    values = [(1.0, 0.0), (0.0, 3.0), (0.5, 1.0)]
    estimates = GDPOAdvantage().estimate(BatchCredit.of([sample("x", [1], output(*pair)) for pair in values]))
    flat = GDPOAdvantage()({"a": [a for a, _ in values], "b": [b for _, b in values]}, num_generations=3)
    assert [estimate[0] for estimate in estimates] == pytest.approx(flat)


def textbook_gae(rewards, values, gamma, lam):
    """A_t = Σ_l (γλ)^l δ_{t+l}, written as the sum."""
    ahead = [*values, 0.0]
    deltas = [reward + gamma * ahead[t + 1] - ahead[t] for t, reward in enumerate(rewards)]
    return [sum((gamma * lam) ** (s - t) * deltas[s] for s in range(t, len(deltas))) for t in range(len(deltas))]


@given(st.lists(st.tuples(st.floats(-2, 2), st.floats(-2, 2)), min_size=1, max_size=10), st.floats(0, 1))
def test_gae_is_the_sum_of_its_deltas(pairs, lam):
    rewards, values = [r for r, _ in pairs], [v for _, v in pairs]
    credit = Credit(0.5, rewards, [1] * len(rewards))
    expected = textbook_gae([*rewards[:-1], rewards[-1] + 0.5], values, 0.9, lam)
    assert gae(credit, values, gamma=0.9, lam=lam) == pytest.approx(expected, abs=1e-9)


def test_gae_passes_over_tokens_that_were_not_chosen():
    with_feedback = gae(Credit(1.0, [0.0, 0.0, 0.5, 0.0], [1, 0, 0, 1]), [0.3, 9.0, 9.0, 0.6], gamma=0.9)
    without = gae(Credit(1.0, [0.5, 0.0], [1, 1]), [0.3, 0.6], gamma=0.9)
    assert with_feedback == pytest.approx([without[0], 0.0, 0.0, without[1]])


def test_gae_estimates_are_whitened_and_unscored_samples_masked():
    scored = [sample("a b", [1, 2], RewardOutput(1.0)), sample("a", [1], RewardOutput.unscored(Status.ERROR, "boom"))]
    earned = BatchCredit.of(scored)
    earned = BatchCredit(earned.credits, earned.groups, values=[[0.2, 0.5], [0.0]])
    estimates = GAEAdvantage().estimate(earned)
    assert estimates[1] is None
    assert statistics.fmean(estimates[0]) == pytest.approx(0.0)
    with pytest.raises(InvalidAdvantage, match="1 values for a response of 2 tokens"):
        GAEAdvantage().estimate(BatchCredit(earned.credits, earned.groups, values=[[0.2], [0.0]]))


def batch_of(rows, groups):
    """Samples with the token rewards of `rows`, and outcomes that make all totals equal to what is given."""
    credits = [Credit(outcome, tokens, [1] * len(tokens)) for outcome, tokens in rows]
    return BatchCredit(credits, groups)


numbers = st.floats(-5, 5, allow_nan=False).map(lambda value: round(value, 3))
samples = st.tuples(numbers, st.lists(numbers, min_size=1, max_size=6))
whole_groups = st.lists(samples, min_size=2, max_size=6)


@given(group=whole_groups, gamma=st.sampled_from([1.0, 0.99, 0.5]), scale=st.sampled_from(["group", "batch"]))
def test_group_normalised_advantages_are_bounded_wherever_rewards_are_earned(group, gamma, scale):
    n = len(group)
    estimates = GRPOAdvantage(gamma=gamma, scale=scale).estimate(batch_of(group, [0] * n))
    assert all(abs(value) <= (n - 1) / math.sqrt(n) + 1e-9 for row in estimates for value in row)


def test_equal_returns_are_exactly_no_advantage():
    rows = [(0.0, [0.0, 0.0, 0.002, 0.001])] * 3  # 0.003 three times: their mean is not 0.003 to the last digit
    assert GRPOAdvantage(epsilon=1e-300).estimate(batch_of(rows, [0] * 3)) == [[0.0] * 4] * 3


def test_equal_totals_with_different_tokens_do_not_explode():
    rows = [(0.0, [1.0, 0.0]), (0.0, [0.0, 1.0])]  # equal totals: the spread of the totals is 0
    assert GRPOAdvantage().estimate(batch_of(rows, [0, 0])) == [
        pytest.approx([0.0, -(0.5**0.5)], abs=1e-5),
        pytest.approx([0.0, 0.5**0.5], abs=1e-5),
    ]
    discounted = GRPOAdvantage(gamma=0.99).estimate(batch_of([(1.0, [0.0] * 3), (1.0, [0.0] * 5)], [0, 0]))
    assert max(abs(value) for row in discounted for value in row) < 1.0
    parts = batch_of(rows, [0, 0])
    combined = GDPOAdvantage().estimate(BatchCredit(parts.credits, [0, 0], {"a": parts.credits}))
    assert max(abs(value) for row in combined for value in row) < 2.0


@given(group=whole_groups, gamma=st.sampled_from([1.0, 0.9]), factor=st.sampled_from([1e-3, 7.0, 1e6]))
def test_group_normalised_advantages_do_not_depend_on_the_scale_of_rewards(group, gamma, factor):
    n = len(group)
    estimator = GRPOAdvantage(gamma=gamma, epsilon=1e-300)
    scaled = [(outcome * factor, [token * factor for token in tokens]) for outcome, tokens in group]
    expected = estimator.estimate(batch_of(group, [0] * n))
    for row, wanted in zip(estimator.estimate(batch_of(scaled, [0] * n)), expected, strict=True):
        assert row == pytest.approx(wanted, rel=1e-6, abs=1e-6)


@given(rewards=st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=4), length=st.integers(1, 5))
def test_without_token_rewards_grpo_is_the_papers_formula(rewards, length):
    flat = [reward for group in rewards for reward in group]
    table = torch.tensor(rewards, dtype=torch.float64)
    expected = ((table - table.mean(1, keepdim=True)) / (table.std(1, keepdim=True) + 1e-6)).flatten().tolist()
    credit = BatchCredit.of_rewards(flat, 3, lengths=[length] * len(flat))
    for row, value in zip(GRPOAdvantage().estimate(credit), expected, strict=True):
        assert row == pytest.approx([value] * length, abs=1e-6)


def test_a_penalty_keeps_its_size_under_group_normalisation():
    credit = BatchCredit.of_rewards([0.5, 0.5, 0.5, 0.5], 4, lengths=[2] * 4)  # nothing to learn from rewards
    paid = credit.minus([[1e-4, 1e-4], [0.0, 0.0], [2e-4, 0.0], [0.0, 1e-4]])
    assert GRPOAdvantage().estimate(paid) == [
        pytest.approx([-2e-4, -1e-4]), pytest.approx([0.0, 0.0]), pytest.approx([-2e-4, 0.0]),
        pytest.approx([-1e-4, -1e-4]),
    ]  # fmt: skip
    discounted = GRPOAdvantage(gamma=0.5).estimate(credit.minus([[1.0, 1.0]] + [[0.0, 0.0]] * 3))
    plain = GRPOAdvantage(gamma=0.5).estimate(credit)
    assert [a - b for a, b in zip(discounted[0], plain[0], strict=True)] == pytest.approx([-1.5, -1.0])


def test_maxrl_divides_by_the_mean_of_the_group():
    assert advantage("maxrl")([1.0, 0.0, 0.0, 0.0], 4) == pytest.approx([3.0, -1.0, -1.0, -1.0], abs=1e-4)
    assert advantage("maxrl")([0.0] * 4, 4) == [0.0] * 4
    with pytest.raises(InvalidAdvantage, match="must not be negative"):
        advantage("maxrl")([1.0, -1.0], 2)


@pytest.mark.parametrize("right", range(7))
@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_pass_at_k_advantages_are_those_of_all_subsets_of_k(right, k):
    """Enumerated: every subset of k samples is one trial with the best reward in it, and a sample's advantage is the
    mean over the subsets it is in of (best − mean) / deviation."""
    rewards = [1.0] * right + [0.0] * (6 - right)
    bests = {subset: max(rewards[i] for i in subset) for subset in itertools.combinations(range(6), k)}
    mean, spread = statistics.fmean(bests.values()), statistics.pstdev(bests.values())
    expected = [
        statistics.fmean((best - mean) / spread for subset, best in bests.items() if place in subset) if spread else 0.0
        for place in range(6)
    ]
    assert PassAtKAdvantage(k=k)(rewards, 6) == pytest.approx(expected, abs=1e-9)


def test_lite_ppo_centres_by_group_and_scales_by_batch():
    assert advantage("lite_ppo")(REWARDS, 4) == GRPOAdvantage(scale="batch")(REWARDS, 4)


def test_a_huge_reward_is_refused_with_a_remedy_not_an_overflow():
    with pytest.raises(InvalidAdvantage, match=r"rewards\[1\] is 1e\+200"):
        GRPOAdvantage()([1.0, 1e200], 2)
    with pytest.raises(InvalidAdvantage, match="divide, clip or normalize"):
        BatchCredit.of([sample("x", [1], RewardOutput(1e200))])
