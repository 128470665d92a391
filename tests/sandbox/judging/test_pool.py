"""Judge processes: one verdict per job whatever happens to the judge, and nothing left behind."""

import os
import signal
import time

import pytest

from plaudit.errors import SandboxError
from plaudit.sandbox import Job, JudgePool, RunStatus, read_suite
from plaudit.sandbox.judging.client import KNOWN, JudgeClient, check_verdicts
from plaudit.sandbox.judging.verdict import TestResult, Verdict
from tests.process_watch import descendants, gone

RIGHT = "def f(x):\n    return 2 * x\n"


def job(source=RIGHT, truth=("assert f(1) == 2", "assert f(2) == 4"), **options):
    return Job(source, [read_suite(truth if isinstance(truth, str) else list(truth))], **options)


@pytest.fixture(scope="module")
def pool():
    with JudgePool(workers=2) as pool:
        yield pool


def test_verdicts_come_in_the_order_of_the_jobs(pool):
    jobs = [job(RIGHT.replace("2", str(factor))) for factor in (2, 3, 2, 4, 2)]
    assert [verdict.passed for verdict in pool.judge_all(jobs)] == [True, False, True, False, True]


def test_identical_jobs_are_judged_once(monkeypatch):
    with JudgePool(workers=1) as pool:
        judged = []
        monkeypatch.setattr(pool, "judge", lambda one, _: judged.append(one) or Verdict(reason=one.source))
        verdicts = pool.judge_all([job(), job("x = 1"), job(), job()])
    assert len(judged) == 2
    assert [verdict.reason for verdict in verdicts] == [RIGHT, "x = 1", RIGHT, RIGHT]


def test_a_judge_that_is_killed_is_replaced_and_the_job_tried_again():
    with JudgePool(workers=1) as pool:
        assert pool.judge(job()).passed
        for server_of in (lambda judge: judge._server, lambda judge: judge._sandbox._server):
            server = server_of(pool._idle[0][1])
            os.kill(server._process.pid, signal.SIGKILL)
            server._process.wait()
            assert pool.judge(job()).passed


CRASH = "import ctypes\n{}ctypes.string_at(0)\nassert f(1) == 2\n"


def test_a_judge_that_always_dies_before_the_program_was_asked_is_an_error_and_no_verdict(pool):
    [answer] = pool.judge_all([job(truth=CRASH.format(""))])
    assert isinstance(answer, SandboxError)
    assert "exit code -11" in str(answer)


def test_a_judge_that_always_dies_of_what_a_program_answered_is_the_programs_failure(pool):
    [verdict] = pool.judge_all([job(truth=CRASH.format("assert f(2) == 4\n"))])
    assert verdict.conclusion is RunStatus.CRASH
    assert not verdict.passed
    assert not verdict.refusal


def test_tests_that_end_their_process_are_refused(pool):
    assert "os._exit" in pool.judge(job(truth="import os\nassert f(1) == 2\nos._exit(0)\n")).refusal


def test_values_that_take_for_ever_to_compare_are_the_programs_timeout(pool):
    slow = "def f(x):\n    return range(10 ** 15)\n"
    verdict = pool.judge(job(slow, "assert sum(f(1)) == 2\n", judge_cpu_s=0.5))
    assert verdict.conclusion is RunStatus.TIMEOUT
    assert not verdict.passed
    assert "what the program returned" in verdict.reason


def test_tests_that_take_for_ever_by_themselves_are_refused(pool):
    verdict = pool.judge(job(truth="while True:\n    pass\nassert f(1) == 2\n", judge_cpu_s=0.5))
    assert "without an answer of the program" in verdict.refusal


def test_words_of_the_program_that_are_no_text_do_not_break_the_answer(pool):
    verdict = pool.judge(job("def f(x):\n    raise ValueError('\\ud800')\n"))
    assert not verdict.passed
    assert "ValueError" in verdict.reason


def test_nothing_is_left_when_a_pool_is_closed():
    before = descendants()
    pool = JudgePool(workers=2)
    pool.judge_all([job(), job("x = 1")])
    started = descendants() - before
    assert started
    pool.close()
    assert gone(started)


def test_a_judge_whose_owner_is_killed_ends_itself(tmp_path):
    told = tmp_path / "pids"
    child = os.fork()
    if child == 0:  # a process that opens a judge and is killed before it can close it
        JudgeClient("plain")
        told.write_text(" ".join(map(str, descendants())))
        time.sleep(60)
        os._exit(0)
    deadline = time.monotonic() + 30
    while not (told.exists() and told.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    started = {int(pid) for pid in told.read_text().split()}
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert started
    assert gone(started)


def test_a_forked_process_uses_judges_of_its_own():
    with JudgePool(workers=1) as pool:
        assert pool.judge(job()).passed
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writing, b"%d" % pool.judge(job()).passed)
            pool.close()
            os._exit(0)
        os.close(writing)
        assert os.read(reading, 1) == b"1"
        os.close(reading)
        os.waitpid(child, 0)
        assert pool.judge(job()).passed


@pytest.mark.parametrize("name", ["right", "wrong", "cheating"])
def test_a_judge_that_misjudges_a_known_program_refuses_to_score(name):
    def judge(given, misjudged):
        known = next(name for name, (source, _) in KNOWN.items() if source == given.source)
        return Verdict(results=[TestResult("t", passed=(known == "right") != (known == misjudged))], calls=1)

    check_verdicts(lambda given: judge(given, ""))
    with pytest.raises(SandboxError, match=f"known to be {name} was misjudged"):
        check_verdicts(lambda given: judge(given, name))
