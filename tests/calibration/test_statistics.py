"""The statistics of a calibration: known values, coverage, error rates; versions that differ in one respect."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.calibration import correct_mean, measure_agreement
from plaudit.calibration.rubric_checks import reason_polarity, split_demands
from plaudit.calibration.statistics import (
    ALPHA,
    Measure,
    binomial_tail,
    correct_for_number,
    flip_test,
    owner_test,
    smallest_detectable,
)
from plaudit.calibration.variants import attack_topical, longer_pair, markup_pair
from plaudit.judges import Criterion


def table(yes_yes, yes_no, no_yes, no_no):
    cells = {(True, True): yes_yes, (True, False): yes_no, (False, True): no_yes, (False, False): no_no}
    return [pair for pair, count in cells.items() for _ in range(count)]


def test_agreement_has_the_known_values_and_intervals_that_never_collapse():
    agreement = measure_agreement("c", table(20, 5, 10, 15))  # Cohen's κ of this table is 0.4
    assert agreement.kappa.value == pytest.approx(0.4)
    assert agreement.accuracy.value == pytest.approx(0.7)
    assert (agreement.base_rate.value, agreement.judge_rate.value) == pytest.approx((0.6, 0.5))
    assert agreement.sensitivity.value == pytest.approx(2 / 3)
    assert agreement.specificity.value == pytest.approx(0.75)
    perfect = measure_agreement("c", table(15, 0, 0, 15))
    assert perfect.kappa.value == perfect.kappa.high == 1.0
    assert 0.7 < perfect.kappa.low < 0.95


def test_a_corrected_mean_undoes_the_errors_of_the_judge_or_is_not_identifiable():
    agreement = measure_agreement("c", table(90, 30, 10, 70))  # sensitivity 0.9, specificity 0.7
    verdicts = [True] * 420 + [False] * 580 + [None] * 7  # 0.2 · 0.9 + 0.8 · 0.3 = 0.42
    mean = correct_mean(agreement, verdicts)
    assert (mean.raw, mean.judged, mean.unanswered) == (0.42, 1000, 7)
    assert mean.corrected.value == pytest.approx(0.2)
    assert mean.corrected.low < 0.2 < mean.corrected.high
    low = correct_mean(agreement, [False] * 100)  # fewer than the judge's errors alone would give
    assert low.corrected.value == low.corrected.low == 0.0
    for chance in (table(25, 25, 25, 25), table(10, 40, 40, 10), table(50, 48, 1, 1)):
        mean = correct_mean(measure_agreement("c", chance), verdicts)
        assert mean.corrected is None
        assert mean.to_dict()["corrected"] == "not identifiable"


def test_intervals_of_corrected_means_contain_the_truth_as_often_as_they_say():
    draw, hits, runs = random.Random(0), 0, 60
    for _ in range(runs):
        truth = draw.uniform(0.1, 0.9)
        good = [draw.random() < truth for _ in range(500)]
        verdicts = [draw.random() < (0.85 if each else 0.2) for each in good]
        agreement = measure_agreement("c", list(zip(verdicts[:100], good[:100], strict=True)))
        corrected = correct_mean(agreement, verdicts).corrected
        hits += corrected is not None and corrected.low <= truth <= corrected.high
    assert hits >= 51  # 57 are expected; fewer than 51 have a probability of 0.01


def test_the_sign_test_is_exact():
    assert flip_test([1.0] * 10)[1] == pytest.approx(2 / 1024)
    assert flip_test([1.0] * 10, one_sided=True)[1] == pytest.approx(1 / 1024)
    assert flip_test([-1.0] * 12, one_sided=True)[1] == 1.0
    assert flip_test([0.0] * 40)[1] == 1.0
    assert flip_test([1.0] * 9) == (None, 1.0)
    assert binomial_tail(10, 10, 0.5) == pytest.approx(1 / 1024)


def test_p_values_are_uniform_at_most_without_an_effect():
    generator = np.random.default_rng(0)
    values = [flip_test(generator.normal(size=30).tolist())[1] for _ in range(60)]
    assert sum(value < 0.1 for value in values) <= 14  # 6 are expected; more than 14 have a probability of 0.001
    owners = []
    for _ in range(30):
        quality = generator.integers(0, 2, 60).astype(float)
        length = generator.normal(size=60)
        own = length + generator.normal(size=60) > 0  # own responses are longer, and the judge pays for length
        rating = quality / 2 + length / 3 + generator.normal(size=60) / 5
        owners.append(owner_test(rating.tolist(), own.tolist(), quality.tolist(), [(each, 0.0) for each in length])[1])
    assert sum(value < 0.1 for value in owners) <= 9


def test_an_owner_whose_responses_are_known_by_their_length_is_not_separable():
    own = [number < 30 for number in range(60)]
    ratings, features = [float(each) for each in own], [(float(each), 0.0) for each in own]
    assert owner_test(ratings, own, [0.0, 1.0] * 30, features) == (None, 1.0)


def test_an_effect_of_the_smallest_detectable_size_is_mostly_found_and_half_of_it_is_not():
    generator, found = np.random.default_rng(0), {1.0: 0, 0.5: 0}
    for share in found:
        for _ in range(40):
            noise = generator.normal(size=60) / 10
            effect, _ = flip_test(noise.tolist())
            shifted = noise - noise.mean() + share * smallest_detectable(effect, noise.tolist())
            drawn = generator.choice(shifted, len(shifted))
            found[share] += flip_test(drawn.tolist())[1] < ALPHA / 10
    assert found[1.0] >= 24  # 32 are expected; fewer than 24 have a probability of 0.003
    assert found[0.5] <= 16


def test_where_no_pair_moved_only_an_effect_in_many_pairs_is_detectable():
    assert smallest_detectable(Measure(0.0, 0.0, 0.0), [0.0] * 50) == pytest.approx(0.342, abs=0.01)
    assert smallest_detectable(Measure(0.0, 0.0, 0.0), [0.0] * 10) == 1.0
    assert smallest_detectable(Measure(0.0, -0.001, 0.001), [0.001, -0.001] * 500) == 0.02


def test_wrong_labels_do_not_hide_an_owner_who_is_preferred():
    generator, found = np.random.default_rng(0), 0
    for _ in range(20):
        right, own = generator.random(48) < 0.5, generator.random(48) < 0.5
        ratings = 0.25 + right / 2 + 0.15 * own + generator.normal(size=48) / 10
        labels = np.where(generator.random(48) < 0.05, ~right, right)
        features = [(each, 0.0) for each in generator.normal(size=48)]
        found += owner_test(ratings.tolist(), own.tolist(), labels.astype(float).tolist(), features)[1] < 0.01
    assert found >= 16


def test_the_correction_for_the_number_of_tests_is_holms():
    assert correct_for_number([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert correct_for_number([]) == []
    assert ALPHA == 0.01


@given(st.text("ab 1.-*#`\n+•é", max_size=80))
def test_versions_with_and_without_markup_are_equally_long_and_keep_the_last_line(response):
    plain, marked = markup_pair(response)
    assert len(plain) == len(marked)
    assert len(plain.split()) == len(marked.split())
    assert plain.count("\n") == marked.count("\n")
    if not any(mark in response for mark in "*#`+-•"):
        assert plain.endswith((response.splitlines() or [""])[-1])
        assert "**" not in plain
        assert "\n- " not in plain
    short, long = longer_pair(response)
    assert short.endswith(response)
    assert long.endswith(response)
    assert len(long.split()) > len(short.split()) + 100
    assert short.count("\n") == long.count("\n")


@pytest.mark.parametrize(
    ("description", "parts"),
    [
        ("Gives a reason and an example.", 2),
        ("Is clear and concise", 2),
        ("States the price; names the date.", 2),
        ("Cites a source. Uses plain words.", 2),
        ("Explains the cause as well as the remedy, and names both.", 3),
        ("Is the answer right?", 1),
        ("Does it say why, not only that?", 1),
        ("Lists pros and cons.", 1),
        ("Names Romeo and Juliet.", 1),
        ("Chooses a number between one and ten.", 1),
        ("Gives a reason. One sentence is enough.", 1),
        ("Uses a word that a child does not know.", 1),
    ],
)
def test_compound_criteria_are_split_and_simple_ones_are_not(description, parts):
    assert len(split_demands(Criterion("c", description))) == parts


@pytest.mark.parametrize(
    ("reason", "polarity"),
    [
        ("The answer is right.", True), ("Correct.", True), ("The criterion is fully met.", True),
        ("It does not meet the criterion.", False), ("It is not correct, and fails.", False), ("Wrong answer", False),
        ("It fails to satisfy the user.", False), ("The right answer would be 42.", None), ("because", None),
        ("It is clear, but it is wrong.", None),
    ],
)  # fmt: skip
def test_a_reason_speaks_for_a_response_or_against_it_or_neither(reason, polarity):
    assert reason_polarity(reason) is polarity


def test_attacks_do_not_say_the_reference():
    text = attack_topical("Which gas do plants take in, oxygen or methane?", "Names the right gas.", "Oxygen")
    assert "oxygen" not in text.lower()
    assert "plants" in text
