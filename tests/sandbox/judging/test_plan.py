"""Whether tests can be scored is known from the tests alone, before any program runs."""

import pytest

from plaudit.errors import InvalidTrajectory
from plaudit.sandbox import AssertSuite, FileSuite
from plaudit.sandbox.judging.plan.test_plan import plan_suite

UNSCORED = [
    "assert Money(5) == 5",
    "assert Vector(1, 2) + Vector(3, 4) == Vector(4, 6)",
    "a = Point(1)\nb = Point(2)\nassert a != b",
    "assert move(Point(1)) == Point(2)",
    "t = Trie()\nassert 'a' in t",
    "cards = [Card(2), Card(1)]\nassert sorted(cards)[0].n == 1",
    "assert max(Version('1'), Version('2')).text == '2'",
    "assert len({Point(1), Point(1)}) == 1",
    "assert hash(Point(1)) == hash(Point(1))",
    "c = Counter()\nc += 1\nassert c.n == 1",
    "for a, b in [(Point(1), Point(1))]:\n    assert a == b",
    "assert [Point(n) for n in (1, 2)] == points(2)",
    "def make():\n    return Point(1)\nassert make() == make()",
    "assert BST() == BST()",
    "class Mine(Base):\n    pass\nassert Mine().run() == 1",
    "assert apply(lambda x: x, 1) == 1",
    "def add(a, b):\n    return a + b\nassert reduce_all(add, [1]) == 1",
    "import pickle\nassert pickle.loads(pickle.dumps(Point(1))).x == 1",
]
SCORED = [
    "assert Stack().pop() == 1",
    "s = Stack()\ns.push(1)\nassert s.items == [1] and len(s) == 1 and list(s) == [1]",
    "p = Point(1)\nassert p is not None and p != None",
    "s = Stack()\ns = s.size()\nassert s == 0",
    "assert str(Point(1)) == 'p' and f'{Point(1)}' == 'p' and '%s' % Point(1) == 'p'",
    "assert isinstance(Point(1), Point) and Point(1).x == 1",
    "assert sorted([Card(1), Card(2)], key=lambda card: card.n)[0].n == 1",
    "assert Calculator.add(1, 2) == 3",
    "assert max(Countdown(4)) == 4 and sorted(Countdown(2)) == [1, 2]",
    "from solution import Stack\nassert Stack().pop() == 1",
    "assert favourite() == Color.BLUE",
    "assert Split([1, 2]) == [1]",
    "assert Find_Min([1, 2]) == 1",
    "assert A(2, 3) == 9",
    "assert gcd(4, 6) == 2 and mean([1, 3]) == 2",
]


@pytest.mark.parametrize("tests", UNSCORED)
def test_tests_that_would_let_the_program_compare_are_not_scored_and_the_line_is_named(tests):
    assert plan_suite(AssertSuite([tests])).unscored.startswith("line ")


@pytest.mark.parametrize("tests", SCORED)
def test_tests_that_use_objects_without_comparing_them_are_scored(tests):
    assert plan_suite(AssertSuite([tests])).unscored == ""


