"""The figures of a report, and the verdict on length, for raters whose nature is known."""

import random

import pytest

from plaudit.training import LengthVerdict, PreferencePair, RatedPair
from plaudit.training.reward_model.held_out import accuracy_of, calibrate, measure_length_bias, sigmoid
from plaudit.training.reward_model.training import measure_reward_model
from plaudit.trajectory import Trajectory

WORDS = ("tree", "river", "stone", "cloud", "bread", "chair", "lamp", "road", "fish", "bird")


def words(chance, count):
    return " ".join(chance.choice(WORDS) for _ in range(count))


def pair(chosen, rejected, prompt="Say."):
    return PreferencePair(Trajectory(prompt=prompt, response=chosen), Trajectory(prompt=prompt, response=rejected))


def with_thanks(chance, text):
    listed = text.split()
    listed.insert(chance.randrange(len(listed) + 1), "thanks")
    return " ".join(listed)


def always_longer(chance):
    low, high = sorted(chance.sample(range(3, 20), 2))
    return pair(words(chance, high), words(chance, low))


def mostly_longer(chance):
    found = always_longer(chance)
    return found if chance.random() < 0.85 else PreferencePair(found.rejected, found.chosen)


def always_shorter(chance):
    found = always_longer(chance)
    return PreferencePair(found.rejected, found.chosen)


def thankful(chance):
    return pair(with_thanks(chance, words(chance, chance.randint(3, 19))), words(chance, chance.randint(3, 19)))


def thankful_and_longer(chance):
    found = always_longer(chance)
    return pair(f"thanks {found.chosen.response}", found.rejected.response)


def one_length(chance):
    letters = [chance.choice("abc") for _ in range(8)]
    return pair("".join(["a", *letters]), "".join(["b", *letters]))


def by_length(trajectory):
    return len(trajectory.response) / 20


def by_brevity(trajectory):
    return -len(trajectory.response) / 20


def by_thanks(trajectory):
    return 3.0 * ("thanks" in trajectory.response)


def by_first_letter(trajectory):
    return -ord(trajectory.response[0])


def by_both(trajectory):
    return by_thanks(trajectory) + 3.2 * by_length(trajectory)


def by_nothing(trajectory):
    return random.Random(trajectory.response).random()


def ask(rater, pairs):
    return [RatedPair(each, rater(each.chosen), rater(each.rejected)) for each in pairs]


def report_of(make, rater, count=200):
    chance = random.Random(1)
    rated = ask(rater, [make(chance) for _ in range(count)])
    return rated, measure_length_bias(rated, lambda pairs: ask(rater, pairs))


CASES = {
    "length is the only signal": (always_longer, by_length, LengthVerdict.BIASED),
    "length with wrong labels": (mostly_longer, by_length, LengthVerdict.BIASED),
    "brevity is the only signal": (always_shorter, by_brevity, LengthVerdict.BIASED),
    "a signal apart from length": (thankful, by_thanks, LengthVerdict.CLEAR),
    "a signal where the chosen is always longer, too": (thankful_and_longer, by_thanks, LengthVerdict.CLEAR),
    "length learnt where there was a signal, too": (thankful_and_longer, by_length, LengthVerdict.BIASED),
    "all of one length": (one_length, by_first_letter, LengthVerdict.CLEAR),
    "some of both": (thankful, by_both, LengthVerdict.LEANING),
    "nothing": (thankful, by_nothing, LengthVerdict.CHANCE),
}


@pytest.mark.parametrize(("make", "rater", "verdict"), CASES.values(), ids=CASES)
def test_the_length_verdict_is_right_for_simulated_raters(make, rater, verdict):
    assert report_of(make, rater)[1].verdict is verdict


def test_the_report_measures_length_bias_correctly():
    rated, report = report_of(mostly_longer, by_length)
    longer = [each for each in rated if each.lengths[0] > each.lengths[1]]
    assert report.chosen_longer.value == 1.0
    assert report.chosen_shorter.value == 0.0
    assert report.longer_share == pytest.approx(len(longer) / len(rated))
    assert report.correlation == pytest.approx(1.0)
    assert report.difference_correlation == pytest.approx(1.0)
    assert report.controlled.value == pytest.approx(0.5)
    assert '"longer wins" is right on 8' in report.reason


def test_pairs_of_nearly_one_length_are_the_matched_ones():
    rated = ask(by_thanks, [pair("x" * 100, "y" * 90), pair("x" * 100, "y" * 89), pair("thanks", "sorry!")])
    report = measure_length_bias(rated, lambda pairs: ask(by_thanks, pairs))
    assert report.matched.count == 2
    assert report.matched.value == 0.75  # one right, one the same to the rater


def test_accuracy_has_wilsons_interval_and_the_same_reward_is_half_right():
    rated = [RatedPair(pair("a", "b"), value, 0.0) for value in (1.0, 2.0, -1.0, 0.0)]
    found = accuracy_of(rated)
    assert (found.value, found.count) == (0.625, 4)
    assert found.low == pytest.approx(0.2194, abs=0.0001)
    assert found.high == pytest.approx(0.9081, abs=0.0001)


def test_true_probabilities_are_calibrated_and_exaggerated_margins_are_not():
    chance = random.Random(0)
    sizes = [abs(chance.gauss(0, 2)) for _ in range(4000)]
    honest = [RatedPair(pair("a", "b"), size if chance.random() < sigmoid(size) else -size, 0.0) for size in sizes]
    boasting = [RatedPair(each.pair, 3 * each.chosen_reward, 0.0) for each in honest]
    assert calibrate(honest).error < 0.03
    assert calibrate(boasting).error > 0.08
    assert sum(each.observed.count for each in calibrate(honest).bins) == 4000


def test_the_calibration_error_is_the_mean_distance_of_claims():
    sure = [RatedPair(pair("a", "b"), 50.0, 0.0)] * 3 + [RatedPair(pair("a", "b"), -50.0, 0.0)]
    [only] = calibrate(sure).bins
    assert (only.claimed, only.observed.value) == (pytest.approx(1.0), 0.75)
    assert calibrate(sure).error == pytest.approx(0.25)


def test_the_report_is_plain_data():
    rated, _ = report_of(thankful, by_thanks, count=30)
    report = measure_reward_model(rated, lambda pairs: ask(by_thanks, pairs), trained_on=100)
    assert report.to_dict()["length"]["verdict"] == "not length-biased"
