"""How many cores there are to judge on, and that judges which settle on one have it to themselves."""

import os
import subprocess
import sys

import pytest

from plaudit.sandbox.cores import cores
from plaudit.sandbox.judging.client import JudgeProcess

SETTLE = """
import os, sys
from plaudit.sandbox.cores import settle_on_core
with settle_on_core(sys.argv[1]) as core:
    print(core, *sorted(os.sched_getaffinity(0)), flush=True)
    sys.stdin.read()
"""


def settled(claims):
    command = [sys.executable, "-c", SETTLE, claims]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_each_settles_on_another_core_until_there_are_none_left():
    ours = os.sched_getaffinity(0)
    claims = f"test-{os.getpid()}"
    processes = [settled(claims) for _ in range(len(ours) + 1)]
    told = [process.stdout.readline().split() for process in processes]
    assert sorted(core for core, *_ in told) == sorted([*map(str, ours), "None"])
    assert all(allowed == ([core] if core != "None" else list(map(str, sorted(ours)))) for core, *allowed in told)
    for process in processes:
        process.communicate("")
    again = settled(claims)
    assert again.stdout.readline().split()[0] != "None", "a claim goes with its process"
    again.communicate("")


@pytest.mark.parametrize("is_settled", [True, False])
def test_a_judge_stays_where_it_settled_and_so_does_what_it_runs(is_settled):
    judge = JudgeProcess("plain", one_core=is_settled)
    try:
        allowed = os.sched_getaffinity(judge._process.pid)
        assert allowed == os.sched_getaffinity(_child_of(judge._process.pid))
        if not is_settled:
            assert allowed == os.sched_getaffinity(0)
    finally:
        judge.close()


def test_a_process_that_took_a_share_counts_on_no_more():
    code = "from plaudit.sandbox.cores import *; take_share(3); print(cores()); take_share(0); print(cores())"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["3", "1"]
    assert cores() >= 1


def _child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return int(file.read().split()[0])
