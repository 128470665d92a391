"""Assert statements and check(candidate), run apart from the program."""

import pytest

from plaudit.sandbox import AssertSuite, Job, RunLimits, RunStatus, Sandbox, read_suite
from plaudit.sandbox.judging.judge import Judge

LIMITS = RunLimits(cpu_s=0.5, wall_s=10.0)


@pytest.fixture(scope="module")
def judge():
    with Sandbox() as sandbox:
        yield Judge(sandbox)


def verdict(judge, source, truth, *, stop_early=False):
    return judge.judge(Job(source, [read_suite(truth)], LIMITS, stop_early=stop_early))


def passed(judge, source, truth):
    found = verdict(judge, source, truth)
    assert not found.refusal
    return found.passed


DOUBLE = "def double(x):\n    return 2 * x\n"
PASSING = {
    "a list of asserts": (DOUBLE, ["assert double(2) == 4", "assert double('a') == 'aa'"]),
    "a text of asserts": (DOUBLE, "assert double(2) == 4\nassert double(0) == 0\n"),
    "a check function": (DOUBLE, {"tests": "def check(f):\n    assert f(1) == 2\n", "entry_point": "double"}),
    "a check function that the text calls": (DOUBLE, {"tests": "def check(f):\n    assert f(1) == 2\ncheck(double)\n"}),
    "a function named check": ("def check(n):\n    return n > 0\n", ["assert check(1)", "assert check(-1) == False"]),
    "a function named like a built-in": ("def sum(a, b):\n    return a + b\n", ["assert sum(1, 2) == 3"]),
    "a module that only the tests use": (DOUBLE, ["assert math.isclose(double(0.1), 0.2)"]),
    "imports that program and tests share": (
        "def root(x):\n    return math.sqrt(x)\n",
        {"tests": ["assert math.isclose(root(4), 2)"], "test_imports": ["import math"]},
    ),
    "a helper of the prompt": (
        "def undo(s):\n    return s[::-1]\n",
        {
            "tests": "def check(candidate):\n    assert candidate(turn('abc')) == 'abc'\n",
            "entry_point": "undo",
            "prompt": "def turn(s):\n    return s[::-1]\n\n\ndef undo(s):\n    '''Undo turn.'''\n",
        },
    ),
    "an argument changed in place": ("def order(x):\n    x.sort()\n", "x = [3, 1]\norder(x)\nassert x == [1, 3]\n"),
    "an inner argument changed in place": (
        "def fill(m):\n    m[0][1] = 9\n    return len(m)\n",
        "m = [[0, 0], [1]]\nrow = m[0]\nk = fill(m)\nassert row == [0, 9]\nassert k == 2\n",
    ),
    "an expected exception": (
        "def f(x):\n    raise ValueError('no')\n",
        "try:\n    f(1)\n    assert False\nexcept ValueError as error:\n    assert str(error) == 'no'\n",
    ),
    "an exception of the program's own": (
        "class BadInput(ValueError): pass\ndef f(x):\n    raise BadInput('no')\n",
        "try:\n    f(1)\n    assert False\nexcept ValueError:\n    pass\n",
    ),
    "plain data of every kind": (
        "def same(x):\n    return x\n",
        [
            "assert same((1, [2.5, None], {'a': {1, 2}})) == (1, [2.5, None], {'a': {1, 2}})",
            "assert same(10 ** 50) == 10 ** 50 and same(b'\\x00\\xff') == b'\\x00\\xff'",
            "assert same(1 + 2j) == 1 + 2j and same('\\ud800') == '\\ud800'",
            "assert type(same(True)) is bool and type(same((1,))) is tuple",
        ],
    ),
    "a named tuple as the tuple it is": (
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f():\n    return P(1, 2)\n",
        ["assert f() == (1, 2)", "assert f() != (1, 3)"],
    ),
    "a generator": ("def f(n):\n    yield from range(n)\n", ["assert list(f(2)) == [0, 1]", "assert 1 in f(2)"]),
    "a class of the program's": (
        "class Trie:\n    def __init__(self): self.w = set()\n    def add(self, w): self.w.add(w)\n"
        "    def has(self, w): return w in self.w\n    def __len__(self): return len(self.w)\n",
        "t = Trie()\nt.add('a')\nassert t.has('a')\nassert not t.has('b')\nassert len(t) == 1\n",
    ),
    "objects that go back to the program": (
        "class Node:\n    def __init__(self, v, n=None): self.v, self.n = v, n\n"
        "def second(node):\n    return node.n.v\n",
        "assert second(Node(1, Node(2))) == 2\n",
    ),
    "numbers drawn at random": (DOUBLE, "import random\nk = random.randint(0, 9)\nassert double(k) == k + k\n"),
    "a future import behind shared imports": (
        "from __future__ import annotations\ndef root(x: Unknown):\n    return math.sqrt(x)\n",
        {"tests": ["assert root(4) == 2"], "test_imports": ["import math"]},
    ),
    "a future import of several lines behind shared imports": (
        "from __future__ import (\n    annotations,\n)\ndef root(x: Unknown):\n    return math.sqrt(x)\n",
        {"tests": ["assert root(4) == 2"], "test_imports": ["import math"]},
    ),
    "an endless generator in zip": (
        "def count():\n    n = 0\n    while True:\n        yield n\n        n += 1\n",
        "it = count()\nfor _, b in zip(range(3), [0, 1, 2]):\n    assert next(it) == b\n",
    ),
    "neighbours in zip": (
        "def order(x):\n    return sorted(x)\n",
        "r = order([3, 1, 2])\nassert len(r) == 3 and all(a <= b for a, b in zip(r, r[1:]))\n",
    ),
    "infinity where the tests speak of it": ("def f():\n    return 1e999\n", "assert f() == float('inf')\n"),
    "NaN where the tests speak of it": ("def f():\n    return float('nan')\n", "import math\nassert math.isnan(f())\n"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "truth"), PASSING.values(), ids=PASSING.keys())
