"""How often the verdicts agree with the labels, for every part of the data; a clone without it tests on its excerpt."""

import pytest

from plaudit.verify import verify_math
from tests.shared_data import math_answers

THRESHOLDS = {
    "mv_tests": 0.97,
    "other_tests": 0.97,
    "mv_issues": 1.0,
    "hardverify": 0.88,
    "gsm8k_model_outputs": 0.998,
    "tora_gsm8k_outputs": 0.985,
    "qwen_math_short": 0.998,
    "qwen_math_cot": 0.996,
    "self_pos": 0.998,
    "variant_pos": 0.997,
    "perturb_neg": 0.9995,
    "shuffle_neg": 0.9995,
}
HARD_FALSE_POSITIVES = 0.02


@pytest.fixture(scope="module")
def outcomes():
    """For every part, the labels with the verdicts."""
    return {
        part: [(correct, verify_math(truth, response).correct) for response, truth, correct in math_answers(part)]
        for part in THRESHOLDS
    }


@pytest.mark.parametrize("part", THRESHOLDS)
def test_verdicts_agree_with_the_labels(outcomes, part):
    rows = outcomes[part]
    assert sum(label == verdict for label, verdict in rows) >= THRESHOLDS[part] * len(rows)


def test_all_parts_together_are_ninety_nine_percent_right(outcomes):
    rows = [row for part in outcomes.values() for row in part]
    assert sum(label == verdict for label, verdict in rows) >= 0.99 * len(rows)


def test_hard_answers_are_hardly_ever_taken_for_right_by_mistake(outcomes):
    rows = outcomes["hardverify"]
    assert sum(verdict and not label for label, verdict in rows) <= HARD_FALSE_POSITIVES * len(rows)
