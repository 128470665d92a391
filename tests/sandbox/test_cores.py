"""How many cores there are to judge on, and that judges which settle on one have it to themselves."""

import os
import subprocess
import sys

import pytest

from plaudit.sandbox.cores import CoreClaim, cores
from plaudit.sandbox.judging.client import JudgeClient


def test_each_claims_another_core_until_there_are_none_left():
    ours, claims = os.sched_getaffinity(0), f"test-{os.getpid()}"
    held = [CoreClaim(claims) for _ in range(len(ours) + 1)]
    assert {claim.core for claim in held} == {*ours, None}
    for claim in held:
        claim.close()
    again = CoreClaim(claims)
    assert again.core in ours
    again.close()


@pytest.mark.parametrize("one_core", [True, False])
def test_judges_and_programs_of_one_client_are_on_one_core_where_that_is_asked(one_core):
    judge = JudgeClient("plain", one_core=one_core)
    try:
        servers = [judge._server._process.pid, judge._sandbox._server._process.pid]
        allowed = [os.sched_getaffinity(pid) for server in servers for pid in (server, _child_of(server))]
        assert len({frozenset(cores) for cores in allowed}) == 1
        if not one_core:
            assert allowed[0] == os.sched_getaffinity(0)
    finally:
        judge.close()


def test_a_process_that_took_a_share_counts_on_no_more():
    code = "from plaudit.sandbox.cores import *; take_share(3); print(cores()); take_share(0); print(cores())"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["3", "1"]
    assert cores() >= 1


def _child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return int(file.read().split()[0])
