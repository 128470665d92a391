"""One program in its process: what comes back from loading and calling it, and how it can end."""

import signal

import pytest

from plaudit.errors import InvalidSettings, SandboxError
from plaudit.sandbox import CallStatus, Opaque, RunLimits, Sandbox, Tier

SHORT = RunLimits(cpu_s=0.3, wall_s=0.5)
TIGHT = RunLimits(cpu_s=0.3, wall_s=60.0, memory_mb=128, output_bytes=10_000, result_bytes=10_000)


DEEP = """
import sys, threading
sys.setrecursionlimit(10**6)
threading.stack_size(1 << 27)
def f(n): return n and 1 + f(n - 1)
threading.Thread(target=lambda: print(f(50000))).start()
"""


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        yield sandbox


def called(sandbox, source, path="f", *args, limits=None, **kwargs):
    with sandbox.open(limits) as program:
        loaded = program.load(source)
        assert loaded.status is CallStatus.RETURNED, loaded.reason
        return program.call(path, list(args), kwargs)


def ran(sandbox, source, stdin=b"", limits=None):
    with sandbox.open(limits) as program:
        return program.load(source, stdin)


@pytest.mark.parametrize(
    ("source", "path", "args", "kwargs", "value"),
    [
        ("def f(x): return x + 1", "f", [41], {}, 42),
        ("def f(x, *, y): return (x, y)", "f", ["a"], {"y": {1}}, ("a", {1})),
        ("class Solution:\n    def f(self, x): return [x]", "Solution().f", [1.5], {}, [1.5]),
        ("class A:\n    class B:\n        @staticmethod\n        def f(): return b'x'", "A.B.f", [], {}, b"x"),
        ("import math\nf = math.gcd", "f", [10**30, 10**20], {}, 10**20),
        ("from collections import Counter as f", "f", ["aab"], {}, {"a": 2, "b": 1}),
    ],
    ids=["function", "keywords", "method", "dotted", "builtin", "class"],
)
def test_a_call_gives_the_value(sandbox, source, path, args, kwargs, value):
    outcome = called(sandbox, source, path, *args, **kwargs)
    assert (outcome.status, outcome.value) == (CallStatus.RETURNED, value)
    assert outcome.tier is sandbox.protections.tier


def test_changes_to_arguments_are_visible_to_the_caller(sandbox):
    first, second = [1], {2: 3}
    called(sandbox, "def f(x, y): x.append(y); y.clear()", "f", first, second)
    assert first == [1, {}]
    assert first[1] is second


def test_an_exception_is_described_by_its_classes_and_its_line(sandbox):
    source = "class Odd(ValueError): pass\ndef f(x):\n    raise Odd('not even')"
    error = called(sandbox, source, "f", 1).error
    assert (error.name, error.message, error.line) == ("Odd", "not even", 3)
    assert error.classes[:2] == ("program:Odd", "builtins:ValueError")


def test_a_class_that_only_has_the_name_of_a_standard_exception_is_not_described_as_one(sandbox):
    source = "class KeyError(Exception): pass\nKeyError.__module__ = 'builtins'\ndef f(x):\n    raise KeyError('x')"
    assert called(sandbox, source, "f", 1).error.classes[0] == "program:KeyError"


def test_a_missing_function_is_a_name_error(sandbox):
    assert called(sandbox, "def g(): pass").error.name == "NameError"


def test_a_value_that_is_not_plain_stays_and_can_be_used_by_its_number(sandbox):
    with sandbox.open() as program:
        program.load("def f(n):\n    yield from range(n)")
        kept = program.call("f", [4]).value
        assert (type(kept), kept.type_name) == (Opaque, "generator")
        assert [program.call(f"@{kept.key}.__next__").value for _ in range(2)] == [0, 1]


@pytest.mark.parametrize("depth", [300, 100_000])
def test_a_value_that_is_nested_too_deeply_is_a_failure_of_the_program(sandbox, depth):
    source = f"def f():\n    x = []\n    for _ in range({depth}): x = [x]\n    return x"
    assert called(sandbox, source).status is CallStatus.RESULT_LIMIT


def test_large_arguments_and_results_travel_both_ways_at_once(sandbox):
    big = list(range(100_000))
    with sandbox.open() as program:
        program.load("def f(x): return x[::-1]")
        values = [program.call("f", [big]).value for _ in range(3)]
    assert values == [big[::-1]] * 3


