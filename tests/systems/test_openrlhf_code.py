"""Document 004, example 1: code is run, and rewarded by the label's tests (the document ran only the answer itself)."""

import textwrap

import pytest

from plaudit import Status, Trajectory, load, score
from plaudit.rewards import CodeReward

LABEL = """
import pytest

def test_small():
    assert fibonacci(1) == 1

def test_larger():
    assert fibonacci(10) == 55

def test_zero():
    assert fibonacci(0) == 0

def test_negative():
    with pytest.raises(ValueError):
        fibonacci(-1)
"""
RIGHT = """
def fibonacci(n):
    if n < 0:
        raise ValueError(n)
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a
"""
ANSWERS = {
    "all tests passed": (RIGHT, 1.0),
    "1 failed, 3 passed is not a pass": (RIGHT.replace("raise ValueError(n)", "return 0"), 0.3),
    "no tests passed": ("def fibonacci(n):\n    return 'one'\n", 0.0),
    "a timeout": ("def fibonacci(n):\n    while True:\n        pass\n", -0.5),
    "a syntax error": ("def fibonacci(n)\n    return n\n", -1.0),
    "a crash": ("import os\nos.abort()\n", -1.0),
    "tests of its own do not count": ("def fibonacci(n):\n    return -1\n\ndef test_mine():\n    assert True\n", 0.0),
    "the word passed does not count": ("print('4 passed in 0.01s')\ndef fibonacci(n):\n    return -1\n", 0.0),
}
PROMPT = "Write fibonacci(n).\n"


@pytest.mark.parametrize(("answer", "expected"), ANSWERS.values(), ids=ANSWERS.keys())
def test_the_scale_of_the_document(answer, expected):
    sample = Trajectory(prompt=PROMPT, response=answer, ground_truth=LABEL)
    [output] = score(CodeReward(credit="openrlhf", cpu_s=0.3), [sample])
    assert output.status is Status.OK
    assert output.reward == expected, output.reason


FILE = """
    from plaudit import Trajectory
    from plaudit.rewards import CodeReward

    CODE = CodeReward(credit="openrlhf", cpu_s=0.3)

    def reward_func(queries, prompts, labels):
        samples = [
            Trajectory(prompt=prompt, response=query[len(prompt):], ground_truth=label)
            for query, prompt, label in zip(queries, prompts, labels)
        ]
        rewards = [output.reward for output in CODE.compute_rewards(samples)]
        scores = [(reward + 1.0) / 2.0 for reward in rewards]
        return {"rewards": rewards, "scores": scores, "extra_logs": {"code_correctness": rewards}}
"""


def test_a_reward_file_of_the_documents_shape_runs_code_through_it(tmp_path):
    path = tmp_path / "reward_func_code_gen.py"
    path.write_text(textwrap.dedent(FILE))
    samples = [Trajectory(prompt=PROMPT, response=answer, ground_truth=LABEL) for answer, _ in ANSWERS.values()]
    outputs = score(load(str(path)), samples)
    assert [output.reward for output in outputs] == [expected for _, expected in ANSWERS.values()]
    assert [output.score for output in outputs] == [(expected + 1) / 2 for _, expected in ANSWERS.values()]
    assert outputs[1].metadata["code_correctness"] == 0.3
