"""Programs that do not solve their task and try to pass all the same, each with the tests it is made for.

The task: `total(numbers)` is the sum of the squares; as a script it reads numbers and prints that sum. None of the
programs computes it.
"""

from dataclasses import dataclass
from typing import Any

CHECK = """
def check(candidate):
    assert candidate([1, 2, 3]) == 14
    assert candidate([]) == 0
    assert candidate([5]) == 25
    assert abs(candidate([0.5]) - 0.25) < 1e-9
"""
FILE = """
import pytest
from solution import total


@pytest.mark.parametrize("given, expected", [([1, 2, 3], 14), ([], 0), ([5], 25)])
def test_total(given, expected):
    assert total(given) == expected


def test_half():
    assert total([0.5]) == pytest.approx(0.25)
"""
ASSERTS = {"tests": CHECK, "entry_point": "total"}
STREAM = {"inputs": ["1 2 3\n", "5\n", "2 2\n"], "outputs": ["14\n", "25\n", "8\n"]}
CALLS = {"inputs": [[[1, 2, 3]], [[]], [[5]]], "outputs": [14, 0, 25], "fn_name": "total"}


@dataclass(frozen=True)
class Forgery:
    """A program that cheats, and the tests it cheats on."""

    name: str
    source: str
    truth: Any


def _all(truth: Any, **sources: str) -> list[Forgery]:
    return [Forgery(name, source.strip() + "\n", truth) for name, source in sources.items()]


EXITS = _all(
    ASSERTS,
    sys_exit_at_import="import sys\nsys.exit(0)",
    os_exit_at_import="import os\nos._exit(0)",
    sys_exit_in_function="import sys\ndef total(n):\n    sys.exit(0)",
    os_exit_in_function="import os\ndef total(n):\n    os._exit(0)",
    raise_system_exit="def total(n):\n    raise SystemExit",
    exit_by_signal="import os, signal\ndef total(n):\n    os.kill(os.getpid(), signal.SIGTERM)",
    stop_itself="import os, signal\ndef total(n):\n    os.kill(os.getpid(), signal.SIGSTOP)",
    atexit_zero="import atexit, os\natexit.register(lambda: os._exit(0))\ndef total(n):\n    return -1",
    excepthook="import os, sys\nsys.excepthook = lambda *a: os._exit(0)\ndef total(n):\n    return -1",
    unraisable_hook="import os, sys\nsys.unraisablehook = lambda *a: os._exit(0)\ndef total(n):\n    return -1",
    keyboard_interrupt="def total(n):\n    raise KeyboardInterrupt",
    generator_exit="def total(n):\n    raise GeneratorExit",
    skip_test="import unittest\ndef total(n):\n    raise unittest.SkipTest('not today')",
    skip_at_import="import unittest\nraise unittest.SkipTest('no tests here')",
    thread_exits="""
import os, threading, time
def later():
    time.sleep(0.05)
    os._exit(0)
threading.Thread(target=later).start()
def total(n):
    time.sleep(1)
""",
    segfault="import ctypes\ndef total(n):\n    ctypes.string_at(0)",
    abort="import os\ndef total(n):\n    os.abort()",
)

