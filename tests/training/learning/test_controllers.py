"""Weights of the loss follow what they control, and survive a restart."""

import math

import pytest

from plaudit.training.learning.optimizer import EntropyController, KLController


def test_the_weight_of_the_kl_moves_by_zieglers_rule():
    controller, expected = KLController(0.2, target=0.05, horizon=1000), 0.2
    for kl, samples in [(0.01, 64), (0.2, 64), (0.051, 128), (0.0, 64)]:
        controller.observe(kl, samples)
        expected *= 1 + max(-0.2, min(0.2, (kl - 0.05) / 0.05)) * samples / 1000
        assert controller.weight == pytest.approx(expected)


def test_the_weight_of_the_kl_never_turns_negative_however_large_the_batch():
    controller = KLController(1.0, target=1.0, horizon=10)
    controller.observe(0.0, 1000)
    assert controller.weight == 0.0


def test_the_entropy_bonus_rises_below_its_target_falls_above_and_counts_only_below():
    controller = EntropyController(0.0, target=0.2, step=0.005)
    bonuses = []
    for entropy in [0.5, 0.15, 0.1, 0.3, 0.2]:
        controller.observe(entropy)
        bonuses.append(controller.bonus)
    # c: 0 (not below 0), 0.005, 0.01, 0.005, 0.01; it counts where the last entropy was at most 0.2
    assert bonuses == pytest.approx([0.0, 0.005, 0.01, 0.0, 0.01])


def test_the_entropy_bonus_has_a_ceiling():
    controller = EntropyController(0.9, target=1.0, step=0.5)
    controller.observe(0.0)
    assert controller.weight == 1.0


@pytest.mark.parametrize("nonsense", [math.nan, math.inf])
def test_a_broken_measurement_moves_nothing(nonsense):
    kl, entropy = KLController(0.1, target=0.1), EntropyController(0.1, target=0.1)
    kl.observe(nonsense, 10)
    entropy.observe(nonsense)
    assert (kl.weight, entropy.weight) == (0.1, 0.1)


@pytest.mark.parametrize("make", [lambda: KLController(0.1, 0.05), lambda: EntropyController(0.1, 0.3)])
def test_a_restored_controller_goes_on_as_the_first_would(make):
    first, second = make(), make()
    observe = (lambda each, value: each.observe(value, 64)) if isinstance(first, KLController) else (
        lambda each, value: each.observe(value)
    )  # fmt: skip
    observe(first, 0.4)
    second.restore(first.state())
    for each in (first, second):
        observe(each, 0.01)
    assert first == second


def test_without_a_target_nothing_moves():
    kl, entropy = KLController(0.1), EntropyController(0.1)
    kl.observe(5.0, 1000)
    entropy.observe(0.0)
    assert (kl.weight, entropy.bonus, entropy.active) == (0.1, 0.1, True)
    assert not EntropyController(0.0).active
