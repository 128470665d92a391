import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit import RewardOutput, Status, Step, Tokens, Trajectory, jsonline
from plaudit.columns import MAPPABLE
from plaudit.errors import InvalidTrajectory, RolloutsError
from plaudit.rollouts import Rollout

# JSON has no way to write a high surrogate followed by a low one: the two become one character.
TEXT = st.text(st.characters(exclude_categories=()), max_size=20).filter(
    lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") == text
)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)
NAMES = TEXT.filter(lambda name: name not in (*MAPPABLE, "reward_output"))
TRAJECTORIES = st.builds(
    Trajectory,
    prompt=TEXT | st.lists(st.fixed_dictionaries({"role": TEXT, "content": TEXT}), max_size=3),
    response=TEXT,
    ground_truth=PLAIN,
    metadata=st.dictionaries(TEXT, PLAIN, max_size=4),
    id=st.none() | st.integers() | TEXT,
    group=st.none() | st.integers() | TEXT,
    columns=st.dictionaries(NAMES, PLAIN, max_size=4),
)
OUTPUTS = st.none() | st.builds(
    RewardOutput,
    reward=st.floats(allow_nan=False, allow_infinity=False),
    score=st.none() | st.floats(0, 1),
    metadata=st.dictionaries(TEXT, PLAIN, max_size=3),
    reason=TEXT,
    components=st.dictionaries(TEXT, st.builds(RewardOutput, st.floats(-1, 1)), max_size=2),
)


@given(TRAJECTORIES, OUTPUTS)
def test_any_rollout_comes_back_equal_from_its_line(trajectory, output):
    rollout = Rollout(trajectory, output)
    line = rollout.to_line()
    assert line.count(b"\n") == 1
    assert Rollout.from_dict(jsonline.decode(line)) == rollout


def test_tokens_steps_and_nested_components_come_back_equal():
    rollout = Rollout(
        Trajectory(
            "p",
            "a b",
            tokens=Tokens([1, 2], offsets=[(0, 1), (2, 3)], logprobs=[-0.5, -0.25], mask=[1, 0]),
            steps=[Step("saw", "said", 0.5, {"tool": "x"})],
            training_step=3,
            task="gsm8k",
        ),
        RewardOutput(
            1.0,
            token_rewards=[0.1, 0.2],
            components={"a": RewardOutput(0.5, components={"b": RewardOutput.unscored(Status.TIMEOUT, "slow")})},
        ),
    )
    assert Rollout.from_dict(jsonline.decode(rollout.to_line())) == rollout


def test_the_output_stands_under_its_key_beside_the_columns():
    rollout = Rollout(Trajectory("p", "r", columns={"source": "web"}), RewardOutput(0.5))
    plain = json.loads(rollout.to_line())
    assert plain == {
        "prompt": "p",
        "response": "r",
        "source": "web",
        "reward_output": {"reward": 0.5, "status": "ok"},
    }


def test_an_unscored_rollout_has_no_output_key():
    assert "reward_output" not in json.loads(Rollout(Trajectory("p", "r")).to_line())


def test_a_column_in_the_place_of_the_output_is_refused():
    with pytest.raises(InvalidTrajectory, match="may not be called \\['reward_output'\\]"):
        Trajectory("p", "r", columns={"reward_output": 1})


def test_the_output_of_an_earlier_scoring_is_no_column_of_the_sample():
    line = Rollout(Trajectory("p", "r", columns={"level": 1}), RewardOutput(0.5)).to_dict()
    assert (
        Trajectory.from_dict(line) == Rollout.from_dict(line).trajectory == Trajectory("p", "r", columns={"level": 1})
    )


def test_a_value_that_json_cannot_hold_is_refused_with_its_place():
    rollout = Rollout(Trajectory("p", "r", id="s1", metadata={"loss": float("nan")}))
    with pytest.raises(RolloutsError, match=r"id 's1' cannot be written: metadata\.loss is nan"):
        rollout.to_line()


def test_non_finite_metadata_of_an_output_are_written_as_text():
    line = Rollout(Trajectory("p", "r"), RewardOutput(1.0, metadata={"loss": float("nan")})).to_line()
    assert json.loads(line)["reward_output"]["metadata"] == {"loss": "nan"}