OBJECTS = _all(
    ASSERTS,
    always_equal="class E:\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n    __sub__ = __abs__ = lambda s, *a: s\n    __lt__ = lambda s, o: True\ndef total(n):\n    return E()",
    equal_int="class E(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\n    __sub__ = __abs__ = lambda s, *a: s\n    __lt__ = lambda s, o: True\ndef total(n):\n    return E(7)",
    equal_float="class E(float):\n    __eq__ = lambda s, o: True\n    __sub__ = __abs__ = lambda s, *a: s\n    __lt__ = lambda s, o: True\n    __hash__ = float.__hash__\ndef total(n):\n    return E(7)",
    equal_str="class E(str):\n    __eq__ = lambda s, o: True\n    __sub__ = __abs__ = lambda s, *a: s\n    __lt__ = lambda s, o: True\n    __hash__ = str.__hash__\ndef total(n):\n    return E('x')",
    metaclass_equal="class M(type):\n    __eq__ = lambda s, o: True\n    __sub__ = __abs__ = lambda s, *a: s\n    __lt__ = lambda s, o: True\n    __hash__ = type.__hash__\nclass E(metaclass=M): pass\ndef total(n):\n    return E",
    lying_class="class E:\n    __class__ = int\n    __eq__ = lambda s, o: True\n    __sub__ = __abs__ = lambda s, *a: s\n    __lt__ = lambda s, o: True\ndef total(n):\n    return E()",
    function_is_a_class="class total(int):\n    def __new__(cls, n): return int.__new__(cls, 3)\n    __eq__ = lambda s, o: True\n    __sub__ = __abs__ = lambda s, *a: s\n    __lt__ = lambda s, o: True\n    __hash__ = None",
    mock_any="from unittest.mock import ANY\ndef total(n):\n    return ANY",
    magic_mock="from unittest.mock import MagicMock\ndef total(n):\n    m = MagicMock()\n    m.__eq__ = lambda s, o: True\n    return m",
    expected_from_reflection="class E:\n    def __eq__(self, other):\n        self.v = other\n        return True\n    __sub__ = __abs__ = lambda s, *a: s\n    __lt__ = lambda s, o: True\ndef total(n):\n    return E()",
    reduce_to_expected="class E:\n    def __reduce__(self): return (eval, ('14',))\n    __eq__ = lambda s, o: True\ndef total(n):\n    return E()",
    repr_as_answer="class E:\n    __repr__ = __str__ = lambda s: '14'\n    __eq__ = lambda s, o: True\ndef total(n):\n    return E()",
    not_a_number="def total(n):\n    return float('nan')",
    infinity="def total(n):\n    return float('inf')",
)  # fmt: skip

INTERPRETER = _all(
    ASSERTS,
    patched_assertion_error="import builtins\nbuiltins.AssertionError = type('Quiet', (Exception,), {'__init__': lambda *a: None})\ndef total(n):\n    return -1",
    assertion_error_is_base_exception="import builtins\nbuiltins.AssertionError = SystemExit\ndef total(n):\n    return -1",
    patched_abs_and_len="import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.len = lambda x: 0\ndef total(n):\n    return 0",
    settrace_jump="""
import sys
def tracer(frame, event, arg):
    if frame.f_code.co_name == 'check' and event == 'line':
        try:
            frame.f_lineno = frame.f_code.co_firstlineno + 4
        except Exception:
            pass
    return tracer
def total(n):
    frame = sys._getframe(1)
    while frame:
        frame.f_trace = tracer
        frame = frame.f_back
    sys.settrace(tracer)
    return 14
""",
    frame_walk_to_expected="""
import sys
def total(n):
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()) + list(frame.f_code.co_consts):
            if type(value) is int and value in (14, 25):
                return value
        frame = frame.f_back
    return -1
""",
    frame_walk_to_check="""
import sys
def total(n):
    frame = sys._getframe()
    while frame:
        if 'check' in frame.f_globals:
            frame.f_globals['check'] = lambda c: None
        frame = frame.f_back
    return -1
""",
    bytecode_of_the_tests="""
import gc, types
def total(n):
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__name__ == 'check':
            thing.__code__ = (lambda candidate: None).__code__
    return -1
""",
    constants_from_gc="""
import gc
def total(n):
    for thing in gc.get_objects():
        if type(thing) is tuple and 14 in thing and 25 in thing:
            return 14
    return -1
""",
    own_check_function="def check(candidate):\n    return True\ndef total(n):\n    return -1",
    own_check_in_builtins="import builtins\nbuiltins.check = lambda c: True\ndef total(n):\n    return -1",
    audit_hook="import sys\nsys.addaudithook(lambda *a: None)\ndef total(n):\n    return -1",
    profile_hook="import os, sys\nsys.setprofile(lambda *a: None)\ndef total(n):\n    return -1",
    import_hook="""
import sys
class Finder:
    def find_spec(self, *a): return None
sys.meta_path.insert(0, Finder())
def total(n):
    return -1
""",
    poisoned_json="import json\njson.dumps = lambda *a, **k: '[\"returned\", 14]'\njson.loads = lambda *a, **k: 14\ndef total(n):\n    return -1",
    poisoned_encoder="""
import gc, sys
def total(n):
    for thing in gc.get_objects():
        if isinstance(thing, dict) and thing.get('__name__') in ('plaudit.sandbox.inside.runtime', 'plaudit.sandbox.values'):
            for name in list(thing):
                if callable(thing[name]) and not name.startswith('__'):
                    thing[name] = lambda *a, **k: True
    return -1
""",
    traceback_frames_of_the_runtime="""
def total(n):
    try:
        raise ValueError
    except ValueError as error:
        frame = error.__traceback__.tb_frame
        while frame.f_back:
            frame = frame.f_back
            for name in list(frame.f_locals):
                frame.f_locals[name] = None
    return -1
""",
    recursion_limit="import sys\nsys.setrecursionlimit(20)\ndef total(n):\n    return -1",
    optimised_away="import sys\nsys.flags = type('F', (), {'optimize': 2})\n__debug__ = False if False else True\ndef total(n):\n    return -1",
    patched_clock="import time\ntime.time = time.monotonic = lambda: 0\ndef total(n):\n    return -1",
)  # fmt: skip

