"""Documents 000 and 001, section by section: our own code, the documents' names and values."""

import pytest

from plaudit import CompositeReward, RewardFunction, RewardOutput, Trajectory, score
from plaudit.report import summarize
from plaudit.rewards import FormatReward, LengthReward, WordReward


class MyReward(RewardFunction):
    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return RewardOutput(reward=self._compute_score(trajectory.response))

    def _compute_score(self, text: str) -> float:
        return 0.5


class QualityReward(RewardFunction):
    def __init__(self):  # never calls super().__init__(), as in the document
        self.good_words = ["because", "therefore", "example"]
        self.bad_words = ["maybe", "perhaps", "idk"]

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        response = trajectory.response.lower()
        value = 0.5
        value += 0.1 * sum(word in response for word in self.good_words)
        value -= 0.15 * sum(word in response for word in self.bad_words)
        value = max(0.0, min(1.0, value))
        return RewardOutput(reward=value, metadata={"raw_score": value})


class TokenLevelReward(RewardFunction):
    good_tokens = ("because", "therefore")

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        token_rewards = [0.1 if token in self.good_tokens else 0.0 for token in trajectory.response.split()]
        return RewardOutput(reward=sum(token_rewards), token_rewards=token_rewards)


def asked(response: str) -> Trajectory:
    return Trajectory(prompt="Why?", response=response)


def test_basic_pattern():
    assert MyReward().compute_reward(asked("anything")).reward == 0.5
    assert MyReward()(asked("anything")).reward == 0.5


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("It is so.", 0.5),
        ("Because it rains.", 0.6),
        ("Because it rains; therefore, for example, streets are wet.", 0.8),
        ("Maybe.", 0.35),
        ("idk, maybe, perhaps", 0.05),
        ("because maybe", 0.45),
    ],
)
def test_quality_reward_scores_as_documented_without_calling_super_init(response, expected):
    [output] = score(QualityReward(), [asked(response)])
    assert output.reward == pytest.approx(expected)
    assert output.metadata == {"raw_score": output.reward}


def test_combining_rewards():
    reward = CompositeReward([(QualityReward(), 0.5), (LengthReward(target=200), 0.3), (FormatReward(), 0.2)])
    response = "<think>" + "because " * 198 + "</think><answer>therefore rain</answer>"
    [output] = score(reward, [asked(response)])
    assert set(output.components) == {"QualityReward", "LengthReward", "FormatReward"}
    parts = {name: part.reward for name, part in output.components.items()}
    assert parts == {"QualityReward": 0.7, "LengthReward": pytest.approx(1.0, abs=0.02), "FormatReward": 1.0}
    assert output.reward == pytest.approx(0.5 * 0.7 + 0.3 * parts["LengthReward"] + 0.2)
    assert repr(reward) == f"0.5 * '{__file__}:QualityReward()' + 0.3 * LengthReward(target=200) + 0.2 * FormatReward()"


@pytest.mark.parametrize("reward", [TokenLevelReward(), WordReward(good_tokens=("because", "therefore"))])
def test_per_token_rewards(reward):
    [output] = score(reward, [asked("wet because rain therefore clouds")])
    assert output.token_rewards == [0.0, 0.1, 0.0, 0.1, 0.0]
    assert output.reward == pytest.approx(0.2)


def test_best_practices_are_tools():
    """Normalise to [0, 1], log metadata, look at the distribution."""
    samples = [asked(response) for response in ("because", "maybe", "so", "therefore, for example, because")]
    shaped = QualityReward().scale((0.05, 0.8))
    outputs = score(shaped, samples)
    assert [round(output.reward, 3) for output in outputs] == [0.733, 0.4, 0.6, 1.0]
    assert outputs[0].components["QualityReward"].metadata == {"raw_score": 0.6}
    assert summarize(zip(samples, outputs, strict=True)).to_dict()["reward"]["mean"] == pytest.approx(0.68333, abs=1e-4)
