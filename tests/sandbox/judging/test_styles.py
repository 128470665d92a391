"""Calls with expected values, standard input and output, and test files."""

import json

import pytest

from plaudit.errors import InvalidTrajectory
from plaudit.sandbox import (
    AssertSuite,
    CallSuite,
    FileSuite,
    Job,
    RunLimits,
    RunStatus,
    Sandbox,
    StreamSuite,
    read_suite,
)
from plaudit.sandbox.judging.judge import Judge

LIMITS = RunLimits(cpu_s=0.5, wall_s=10.0)


@pytest.fixture(scope="module")
def judge():
    with Sandbox() as sandbox:
        yield Judge(sandbox)


def verdict(judge, source, truth, **options):
    return judge.judge(Job(source, [read_suite(truth)], LIMITS, stop_early=False, **options))


def results(judge, source, truth):
    found = verdict(judge, source, truth)
    assert not found.refusal
    return [result.passed for result in found.results]


ADD = "def add(a, b):\n    return a + b\n"
METHOD = "class Solution:\n    def add(self, a, b):\n        return a + b\n"


@pytest.mark.parametrize("source", [ADD, METHOD], ids=["function", "class Solution"])
@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ([[1, 2], [[1], [2]]], [3, [1, 2]]),
        (["1\n2", "[1]\n[2]"], ["3", "[1, 2]"]),
    ],
    ids=["lists of arguments", "a JSON value per line"],
)
def test_calls_are_compared_with_what_they_must_return(judge, source, inputs, outputs):
    assert results(judge, source, {"fn_name": "add", "inputs": inputs, "outputs": outputs}) == [True, True]


@pytest.mark.parametrize(("outputs", "passes"), [([[3], ["ab"]], [True, True]), ([[3], "ab"], [False, True])])
def test_a_list_of_one_is_the_wrapper_of_apps_only_where_every_output_is_one(judge, outputs, passes):
    pairs = {"fn_name": "add", "inputs": [[1, 2], ["a", "b"]], "outputs": outputs}
    assert results(judge, ADD, {"input_output": json.dumps(pairs)}) == passes
    assert results(judge, ADD, pairs) == [False, passes[1] and outputs[1] == "ab"]


def test_calls_that_differ_fail_and_say_how(judge):
    found = verdict(judge, ADD, {"fn_name": "add", "inputs": [[1, 2], [2, 2]], "outputs": [3, 5]})
    assert [result.passed for result in found.results] == [True, False]
    assert "returned 4, expected 5" in found.reason


@pytest.mark.parametrize(("tolerance", "passes"), [(None, False), (1e-6, True)])
def test_numbers_need_only_be_close_where_a_tolerance_is_given(judge, tolerance, passes):
    truth = {"fn_name": "add", "inputs": [[0.1, 0.2]], "outputs": [0.3], "tolerance": tolerance}
    assert results(judge, ADD, truth) == [passes]


def test_tuples_pass_for_the_lists_that_json_made_of_them(judge):
    truth = {"fn_name": "pair", "inputs": [[1]], "outputs": [[[1, 1]]]}
    assert results(judge, "def pair(x):\n    return [(x, x)]\n", truth) == [True]


def test_in_place_functions_are_judged_by_their_argument(judge):
    truth = {"fn_name": "order", "inputs": [[[2, 1]]], "outputs": [[1, 2]], "in_place": True}
    assert results(judge, "def order(x):\n    x.sort()\n", truth) == [True]


ECHO = "import sys\nprint(sys.stdin.buffer.read().decode(), end='')\n"
CHECKER = "def check(given, output, expected):\n    return {}\n"
STREAMS = {
    "the same": ("1\n2\n", "1\n2\n", {}, True),
    "no newline at the end": ("1\n2", "1\n2\n", {}, True),
    "blanks at line ends": ("1  \n2\t\n\n", "1\n2", {}, True),
    "windows line ends": ("1\r\n2\r\n", "1\n2\n", {}, True),
    "a line too few": ("1\n", "1\n2\n", {}, False),
    "a line too many": ("1\n2\n3\n", "1\n2\n", {}, False),
    "blanks at the beginning": (" 1\n2\n", "1\n2\n", {}, False),
    "two lines joined": ("1 2\n", "1\n2\n", {}, False),
    "two lines joined, by tokens": ("1 2\n", "1\n2\n", {"compare": "tokens"}, True),
    "a token too few, by tokens": ("1\n", "1\n2\n", {"compare": "tokens"}, False),
    "a rounding error": ("0.30000001\n", "0.3\n", {}, False),
    "a rounding error, by floats": ("0.30000001\n", "0.3\n", {"compare": "floats"}, True),
    "not a number, by floats": ("nan\n", "0.3\n", {"compare": "floats"}, False),
    "a number too few, by floats": ("0.3\n", "0.3 0.3\n", {"compare": "floats"}, False),
    "a checker that agrees": ("2 1\n", "1 2\n", {"checker": CHECKER.format("set(output) == set(expected)")}, True),
    "a checker that does not": ("2\n", "1 2\n", {"checker": CHECKER.format("len(output.split()) == 2")}, False),
    "a checker that breaks": ("x\n", "1\n", {"checker": CHECKER.format("int(output) == 1")}, False),
}  # fmt: skip