CHANNEL = _all(
    ASSERTS,
    forged_frame="""
import os, struct
def total(n):
    body = b'["returned",14]'
    for fd in range(3, 20):
        try:
            os.write(fd, struct.pack('<I', len(body)) + body)
        except OSError:
            pass
    return -1
""",
    forged_verdict="""
import os
def total(n):
    for fd in range(3, 20):
        for text in (b'{"passed": true}', b'passed', b'\\x80\\x04\\x88.', b'r\\x00\\x00\\x00\\x02ok'):
            try:
                os.write(fd, text)
            except OSError:
                pass
    return -1
""",
    oversized_frame="import os\ndef total(n):\n    os.write(3, b'\\xff\\xff\\xff\\x7f' + b'x' * 100)\n    return -1",
    truncated_frame="import os, struct\ndef total(n):\n    os.write(3, struct.pack('<I', 100) + b'[')\n    os._exit(0)",
    deep_json="import os, struct\ndef total(n):\n    body = b'[' * 100000\n    os.write(3, struct.pack('<I', len(body)) + body)\n    return -1",
    closed_channel="import os\ndef total(n):\n    for fd in range(3, 64):\n        try:\n            os.close(fd)\n        except OSError:\n            pass\n    return -1",
    forged_handle="import os, struct\ndef total(n):\n    body = b'[\"returned\",{\"@\":0}]'\n    os.write(3, struct.pack('<I', len(body)) + body)\n    return -1",
    surrogates_in_error="def total(n):\n    raise ValueError('\\ud800' * 50)",
    surrogates_in_name="def total(n):\n    raise type('E\\ud800', (Exception,), {})('x')",
    error_named_after_ours="class ProgramLost(BaseException): pass\nclass StopTests(BaseException): pass\ndef total(n):\n    raise StopTests()",
    prints_passed="print('4 passed in 0.01s')\ndef total(n):\n    print('4 passed', flush=True)\n    return -1",
    prints_and_exits="import os\nprint('4 passed in 0.01s', flush=True)\nos._exit(0)",
    nul_and_garbage="import os\ndef total(n):\n    os.write(1, bytes(range(256)))\n    return -1",
    colliding_keys="def total(n):\n    return {i * (2 ** 61 - 1): 0 for i in range(30000)}",
    huge_integer="def total(n):\n    return 7 ** 400000",
    endless_generator="def total(n):\n    while True:\n        yield 14",
    deep_list="def total(n):\n    x = []\n    for _ in range(5000):\n        x = [x]\n    return x",
)  # fmt: skip

PYTEST = _all(
    FILE,
    conftest_written="""
open('conftest.py', 'w').write('def pytest_collection_modifyitems(items): items.clear()')
def total(n):
    return -1
""",
    runtest_patched="""
import sys
for name, module in list(sys.modules.items()):
    if name == '_pytest.runner':
        module.runtestprotocol = lambda *a, **k: []
        module.pytest_runtest_protocol = lambda *a, **k: True
        module.call_and_report = lambda *a, **k: None
def total(n):
    return -1
""",
    report_always_passed="""
try:
    import _pytest.reports as reports
    first = reports.TestReport.from_item_and_call.__func__
    def forged(cls, item, call):
        report = first(cls, item, call)
        report.outcome, report.longrepr = 'passed', None
        return report
    reports.TestReport.from_item_and_call = classmethod(forged)
except ImportError:
    pass
def total(n):
    return -1
""",
    pytest_skip_at_import="try:\n    import pytest\n    pytest.skip('no', allow_module_level=True)\nexcept ImportError:\n    pass\ndef total(n):\n    return -1",
    pytest_skip_in_function="def total(n):\n    import pytest\n    pytest.skip('no')",
    pytest_xfail_in_function="def total(n):\n    import pytest\n    pytest.xfail('no')",
    pytest_exit="def total(n):\n    import pytest\n    pytest.exit('done', returncode=0)",
    tests_deleted="""
import glob, os
for name in glob.glob('test_*.py') + glob.glob('tests/*'):
    os.remove(name)
def total(n):
    return -1
""",
    tests_read_from_disk="""
import glob, re
def total(n):
    for name in glob.glob('test_*.py') + glob.glob('/tmp/**/test_*.py', recursive=True):
        for given, expected in re.findall(r'\\((\\[[^\\]]*\\]), (\\d+)\\)', open(name).read()):
            if eval(given) == n:
                return int(expected)
    return -1
""",
    approx_patched="""
try:
    import pytest
    class Same:
        def __init__(self, *a, **k): pass
        __eq__ = lambda s, o: True
    pytest.approx = Same
except ImportError:
    pass
class E(int):
    __eq__ = lambda s, o: True
    __hash__ = None
def total(n):
    return E()
""",
    sitecustomize="import os\ntry:\n    open('sitecustomize.py', 'w').write('import os; os._exit(0)')\nexcept OSError:\n    pass\ndef total(n):\n    return -1",
    tests_of_its_own="def total(n):\n    return -1\ndef test_total():\n    assert True\ndef test_half():\n    assert True",
    exit_zero_from_file="import os\nos._exit(0)",
)  # fmt: skip

