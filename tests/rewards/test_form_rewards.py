import pytest

from plaudit import Status, Tokens, Trajectory
from plaudit.contract.alignment import token_rewards_of
from plaudit.errors import InvalidSettings
from plaudit.rewards import BUILT_INS, TemplateReward, WordReward

TEMPLATE = "The answer is [NUM]."


def trajectory(response, **fields):
    return Trajectory(prompt="", response=response, **fields)


@pytest.mark.parametrize(
    ("response", "value"), [("So. The answer is 4.", 1.0), ("Answer is 4", 0.5), ("2 plus 2 equals 4.", 0.0)]
)
def test_a_template_is_matched_as_documented(response, value):
    output = TemplateReward(TEMPLATE).compute_reward(trajectory(response))
    assert (output.reward, output.score) == (value, None)


@pytest.mark.parametrize(
    "fields",
    [{"columns": {"expected_format": TEMPLATE}}, {"metadata": {"format": TEMPLATE}}, {"columns": {"format": TEMPLATE}}],
)
def test_each_sample_may_bring_its_own_template(fields):
    assert TemplateReward().compute_reward(trajectory("The answer is 4.", **fields)).reward == 1.0


def test_without_a_template_nothing_is_scored():
    output = TemplateReward().compute_reward(trajectory("The answer is 4."))
    assert (output.status, output.reward) == (Status.SKIPPED, None)
    with pytest.raises(InvalidSettings, match="empty"):
        TemplateReward("  ")


def test_documented_token_rewards_pay_each_good_word():
    output = WordReward(good_tokens=["because", "therefore"]).compute_reward(
        trajectory("yes because it is therefore so")
    )
    assert output.token_rewards == [0.0, 0.1, 0.0, 0.0, 0.1, 0.0]
    assert output.reward == pytest.approx(0.2)


def test_word_rewards_reach_the_tokens_that_complete_the_words():
    sample = trajectory("ab cd", tokens=Tokens(ids=[1, 2, 3], offsets=[(0, 1), (1, 2), (2, 5)]))
    output = WordReward(["ab"]).compute_reward(sample)
    assert token_rewards_of(output, sample) == [0.0, 0.1, 0.0]


def test_a_word_may_be_paid_once_only():
    output = WordReward(["so"], once=True).compute_reward(trajectory("so it is so"))
    assert output.token_rewards == [0.1, 0.0, 0.0, 0.0]


def test_every_built_in_has_a_line_that_says_what_you_get():
    for name, reward in BUILT_INS.items():
        first = (reward.__doc__ or "").splitlines()[0]
        assert first.endswith((".", ";", ":")), name
        assert "(" not in first.partition(" ")[0], name  # a generated signature is no description
