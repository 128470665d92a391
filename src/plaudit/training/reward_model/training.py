"""Train a reward model on preference pairs: read, split by prompt, fit, save, evaluate; all in one folder.

The folder is the model, as transformers and `plaudit.models.RewardModel` load it, with the report. It is
written atomically; an existing folder is kept until the new one is complete.
"""

import importlib
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from plaudit import jsonline
from plaudit.engine import score
from plaudit.errors import InvalidSettings, TrainingError, require
from plaudit.models import RewardModel
from plaudit.models.cpu_precision import limit_instructions
from plaudit.report.collecting import distribution_of
from plaudit.report.figures import Distribution
from plaudit.rollouts.writing import write_atomically
from plaudit.training.engine import Progress
from plaudit.training.reward_model.held_out import (
    Calibration,
    Estimate,
    LengthReport,
    Rate,
    RatedPair,
    accuracy_of,
    calibrate,
    measure_length_bias,
)
from plaudit.training.reward_model.pair import PreferencePair
from plaudit.training.reward_model.pair_files import PairSplit, keep_apart, read_pairs, split_pairs, write_pairs
from plaudit.training.reward_model.settings import RewardModelConfig, document_reward_model_config

FITTING = "plaudit.training.reward_model.fitting"  # imported when the pairs are read: it needs seconds and packages
CONFIG, REPORT, METRICS, HELD_OUT = "training.yaml", "report.json", "metrics.jsonl", "held_out.jsonl"


@dataclass(frozen=True, slots=True)
class RewardModelReport:
    """Accuracy, calibration and length bias of a reward model on held-out pairs."""

    trained_on: int
    """Pairs."""
    accuracy: Estimate
    """On held-out pairs, whose prompts were not trained on."""
    train_accuracy: Estimate | None
    """On some of the training pairs: a much higher value shows overfitting."""
    margins: Distribution
    calibration: Calibration
    length: LengthReport

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain


def measure_reward_model(
    held_out: list[RatedPair], rate: Rate, *, trained_on: int, train_accuracy: Estimate | None = None
) -> RewardModelReport:
    """The report of a model that rated held-out pairs; `rate` scores edited pairs."""
    accuracy, margins = accuracy_of(held_out), distribution_of(each.margin for each in held_out)
    if accuracy is None or margins is None:
        raise ValueError("no held-out pairs; a report is of at least one")
    return RewardModelReport(
        trained_on=trained_on,
        accuracy=accuracy,
        train_accuracy=train_accuracy,
        margins=margins,
        calibration=calibrate(held_out),
        length=measure_length_bias(held_out, rate),
    )


@dataclass(frozen=True, slots=True)
class TrainedRewardModel:
    """A folder that `RewardModel` loads, with its report."""

    folder: Path
    steps: int
    report: RewardModelReport
    notes: tuple[str, ...] = ()
    stopped_by: str | None = None
    """The signal that ended the training early; the model is that of the last step."""

    def load(self, **settings: Any) -> RewardModel:
        """The model as a reward."""
        return RewardModel(str(self.folder), **settings)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        plain = {"folder": str(self.folder), "steps": self.steps, "notes": list(self.notes), **self.report.to_dict()}
        return plain if self.stopped_by is None else {**plain, "stopped_by": self.stopped_by}


