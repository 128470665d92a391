"""Verdicts on honest programs are those of one process; programs that lie about their objects are never paid."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plaudit.sandbox import AssertSuite, FileSuite, Job, RunLimits, Sandbox
from plaudit.sandbox.judging.judge import Judge

LIMITS = RunLimits(cpu_s=0.5, wall_s=10.0)
many = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def judge():
    with Sandbox() as sandbox:
        yield Judge(sandbox)


def passes_apart(judge, source, tests):
    verdict = judge.judge(Job(source, [AssertSuite([tests])], LIMITS))
    assert not verdict.refusal, verdict.refusal
    return verdict.passed


def results_apart(judge, source, *tests):
    """Which of several tests a program passes, in one process."""
    verdict = judge.judge(Job(source, [AssertSuite([*tests, "pass"])], LIMITS, stop_early=False))
    assert not verdict.refusal, verdict.refusal
    return [result.passed for result in verdict.results[:-1]]


def passes_in_one_process(source, tests):
    try:
        exec(f"{source}\n{tests}", {"__name__": "one_process"})
    except Exception:
        return False
    return True


BODIES = {
    "put": ["self.kept.append(value)", "self.kept = value", "self.kept += [value]",
        "value.append(9)\n        self.kept = [value]"],
    "items": ["return self.kept", "return list(self.kept)", "return [self.kept, self.kept]",
        "return {'kept': self.kept}"],
    "clear": ["self.kept.clear()", "self.kept = []", "del self.kept[:1]", "raise ValueError(self.kept)"],
}  # fmt: skip
FUNCTIONS = [
    "def grow(value, into=[]):\n    into.append(value)\n    return into",
    "def grow(value, into=None):\n    into = [] if into is None else into\n    into.append(value)\n    return into",
    "def grow(value):\n    value.append(value[:1])\n    return value",
    "def grow(value):\n    return [[value] * 2] * 2",
]
LINES = [
    "box.put(xs)", "box.put(ys)", "box.put([1])", "r = box.items()", "r = grow(xs)", "r = grow(ys)", "xs.append(2)",
    "ys[:] = xs", "xs = ys", "r.append(5)", "r[0] = 7", "box.clear()", "xs = box.items()", "ys = [xs, xs]",
]  # fmt: skip

honest = st.builds(
    lambda put, items, clear, function: (
        "class Box:\n    def __init__(self):\n        self.kept = []\n"
        f"    def put(self, value):\n        {put}\n    def items(self):\n        {items}\n"
        f"    def clear(self):\n        {clear}\n{function}\n"
    ),
    *(st.sampled_from(bodies) for bodies in BODIES.values()),
    st.sampled_from(FUNCTIONS),
)


@many
@given(
    honest,
    st.lists(st.sampled_from(LINES), max_size=8),
    st.sampled_from(["xs", "ys", "r", "box.items()"]),
    st.booleans(),
)
def test_calls_changes_and_aliases_have_the_effect_that_they_have_in_one_process(judge, source, lines, shown, is_right):
    tests = "box = Box()\nxs, ys, r = [1], [], [0]\n" + "".join(
        f"try:\n    {line}\nexcept Exception as error:\n    pass\n" for line in lines
    )
    scope = {"__name__": "one_process"}
    exec(f"{source}\n{tests}", scope)
    expected = repr(eval(shown, scope))
    if "..." in expected:
        expected = "[...]"
    tests += (
        f"box.items()\nassert repr({shown}) == {expected!r}\n" if is_right else f"box.items()\nassert {shown} == [3]\n"
    )
    assert passes_apart(judge, source, tests) is passes_in_one_process(source, tests)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.integers(0, 9), inner, max_size=3)
        | st.sets(st.integers(), max_size=3)
    ),
    max_leaves=8,
)  # fmt: skip


@many
@given(plain, plain)
def test_a_value_passes_where_it_is_equal_to_the_expected_one(judge, returned, expected):
    source = f"inf = float('inf')\ndef f():\n    return {returned!r}\n"
    tests = [f"inf = float('inf')\nassert f() == {value!r}\n" for value in (expected, returned)]
    assert results_apart(judge, source, *tests) == [returned == expected, True]


@many
@given(st.dictionaries(st.integers(0, 9), plain, max_size=3), st.sampled_from(["keys", "values", "items"]))
def test_a_view_of_a_dict_has_the_items_that_it_has_in_one_process(judge, content, view):
    start = "inf = float('inf')\n"
    source = f"{start}def f():\n    return {content!r}.{view}()\n"
    shown = list(getattr(content, view)())
    right = [f"{start}assert list(f()) == {shown!r}\nassert len(f()) == {len(shown)}\n"]
    wrong = [f"{start}assert list(f()) == {[*shown, 'more']!r}\n"]
    if view == "keys":
        right.append(f"assert f() == {set(content) or set()!r}\n")
        wrong.append(f"assert f() == {set(content) | {10}!r}\n")
    assert results_apart(judge, source, *right, *wrong) == [True] * len(right) + [False] * len(wrong)


MEMBERS = ["str(f(3))", "f(3)", "f(3).value", "f(3).name", "[f(3)]", "{f(3): 1}", "f'{f(3)}'", "''.join([f(3)])"]


@pytest.mark.parametrize("expression", MEMBERS)
@pytest.mark.parametrize("lie", ["", "__eq__ = lambda self, other: True", "__hash__ = lambda self: hash('x')"])
def test_a_member_of_an_enum_is_its_value_with_its_own_text(judge, expression, lie):
    source = f"import enum\nclass E(str, enum.Enum):\n    A = 'a'\n    {lie}\ndef f(x):\n    return E.A\n"
    scope = {"__name__": "one_process"}
    exec(source.replace(lie or "\0", ""), scope)
    expected = eval(expression, scope)
    shown = {"[f(3)]": "['a']", "{f(3): 1}": "{'a': 1}"}.get(
        expression, repr(str.__str__(expected) if expression == "f(3)" else expected)
    )
    if not lie:
        assert passes_apart(judge, source, f"assert {expression} == {shown}\n")
    wrong = {"[f(3)]": "['x']", "{f(3): 1}": "{'x': 1}"}.get(expression, "'x'")
    assert not passes_apart(judge, source, f"assert {expression} == {wrong}\n")


LIES = [
    "__eq__ = lambda self, other: True", "__ne__ = lambda self, other: False", "__hash__ = lambda self: hash(14)",
    "__lt__ = __le__ = __gt__ = __ge__ = lambda self, other: True", "__len__ = lambda self: 2",
    "__iter__ = lambda self: iter([Lie(), Lie()])", "__contains__ = lambda self, other: True",
    "__getitem__ = lambda self, key: Lie()", "__getattr__ = lambda self, name: Lie()",
    "__call__ = lambda self, *a, **k: Lie()",
    "__add__ = __sub__ = __radd__ = __rsub__ = __mul__ = __mod__ = __abs__ = lambda self, *other: Lie()",
    "__bool__ = lambda self: bool(Lie.turn.append(1)) or len(Lie.turn) % 2 == 1",
    "__str__ = __repr__ = lambda self: 'lie'",
    "__float__ = lambda self: 13.0", "__int__ = __index__ = lambda self: 13",
    "__instancecheck__ = lambda self, other: True",
]  # fmt: skip
CHECKS = [
    "assert f(3) == 14", "assert not f(3) != 14", "assert f(3) in (14, 15)", "assert f(3) in {14: 1}",
    "assert 14 == f(3)",
    "assert f(3) > 13", "assert not f(3) < 14",
    "assert abs(f(3) - 14) < 1e-6", "assert [f(3)] == [14]", "assert {'a': f(3)} == {'a': 14}", "assert f(3) + 0 == 14",
    "assert sorted([f(3), 1]) == [1, 14]", "assert isinstance(f(3), int) and f(3) == 14", "assert type(f(3)) is int",
    "assert max(f(3), 0) == 14", "assert sum([f(3)]) == 14", "assert str(f(3)) == '14'", "assert (f(3), 1) == (14, 1)",
    "assert len(f(3)) == 2 and f(3)[0] == 14", "assert list(f(3)) == [1, 14]", "assert 14 in f(3) and 13 not in f(3)",
    "assert all(a == b for a, b in zip(f(3), [1, 14]))", "assert not any(a != b for a, b in zip(f(3), [1, 14]))",
    "r = f(3)\ntry:\n    ok = r == 14\nexcept BaseException:\n    ok = True\nassert ok", "assert f(3).value == 14",
    "import math\nassert math.isclose(f(3), 14)", "assert round(f(3), 2) == 14", "assert f(3) is 14 or f(3) == 14",
]  # fmt: skip
NEGATED = ["assert f(3) not in [13]", "assert not (f(3) == 13)", "assert f(3) != 13", "assert f(3) not in {13}"]
BASES = ["", "(int)", "(str)", "(list)", "(dict)", "(float)", "(tuple)", "(set)"]


lying = st.tuples(st.sampled_from(BASES), st.sampled_from(CHECKS)) | st.tuples(st.just(""), st.sampled_from(NEGATED))


@many
@given(lying, st.lists(st.sampled_from(LIES), min_size=3, unique=True))
def test_a_program_that_lies_about_its_objects_is_never_paid(judge, lying, lies):
    base, check = lying
    source = (
        f"class Lie{base}:\n    turn = []\n" + "".join(f"    {lie}\n" for lie in lies) + "def f(x):\n    return Lie()\n"
    )
    assert not passes_apart(judge, source, check)


RAISED = [
    "class ValueError(Exception): pass",
    "class Other(Exception): __name__ = 'ValueError'",
    "class SystemExit(Exception): pass",
]
RAISING = [
    "def test_f():\n    with pytest.raises(ValueError):\n        f(3)\n",
    "def test_f():\n    with pytest.raises(SystemExit):\n        f(3)\n",
    "def test_f():\n    try:\n        f(3)\n    except ValueError:\n        return\n    assert False\n",
]


@pytest.mark.parametrize("tests", RAISING)
@pytest.mark.parametrize("definition", RAISED)
def test_an_exception_that_only_has_the_name_of_a_built_in_one_does_not_match_it(judge, definition, tests):
    name = definition.partition("(")[0].removeprefix("class ")
    source = f"{definition}\n{name}.__module__ = 'builtins'\ndef f(x):\n    raise {name}('x')\n"
    verdict = judge.judge(Job(source, [FileSuite(f"import pytest\nfrom solution import f\n{tests}")], LIMITS))
    assert not verdict.refusal
    assert not verdict.passed


HELD = [
    "got = {}", "got = 0\ngot += {}", "box = []\nbox.append({})\ngot = box[0]", "box = []\nbox += [{}]\ngot = box[-1]",
    "box = {{}}\nbox.update(a={})\ngot = box['a']", "box = SimpleNamespace()\nsetattr(box, 'a', {})\ngot = box.a",
    "box = queue.Queue()\nbox.put({})\ngot = box.get()", "box = []\nheapq.heappush(box, {})\ngot = box[0]",
    "def keep(value):\n    global got\n    got = value\nkeep({})", "def keep(got={}):\n    return got\ngot = keep()",
]  # fmt: skip
TOTALS = [
    "sum(xs)", "functools.reduce(operator.add, xs, 0)", "(lambda: sum(xs))()", "sum(x for x in xs)", "sum([*xs])",
    "functools.partial(sum, xs)()", "math.fsum(xs)", "sum(same)", "sum(rows[0])",
]  # fmt: skip
MEETING = [
    "assert got == {}", "assert {} == got", "want = {}\nassert got == want", "assert not got != {}",
    "def equal(a, b): return a == b\nassert equal(got, {})", "assert [got] == [{}]", "assert math.isclose(got, {})",
    "class Wanted:\n    total = {}\nassert got == Wanted.total", "assert functools.partial(operator.eq, {})(got)",
    "wanted = []\nheapq.heappush(wanted, {})\nassert [got] == wanted", "assert got.__eq__({})", "assert got - {} == 0",
    "assert (lambda value: value == {})(got)", "equal = lambda value: value == {}\nassert equal(got)",
    "def right(value): return value == {}\ntable = [right]\nassert table[0](got)", "assert math.isclose(a=got, b={})",
    "class Same:\n    def __call__(self, value): return value == {}\nassert Same()(got)", "got -= {}\nassert got == 0",
    "class Case:\n    def __init__(self, value): self.value = value\n    def right(self): assert self.value == {}\n"
    "Case(got).right()", "assert [*filter(lambda value: value != {}, [got])] == []", "assert got == {} or not xs",
    "pair = dict(a=got, b={})\nassert pair['a'] == pair['b']",
    "a, b = f'{{got}} {{{}}}'.split()\nassert float(a) == float(b)",
    "def steps():\n    value = yield\n    yield value == {}\nstep = steps()\nnext(step)\nassert step.send(got)",
]  # fmt: skip


@many
@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.sampled_from(HELD),
    st.sampled_from(TOTALS),
    st.sampled_from(MEETING),
)
def test_an_emptied_argument_is_never_paid_however_answer_and_total_meet(judge, xs, held, total, meeting):
    imports = "import functools, heapq, math, operator, queue\nfrom types import SimpleNamespace\n"
    start = f"xs = {xs!r}\nsame, rows = xs, [xs]\n"
    tests = f"{imports}{start}{held.format('f(xs)')}\n{meeting.format(total)}\n"
    assert passes_apart(judge, "def f(xs):\n    return sum(xs)\n", tests)
    assert not passes_apart(judge, "def f(xs):\n    xs.clear()\n    return 0\n", tests)


USES = [
    "open(f(1)).read()", "Path(f(1)).read_text()", "f(1).read_text()", "f(1).open()", "eval(f(1))", "__import__(f(1))",
    "g(iter(f(1)))", "g(reversed(f(1)))", "g(f(1).append)", "g([f(1)])", "g(type(f(1)))", "f(1)[Key()]", "f(1)[0]",
    "f(1)(lambda: 1)", "f(1).sort(key=lambda x: x)", "g(lambda: 1)", "g(Key())", "load(f(1))",
]  # fmt: skip
GIVEN = [
    "3", "'x'", "[1]", "(1,)", "{0: 1}", "Path('/nowhere')", "Any()", "Any", "len", "'open(chr(47))'", "iter([1])",
    "\"__import__('not_there')\"", "\"(_ for _ in ()).throw(FileNotFoundError(2, 'x'))\"", "SimpleNamespace(a=1)",
]  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_no_answer_decides_whether_tests_are_scored(judge, use):
    tests = (
        "from solution import f, g\nfrom pathlib import Path\nclass Key: pass\n"
        f"def load(place):\n    with place.open() as file:\n        return file.read()\nassert {use} == 7\n"
    )
    refusals = {}
    for answer in GIVEN:
        source = (
            "from pathlib import Path\nfrom types import SimpleNamespace\nclass Any:\n"
            "    def __getattr__(self, name):\n        if name[:2] == '__': raise AttributeError(name)\n"
            "        return lambda *a, **k: 0\n    __getitem__ = __call__ = lambda self, *a, **k: 0\n"
            f"def f(x): return {answer}\ndef g(x): return 0\n"
        )
        verdict = judge.judge(Job(source, [AssertSuite([tests])], LIMITS))
        assert not verdict.passed
        refusals[answer] = bool(verdict.refusal)
    assert len(set(refusals.values())) == 1, refusals