FILES = {
    "a fixture": "@pytest.fixture\ndef p():\n    return Point(1)\ndef test_p(p):\n    assert p == f(1)\n",
    "an attribute of the test case": (
        "class T(unittest.TestCase):\n    def setUp(self):\n        self.p = Point(1)\n"
        "    def test_p(self):\n        self.assertEqual(self.p, Point(1))\n"
    ),
    "a parameter": "@pytest.mark.parametrize('p', [Point(1)])\ndef test_p(p):\n    assert p == f(1)\n",
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_instances_are_followed_through_test_files(text):
    source = f"import unittest, pytest\nfrom solution import Point, f\n{text}"
    assert "objects of the program" in plan_suite(FileSuite(source)).unscored


@pytest.mark.parametrize(
    ("feature", "name"),
    [
        ("@pytest.mark.xfail\ndef test_f():\n    assert f(1) == 1\n", "pytest.mark.xfail"),
        ("@pytest.fixture(params=[1])\ndef x(request):\n    return 1\n", "params"),
        ("def test_f():\n    with pytest.warns(UserWarning):\n        f(1)\n", "pytest.warns"),
        ("@unittest.expectedFailure\ndef test_f():\n    assert f(1) == 1\n", "expectedFailure"),
        ("def test_f(monkeypatch):\n    monkeypatch.setenv('A', 'b')\n    assert f(1) == 1\n", "monkeypatch.setenv"),
        (
            "def test_f(monkeypatch):\n    monkeypatch.setattr('time.time', lambda: 1)\n    assert f(1) == 1\n",
            "time.time",
        ),
        ("def test_f():\n    match f(1):\n        case n:\n            assert n == 1\n", "match"),
        ("@mock.patch('os.getcwd')\ndef test_f(cwd):\n    assert f(1) == 1\n", "os.getcwd"),
        ("from unittest.mock import patch\nwith patch.dict({}, {}):\n    assert f(1) == 1\n", "patch.dict"),
    ],
)
def test_a_feature_that_is_not_supported_is_named_with_its_line(feature, name):
    with pytest.raises(InvalidTrajectory, match=rf"line \d+: .*{name}"):
        plan_suite(FileSuite(f"import pytest, unittest\nfrom unittest import mock\nfrom solution import f\n{feature}"))


@pytest.mark.parametrize(
    ("tests", "program"),
    [
        ("import math\nassert math.isclose(root(4), 2)", ("root",)),
        ("assert math.isclose(root(4), 2)", ("root",)),
        ("assert gcd(4, 6) == 2", ("gcd",)),
        ("assert encode('a') == 'b'\nassert decode('b') == 'a'", ("decode", "encode")),
        ("assert Counter('aab') == {'a': 2}", ("Counter",)),
    ],
)
def test_a_name_that_the_tests_do_not_define_is_the_programs(tests, program):
    assert tuple(plan_suite(AssertSuite([tests])).program) == program


@pytest.mark.parametrize(
    "tests",
    ["assert ok(f(1), 2)", "r = f(1)\nassert ok(r, 2)", "for r in f(1):\n    assert ok(r)", "g = ok\nassert g(f(1))"],
)
def test_a_function_that_could_grade_another_is_not_taken_from_the_program(tests):
    with pytest.raises(InvalidTrajectory, match="which neither they nor the data set define"):
        plan_suite(AssertSuite([tests]))


@pytest.mark.parametrize("tests", ["return 1\nassert f(1) == 1", "nonlocal x\nassert f(1) == 1", "assert f(1) == = 1"])
def test_tests_that_cannot_be_compiled_are_not_scored(tests):
    with pytest.raises(InvalidTrajectory, match=r"cannot be (compiled|parsed)"):
        plan_suite(AssertSuite([tests]))


def test_an_undefined_function_that_gets_what_an_imported_one_returned_is_not_taken_from_the_program():
    for suite in (
        AssertSuite(["from solution import f\nassert same(f(1), 2)"]),
        FileSuite("from solution import f\ndef test_f():\n    assert same(f(1), 2)\n"),
    ):
        with pytest.raises(InvalidTrajectory, match="the tests use same, which neither"):
            plan_suite(suite)


def test_a_function_that_tests_check_on_their_own_values_is_the_programs():
    tests = "assert decode('bc') == 'ab'\nassert decode(encode('x')) == 'x'"
    assert tuple(plan_suite(AssertSuite([tests])).program) == ("decode", "encode")


@pytest.mark.parametrize(
    "tests",
    [
        "assert decode(encode('x')) == 'x'",
        "assert ok([1, 2]) == True\nassert ok(f([2, 1])) == True",
        "assert distance(3, 3) == 0\nassert distance(f(1), 3) == 0",
        "assert norm(3) == 3\nassert norm(f(1)) == norm(4)",
        "assert shown(1) == '1'\nassert shown(f(1))",
    ],
)
def test_a_function_that_may_grade_another_stays_unscored(tests):
    with pytest.raises(InvalidTrajectory, match="which neither they nor the data set define"):
        plan_suite(AssertSuite([tests]))
