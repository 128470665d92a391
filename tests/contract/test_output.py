from decimal import Decimal
from fractions import Fraction

import pytest
import torch

from plaudit import RewardOutput, Status
from plaudit.errors import InvalidOutput


@pytest.mark.parametrize("value", [1, True, 0.5, Fraction(1, 2), Decimal("0.5"), torch.tensor(0.5), torch.tensor([1])])
def test_every_kind_of_number_becomes_a_float(value):
    output = RewardOutput(value)
    assert type(output.reward) is float
    assert output.reward == float(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "reward is nan"),
        (float("inf"), "reward is inf"),
        (torch.tensor(float("nan")), "reward is nan"),
        ("0.5", "must be a number, got str '0.5'"),
        ([0.5], "must be a number, got list"),
        (1j, "must be a number, got complex"),
        (torch.tensor([1.0, 2.0]), "must be one number"),
        (None, r"use RewardOutput.unscored\(status, reason\)"),
        (10**400, "must be one number"),
    ],
    ids=str,
)
def test_a_reward_that_is_no_finite_number_is_refused(value, message):
    with pytest.raises(InvalidOutput, match=message):
        RewardOutput(value)


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.OK])
def test_an_output_that_is_not_ok_cannot_carry_a_number(status):
    for numbers in ({"reward": 0.0}, {"reward": None, "score": 0.0}):
        with pytest.raises(InvalidOutput, match="cannot carry a reward or a score"):
            RewardOutput(status=status, **numbers)
    unscored = RewardOutput.unscored(status, "why")
    assert (unscored.reward, unscored.score, unscored.reason, unscored.ok) == (None, None, "why", False)


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan")])
def test_a_score_outside_zero_to_one_is_refused(score):
    with pytest.raises(InvalidOutput, match="score"):
        RewardOutput(5.0, score=score)


@pytest.mark.parametrize(
    ("token_rewards", "message"),
    [([0.1, float("nan")], r"token_rewards\[1\] is nan"), (["a"], r"token_rewards\[0\]"), (3, "list of numbers")],
)
def test_token_rewards_that_are_no_numbers_are_refused(token_rewards, message):
    with pytest.raises(InvalidOutput, match=message):
        RewardOutput(1.0, token_rewards=token_rewards)


def test_unknown_token_units_and_statuses_are_refused():
    with pytest.raises(InvalidOutput, match="'word' or 'token'"):
        RewardOutput(1.0, token_unit="char")
    with pytest.raises(ValueError, match="broken"):
        RewardOutput(None, status="broken")


def test_outputs_come_back_equal_from_plain_data():
    output = RewardOutput(
        0.7,
        [0.1, 0.2],
        {"raw": 1},
        score=1.0,
        reason="because",
        token_unit="token",
        latency_s=0.001,
        components={
            "a": RewardOutput(1.0, components={"b": RewardOutput.unscored(Status.TIMEOUT, "late")}),
        },
    )
    assert RewardOutput.from_dict(output.to_dict()) == output
    assert list(output.flat_components()) == ["a", "a/b"]


def test_plain_data_that_is_no_output_is_refused():
    with pytest.raises(InvalidOutput, match="not a reward output"):
        RewardOutput.from_dict({"reward": "high"})


def test_metadata_that_json_cannot_hold_is_written_as_text_and_never_stops_a_run():
    metadata = {"tensor": torch.tensor([1.0, 2.0]), "nan": float("nan"), 3: {"set"}, "object": Status, "pair": (1, 2)}
    assert RewardOutput(1.0, metadata=metadata).to_dict()["metadata"] == {
        "tensor": [1.0, 2.0],
        "nan": "nan",
        "3": ["set"],
        "object": "<enum 'Status'>",
        "pair": [1, 2],
    }


def test_a_component_may_be_given_as_a_number():
    given = {"a": 1, "b": RewardOutput(0.5)}
    output = RewardOutput(0.5, components=given)
    assert output.components == {"a": RewardOutput(1.0), "b": RewardOutput(0.5)}
    assert given["a"] == 1


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ({"a": "0.5"}, "component 'a' must be a number, got str"),
        ({"a": float("nan")}, "component 'a' is nan"),
        ([0.5], "must be a dict"),
    ],
)
def test_components_that_are_no_numbers_are_refused(components, message):
    with pytest.raises(InvalidOutput, match=message):
        RewardOutput(0.5, components=components)
