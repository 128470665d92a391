"""Verifiers of other systems: open-instruct, rLLM's evaluators, rewardkit's criteria, OpenJudge's graders."""

import pytest

from plaudit import Status, Tokens, Trajectory, score

SAMPLES = [Trajectory("2 + 2?", each, ground_truth="4", columns={"level": 1}) for each in ("4", "5")]

OPEN_INSTRUCT = """
    from open_instruct.ground_truth_utils import VerificationResult, VerifierFunction

    class Exact(VerifierFunction):
        def __init__(self, verifier_config=None):
            super().__init__("exact", verifier_config=verifier_config, weight=1.0)

        def __call__(self, tokenized_prediction, prediction, label, query=None):
            right = prediction == label and query == "2 + 2?"
            return VerificationResult(score=float(right), reasoning="compared")
"""
OPEN_INSTRUCT_ASYNC = """
    from open_instruct.ground_truth_utils import VerificationResult, VerifierFunction

    class Judge(VerifierFunction):
        def __init__(self):
            super().__init__("judge")

        def __call__(self, tokenized_prediction, prediction, label, query=None):
            raise RuntimeError("use async_call")

        async def async_call(self, tokenized_prediction, prediction, label, query=None):
            return VerificationResult(score=float(prediction == label), cost=0.1)
"""
RLLM_FUNCTION = """
    import rllm
    from rllm.eval.types import EvalOutput, Signal
    from rllm.types import Episode, Task

    @rllm.evaluator
    def exact(task: Task, episode: Episode) -> EvalOutput:
        right = episode.trajectories[-1].steps[-1].output == task.metadata["ground_truth"]
        return EvalOutput(float(right), is_correct=right, signals=[Signal("accuracy", float(right))])
"""
RLLM_CLASS = """
    from rllm.eval.types import EvalOutput

    class Exact:
        def evaluate(self, task: dict, episode):
            right = episode.artifacts["answer"] == task.get("ground_truth")
            return EvalOutput(reward=float(right), is_correct=right)
"""
REWARDKIT = """
    from pathlib import Path
    from rewardkit import criterion

    @criterion(description="the response is 4")
    def is_four(workspace: Path) -> bool:
        return (workspace / "response.txt").read_text() == "4"
"""
OPENJUDGE = """
    from openjudge.graders.base_grader import BaseGrader
    from openjudge.graders.schema import GraderMode, GraderScore

    class Exact(BaseGrader):
        def __init__(self):
            super().__init__(name="exact", mode=GraderMode.POINTWISE, description="compares")

        async def _aevaluate(self, query: str, response: str, reference_response: str, level: int, **kwargs):
            return GraderScore(name=self.name, score=float(response == reference_response), reason=f"level {level}")
"""


@pytest.mark.parametrize(
    ("convention", "source"),
    [
        ("open-instruct verifier", OPEN_INSTRUCT),
        ("open-instruct verifier", OPEN_INSTRUCT_ASYNC),
        ("rLLM evaluator", RLLM_FUNCTION),
        ("rLLM evaluator", RLLM_CLASS),
        ("rewardkit criterion", REWARDKIT),
        ("OpenJudge grader", OPENJUDGE),
    ],
)
def test_a_file_in_the_published_style_is_recognised_and_gives_its_numbers(convention, source, loaded):
    resolved = loaded(source)
    assert resolved.convention == convention
    assert [output.reward for output in score(resolved.reward, SAMPLES)] == [1.0, 0.0]


def test_signals_of_rllm_are_components(loaded):
    [output, _] = score(loaded(RLLM_FUNCTION).reward, SAMPLES)
    assert output.components["accuracy"].reward == 1.0
    assert output.metadata["is_correct"] is True


def test_reasons_of_verifiers_and_graders_are_kept(loaded):
    assert score(loaded(OPEN_INSTRUCT).reward, SAMPLES)[0].reason == "compared"
    assert score(loaded(OPENJUDGE).reward, SAMPLES)[0].reason == "level 1"


def test_tokens_that_a_sample_lacks_are_an_error_and_no_score(loaded):
    source = OPEN_INSTRUCT.replace("prediction == label and query", "len(tokenized_prediction) == 1 and query")
    reward = loaded(source).reward
    with_tokens = Trajectory("2 + 2?", "4", ground_truth="4", tokens=Tokens(ids=[7]))
    assert [output.reward for output in score(reward, [with_tokens])] == [1.0]
    [output] = score(reward, SAMPLES[:1])
    assert output.reward is None
    assert "the sample has no tokens" in output.reason


FAILURES = {
    "open-instruct, no score": (OPEN_INSTRUCT.replace("score=float(right)", "score=None"), "must be a number"),
    "rLLM, no reward": (RLLM_CLASS.replace("reward=float(right)", "reward=None"), "must be a number"),
    "rewardkit, no number": (REWARDKIT.replace('== "4"', ""), "a bool or a number from 0 to 1"),
    "rewardkit, out of range": (REWARDKIT.replace('read_text() == "4"', "stat().st_size * 5"), "from 0 to 1"),
    "OpenJudge, an error": (
        OPENJUDGE.replace("GraderMode, GraderScore", "GraderError, GraderMode, GraderScore").replace(
            'GraderScore(name=self.name, score=float(response == reference_response), reason=f"level {level}")',
            'GraderError(name=self.name, error="no endpoint")',
        ),
        "no endpoint",
    ),
    "OpenJudge, a missing column": (OPENJUDGE.replace("level: int", "depth: int"), "depth"),
}


@pytest.mark.parametrize(("source", "reason"), FAILURES.values(), ids=FAILURES)
def test_a_failure_is_never_a_score(source, reason, loaded):
    [output] = score(loaded(source).reward, SAMPLES[:1])
    assert output.status is not Status.OK
    assert output.reward is None
    assert reason in output.reason


def test_a_workspace_has_the_files_of_the_row(loaded, tmp_path):
    source = REWARDKIT.replace('"response.txt").read_text() == "4"', '"src/a.py").exists()')
    reward = loaded(source).reward
    with_files = Trajectory("?", "x", columns={"files": {"src/a.py": "pass"}})
    outside = Trajectory("?", "x", columns={"files": {"../a.py": "pass"}})
    named = Trajectory("?", "x", columns={"workspace": str(tmp_path)})
    absent = Trajectory("?", "x", columns={"workspace": str(tmp_path / "absent")})
    outputs = score(reward, [with_files, outside, named, absent])
    assert [output.reward for output in outputs] == [1.0, None, 0.0, None]
    assert "within the workspace" in outputs[1].reason


def test_parameters_of_a_criterion_are_settings_or_columns(loaded):
    source = REWARDKIT.replace("(workspace: Path)", "(workspace: Path, wanted: str)").replace('== "4"', "== wanted")
    reward = loaded(source, "is_four(wanted='5')").reward
    assert [output.reward for output in score(reward, SAMPLES)] == [0.0, 1.0]
    columns = [Trajectory("?", each, columns={"wanted": "4"}) for each in ("4", "5")]
    assert [output.reward for output in score(loaded(source).reward, columns)] == [1.0, 0.0]
