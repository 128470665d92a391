"""Any pipeline of transformers as a reward: what it says of a text, as a number.

A classifier gives a probability to every label; the reward is their sum weighted by `labels`. So a sentiment model's
reward is the probability of POSITIVE, whichever label it prefers. A regression head gives its number as it is.
"""

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidSettings, require
from plaudit.models.batches import compute_batched
from plaudit.models.inputs import FORMATS, Encoded, Text, pad_inputs
from plaudit.models.loading import LoadedModel, ModelKey, is_out_of_memory
from plaudit.models.local_model import LocalModelReward, check_labels
from plaudit.settings import check_choice, set_field
from plaudit.trajectory import Trajectory

__all__ = ["PipelineReward"]

CLASSIFIERS = ("text-classification", "sentiment-analysis")
ZERO_SHOT = "zero-shot-classification"
USUAL_LABELS: tuple[dict[str, float], ...] = (
    {"negative": 0.0, "positive": 1.0},
    {"negative": 0.0, "neutral": 0.5, "positive": 1.0},
)
"""Labels whose rewards need not be said."""


@dataclass(frozen=True, repr=False)
class PipelineReward(LocalModelReward):
    """What a transformers pipeline says of a text: `PipelineReward("folder", labels={"POSITIVE": 1, "NEGATIVE": 0})`.

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
        check_choice("format", self.format, FORMATS)
        if self.format == "chat" and not self.folder.has_chat_template:
            raise InvalidSettings(f"the tokenizer of {self.model!r} has no chat template; take format='text'")
        if self.read is not None:
            set_field(self, "rewards", ())
            _find_function(self.read)
            return
        if self.task not in (*CLASSIFIERS, ZERO_SHOT):
            raise InvalidSettings(
                f"task={self.task!r} gives no labels: say read=, a function that makes a number of what it gives"
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
        """What transformers' classification pipeline applies to the logits of this model."""
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
        example = ", ".join(f"{label!r}: {float(place)}" for place, label in enumerate(known[:3]))
        raise InvalidSettings(
            f"{self.name}: say what each label of {self.model!r} is worth: "
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
        reading = FORMATS[self.format]
        with loaded.lock:
            read = self.read_samples(loaded, trajectories, reading)
            if self.task in CLASSIFIERS and self.read is None:
                encoded = [each for each in read if isinstance(each, Encoded)]
                rated = iter(
                    compute_batched(loaded, encoded, self.batch_size, lambda batch: self._classify(loaded, batch))
                )
                return [self._output(next(rated), each) if isinstance(each, Encoded) else each for each in read]
            lengths = {
                _write(reading.write(loaded.tokenizer, sample)): len(each)
                for sample, each in zip(trajectories, read, strict=True)
                if isinstance(each, Encoded)
            }
            given = self._run(loaded, sorted(lengths, key=lengths.__getitem__))
            return [
                self._output(given[_write(reading.write(loaded.tokenizer, sample))], each)
                if isinstance(each, Encoded)
                else each
                for sample, each in zip(trajectories, read, strict=True)
            ]

    def _classify(self, loaded: LoadedModel, batch: Sequence[Encoded]) -> list[list[dict[str, Any]]]:
        """What a classification pipeline gives for each text, without its detours: most of the time on short texts."""
        logits = loaded.model(**pad_inputs(loaded, batch)).logits.float()
        activations = {"none": logits, "sigmoid": logits.sigmoid(), "softmax": logits.softmax(dim=-1)}
        shares = activations[self._activation]
        labels = self.folder.labels
        return [
            [{"label": label, "score": share} for label, share in zip(labels, row, strict=True)]
            for row in shares.tolist()
        ]

    def _run(self, loaded: LoadedModel, texts: Sequence[Any]) -> dict[Any, Any]:
        """What the pipeline gives for each text; nothing where memory ran out for one alone."""
        transformers: Any = require("transformers", extra="models", purpose=self.name)
        pipeline = transformers.pipeline(
            self.task, model=loaded.model, tokenizer=loaded.tokenizer, device=loaded.model.device
        )
        settings: dict[str, Any] = {}
        if self.task in CLASSIFIERS:
            settings = {"top_k": None, "truncation": True, "max_length": self.max_length or loaded.context}
        elif self.task == ZERO_SHOT:
            settings = {"candidate_labels": [label for label, _ in self.rewards]}
        given: dict[Any, Any] = {}
        waiting = [list(texts)] if texts else []
        while waiting:
            part = waiting.pop()
            inputs = [text if isinstance(text, str) else dict(text) for text in part]
            try:
                outputs = pipeline(inputs, batch_size=self.batch_size, **settings)
            except RuntimeError as error:
                if not is_out_of_memory(error):
                    raise
                middle = len(part) // 2
                if middle:
                    waiting += [part[:middle], part[middle:]]
                else:
                    given[part[0]] = None
                continue
            given.update(zip(part, outputs, strict=True))
        return given

    def _output(self, given: Any, encoded: Encoded) -> RewardOutput:
        if given is None:
            return self.as_output(None, encoded, "")
        if self.read is not None:
            value = _find_function(self.read)(given)
            if isinstance(value, bool) or not isinstance(value, int | float):
                return RewardOutput.unscored(
                    Status.UNPARSED, f"{self.name}: read gave {type(value).__name__} {value!r:.60}, not a number"
                )
            return self.as_output(float(value), encoded, f"{self.task} gives {value:.4g}")
        shares = _shares(given)
        value = sum(shares.get(label, math.nan) * reward for label, reward in self.rewards)
        likeliest = max(shares, key=shares.__getitem__)
        return self.as_output(value, encoded, f"{likeliest} {shares[likeliest]:.3f}", labels=shares)


def _shares(given: Any) -> dict[str, float]:
    """The probability of every label, in either of the two forms that pipelines give them."""
    if isinstance(given, Mapping):
        return dict(zip(given["labels"], map(float, given["scores"]), strict=True))
    return {str(each["label"]): float(each["score"]) for each in given}


def _write(text: Text) -> Any:
    """A text as the pipeline takes it: a pair is a mapping, here as one that can be looked up."""
    return text if isinstance(text, str) else (("text", text[0]), ("text_pair", text[1]))


def _find_function(read: Callable[[Any], float] | str) -> Callable[[Any], float]:
    if callable(read):
        return read
    module, _, name = read.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidSettings(f"read={read!r} is not a function: {error}; write 'package.module:function'") from None
    if not callable(found):
        raise InvalidSettings(f"read={read!r} is {type(found).__name__}, not a function")
    function: Callable[[Any], float] = found
    return function
