"""Rewards of systems that score episodes, answers and evaluations."""

import pytest

from plaudit import Status, Trajectory
from plaudit.contract.scoring import score_samples

CHAT = [{"role": "user", "content": "2+2?"}]
RIGHT = Trajectory("2+2?", "<answer>4</answer>", ground_truth="4", columns={"level": 2})
WRONG = Trajectory(CHAT, "5", ground_truth="4", columns={"level": 2})


def rewards(result, *samples):
    outputs = score_samples(result.reward, list(samples or (RIGHT, WRONG)))
    assert all(output.ok for output in outputs), [output.reason for output in outputs]
    return [output.reward for output in outputs]


def test_a_data_set_of_reasoning_gym_scores_the_tagged_answer(loaded):
    result = loaded("""
        class Numbers:
            def score_answer(self, answer, entry):
                return float(answer == entry["answer"]) + entry["level"]

        numbers = Numbers()
    """)
    assert result.convention == "reasoning-gym data set"
    assert rewards(result) == [3.0, 2.0]


SCORER = """
    from inspect_ai import Task, task
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, Target, accuracy, scorer, stderr
    from inspect_ai.solver import TaskState, generate

    @scorer(metrics=[accuracy(), stderr()])
    def contains(ignore_case: bool = True):
        async def score(state: TaskState, target: Target) -> Score:
            if "nothing" in state.output.completion:
                return Score.unscored(explanation="said nothing")
            found = target.text in state.output.completion
            value = CORRECT if found else INCORRECT
            return Score(value=value, answer=state.output.completion, explanation=state.input_text)

        return score

    @task
    def sums():
        return Task(dataset=[Sample(input="2+2?", target="4")], solver=generate(), scorer=contains())
"""


@pytest.mark.parametrize("name", [None, "contains", "contains()", "contains(ignore_case=False)"])
def test_an_inspect_scorer_is_made_by_its_factory(loaded, name):
    result = loaded(SCORER, name)
    assert result.convention == "Inspect scorer"
    assert rewards(result) == [1.0, 0.0]


def test_a_score_of_inspect_carries_answer_explanation_and_unscored(loaded):
    right, nothing = score_samples(loaded(SCORER).reward, [RIGHT, Trajectory("2+2?", "nothing", ground_truth="4")])
    assert (right.score, right.reason, right.metadata) == (1.0, "2+2?", {"answer": "<answer>4</answer>"})
    assert (nothing.status, nothing.reason) == (Status.SKIPPED, "said nothing")


@pytest.mark.parametrize(("value", "expected"), [("'P'", 0.5), ("True", 1.0), ("'0.25'", 0.25), ("{'only': 2}", 2.0)])
def test_values_of_inspect_count_as_there(loaded, value, expected):
    source = (
        f"from inspect_ai.scorer import Score\n\nasync def score(state, target):\n    return Score(value={value})\n"
    )
    assert rewards(loaded(source), RIGHT) == [expected]


def test_a_value_that_is_no_number_is_an_error_not_a_zero(loaded):
    source = "from inspect_ai.scorer import Score\n\nasync def score(state, target):\n    return Score(value='maybe')\n"
    (output,) = score_samples(loaded(source).reward, [RIGHT])
    assert output.status is Status.ERROR
    assert "'maybe' is not one number" in output.reason


LEGACY = """
    import verifiers as vf

    parser = vf.XMLParser(["answer"])

    def right(parser, completion, answer, **kwargs):
        return float(parser.parse_answer(completion) == answer)

    async def brief(completion, state):
        assert state["level"] == 2
        return 1.0 if len(completion[-1]["content"]) < 3 else 0.0

    rubric = vf.Rubric(funcs=[right, brief], weights=[1.0, 0.5], parser=parser)
"""


@pytest.mark.parametrize(("name", "expected"), [("right", [1.0, 0.0]), ("brief", [0.0, 1.0]), ("rubric", [1.0, 0.5])])
def test_functions_and_rubrics_of_verifiers(loaded, name, expected):
    result = loaded(LEGACY, name)
    assert result.convention == f"verifiers {'rubric' if name == 'rubric' else 'function'}"
    assert rewards(result) == expected


def test_a_verifiers_function_of_a_trace(loaded):
    result = loaded("""
        import verifiers.v1 as vf

        @vf.reward(weight=1.0)
        async def right(task: vf.TaskData, trace: vf.Trace) -> float:
            return float(task.answer in trace.last_reply)
    """)
    assert result.convention == "verifiers v1 function"
    assert rewards(result) == [1.0, 0.0]


def test_a_column_that_a_verifiers_function_asks_for_is_named_where_it_is_missing(loaded):
    result = loaded("import verifiers as vf\n\ndef right(completion, leval): return 1.0\n")
    (output,) = score_samples(result.reward, [RIGHT])
    assert "asks for 'leval', which the sample does not have; did you mean 'level'?" in output.reason


def test_a_parser_that_only_the_rubric_knows_is_not_guessed(loaded):
    result = loaded("def right(parser, completion, answer): return float(parser.parse_answer(completion) == answer)")
    (output,) = score_samples(result.reward, [RIGHT])
    assert output.status is Status.ERROR
    assert "asks for 'parser', which the sample does not have; its rubric knows it" in output.reason


def test_an_environment_class_of_skyrl_is_made_for_each_sample(loaded):
    result = loaded("""
        import skyrl_gym

        class Sums:
            def __init__(self, env_config=None, extras={}):
                self.truth = extras["reward_spec"]["ground_truth"]

            def init(self, prompt):
                return prompt, {}

            def step(self, action):
                return {"observations": [], "reward": float(self.truth in action), "done": True, "metadata": {}}
    """)
    assert result.convention == "SkyRL environment"
    assert rewards(result) == [1.0, 0.0]


def test_a_skyrl_environment_builds_on_its_base(loaded):
    result = loaded("""
        from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

        class Doubling(BaseTextEnv):
            def __init__(self, env_config=None, extras={}):
                super().__init__()
                self.truth = extras["reward_spec"]["ground_truth"]

            def step(self, action):
                self.turns += 1
                return BaseTextEnvStepOutput(
                    observations=[], reward=float(self.truth in action) + self.max_turns, done=True, metadata={}
                )
    """)
    assert rewards(result) == [2.0, 1.0]
