"""Document 000's samples, with their import lines and without Flux."""

import sys

import pytest

from plaudit import RewardFunction, Status, Trajectory
from plaudit.contract.scoring import score_samples

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
    assert list(output.components) == ["QualityReward", "LengthReward", "format"]
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


EXAMPLE = """
    from flux import FluxConfig, FluxTrainer
    from flux.core.trajectory import Trajectory
    from flux.rewards import CompositeReward, FunctionReward, KeywordReward, LengthReward, RewardFunction, RewardOutput

    class Structured(RewardFunction):
        def __init__(self, lines: int = 2, scale: float = 1.0):
            super().__init__(name="structured", scale=scale)
            self.lines = lines

        def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
            output = RewardOutput(reward=float(trajectory.response.count("-")), metadata={})
            output.reward = min(1.0, output.reward / self.lines)
            output.metadata["length"] = trajectory.response_length
            return output

    def polite(trajectory: Trajectory) -> float:
        return float("please" in trajectory.response)

    both = CompositeReward(rewards=[(Structured(), 1.0), (FunctionReward(fn=polite), 3.0)])
    words = KeywordReward(required_keywords=["def", "return"], bonus_keywords=["example"], penalty_keywords=["maybe"])

    def main():
        FluxTrainer(FluxConfig(), reward_function=both).fit()

    if __name__ == "__main__":
        main()
"""


def one(loaded, source, name, response):
    return score_samples(loaded(source, name).reward, [Trajectory("Hi", response)])[0]


def test_a_published_example_loads_with_its_keywords_and_assignments(loaded):
    output = one(loaded, EXAMPLE, "Structured", "- one")
    assert (output.reward, output.token_rewards, output.metadata) == (0.5, None, {"length": 0})
    assert one(loaded, EXAMPLE, "Structured(scale=0.5)", "- one").reward == 0.25
    assert one(loaded, EXAMPLE, "polite", "please").reward == 1.0


def test_a_composite_brings_its_weights_to_a_sum_of_one_and_names_its_parts(loaded):
    output = one(loaded, EXAMPLE, "both", "- one - two, please")
    assert output.reward == 1.0
    assert {name: part.reward for name, part in output.components.items()} == {"structured": 1.0, "function": 1.0}
    assert one(loaded, EXAMPLE, "both", "- one - two").reward == 0.25


@pytest.mark.parametrize(
    ("expression", "response", "expected"),
    [
        ("LengthReward()", "x" * 512, 0.25),
        ("LengthReward(max_length=100)", "x" * 101, 0.0),
        ("LengthReward(target_length=10, reward_type='target')", "x" * 15, 0.5),
        ("LengthReward(target=2)", "two words", 1.0),
        ("LengthPenalty(min_length=10)", "x" * 5, -0.05),
        ("FormatReward()", "anything", 1.0),
        ("FormatReward(required_patterns=['a', 'b'], forbidden_patterns=['c'])", "A", 0.5),
        ("KeywordReward(required_keywords=['a', 'b'], bonus_keywords=['c'], penalty_keywords=['d'])", "a c d", 0.4),
        ("RepetitionPenalty()", "a a a a a a a", -1.0),
        ("StructuredOutputReward()", "see [15]", 1.0),
        ("StructuredOutputReward()", "see {15}", 0.5),
        ("MathReward()", r"1 + 1 and \boxed{2}", 1.0),
        ("CodeReward(language='python')", "```python\nreturn 1\n```", 0.8),
        ("create_reward_function('math')", "x = 3", 0.5),
    ],
)
def test_rule_based_rewards_have_the_numbers_of_the_package(loaded, expression, response, expected):
    source = f"    from flux.rewards import *\n    from flux.rewards import {expression.partition('(')[0]}\n"
    assert one(loaded, source + f"    reward = {expression}\n", "reward", response).reward == pytest.approx(expected)


def test_classes_of_an_installed_flux_get_its_attributes_and_are_scaled(tmp_path, loaded, monkeypatch):
    package = tmp_path / "site" / "flux"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "rewards.py").write_text(
        "class RewardOutput:\n"
        "    def __init__(self, reward): self.reward, self.token_rewards, self.metadata = reward, [], {}\n"
        "class RewardFunction:\n"
        "    def __init__(self, name='base', scale=1.0): self.name, self.scale = name, scale\n"
        "    def _apply_scale_and_clip(self, reward): return reward * self.scale\n"
        "class LengthReward(RewardFunction):\n"
        "    def compute_reward(self, trajectory):\n"
        "        return RewardOutput(float(trajectory.response_length or len(trajectory.response)))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    source = "    from flux.rewards import LengthReward\n    reward = LengthReward(scale=0.5)\n"
    output = one(loaded, source, "reward", "four")
    for name in [name for name in sys.modules if name.partition(".")[0] == "flux"]:
        del sys.modules[name]
    assert (output.reward, output.token_rewards) == (2.0, None)
