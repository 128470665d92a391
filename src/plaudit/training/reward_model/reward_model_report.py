"""What is known of a reward model after its training, as JSON."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from plaudit.report.distribution import Distribution
from plaudit.rollouts.atomic_file import write_atomically
from plaudit.training.reward_model.held_out import Calibration, Estimate, RatedPair, accuracy_of, calibrate, margins_of
from plaudit.training.reward_model.length_bias import LengthReport, Rate, measure_length_bias

__all__ = ["RewardModelReport", "measure_reward_model", "write_json"]


@dataclass(frozen=True, slots=True)
class RewardModelReport:
    """How a reward model orders held-out pairs, how sure it may be, and whether it only counts characters."""

    trained_on: int
    """Pairs."""
    accuracy: Estimate
    """On held-out pairs, whose prompts were not trained on."""
    train_accuracy: Estimate | None
    """On some of the pairs it was trained on: where it is much higher, the model has learnt them by heart."""
    margins: Distribution
    calibration: Calibration
    length: LengthReport

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    @property
    def headline(self) -> str:
        """The report in one line."""
        return (
            f"accuracy {self.accuracy.value:.3f} [{self.accuracy.low:.3f}, {self.accuracy.high:.3f}] on "
            f"{self.accuracy.count:,} held-out pairs, calibration error {self.calibration.error:.3f}, "
            f"{self.length.verdict}"
        )


def measure_reward_model(
    held_out: list[RatedPair], rate: Rate, *, trained_on: int, train_accuracy: Estimate | None = None
) -> RewardModelReport:
    """The report of a model that rated held-out pairs; `rate` asks it about edited ones."""
    accuracy = accuracy_of(held_out)
    if accuracy is None:
        raise ValueError("no held-out pairs; a report is of at least one")
    return RewardModelReport(
        trained_on=trained_on,
        accuracy=accuracy,
        train_accuracy=train_accuracy,
        margins=margins_of(held_out),
        calibration=calibrate(held_out),
        length=measure_length_bias(held_out, rate),
    )


def write_json(plain: Any, path: Path) -> None:
    """Write plain data as indented JSON, whole or not at all."""
    write_atomically(path, msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n")
