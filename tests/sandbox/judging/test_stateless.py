"""Which tests only compare, and so may share a judge: what could leave anything behind in it never counts as that."""

import pytest

from plaudit.sandbox import AssertSuite, CallSuite, StreamSuite, read_suite
from plaudit.sandbox.judging.plan.test_plan import plan_suite

COMPARING = [
    "assert f(1) == 2",
    "assert abs(f(1) - 0.5) < 1e-6, f'got {f(1)}'",
    "import math\nassert math.isclose(f(2), math.pi)",
    "from typing import List\nxs: List[int] = [1, 2]\nassert sorted(f(xs)) == [x + 1 for x in xs]",
    "def check(candidate):\n    for n in range(9):\n        assert candidate(n) in {n, n + 1}\ncheck(f)",
    "import random\nn = random.randint(0, 9)\nassert f(n) == n if n else f(n) is None",
    "assert isinstance(f(1), (int, str)) and f(*[1], **{'a': 2})[0][1:] == (3,)",
    "assert Point(1, 2) == Point(1, 2)",
]
LEAVING = [
    "assert eval(f(1)) == 2",
    "assert __import__('os').getpid() == f(1)",
    "import pickle\nassert pickle.loads(f(1)) == 2",
    "import os\nassert f(1) == os.getpid()",
    "import decimal\ndecimal.getcontext().prec = 1\nassert f(1) == 2",
    "assert f(1).x == 2",
    "assert f'{f(1).x}' == '2'",
    "assert '{0.x}'.format(f(1)) == '2'",
    "assert getattr(f(1), 'x') == 2",
    "assert type(f(1)) is int",
    "import math\nmath.pi = 3\nassert f(1) == 2",
    "import math\nmath.__dict__['pi'] = 3\nassert f(1) == 2",
    "import math as random\nassert f(1) == 2",
    "math = f\nassert math.x(1) == 2",
    "import math\nfor math in f(1):\n    assert math.x",
    "import math\ndef g(math):\n    return math.x\nassert g(f(1))",
    "import random\nrandom.seed(f(1))\nassert f(1) == 2",
    "from random import seed\nassert seed(f(1)) is None",
    "import typing\ndef g(x: f(1)): pass\nassert typing.get_type_hints(g) == 2",
    "from typing import *\nassert f(1) == 2",
    "xs = [1]\nxs[0] = f(1)\nassert xs == [2]",
    "with f(1) as x:\n    assert x == 2",
    "try:\n    assert f(1) == 2\nfinally:\n    pass",
    "class A:\n    assert f(1) == 2",
    "@f\ndef g(): pass\nassert g == 2",
    "del f\nassert f(1) == 2",
    "def g():\n    global x\n    x = f(1)\ng()\nassert x == 2",
    "import asyncio\nassert asyncio.run(f(1)) == 2",
    "from .helpers import x\nassert f(1) == x",
    "assert (lambda: f(1))() == 2",
    "assert (x := f(1)) == 2",
    "assert __builtins__ == f(1)",
    "assert print(f(1)) is None",
    "assert open('a') == f(1)",
    "while f(1):\n    assert f(1) == 2",
]


@pytest.mark.parametrize("text", COMPARING)
def test_tests_that_only_compare_are_stateless(text):
    assert plan_suite(AssertSuite([text])).is_stateless


@pytest.mark.parametrize("text", LEAVING)
def test_tests_that_might_leave_something_behind_are_not(text):
    assert not plan_suite(AssertSuite([text])).is_stateless
    assert not plan_suite(AssertSuite(["assert f(1) == 2"], prompt=f"import os\nX = os.getpid()\n{text}")).is_stateless


def test_data_without_code_is_stateless_and_a_checker_is_not():
    assert plan_suite(CallSuite("f", [])).is_stateless
    assert plan_suite(StreamSuite(["1"], ["2"])).is_stateless
    checker = "def check(given, output, expected): return True"
    assert not plan_suite(StreamSuite(["1"], ["2"], checker=checker)).is_stateless


def test_a_test_file_is_stateless_unless_it_imports_pytest():
    file = "from solution import f\n\ndef test_f():\n    assert f(1) == 2\n"
    assert plan_suite(read_suite(file)).is_stateless
    assert not plan_suite(read_suite(f"import pytest\n{file}")).is_stateless
