"""The judge stands behind the walls too, and no verdict leaves anything for the next."""

import pytest

from plaudit.sandbox import Job, JudgePool, RunLimits, RunStatus, read_suite

RIGHT = "def f(x):\n    return 2 * x\n"
REACHING_OUT = {
    "reads a file": "open('/etc/hostname')",
    "lists a folder": "os.listdir('/')",
    "writes a file": "open('/tmp/plaudit-judge-was-here', 'w')",
    "opens a connection": "socket.socket()",
    "starts a process": "os.fork() or os._" + "exit(0)",
    "starts a program": "os.posix_spawn('/bin/true', ['true'], {})",
    "signals another process": "os.kill(os.getppid(), 0)",
    "sees the environment": "next(iter(getattr(os, 'envi' 'ron')))",
}
ATTEMPT = """
import os, socket
assert f(1) == 2
try:
    {deed}
except (OSError, StopIteration):
    pass
else:
    raise AssertionError("it could")
"""


@pytest.fixture(scope="module")
def pool():
    with JudgePool(workers=1) as pool:
        yield pool


def verdict(pool, truth, source=RIGHT, **options):
    return pool.judge(Job(source, [read_suite(truth)], **options))


@pytest.mark.parametrize("deed", REACHING_OUT.values(), ids=REACHING_OUT.keys())
def test_test_code_cannot_reach_out_of_its_judge(pool, deed):
    text = ATTEMPT.format(deed=deed.replace("os._exit", "getattr(os, '_ex' 'it')"))
    found = verdict(pool, text)
    assert found.passed, found.refusal or found.reason


def test_an_answer_that_a_test_evaluates_cannot_reach_out_either(pool, tmp_path):
    source = f"def f(x):\n    return \"open('{tmp_path}/forged', 'w').close() or 2\"\n"
    assert not verdict(pool, "assert eval(f(1)) == 2\n", source).passed
    assert list(tmp_path.iterdir()) == []


def test_what_tests_change_in_their_judge_does_not_last(pool):
    spoiling = (
        "import builtins, decimal, plaudit.sandbox.judging.recorder as r\ndecimal.getcontext().prec = 1\n"
        "r.Recorder.end = lambda *a: None\nbuiltins.abs = lambda x: 0\nassert f(1) == 2\n"
    )
    verdict(pool, spoiling)
    assert not verdict(pool, ["assert f(1) == 3", "assert abs(f(1) - 9) < 1"]).passed
    assert verdict(pool, "from decimal import Decimal\nassert f(Decimal('1.25')) / 1 == Decimal('2.50')\n").passed


def judges_taken(pool):
    return pool._idle[0][1]._server.taken


def test_only_tests_that_only_compare_share_a_judge(pool):
    verdict(pool, "assert f(1) == 2\n")
    before = judges_taken(pool)
    assert verdict(pool, "assert f(2) == 4\n").passed
    assert not verdict(pool, "assert f(2) == 5\n").passed
    assert judges_taken(pool) == before
    evaluating = "assert eval(f(1)) == 2\n"
    for _ in range(2):
        assert not verdict(pool, evaluating).passed
    assert judges_taken(pool) == before + 2
    assert verdict(pool, "assert f(3) == 6\n").passed
    assert judges_taken(pool) == before + 2


@pytest.mark.parametrize("source", ["def f(x):\n    return range(10 ** 15)\n", "import os\nos.abort()\n"])
def test_a_judge_that_saw_something_out_of_the_ordinary_is_not_used_again(pool, source):
    verdict(pool, "assert f(1) == 2\n")
    before = judges_taken(pool)
    assert not verdict(pool, "assert sum(f(1)) == 2\n", source, judge_cpu_s=0.3).passed
    assert verdict(pool, "assert f(2) == 4\n").passed
    assert judges_taken(pool) == before + 1


def test_a_judge_that_took_much_memory_for_one_program_is_not_used_again(pool):
    verdict(pool, "assert f(1) == 2\n")
    before = judges_taken(pool)
    assert verdict(pool, "assert len(f(1)) == 1_500_000\n", "def f(x):\n    return ['abc'] * 1_500_000\n").passed
    assert verdict(pool, "assert f(2) == 4\n").passed
    assert judges_taken(pool) == before + 1


def test_an_answer_that_a_test_evaluates_can_decide_its_own_verdict_and_no_other(pool):
    source = "def f(x):\n    return '[2 for abs in [1]][0]' if x == 1 else \"globals().update(abs=lambda x: 0) or 9\"\n"
    assert verdict(pool, "assert eval(f(1)) == 2\n", source).passed
    assert verdict(pool, "assert eval(f(2)) and abs(eval('-5')) == 0\n", source).passed
    assert not verdict(pool, "assert abs(f(1)) == 0\n").passed


def test_a_whole_verdict_is_bounded_in_wall_time(pool):
    sleeping = "import time\ndef f(x):\n    time.sleep(0.4)\n    return 2 * x\n"
    asserts = [f"assert f({number}) == {2 * number}" for number in range(20)]
    limits = RunLimits(cpu_s=1.0, wall_s=5.0)
    found = verdict(pool, asserts, sleeping, limits=limits, wall_s=1.5, stop_early=False)
    assert found.conclusion is RunStatus.TIMEOUT
    assert 0 < found.count < 20
    assert verdict(pool, asserts[:2], sleeping, limits=limits, wall_s=30.0).passed


def test_random_numbers_of_tests_are_the_same_for_a_group_and_another_for_other_tests(pool):
    source = "def f(x):\n    return x\n"
    text = "import random\nassert f(random.random()) == 2, random.random()\n"
    first, second = (verdict(pool, text, source + note).reason for note in ("", "# another program\n"))
    assert first == second
    assert first != verdict(pool, text + "# other tests\n", source).reason
