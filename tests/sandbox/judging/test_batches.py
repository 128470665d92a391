"""Calls travel together only where no argument tells what an earlier call should give, and nothing is lost by it."""

import ast

import pytest

from plaudit.sandbox import AssertSuite, CallSuite, Job, JudgePool
from plaudit.sandbox.judging.rewriting.batches import batch_asserts
from plaudit.sandbox.values import to_text


def sizes(text: str) -> list[int]:
    """How many calls go together, in order; single ones are left out."""
    return [len(batch) for _, batch in sorted(batch_asserts([ast.parse(text).body], {"f": "f", "g": "g"}).items())]


TOGETHER = {
    "numbers": "assert f(5) == 120\nassert f(7) == 5040\nassert f(8) == 40320",
    "truths": "assert f('level')\nassert not f('abc')\nassert f('noon') == True",
    "within a tolerance": "assert abs(f(2.0) - 1.41421) < 1e-05\nassert abs(f(3.0) - 1.73205) < 1e-05",
    "wrapped": "assert sorted(f('ab')) == [17]\nassert len(f('xyz')) == 33",
    "two functions": "assert f(5) == 120\nassert g('x') == 'quux'",
    "an assert on nothing between": "assert f(5) == 120\nassert True\nassert f(7) == 5040",
    "a negative number": "assert f(-5) == 17\nassert f(-6) == 18",
}
APART = {
    "the next input is the last output": "assert f(2) == 4\nassert f(4) == 16",
    "a part of the last output": "assert f(2) == [4, 9]\nassert f(9) == 81",
    "the last output within a list": "assert f(2) == 44\nassert f([1, [44]]) == 3",
    "the last output as text": "assert f(2) == 44\nassert f('44 apples') == 3",
    "the last output as bytes": "assert f(2) == 'hidden'\nassert f(b'hidden') == 3",
    "the last output as a float": "assert f(2) == 44\nassert f(44.0) == 3",
    "the last output, negative": "assert f(2) == -44\nassert f(44) == 3",
    "the last output within a word": "assert f('x') == 'secret'\nassert f('asecretb') == 3",
    "a piece of the last output": "assert f('x') == 'a secret thing'\nassert f('thin') == 3",
    "in other letters": "assert f('x') == 'SECRET'\nassert f('secret') == 3",
    "a key": "assert f('x') == {'secret': 1}\nassert f({'secret': 7}) == 3",
    "a keyword": "assert f('x') == 'secret'\nassert f(by='secret') == 3",
    "digits of a larger number": "assert f(3) == 5040\nassert f(25040) == 1",
    "a round trip": "assert f('abc') == 'nop'\nassert f(f('abc')) == 'abc'",
    "what is computed": "assert f(5) == 100 + 20\nassert f(120) == 3",
    "what is repeated": "assert f(5) == 'ab' * 3\nassert f('ababab') == 3",
    "what is called": "assert f(5) == h(5)\nassert f(6) == 1",
    "what has a name": "x = 5\nassert f(3) == x\nassert f(5) == 7",
    "a loop": "for x in [5, 6]:\n    assert f(x) == 120",
    "a condition": "assert f(1) == 50 and f(2) == 60",
    "two calls": "assert f(1) == f(2)\nassert f(3) == 7",
    "what is formatted": "assert f(5) == f'{12}0'\nassert f(120) == 3",
    "a set, which has no order": "assert f({1, 2}) == 50\nassert f({3, 4}) == 60",
}


@pytest.mark.parametrize("name", TOGETHER)
def test_calls_that_tell_nothing_go_together(name):
    text = TOGETHER[name]
    assert sizes(text) == [text.count("f(") + text.count("g(")]


@pytest.mark.parametrize("name", APART)
def test_a_call_that_could_tell_something_waits(name):
    assert sizes(APART[name]) == []


@pytest.fixture(scope="module")
def judges():
    with JudgePool(workers=1) as pool:
        yield pool


def test_an_answer_that_is_no_plain_data_is_asked_before_the_next_call(judges):
    """A right program whose generators share a state passes, as in one process."""
    source = "seen = []\ndef f(n):\n    seen.append(n)\n    yield from (len(seen) * 100 + n for _ in range(2))\n"
    tests = "assert list(f(1)) == [101, 101]\nassert list(f(2)) == [202, 202]\nassert list(f(3)) == [303, 303]\n"
    assert judges.judge(Job(source, [AssertSuite([tests], "f")])).passed


@pytest.mark.parametrize("last", ["while True: pass", "import os; os._exit(0)", "raise ValueError"])
def test_what_was_answered_before_a_bad_end_counts(judges, last):
    source = f"def f(n):\n    if n == 7:\n        {last}\n    return 1000 + n\n"
    tests = "assert f(5) == 1005\nassert f(6) == 1006\nassert f(7) == 1007\nassert f(8) == 1008\n"
    limits = type(Job("", []).limits)(cpu_s=0.2, wall_s=20.0)
    verdict = judges.judge(Job(source, [AssertSuite([tests], "f")], limits, stop_early=False))
    assert [result.passed for result in verdict.results] == [True, True, False, True]
    assert not verdict.passed


def test_a_program_that_looks_ahead_sees_no_argument_that_helps(judges):
    """All that waits on its channel is read, and the largest number in it returned."""
    source = (
        "import re, select, socket\n"
        "def f(x):\n"
        "    channel = socket.socket(fileno=3)\n"
        "    waiting = channel.recv(1 << 16, socket.MSG_PEEK) if select.select([channel], [], [], 0.05)[0] else b''\n"
        "    channel.detach()\n"
        "    return max([0, *map(int, re.findall(rb'[0-9]+', waiting))])\n"
    )
    cases = to_text([[[3], 9], [[9], 81], [[81], 6561]])
    for suite in (
        CallSuite("f", cases),
        AssertSuite(["assert f(3) == 9\nassert f(9) == 81\nassert f(81) == 6561"], "f"),
    ):
        assert judges.judge(Job(source, [suite], stop_early=False)).count == 0
