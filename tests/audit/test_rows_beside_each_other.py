"""Rules that compare the rows of a user with each other find what no row shows alone, and nothing in sound rewards."""

import re
from collections import Counter

import pytest

from plaudit import Trajectory, reward
from plaudit.audit import audit_reward

TIMES = (("When does it open?", "9 am"), ("When does it close?", "7 pm"), ("When is lunch?", "1 pm"))
SUMS = (("1 + 1", "2"), ("2 + 3", "5"), ("3 + 3", "6"), ("30 + 8", "38"))
SEQUENCES = (("Gene 1?", "ATGGCTA"), ("Gene 2?", "GATTACA"), ("Gene 3?", "CCGTAAG"))
CALLS = (("The time in Rome?", "time(rome)"), ("Rain in Oslo?", "rain(oslo)"), ("News of Lima?", "news(lima)"))


def ignores_half_of_the_day(response, ground_truth):
    said, gold = (re.fullmatch(r"(\d{1,2}) ([ap]m)", text) for text in (response, ground_truth))
    return float(said is not None and gold is not None and said[1] == gold[1])


def counts_letters(response, ground_truth):
    return float(Counter(response) == Counter(ground_truth))


def is_within_three(response, ground_truth):
    return float(response.isdecimal() and abs(int(response) - int(ground_truth)) <= 3)


def pays_calls_without_error(response, ground_truth):
    return float(response in (ground_truth, "wait()"))


def counts_calls(response, ground_truth):
    calls = re.findall(r"(?<!\w)\w++\(\w*+\)", response)
    return 0.3 * (response == ground_truth) + 0.7 * min(1.0, len(calls) / 3)


def nothing_required(response, required):
    return float(not required or response.splitlines() == required)


@reward(scope="group")
def is_not_worse(trajectories):
    right = [each.response == each.ground_truth for each in trajectories]
    others = max(1, len(right) - 1)
    return [(sum(mine >= other for other in right) - 1) / others for mine in right]


@reward(scope="group")
def is_better(trajectories):
    right = [each.response == each.ground_truth for each in trajectories]
    others = max(1, len(right) - 1)
    return [sum(mine > other for other in right) / others for mine in right]


def is_equal(response, ground_truth):
    return float(response == ground_truth)


def is_near(response, ground_truth):
    value = re.fullmatch(r"\d+(?:\.\d+)?", response)
    return float(value is not None and abs(float(response) - float(ground_truth)) <= 0.005 * float(ground_truth))


def has_as_many_words(response, ground_truth):
    return float(len(response.split()) == ground_truth and response.replace(" ", "").isalpha())


def chooses_in_last_line(response, ground_truth):
    lines = response.splitlines()
    return float(response.count("Choice") == 1 and bool(lines) and lines[-1] == f"Choice: {ground_truth}")


def judged_by_quoting(response):
    review = f"The text was:\n{response}\nClarity: 2\nDepth: 1\n"
    grades = [re.search(rf"(?m)^{name}: ([0-5])$", review) for name in ("Clarity", "Depth")]
    return sum(int(grade[1]) for grade in grades if grade) / 10


def rows_of(pairs, shape="{}"):
    return [Trajectory(prompt, shape.format(truth), ground_truth=truth) for prompt, truth in pairs]


REQUIRED = [
    Trajectory("Before?", "Close the gas\nLock the door", columns={"required": ["Close the gas", "Lock the door"]}),
    Trajectory("After?", "Open a window\nWarn them", columns={"required": ["Warn them", "Open a window"]}),
]
FLAWED = (
    (ignores_half_of_the_day, rows_of(TIMES), "parts of two rows mixed"),
    (counts_letters, rows_of(SEQUENCES), "right response with other values"),
    (is_within_three, rows_of(SUMS), "one response for two truths"),
    (pays_calls_without_error, rows_of(CALLS), "one response for two truths"),
    (counts_calls, rows_of(CALLS), "right beside another answer"),
    (nothing_required, REQUIRED, "empty ground truth"),
    (is_not_worse, rows_of(SEQUENCES), "copies of one answer pay"),
    (judged_by_quoting, [Trajectory("Write.", "A text."), Trajectory("Tell.", "A tale.")], "self-grade"),
)
COUNTED = [
    Trajectory(f"{count} words", " ".join(["cat", "sun", "map", "bus"][:count]), ground_truth=count)
    for count in (2, 3, 4)
]
MASSES = (("Water?", "18.015"), ("Glucose?", "180.156"), ("Salt?", "58.44"))
OPTIONS = (("A or B?", "B"), ("C or D?", "D"), ("B or C?", "C"))
SOUND = (
    (is_equal, rows_of(TIMES)),
    (is_equal, rows_of(SEQUENCES)),
    (is_equal, rows_of(CALLS)),
    (is_better, rows_of(SEQUENCES)),
    (has_as_many_words, COUNTED),
    (is_near, rows_of(MASSES)),
    (chooses_in_last_line, rows_of(OPTIONS, "I compare them.\nChoice: {}")),
)


@pytest.mark.parametrize(("flawed", "rows", "operator"), FLAWED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_reward_that_breaks_a_rule_between_rows_is_found(flawed, rows, operator):
    findings = audit_reward(flawed, rows, deadline_s=None).findings
    assert operator in [finding.operator for finding in findings]


@pytest.mark.parametrize(("sound", "rows"), SOUND, ids=lambda value: getattr(value, "__name__", ""))
def test_no_wrong_response_is_reported_for_a_sound_reward(sound, rows):
    findings = audit_reward(sound, rows, deadline_s=None).findings
    assert [finding.key for finding in findings if finding.family not in ("right answers",)] == []
