"""Classifiers as rewards: reward models, and any pipeline of transformers.

A reward model has one output, which is the reward: any number. `.sigmoid()` puts it between 0 and 1,
`.normalized("group")` on the scale of a group. A pipeline gives a probability to every label; the reward is their sum
weighted by `labels`. So a sentiment model's reward is the probability of POSITIVE, whichever label it prefers. A
regression head gives its number as it is.
"""

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidSettings, did_you_mean, require
from plaudit.models.inputs import Encoded, pad_inputs
from plaudit.models.loading import LoadedModel, ModelKey
from plaudit.models.local_model import LocalModelReward, check_labels
from plaudit.settings import set_field
from plaudit.trajectory import Trajectory


@dataclass(frozen=True, repr=False)
class RewardModel(LocalModelReward):
    """The output of a reward model for a conversation: `RewardModel("my-reward-model")`.

    `format` is the input of the model: "chat" applies its chat template, "text" joins prompt and response, "pair" keeps
    them as two texts, "response" leaves the prompt out. Of a classifier with several labels, the reward is the
    probability of `label`.
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
                f"{self.model!r} has the labels {', '.join(labels)}: choose the one whose probability is the reward, "
                f"label={labels[-1]!r}{hint}"
            )
        if len(labels) == 1 and self.label is not None:
            raise InvalidSettings(f"{self.model!r} has one output, which is the reward; leave out label={self.label!r}")
        set_field(self, "bounds", (0.0, 1.0) if len(labels) > 1 else None)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        loaded = self.load()
        with loaded.lock:
            samples = self.read_samples(loaded, trajectories, self.format, end=self.format == "text")
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


CLASSIFIERS = ("text-classification", "sentiment-analysis")
ZERO_SHOT = "zero-shot-classification"
USUAL_LABELS: tuple[dict[str, float], ...] = (
    {"negative": 0.0, "positive": 1.0},
    {"negative": 0.0, "neutral": 0.5, "positive": 1.0},
)
"""Labels with default rewards."""


@dataclass(frozen=True, repr=False)
class PipelineReward(LocalModelReward):
    """The output of a transformers pipeline: `PipelineReward("folder", labels={"POSITIVE": 1, "NEGATIVE": 0})`.

    `labels` maps every label of a classifier to its reward; positive and negative need no mapping, and a model with one
    output is its own reward. With `task="zero-shot-classification"` the labels are any words. For other tasks, `read`
    makes a number of what the pipeline gives for one text: a function, or "package.module:function". `format` says what
    the pipeline is given: the "response", the conversation as "text" or as a "chat", or both texts as a "pair".
    """

    task: str = "text-classification"
    labels: Mapping[str, float] | None = None
    format: str = "response"
    read: Callable[[Any], float] | str | None = None
    rewards: tuple[tuple[str, float], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_format(self.format)
        if self.read is not None:
            set_field(self, "rewards", ())
            _find_function(self.read)
            return
        if self.task not in (*CLASSIFIERS, ZERO_SHOT):
            raise InvalidSettings(
                f"task={self.task!r} gives no labels: give read=, a function that makes a number of its output"
            )
        self.folder.require_head("ForSequenceClassification", purpose=self.name)
        set_field(self, "rewards", tuple(self._rewards_of_labels().items()))
        set_field(self, "bounds", self._bounds())

    def _bounds(self) -> tuple[float, float] | None:
        """The range of the weighted outputs: of a distribution over labels, of independent labels, or unknown."""
        values = [value for _, value in self.rewards]
        if self.task == ZERO_SHOT or self._activation == "softmax":
            return min(values), max(values)
        if self._activation == "sigmoid":
            return sum(min(0.0, value) for value in values), sum(max(0.0, value) for value in values)
        return None

    @property
    def _activation(self) -> str:
        """The activation that the classification pipeline of transformers applies to the logits of this model."""
        problem = self.folder.config.get("problem_type")
        if problem == "regression":
            return "none"
        return "sigmoid" if problem == "multi_label_classification" or len(self.folder.labels) == 1 else "softmax"

    def _rewards_of_labels(self) -> Mapping[str, float]:
        if self.task == ZERO_SHOT:
            if not self.labels or len(self.labels) < 2:
                raise InvalidSettings(f"{ZERO_SHOT} needs two labels or more: labels={{'polite': 1, 'rude': 0}}")
            return self.labels
        known = self.folder.labels
        if self.labels is not None:
            check_labels(self.name, self.folder, self.labels)
            return self.labels
        if len(known) == 1:
            return {known[0]: 1.0}
        for usual in USUAL_LABELS:
            if {label.lower() for label in known} == set(usual):
                return {label: usual[label.lower()] for label in known}
        example = ", ".join(f"{label!r}: {float(index)}" for index, label in enumerate(known[:3]))
        raise InvalidSettings(
            f"{self.name}: give the reward of each label of {self.model!r}: "
            f"labels={{{example}{', …' * (len(known) > 3)}}}"
        )

    @property
    def key(self) -> ModelKey:
        transformers: Any = require("transformers", extra="models", purpose=self.name)
        try:
            _, task, _ = transformers.pipelines.check_task(self.task)
        except KeyError as error:
            raise InvalidSettings(f"{self.name}: {str(error)[:200]}") from None
        return ModelKey(self.folder, task["pt"][0].__name__, self.dtype, self.device)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        loaded = self.load()
        with loaded.lock:
            samples = self.read_samples(loaded, trajectories, self.format)
            compute = self._classify if self.task in CLASSIFIERS and self.read is None else self._run_pipeline
            return self.score_encoded(loaded, samples, compute, self._output)

    def _classify(self, loaded: LoadedModel, batch: Sequence[Encoded]) -> list[Any]:
        """The outputs of a classification pipeline, computed directly: most of its time on short texts is overhead."""
        logits = loaded.model(**pad_inputs(loaded, batch)).logits.float()
        activations = {"none": logits, "sigmoid": logits.sigmoid(), "softmax": logits.softmax(dim=-1)}
        labels = self.folder.labels
        return [
            [{"label": label, "score": share} for label, share in zip(labels, row, strict=True)]
            for row in activations[self._activation].tolist()
        ]

    def _run_pipeline(self, loaded: LoadedModel, batch: Sequence[Encoded]) -> list[Any]:
        transformers: Any = require("transformers", extra="models", purpose=self.name)
        pipeline = transformers.pipeline(
            self.task, model=loaded.model, tokenizer=loaded.tokenizer, device=loaded.model.device
        )
        settings: dict[str, Any] = {}
        if self.task in CLASSIFIERS:
            settings = {"top_k": None, "truncation": True, "max_length": self.max_length or loaded.context}
        elif self.task == ZERO_SHOT:
            settings = {"candidate_labels": [label for label, _ in self.rewards]}
        inputs = [
            each.text if isinstance(each.text, str) else {"text": each.text[0], "text_pair": each.text[1]}
            for each in batch
        ]
        return list(pipeline(inputs, batch_size=len(inputs), **settings))

    def _output(self, result: Any, encoded: Encoded) -> RewardOutput:
        if result is None:
            return self.as_output(None, encoded, "")
        if self.read is not None:
            value = _find_function(self.read)(result)
            if isinstance(value, bool) or not isinstance(value, int | float):
                return RewardOutput.unscored(
                    Status.UNPARSED, f"{self.name}: read gave {type(value).__name__} {value!r:.60}, not a number"
                )
            return self.as_output(float(value), encoded, f"{self.task} gives {value:.4g}")
        shares = _shares(result)
        value = sum(shares.get(label, math.nan) * reward for label, reward in self.rewards)
        likeliest = max(shares, key=shares.__getitem__)
        return self.as_output(value, encoded, f"{likeliest} {shares[likeliest]:.3f}", labels=shares)


def _shares(result: Any) -> dict[str, float]:
    """The probability of every label, in either of the two shapes that pipelines return."""
    if isinstance(result, Mapping):
        return dict(zip(result["labels"], map(float, result["scores"]), strict=True))
    return {str(each["label"]): float(each["score"]) for each in result}


def _find_function(read: Callable[[Any], float] | str) -> Callable[[Any], float]:
    if callable(read):
        return read
    module, _, name = read.partition(":")
    try:
        function: Callable[[Any], float] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidSettings(f"read={read!r} is not a function: {error}; write 'package.module:function'") from None
    if not callable(function):
        raise InvalidSettings(f"read={read!r} is {type(function).__name__}, not a function")
    return function
