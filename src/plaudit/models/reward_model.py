"""Reward models: a classifier with one output reads the conversation, and its output is the reward.

The output is any number. `.sigmoid()` puts it between 0 and 1, `.normalized("group")` on the scale of a group.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.models.inputs import FORMATS, Encoded, pad_inputs
from plaudit.models.loading import LoadedModel
from plaudit.models.local_model import LocalModelReward
from plaudit.settings import set_field
from plaudit.trajectory import Trajectory

__all__ = ["RewardModel"]


@dataclass(frozen=True, repr=False)
class RewardModel(LocalModelReward):
    """What a reward model says of the conversation: `RewardModel("my-reward-model")`.

    `format` says how it is given a sample: "chat" as its chat template writes it, "text" as prompt and response in one,
    "pair" as two texts, "response" alone. Of a classifier with several labels, the reward is the probability of
    `label`.
    """

    format: str = "chat"
    label: str | None = None

    head: ClassVar[str] = "AutoModelForSequenceClassification"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.folder.require_head("ForSequenceClassification", purpose=self.name)
        self.check_format(self.format)
        labels = self.folder.labels
        if len(labels) > 1 and self.label not in labels:
            hint = f", got {self.label!r}{did_you_mean(str(self.label), labels)}" if self.label is not None else ""
            raise InvalidSettings(
                f"{self.model!r} has the labels {', '.join(labels)}: say whose probability is the reward, "
                f"label={labels[-1]!r}{hint}"
            )
        if len(labels) == 1 and self.label is not None:
            raise InvalidSettings(f"{self.model!r} has one output, which is the reward; leave out label={self.label!r}")
        set_field(self, "bounds", (0.0, 1.0) if len(labels) > 1 else None)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        loaded = self.load()
        with loaded.lock:
            samples = self.read_samples(loaded, trajectories, FORMATS[self.format], end=self.format == "text")
            return self.score_encoded(loaded, samples, self._rate, self._output)

    def _rate(self, loaded: LoadedModel, batch: Sequence[Encoded]) -> list[float]:
        logits = loaded.model(**pad_inputs(loaded, batch)).logits.float()
        if self.label is None:
            rated: list[float] = logits[:, 0].tolist()
        else:
            rated = logits.softmax(dim=-1)[:, self.folder.labels.index(self.label)].tolist()
        return rated

    def _output(self, value: float | None, encoded: Encoded) -> RewardOutput:
        shown = "" if value is None else f"{value:.4g}"
        return self.as_output(value, encoded, f"{self.label or 'the model gives'} {shown}")
