import pytest

from plaudit import RewardOutput, Status, Trajectory
from plaudit.report import summarize
from plaudit.report.coverage import failure_kind


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f raised ValueError: bad 'a' (at f.py:3)", "f raised ValueError: bad 'b c' (at f.py:3)"),
        ("no number in 'one'", "no number in 'it\\'s two'"),
        ("12 words, limit 10", "1,300 words, limit 10"),
    ],
)
def test_reasons_that_differ_in_their_data_are_one_kind(one, other):
    assert failure_kind(one) == failure_kind(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f raised ValueError: bad (at f.py:3)", "f raised ValueError: bad (at f.py:4)"),
        ("f raised ValueError: bad (at f.py:3)", "f raised KeyError: bad (at f.py:3)"),
        ("no number", "no answer"),
    ],
)
def test_reasons_with_another_cause_are_another_kind(one, other):
    assert failure_kind(one) != failure_kind(other)


def test_failures_count_by_kind_and_keep_the_first_reason():
    outputs = [RewardOutput.unscored(Status.ERROR, f"no number in {text!r}") for text in ("a", "b", "c")]
    summary = summarize((Trajectory(prompt="p", response="r"), output) for output in outputs)
    [failure] = summary.failures
    assert (failure.count, failure.reason, failure.example) == (3, "no number in 'a'", "sample 0")
