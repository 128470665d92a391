"""Rows of popular data sets are judged as they are: as ground truth, as JSON text, or as columns of a sample."""

import base64
import json
import pickle
import zlib

import pytest

from plaudit import Trajectory, score
from plaudit.contract.output import Status
from plaudit.rewards import CodeReward
from tests.rewards.data_set_rows import ROWS, packed

FENCE = "`" * 3


def scored(response: str, truth=None, **metadata):
    prompt = metadata.get("prompt") or (truth.get("prompt") if isinstance(truth, dict) else None) or "Solve it."
    trajectory = Trajectory(prompt=prompt, response=response, ground_truth=truth, metadata=metadata)
    [output] = score(CodeReward(), [trajectory])
    return output


@pytest.mark.parametrize("name", ROWS)
def test_a_row_as_ground_truth_tells_right_from_wrong(name):
    row = ROWS[name]
    right, wrong = (scored(source, row.columns) for source in (row.right, row.wrong))
    assert (right.reward, right.status) == (1.0, Status.OK), right.reason
    assert (wrong.reward, wrong.status) == (0.0, Status.OK), wrong.reason


@pytest.mark.parametrize("name", [name for name in ROWS if "HumanEval" not in name])
def test_a_fenced_program_passes_as_well(name):
    row = ROWS[name]
    assert scored(f"So:\n{FENCE}python\n{row.right}\n{FENCE}\n", row.columns).reward == 1.0


@pytest.mark.parametrize("name", ["HumanEval", "APPS, function", "CodeContests", "LiveCodeBench, function", "AceCode"])
def test_a_row_may_be_a_json_text_or_the_columns_of_a_sample(name):
    row = ROWS[name]
    prompt = row.columns.get("prompt", "Solve it.")
    for truth, metadata in ((json.dumps(row.columns), {}), (None, row.columns)):
        sample = Trajectory(prompt=prompt, response=row.right, ground_truth=truth, metadata=metadata)
        wrong = Trajectory(prompt=prompt, response=row.wrong, ground_truth=truth, metadata=metadata)
        outputs = [*score(CodeReward(), [sample]), *score(CodeReward(), [wrong])]
        assert [output.reward for output in outputs] == [1.0, 0.0], outputs


class Harm:
    """A value whose pickle would start a command."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_a_pickle_of_anything_but_a_text_is_never_run(tmp_path):
    path = tmp_path / "harm"
    content = base64.b64encode(zlib.compress(pickle.dumps(Harm(path)))).decode()
    for private in (content, base64.b64encode(zlib.compress(pickle.dumps(["[]"]))).decode(), "no base 64", "e30="):
        row = {**ROWS["LiveCodeBench, function"].columns, "private_test_cases": private}
        output = scored("def f(): pass", row)
        assert (output.reward, output.status) == (None, Status.UNPARSED)
        assert "private_test_cases" in output.reason
    assert not path.exists()


BROKEN = {
    "unequal lists": ({"public_tests": {"input": ["1"], "output": []}}, "as many outputs as inputs"),
    "no cases": ({"test_cases": [3]}, "an 'input' and an 'output'"),
    "a function without a name": (
        {"public_test_cases": [{"input": "1", "output": "2", "testtype": "functional"}]},
        "need its name",
    ),
    "programs that read files": ({"public_tests": {"input": ["1"], "output": ["1"]}, "input_file": "in.txt"}, "in.txt"),
    "empty packed cases": ({"private_test_cases": packed([])}, "no tests in"),
    "a number": ({"public_tests": 5}, "list of cases"),
}


@pytest.mark.parametrize(("row", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_damaged_row_is_not_scored(row, reason):
    output = scored("print(1)", row)
    assert (output.reward, output.status) == (None, Status.UNPARSED)
    assert reason in output.reason


def test_metadata_without_tests_is_no_row():
    output = scored("print(1)", None, difficulty="easy", test=True)
    assert (output.reward, output.status) == (None, Status.SKIPPED)