@pytest.mark.parametrize(("output", "expected", "options", "passes"), STREAMS.values(), ids=STREAMS.keys())
def test_what_is_printed_is_compared(judge, output, expected, options, passes):
    assert results(judge, ECHO, {"inputs": [output], "outputs": [expected], **options}) == [passes]


SCRIPTS = {
    "a main guard": ("if __name__ == '__main__':\n    print(int(input()) * 2)\n", True),
    "sys.exit at the end": ("import sys\nprint(int(sys.stdin.readline()) * 2)\nsys.exit(0)\n", True),
    "reading all of stdin": ("import sys\nprint(sum(map(int, open(0).read().split())) * 2)\n", True),
    "a thread that prints": (
        "import threading\nthreading.Thread(target=lambda: print(int(input()) * 2)).start()\n",
        True,
    ),
    "an error after the right output": ("print(int(input()) * 2)\nraise ValueError\n", False),
    "a bad exit code after the right output": ("import sys\nprint(int(input()) * 2)\nsys.exit(3)\n", False),
    "too little input": ("input()\nprint(int(input()) * 2)\n", False),
}


@pytest.mark.parametrize(("source", "passes"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_scripts_run_to_their_end(judge, source, passes):
    assert results(judge, source, {"inputs": ["21\n"], "outputs": ["42\n"]}) == [passes]


def test_a_script_that_loops_is_a_timeout_and_the_other_inputs_still_count(judge):
    found = verdict(
        judge, "n = int(input())\nwhile n == 1: pass\nprint(n)\n", {"inputs": ["1", "2"], "outputs": ["1", "2"]}
    )
    assert [result.passed for result in found.results] == [False, True]
    assert found.conclusion is RunStatus.TIMEOUT


FILE = """
import unittest
import pytest
from solution import Stack, add as plus
import solution

@pytest.fixture
def three():
    return 3

@pytest.mark.parametrize("a, b, c", [(1, 2, 3), pytest.param(2, 2, 4, id="twos")])
def test_add(a, b, c):
    assert plus(a, b) == c

@pytest.mark.slow
def test_fixture(three):
    assert solution.add(three, 1) == pytest.approx(4.0000001, rel=1e-3)

def test_raises():
    with pytest.raises(TypeError, match="unsupported|concatenate"):
        plus(1, None)

@pytest.mark.skip(reason="never")
def test_skipped():
    assert False

class TestStack:
    def setup_method(self):
        self.stack = Stack()

    def test_push(self):
        self.stack.push(1)
        assert self.stack.pop() == 1

class StackCase(unittest.TestCase):
    def test_empty(self):
        with self.assertRaises(IndexError):
            Stack().pop()

    def test_add(self):
        self.assertEqual(plus(1, 1), 2)
"""
STACK = (
    ADD
    + "class Stack:\n    def __init__(self): self.x = []\n"
    + "    def push(self, v): self.x.append(v)\n    def pop(self): return self.x.pop()\n"
)


def test_a_test_file_runs_as_pytest_and_unittest_would_run_it(judge):
    found = verdict(judge, STACK, FILE)
    assert [(result.name, result.passed) for result in found.results] == [
        ("test_add[0]", True), ("test_add[1]", True), ("test_fixture", True), ("test_raises", True),
        ("TestStack.test_push", True), ("StackCase.test_add", True), ("StackCase.test_empty", True),
    ]  # fmt: skip


def test_a_wrong_program_fails_just_the_tests_it_breaks(judge):
    found = verdict(judge, STACK.replace("a + b", "a + b + (a == 2)"), FILE)
    assert [result.name for result in found.results if not result.passed] == ["test_add[1]"]


UNSUPPORTED = {
    "a fixture of pytest": ("def test_f(tmp_path):\n    assert f(str(tmp_path)) == 1\n", "fixture 'tmp_path'"),
    "expected failures": ("import pytest\n@pytest.mark.xfail\ndef test_f():\n    assert f(1) == 1\n", "xfail"),
    "monkeypatching": (
        "import pytest\ndef test_f():\n    pytest.MonkeyPatch().undo()\n    assert f(1) == 1\n",
        "MonkeyPatch",
    ),
    "no tests at all": ("import pytest\n", "never called"),
}


@pytest.mark.parametrize(("text", "why"), UNSUPPORTED.values(), ids=UNSUPPORTED.keys())
def test_what_cannot_be_judged_apart_from_pytest_is_refused(judge, text, why):
    assert why in verdict(judge, "def f(x):\n    return x\n", text).refusal


SHAPES = {
    "asserts": (["assert f(1) == 1"], AssertSuite),
    "a text of asserts": ("assert f(1) == 1", AssertSuite),
    "HumanEval": ({"test": "def check(candidate):\n    pass", "entry_point": "f"}, AssertSuite),
    "MBPP": ({"test_list": ["assert f(1) == 1"], "test_imports": []}, AssertSuite),
    "APPS calls": ({"input_output": '{"fn_name": "f", "inputs": [[1]], "outputs": [1]}'}, CallSuite),
    "APPS streams": ({"input_output": '{"inputs": ["1"], "outputs": ["1"]}'}, StreamSuite),
    "inputs and outputs": ({"inputs": ["1"], "outputs": ["1"]}, StreamSuite),
    "a test file": ("def test_f():\n    assert f(1) == 1", FileSuite),
    "JSON text": ('{"tests": ["assert f(1) == 1"]}', AssertSuite),
}


@pytest.mark.parametrize(("truth", "kind"), SHAPES.values(), ids=SHAPES.keys())
def test_ground_truths_are_read_in_the_shapes_of_data_sets(truth, kind):
    assert type(read_suite(truth)) is kind


WRONG = {
    "no tests": ({}, "no tests"),
    "a misspelt key": ({"tets": ["assert f(1)"]}, "did you mean 'tests'"),
    "fewer outputs than inputs": ({"inputs": ["1", "2"], "outputs": ["1"]}, "2 inputs but 1 outputs"),
    "an unknown comparison": ({"inputs": ["1"], "outputs": ["1"], "compare": "token"}, "did you mean 'tokens'"),
    "numbers for tests": ([1, 2], "texts of Python"),
    "a number": (3, "got int"),
    "an object for an expected value": ({"fn_name": "f", "inputs": [[1]], "outputs": [object()]}, "plain data"),
}


@pytest.mark.parametrize(("truth", "why"), WRONG.values(), ids=WRONG.keys())
def test_a_ground_truth_that_makes_no_sense_says_what_is_wrong(truth, why):
    with pytest.raises(InvalidTrajectory, match=why):
        read_suite(truth)


NUMPY = {
    "a number": ("def f(n):\n    return np.arange(n).sum()\n", ["assert f(10) == 45", "assert f(3) == 3"], True),
    "an array by its items": ("def f(n):\n    return np.arange(n)\n", ["assert list(f(3)) == [0, 1, 2]"], True),
    "an array by numpy": (
        "def f(n):\n    return np.arange(n)\n",
        "import numpy as np\nassert np.array_equal(f(3), [0, 1, 2])\n",
        True,
    ),
    "an array by comparison": ("def f(n):\n    return np.arange(n)\n", ["assert (f(3) == [0, 1, 2]).all()"], True),
    "a shape": ("def f(n):\n    return np.zeros((0, n))\n", ["assert f(2).shape == (0, 2)"], True),
    "an expected list": (
        "def f(n):\n    return np.eye(n)\n",
        {"fn_name": "f", "inputs": [[1], [2]], "outputs": [[[1.0]], [[1, 0], [0, 1]]]},
        True,
    ),
    "an expected empty list": (
        "def f(n):\n    return np.arange(n)\n",
        {"fn_name": "f", "inputs": [[0], [1]], "outputs": [[], [0]]},
        True,
    ),
    "a wrong array": (
        "def f(n):\n    return np.arange(n) + 1\n",
        "import numpy as np\nassert np.allclose(f(3), [0, 1, 2])\n",
        False,
    ),
    "nothing, near anything": (
        "def f(n):\n    return np.zeros((0, n))\n",
        "import numpy as np\nassert np.allclose(f(3), [0, 1, 2])\n",
        False,
    ),
    "nothing, equal to anything": (
        "def f(n):\n    return np.zeros((0, n))\n",
        ["assert (f(2) == [0, 1]).all()"],
        False,
    ),
    "an array that lies": (
        "class ndarray:\n    shape = (3,)\n    dtype = np.dtype(int)\n    def tolist(self):\n        return [9, 9, 9]\n"
        "    def __eq__(self, other):\n        return True\ndef f(n):\n    return ndarray()\n",
        {"fn_name": "f", "inputs": [[3], [3]], "outputs": [[0, 1, 2], [0, 1, 2]]},
        False,
    ),
}


@pytest.fixture(scope="module")
def numpy_judge():
    with Sandbox("numpy") as sandbox:
        yield Judge(sandbox)


@pytest.mark.parametrize(("source", "truth", "right"), NUMPY.values(), ids=NUMPY)
def test_arrays_are_compared_as_arrays(numpy_judge, source, truth, right):
    found = numpy_judge.judge(Job("import numpy as np\n" + source, [read_suite(truth)]))
    assert not found.refusal
    assert found.passed is right