def train_reward_model(
    config: RewardModelConfig, *, overwrite: bool = False, progress: Progress | None = None
) -> TrainedRewardModel:
    """Train a reward model with the config; the folder `config.output_dir` is the model, with its report.

    `overwrite` replaces a reward model that was trained into the folder before. `progress` gets every step, with the
    number of all steps as `metrics["steps"]`, and notes.
    """
    recorded = _RecordedNotes(progress or Progress())
    folder = Path(config.output_dir)
    target = folder.resolve()
    _check_folder(folder, overwrite=overwrite)
    split = _read(config, recorded)
    limit_instructions()
    for package in ("torch", "transformers", "trl"):
        require(package, extra="trl", purpose="training a reward model")
    fitting = importlib.import_module(FITTING)
    partial = target.with_name(f".{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        fitted = fitting.fit(config, split.train, partial / "scratch", recorded)
        shutil.rmtree(partial / "scratch", ignore_errors=True)
        fitted.classifier.save(partial)
        (partial / CONFIG).write_text(document_reward_model_config(config), encoding="utf-8")
        (partial / METRICS).write_bytes(b"".join(jsonline.encode(row) + b"\n" for row in fitted.metrics))
        report = _evaluate(partial, config, split, recorded)
        if target.exists():
            shutil.rmtree(target)
        partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return TrainedRewardModel(folder, fitted.steps, report, tuple(recorded.notes), fitted.stopped_by)


class _RecordedNotes(Progress):
    """Passes everything on, and keeps the notes."""

    def __init__(self, progress: Progress) -> None:
        self.notes: list[str] = []
        self.step = progress.step  # type: ignore[method-assign]
        self._progress = progress

    def note(self, text: str) -> None:
        self.notes.append(text)
        self._progress.note(text)


def _check_folder(folder: Path, *, overwrite: bool) -> None:
    if Path.cwd().is_relative_to(folder.resolve()):
        raise TrainingError(f"{folder} is the current folder; a reward model needs its own folder, such as -o rm")
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not (folder / CONFIG).is_file():
        raise TrainingError(f"{folder} is there and holds no reward model of ours; name another folder")
    if not overwrite:
        raise TrainingError(f"{folder} holds a reward model already; --overwrite replaces it, -o FOLDER takes another")


def _read(config: RewardModelConfig, progress: Progress) -> PairSplit:
    """Pairs for training and pairs for evaluation."""
    data = config.data
    if data.path is None:
        raise InvalidSettings("no pairs: name a file with chosen and rejected responses (data.path=pairs.jsonl)")
    keys = {"prompt": data.prompt_key, "chosen": data.chosen_key, "rejected": data.rejected_key}
    columns = {field: column for field, column in keys.items() if column is not None}
    pair_set = read_pairs(data.path, columns=columns, split=data.split, limit=data.limit, skip_bad=data.skip_bad)
    for note in pair_set.notes:
        progress.note(note)
    if data.held_out_path is None:
        split = split_pairs(pair_set.pairs, data.held_out_share, seed=config.seed)
    else:
        others = read_pairs(data.held_out_path, columns=columns, split=data.split, skip_bad=data.skip_bad)
        split = keep_apart(pair_set.pairs, others.pairs)
    for note in split.notes:
        progress.note(note)
    return split


def _evaluate(folder: Path, config: RewardModelConfig, split: PairSplit, progress: Progress) -> RewardModelReport:
    """Evaluate the saved model on held-out pairs, and write the report."""
    skips = config.data.too_long == "skip"
    model = RewardModel(str(folder), device=config.model.device, too_long="refuse" if skips else "truncate")
    failures: list[str] = []

    def rate(pairs: Sequence[PreferencePair]) -> list[RatedPair]:
        outputs = score(model, [side for pair in pairs for side in (pair.chosen, pair.rejected)])
        failures.extend(output.reason for output in outputs if not output.ok)
        both = zip(pairs, outputs[::2], outputs[1::2], strict=True)
        return [RatedPair(pair, one.reward, two.reward) for pair, one, two in both
                if one.reward is not None and two.reward is not None]  # fmt: skip

    try:
        rated = rate(split.held_out)
        if not rated:
            raise TrainingError(f"none of {len(split.held_out):,} held-out pairs could be rated: {failures[0]}")
        if len(rated) < len(split.held_out):
            progress.note(f"{len(split.held_out) - len(rated):,} held-out pairs could not be rated: {failures[0]}")
        shown = random.Random(config.seed).sample(split.train, min(len(split.train), len(rated)))
        report = measure_reward_model(rated, rate, trained_on=len(split.train), train_accuracy=accuracy_of(rate(shown)))
    finally:
        model.unload()
    plain = msgspec.json.format(msgspec.json.encode(report.to_dict()), indent=2)
    write_atomically(folder / REPORT, plain + b"\n")
    write_pairs((_row(each) for each in rated), folder / HELD_OUT)
    return report


def _row(rated: RatedPair) -> dict[str, Any]:
    rewards = {"reward_chosen": rated.chosen_reward, "reward_rejected": rated.rejected_reward}
    return {**rated.pair.to_row(), **rewards, "location": rated.pair.location}
