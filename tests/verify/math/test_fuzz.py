"""Any text on either side gives a verdict: nothing raises, whatever the ground truth and the response hold."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.math_fuzz import FRAGMENTS, POLICIES, make_case
from plaudit import Status, Trajectory
from plaudit.rewards import MathReward
from plaudit.verify import MathVerdict, verify_math
from tests.shared_data import math_answers
from tests.verify.math.adversarial_inputs import ATTACKS

CASES = 2000
PIECES = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=3), min_size=1, max_size=12).map("".join)
TRUTHS = PIECES.map(lambda text: f"{text}7")


@pytest.fixture(scope="module")
def rows():
    answers = [(str(truth), response) for response, truth, _ in math_answers("mv_tests")]
    return answers + [(attack.truth[:500], attack.response[:500]) for attack in ATTACKS.values()]


@pytest.mark.parametrize("seed", range(4))
def test_mutated_rows_give_a_verdict(rows, seed):
    rng = random.Random(seed)
    for case in range(CASES // 4):
        truth, response = make_case(rng, rows)
        assert isinstance(verify_math(f"{truth}7", response, POLICIES[case % len(POLICIES)]), MathVerdict)


@settings(max_examples=200)
@given(TRUTHS, PIECES, st.sampled_from(POLICIES))
def test_pieces_of_notation_in_any_order_give_a_verdict(truth, response, policy):
    assert isinstance(verify_math(truth, response, policy), MathVerdict)


@settings(max_examples=100)
@given(TRUTHS, PIECES)
def test_a_reward_is_a_score_or_an_unparsed_ground_truth_with_a_reason(truth, response):
    output = MathReward().compute_reward(Trajectory("How many?", response, ground_truth=truth))
    assert output.reward in (0.0, 1.0) if output.status is Status.OK else output.status is Status.UNPARSED
    assert output.reason