@pytest.mark.parametrize(
    ("source", "stdin", "stdout"),
    [
        ("n = int(input())\nprint(n * 2)", b"21\n", b"42\n"),
        ("import sys\nprint(sum(map(int, sys.stdin.buffer.read().split())))", b"1 2\n3", b"6\n"),
        ("import sys\nfor line in sys.stdin: print(line.strip()[::-1])", b"ab\ncd\n", b"ba\ndc\n"),
        ("import os\nos.write(1, os.read(0, os.fstat(0).st_size).upper())", b"abc", b"ABC"),
        ("print(open(0).read().split())", b"a b", b"['a', 'b']\n"),
        ("if __name__ == '__main__': print('main')", b"", b"main\n"),
        ("import threading\nthreading.Thread(target=lambda: print('late')).start()", b"", b"late\n"),
        ("import atexit\natexit.register(lambda: print('last'))\nprint('first')", b"", b"first\nlast\n"),
        ("import sys, io\nsys.stdout = io.StringIO()\nprint(1)\nsys.__stdout__.write('2')", b"", b"2"),
        ("import os, sys\nout = os.fdopen(1, 'w', closefd=False)\nout.write('a')\nsys.stdout.flush()", b"", b"a"),
        ("try: f = open('input.txt')\nexcept FileNotFoundError: print(input())", b"fallback", b"fallback\n"),
        (DEEP, b"", b"50000\n"),
    ],
    ids=[
        "input",
        "buffer",
        "lines",
        "descriptors",
        "open(0)",
        "main",
        "thread",
        "atexit",
        "replaced",
        "second handle",
        "input.txt",
        "deep",
    ],
)
def test_a_script_reads_its_input_and_its_output_is_kept(sandbox, source, stdin, stdout):
    outcome = ran(sandbox, source, stdin)
    assert (outcome.status, outcome.stdout) == (CallStatus.RETURNED, stdout)


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("exit()", 0),
        ("import sys; sys.exit(3)", 3),
        ("import os; print('x', flush=True); os._exit(4)", 4),
        ("raise SystemExit('words')", 1),
    ],
)
def test_sys_exit_is_reported_with_its_exit_code(sandbox, source, code):
    outcome = ran(sandbox, source)
    assert (outcome.status, outcome.exit_code) == (CallStatus.EXITED, code)


@pytest.mark.parametrize(
    ("source", "ending"),
    [
        ("while True: pass", CallStatus.CPU_LIMIT),
        ("x = bytearray(1 << 30)", CallStatus.MEMORY),
        ("while True: print('x' * 100)", CallStatus.OUTPUT_LIMIT),
        ("print('x' * 10_001)", CallStatus.OUTPUT_LIMIT),
        ("import os; os.abort()", CallStatus.CRASHED),
        ("import os; os.write(3, b'garbage!')", CallStatus.RESULT_LIMIT),
        ("import os; os.write(3, b'\\x02\\x00\\x00\\x00[]')", CallStatus.BAD_REPLY),
        ("def f(: pass", CallStatus.RAISED),
    ],
)
def test_each_way_to_end_without_an_answer_has_its_status(sandbox, source, ending):
    assert ran(sandbox, source, limits=TIGHT).status is ending


def test_waiting_is_ended_by_the_clock_on_the_wall(sandbox):
    assert ran(sandbox, "import time; time.sleep(100)", limits=SHORT).status is CallStatus.WALL_LIMIT


def test_output_up_to_the_limit_is_no_flood(sandbox):
    assert ran(sandbox, "import sys; sys.stdout.write('x' * 10_000)", limits=TIGHT).status is CallStatus.RETURNED


def test_a_result_that_is_too_large_ends_the_program(sandbox):
    outcome = called(sandbox, "def f(): return 'x' * 20_000", limits=TIGHT)
    assert outcome.status is CallStatus.RESULT_LIMIT


def test_after_its_end_a_program_answers_every_call_with_that_end(sandbox):
    with sandbox.open() as program:
        program.load("import os\ndef f(): os._exit(0)")
        assert [program.call("f").status for _ in range(2)] == [CallStatus.EXITED] * 2


def test_a_program_that_closes_its_channel_can_still_print_and_leave(sandbox):
    outcome = ran(sandbox, "import os\nos.close(3)\nos.write(1, b'done')\nos._exit(0)")
    assert (outcome.status, outcome.stdout) == (CallStatus.EXITED, b"done")


def test_two_programs_share_nothing(sandbox):
    ran(sandbox, "import builtins, sys\nbuiltins.len = None\nsys.modules['json'] = None")
    assert called(sandbox, "import json\ndef f(): return len(json.dumps([1]))").value == 3


def test_sets_are_printed_the_same_way_by_every_server():
    source = "print({'a', 'b', 'c', 'd', 'e'})"
    outputs = set()
    for _ in range(2):
        with Sandbox() as sandbox:
            outputs.add(ran(sandbox, source).stdout)
    assert len(outputs) == 1


MODULES = "asyncio unittest xml.etree.ElementTree logging csv hashlib argparse uuid pickle"


@pytest.mark.parametrize("module", MODULES.split())
def test_the_rest_of_the_standard_library_can_be_imported(sandbox, module):
    outcome = ran(sandbox, f"import {module}")
    assert outcome.status is CallStatus.RETURNED, outcome.reason


def test_numpy_is_there_in_its_flavour():
    with Sandbox("numpy") as sandbox:
        assert called(sandbox, "import numpy as np\ndef f(n): return int(np.arange(n).sum())", "f", 10).value == 45


@pytest.mark.parametrize(
    "settings", [{"cpu_s": 0}, {"memory_mb": -1}, {"cpu_s": 20.0}, {"scratch_mb": -1}, {"wall_s": float("nan")}]
)
def test_limits_that_make_no_sense_are_refused(settings):
    with pytest.raises(InvalidSettings):
        RunLimits(**settings)


def test_a_program_is_loaded_once(sandbox):
    with sandbox.open() as program:
        program.load("x = 1")
        with pytest.raises(SandboxError, match="loaded only once"):
            program.load("x = 2")


def test_a_program_that_kills_itself_has_crashed(sandbox):
    outcome = ran(sandbox, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert (outcome.status, outcome.signal) == (CallStatus.CRASHED, signal.SIGKILL)


@pytest.mark.parametrize("tier", [Tier.SECCOMP, Tier.LANDLOCK])
def test_weaker_tiers_work_and_are_named(tier):
    with Sandbox(at_most=tier) as sandbox:
        outcome = called(sandbox, "def f(): return 1")
    assert (outcome.value, outcome.tier) == (1, tier)