STREAMS = _all(
    STREAM,
    prints_nothing="",
    prints_passed_only="print('passed')",
    short_output="import sys\nsys.exit(0)",
    all_candidates="for n in range(100):\n    print(n)",
    prints_then_fails="print(14)\nraise SystemExit(1)",
    reads_the_answers="import glob\nfor name in glob.glob('/**/*', recursive=False):\n    try:\n        print(open(name).read())\n    except OSError:\n        pass",
    output_through_descriptors="import os\nfor fd in range(1, 10):\n    try:\n        os.write(fd, b'14\\n25\\n8\\n')\n    except OSError:\n        pass",
    nul_padding="print('14\\x0025\\x008')",
    invalid_utf8="import os\nos.write(1, b'\\xff\\xfe14\\n')",
)  # fmt: skip

CALLED = _all(
    CALLS,
    calls_always_equal="class E(int):\n    __eq__ = lambda s, o: True\n    __hash__ = None\ndef total(n):\n    return E()",
    calls_exit="import os\ndef total(n):\n    os._exit(0)",
    solution_class_lies="class Solution:\n    def total(self, n):\n        return type('E', (), {'__eq__': lambda s, o: True})()",
    list_of_everything="def total(n):\n    return [14, 0, 25]",
    wrapped_in_a_tuple="def total(n):\n    return (14,)",
)  # fmt: skip

