"""Document 000's samples, with their import lines and without Flux."""

import pytest

from plaudit import RewardFunction, Status, Trajectory
from plaudit.contract.boundary import score_samples
from plaudit.dialects.flux import FluxReward

BASIC = """
    from flux.rewards import RewardFunction, RewardOutput
    from flux.core.trajectory import Trajectory

    class MyReward(RewardFunction):
        def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
            return RewardOutput(reward=self._compute_score(trajectory.response))

        def _compute_score(self, text: str) -> float:
            return 0.5
"""

QUALITY = """
    from flux.rewards import CompositeReward, FormatReward, LengthReward, RewardFunction, RewardOutput

    class QualityReward(RewardFunction):
        def __init__(self):
            self.good_words = ["because", "therefore", "example"]
            self.bad_words = ["maybe", "perhaps", "idk"]

        def compute_reward(self, trajectory):
            text = trajectory.response.lower()
            score = 0.5
            score += sum(0.1 for word in self.good_words if word in text)
            score -= sum(0.15 for word in self.bad_words if word in text)
            score = max(0.0, min(1.0, score))
            return RewardOutput(reward=score, metadata={"raw_score": score})
"""

COMPOSITE = (
    QUALITY
    + """
    reward = CompositeReward([
        (QualityReward(), 0.5),
        (LengthReward(target=200), 0.3),
        (FormatReward(), 0.2),
    ])
"""
)

TOKENS = """
    from flux.rewards import RewardFunction, RewardOutput

    class TokenLevelReward(RewardFunction):
        good_tokens = {"first", "then"}

        def compute_reward(self, trajectory):
            token_rewards = [0.1 if token in self.good_tokens else 0.0 for token in trajectory.response.split()]
            return RewardOutput(reward=sum(token_rewards), token_rewards=token_rewards)
"""

DUCK = """
    class Verdict:
        reward, token_rewards, metadata = 0.25, (0.25, 0.0), {"seen": True}

    class Duck:
        def compute_reward(self, trajectory):
            return Verdict()

    class AsyncDuck:
        async def compute_reward(self, trajectory):
            return Verdict()

    class Plain:
        def compute_reward(self, trajectory):
            return len(trajectory.response)
"""


def test_the_basic_pattern_scores_without_flux(loaded):
    result = loaded(BASIC)
    (output,) = score_samples(result.reward, [Trajectory("Hi", "Hello")])
    assert (output.reward, result.convention) == (0.5, "Flux class")
    assert result.origin == "MyReward in my_rewards.py"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        pytest.param("It is so because of gravity, for example.", 0.7, id="good words"),
        pytest.param("Maybe. IDK.", 0.2, id="bad words"),
        pytest.param("maybe perhaps idk", 0.05, id="only bad words"),
    ],
)
def test_a_quality_reward_that_never_calls_super_init_scores(loaded, response, expected):
    (output,) = score_samples(loaded(QUALITY).reward, [Trajectory("Why?", response)])
    assert output.reward == pytest.approx(expected)
    assert output.metadata == {"raw_score": output.reward}


def test_the_composite_is_the_weighted_sum_of_its_three_components(loaded):
    result = loaded(COMPOSITE)
    (output,) = score_samples(result.reward, [Trajectory("Why?", "Because of gravity.")])
    assert list(output.components) == ["QualityReward", "LengthReward", "FormatReward"]
    parts = [component.reward for component in output.components.values()]
    assert parts[0] == pytest.approx(0.6)
    assert output.reward == pytest.approx(0.5 * parts[0] + 0.3 * parts[1] + 0.2 * parts[2])


def test_token_rewards_keep_one_value_per_word(loaded):
    (output,) = score_samples(loaded(TOKENS).reward, [Trajectory("How?", "first this then that")])
    assert output.token_rewards == [0.1, 0.0, 0.1, 0.0]
    assert output.reward == pytest.approx(0.2)


@pytest.mark.parametrize("name", ["Duck", "AsyncDuck"])
def test_the_output_object_of_a_look_alike_class_becomes_ours(loaded, name):
    result = loaded(DUCK, name)
    assert isinstance(result.reward, FluxReward)
    assert result.convention == "Flux class"
    (output,) = score_samples(result.reward, [Trajectory("Hi", "two words")])
    assert (output.reward, output.token_rewards, output.metadata) == (0.25, [0.25, 0.0], {"seen": True})


def test_a_look_alike_class_may_return_a_bare_number(loaded):
    assert score_samples(loaded(DUCK, "Plain").reward, [Trajectory("Hi", "abc")])[0].reward == 3.0


def test_a_look_alike_output_with_a_nan_reward_is_an_error_not_a_score(loaded):
    source = """
        class Verdict:
            reward = float("nan")
        class Duck:
            def compute_reward(self, trajectory):
                return Verdict()
    """
    (output,) = score_samples(loaded(source, "Duck").reward, [Trajectory("Hi", "Hello")])
    assert output.status is Status.ERROR
    assert "nan" in output.reason


def test_a_class_of_a_file_that_imports_plaudit_is_not_called_flux(loaded):
    result = loaded("""
        from plaudit import RewardFunction
        class Mine(RewardFunction):
            def compute_reward(self, trajectory):
                return 1.0
    """)
    assert result.convention == "plaudit"
    assert isinstance(result.reward, RewardFunction)