def test_a_right_program_passes(judge, source, truth):
    assert passed(judge, source, truth)


FAILING = {
    "a wrong value": ("def f(x):\n    return x\n", ["assert f(1) == 2"]),
    "a missing function": ("def g(x):\n    return x\n", ["assert f(1) == 1"]),
    "an exception": ("def f(x):\n    return 1 / 0\n", ["assert f(1) == 1"]),
    "a program that does not parse": ("def f(x:\n", ["assert f(1) == 1"]),
    "an exception after the last assert": ("def f(x):\n    return 1 // x\n", "assert f(1) == 1\ny = f(0)\n"),
    "a list for a tuple": ("def f():\n    return [1, 2]\n", ["assert f() == (1, 2)"]),
}


@pytest.mark.parametrize(("source", "truth"), FAILING.values(), ids=FAILING.keys())
def test_a_wrong_program_fails(judge, source, truth):
    assert not passed(judge, source, truth)


REFUSED = {
    "tests that never call the program": (["assert True is not False"], "never called"),
    "tests that break before they call it": ("import no_such_module_at_all\nassert f(1) == 1\n", "not installed"),
    "tests that do not parse": (["assert f(1 =="], "cannot be parsed"),
    "a function that gets what another returned": ("first = f(1)\nassert g(first) == 10\n", "neither they nor"),
    "a callback": (["assert f(lambda: 1) == 1"], "function of their own"),
}


@pytest.mark.parametrize(("truth", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_tests_that_say_nothing_are_refused_and_not_scored(judge, truth, why):
    found = verdict(judge, "def f(x):\n    return x\n", truth)
    assert why in found.refusal
    assert not found.passed


def test_each_assert_of_a_check_function_counts(judge):
    body = ["assert f(1) == 1", "assert f(2) == 4", "for k in (3, 4):", "    assert f(k) == k", "assert True"]
    tests = "def check(f):\n" + "\n".join(f"    {line}" for line in body)
    found = verdict(judge, "def f(x):\n    return x\n", {"tests": tests, "entry_point": "f"})
    assert [result.passed for result in found.results] == [True, False, True]
    assert found.share == pytest.approx(2 / 3)


def test_a_program_that_hangs_once_is_started_again_for_the_next_test(judge):
    source = "def f(x):\n    while x == 1: pass\n    return x\n"
    found = verdict(judge, source, ["assert f(0) == 0", "assert f(1) == 1", "assert f(2) == 2"])
    assert [result.passed for result in found.results] == [True, False, True]
    assert found.conclusion is RunStatus.TIMEOUT
    assert not found.passed


ENDINGS = {
    "hangs": "while True: pass",
    "exits": "import os; os._exit(0)",
    "is killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "closes its channel": "import os; os.close(3)",
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_what_a_program_answered_before_its_end_counts(judge, ending):
    tests = [f"assert f({number}) == {number}" for number in range(4)]
    source = f"def f(x):\n    if x == 2:\n        {ending}\n    return x\n"
    found = verdict(judge, source, tests)
    assert [result.passed for result in found.results] == [True, True, False, True]
    assert found.conclusion is not RunStatus.COMPLETED


def test_what_a_program_prints_is_kept(judge):
    tests = ["assert f(1) == 1", "assert f(2) == 2"]
    assert passed(judge, "def f(x):\n    return x\n", tests)
    found = verdict(judge, "print('hello')\ndef f(x):\n    print('called', x)\n    return x\n", tests)
    assert found.passed
    assert found.stdout == "hello\ncalled 1\ncalled 2\n"
    assert found.cpu_s > 0


def test_answers_longer_than_what_a_socket_holds_come_through(judge):
    tests = [f"assert len(f({number})) == 900_000" for number in range(3)]
    source = "def f(x):\n    return 'x' * 900_000\n"
    assert [passed(judge, source, tests) for _ in range(2)] == [True, True]


def test_a_failure_says_what_the_program_answered(judge):
    found = verdict(judge, "def f(x):\n    return x\n", ["assert f(41) == 42", "assert f(1) == 1"])
    assert "returned 41" in found.reason


def test_a_change_of_a_list_that_the_tests_then_drop_reaches_the_program(judge):
    source = "kept = []\ndef put(x):\n    kept.append(x)\ndef items():\n    return kept\n"
    tests = "xs = []\nput(xs)\nxs.append(1)\nxs = None\nassert items() == [[1]]"
    assert judge.judge(Job(source, [AssertSuite([tests])])).passed