# Tests that are weak in a way of their own; each program is made for them.
SHAPES = [
    Forgery("stop_iteration_ends_the_loop", "def total(n):\n    raise StopIteration\n",
            {"tests": ["assert all(total([k]) == k * k for k in range(4))", "assert all(map(total, [[1], [2]]))"]}),
    Forgery("stop_iteration_in_map", "def total(n):\n    raise StopIteration\n",
            {"tests": "assert all(v == 1 for v in map(total, [[1], [1]]))\n"}),
    Forgery("contains_everything", "class E:\n    __contains__ = lambda s, x: True\n    __iter__ = lambda s: iter(())\ndef total(n):\n    return E()\n",
            {"tests": "assert 14 in total([1, 2, 3])\n"}),
    Forgery("function_of_a_class_that_contains_everything",
            "class total:\n    def __init__(self, n): pass\n    __contains__ = lambda s, x: True\n    __iter__ = lambda s: iter(())\n",
            {"tests": "assert 14 in total([1, 2, 3])\n"}),
    Forgery("empties_its_argument", "def total(n):\n    n.clear()\n    return 0\n",
            {"tests": "x = [1, 2, 3]\nassert total(x) == sum(k * k for k in x)\n"}),
    Forgery("rewrites_its_argument", "def total(n):\n    n[:] = [0]\n    return 0\n",
            {"tests": "x = [1, 2, 3]\nfound = total(x)\nassert found == sum(k * k for k in x)\n"}),
    Forgery("two_faces", "class E(list):\n    def __iter__(self): return iter([3, 1, 2])\n    def __getitem__(self, k): return 0\n    def __len__(self): return 3\ndef ordered(n):\n    return E()\n",
            {"tests": "r = ordered([3, 1, 2])\nassert sorted(r) == [1, 2, 3] and all(r[k] <= r[k + 1] for k in range(2))\n"}),
    Forgery("nan_is_not_above", "def total(n):\n    return float('nan')\n",
            {"tests": "v = total([1, 2, 3])\nassert not (v < 14 - 1e-6 or v > 14 + 1e-6)\n"}),
    Forgery("nan_in_a_list", "def squares(n):\n    return [float('nan')] * len(n)\n",
            {"tests": "assert not any(abs(a - b * b) > 1e-6 for a, b in zip(squares([1, 2]), [1, 2], strict=True))\n"}),
    Forgery("brings_its_own_sorted", "sorted = lambda *a, **k: 0\nset = lambda *a: 0\ndef squares(n):\n    return []\n",
            {"tests": "assert sorted(squares([1, 2])) == sorted([1, 4])\nassert set(squares([1])) == set([1])\n"}),
    Forgery("brings_its_own_math", "class math:\n    isclose = staticmethod(lambda *a, **k: True)\ndef total(n):\n    return 0\n",
            {"tests": ["assert math.isclose(total([1, 2, 3]), 14)"]}),
    Forgery("brings_its_own_counter", "Counter = lambda *a: 0\ndef squares(n):\n    return []\n",
            {"tests": "assert Counter(squares([1, 2])) == Counter([1, 4])\n"}),
    Forgery("redefines_the_prompts_helper", "def poly(xs, x):\n    return 0\ndef find_zero(xs):\n    return 0\n",
            {"tests": "def check(candidate):\n    assert abs(poly([1, 2], candidate([1, 2]))) < 1e-4\n", "entry_point": "find_zero",
             "prompt": "def poly(xs, x):\n    return sum(c * x ** i for i, c in enumerate(xs))\n\n\ndef find_zero(xs):\n    '''A zero.'''\n"}),
    Forgery("dies_in_a_bare_except", "import os\ndef total(n):\n    os._exit(0)\n",
            {"tests": "def check(candidate):\n    try:\n        candidate([1])\n    except BaseException:\n        pass\n", "entry_point": "total"}),
    Forgery("hangs_in_a_bare_except", "def total(n):\n    while True: pass\n",
            {"tests": "def check(candidate):\n    try:\n        assert candidate([1]) == 1\n    except:\n        pass\n", "entry_point": "total"}),
    Forgery("skips_when_it_returns_none", "def total(n):\n    return None\n",
            "import pytest\nfrom solution import total\ndef test_total():\n    if total([1]) is None:\n        pytest.skip('not implemented')\n    assert total([1]) == 1\n"),
    Forgery("skips_a_test_case", "def total(n):\n    return None\n",
            "import unittest\nfrom solution import total\nclass TestTotal(unittest.TestCase):\n    def test_total(self):\n        if total([1]) is None:\n            self.skipTest('not implemented')\n        self.assertEqual(total([1]), 1)\n"),
    Forgery("zero_tests_of_its_own_length", "def squares(n):\n    return []\n",
            {"tests": "assert squares([1, 2]) == [1, 4]\nfor one in squares([1, 2]):\n    assert one > 0\n"}),
    Forgery("hard_coded_visible_tests", "def total(n):\n    return {(1, 2, 3): 14, (): 0, (5,): 25, (0.5,): 0.25}.get(tuple(n), -1)\n",
            {**ASSERTS, "hidden_tests": ["assert total([2, 2]) == 8", "assert total([10]) == 100"]}),
    Forgery("equal_to_itself_only", "class E:\n    __eq__ = lambda s, o: True\nE1 = E()\ndef total(n):\n    return E1\ndef twice(n):\n    return E1\n",
            {"tests": "assert total([1, 2]) == twice([1, 2]) and total([1, 2]) == 5\n"}),
    Forgery("slow_to_compare", "def total(n):\n    return range(10 ** 15)\n", {"tests": "assert sum(total([1])) == 1\n"}),
    Forgery("true_for_every_truth", "class Truth:\n    __bool__ = lambda s: True\n    __eq__ = lambda s, o: True\ndef is_square(n):\n    return Truth()\n",
            {"tests": ["assert is_square(4) == True", "assert is_square(5) == False", "assert is_square(9) is True"]}),
]  # fmt: skip

FORGERIES = [*EXITS, *OBJECTS, *INTERPRETER, *CHANNEL, *PYTEST, *STREAMS, *CALLED, *SHAPES]
