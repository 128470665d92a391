"""Process reward models: a value for every step of a response, and one value for all steps.

Two kinds are known: a token classifier, whose output at the last token of a step is the step's value (as TRL trains
them), and a causal language model that predicts one of two tokens after each step, good or bad (Math-Shepherd).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidSettings, InvalidTrajectory
from plaudit.models.inputs import FORMATS, Encoded, encode_text, pad_inputs, write_inert
from plaudit.models.loading import LoadedModel, ModelKey
from plaudit.models.local_model import LocalModelReward, compute_batched
from plaudit.settings import check_choice, check_keys
from plaudit.trajectory import Trajectory

COMBINE: dict[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "mean": lambda values: math.fsum(values) / len(values),
    "product": math.prod,
    "last": lambda values: values[-1],
}
"""Combines the values of all steps."""


@dataclass(frozen=True, repr=False)
class ProcessRewardModel(LocalModelReward):
    """The values of a process reward model for all steps, combined: `ProcessRewardModel("my-prm", combine="min")`.

    Steps end at each `separator` in the response (white space; a line end by default). `combine` is "min", "mean",
    "product" or "last". Each step earns, at its last word, what it changed in the combined value (with "mean", its
    share), so that the token rewards add up to the reward. After each step the model reads `mark`; a causal model
    answers with one of the two tokens `verdicts`, good first.
    """

    combine: str = "min"
    separator: str = "\n"
    mark: str = "\n"
    format: str = "text"
    label: str | None = None
    verdicts: tuple[str, str] | None = None

    head: ClassVar[str] = "AutoModelForTokenClassification"
    bounds = (0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("combine", self.combine, COMBINE)
        self.check_format(self.format, ("chat", "text"))
        if not self.separator or self.separator.strip():
            raise InvalidSettings(f"separator is white space that ends a step, such as '\\n'; got {self.separator!r}")
        if not self.mark:
            raise InvalidSettings("mark is what the model reads after each step; it cannot be empty")
        if self.verdicts is not None:
            self.folder.require_head("ForCausalLM", "LMHeadModel", purpose=f"{self.name} with verdicts")
            if len(self.verdicts) != 2 or self.label is not None:
                raise InvalidSettings("verdicts are two tokens, good and bad; a label is for token classifiers")
            return
        self.folder.require_head("ForTokenClassification", purpose=self.name)
        labels = self.folder.labels
        if len(labels) > 2 and self.label is None:
            raise InvalidSettings(f"{self.model!r} has the labels {', '.join(labels)}: name the good one, label=")
        check_keys(() if self.label is None else (self.label,), labels, repr(self.model), "label")

    @property
    def key(self) -> ModelKey:
        head = self.head if self.verdicts is None else "AutoModelForCausalLM"
        return ModelKey(self.folder, head, self.dtype, self.device)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        loaded = self.load()
        with loaded.lock:
            read = [self._read(loaded, trajectory) for trajectory in trajectories]
            encoded = [each for each, _ in read if isinstance(each, Encoded)]
            states = iter(compute_batched(loaded, encoded, self.batch_size, lambda batch: self._rate(loaded, batch)))
            return [
                self._output(trajectory, each, [] if (rated := next(states)) is None else [rated[end] for end in ends])
                if isinstance(each, Encoded)
                else each
                for trajectory, (each, ends) in zip(trajectories, read, strict=True)
            ]

    def _read(self, loaded: LoadedModel, trajectory: Trajectory) -> tuple[Encoded | RewardOutput, list[int]]:
        """The tokens of a sample, and where its steps end in them."""
        steps = self._steps(trajectory.response)
        if not steps:
            return RewardOutput.unscored(Status.SKIPPED, f"{self.name}: the response has no step"), []
        tokenizer = loaded.tokenizer
        try:
            prompt = self._prompt(tokenizer, trajectory)
        except InvalidTrajectory as error:
            return RewardOutput.unscored(Status.ERROR, f"{self.name}: {error}"), []
        ids, ends = encode_text(tokenizer, prompt, special=self.format == "text"), []
        if ids and ids[-1] in (tokenizer.eos_token_id, tokenizer.sep_token_id):
            ids.pop()  # the prompt continues with the steps
        first = len(ids)
        for step in steps:
            ids += encode_text(tokenizer, write_inert(tokenizer, step)) + encode_text(tokenizer, self.mark)
            ends.append(len(ids) - 1)
        limit = self.max_length or loaded.context or len(ids)
        over = max(0, len(ids) - limit)
        if over and (self.too_long == "refuse" or over > first):
            reason = f"{self.name}: {len(ids)} tokens, {first} of them the prompt's, and {self.model!r} reads {limit}"
            return RewardOutput.unscored(Status.SKIPPED, f"{reason}; a step without its beginning has no value"), []
        kept = Encoded({"input_ids": ids[over:], "attention_mask": [1] * (len(ids) - over)}, len(ids))
        return kept, [end - over for end in ends]

    def _prompt(self, tokenizer: Any, trajectory: Trajectory) -> str:
        if self.format == "text":
            return trajectory.prompt_text + self.separator
        empty = msgspec.structs.replace(trajectory, response="\0")
        written = FORMATS["chat"](tokenizer, empty)
        assert isinstance(written, str)
        return written.rpartition("\0")[0]

    def _steps(self, response: str) -> list[str]:
        return [step for step in response.split(self.separator) if step.strip()]

    def _rate(self, loaded: LoadedModel, batch: Sequence[Encoded]) -> list[list[float]]:
        """The value at every token of every sample."""
        logits = loaded.model(**pad_inputs(loaded, batch)).logits.float()
        if self.verdicts is not None:
            good, bad = (self._token_of(loaded.tokenizer, verdict) for verdict in self.verdicts)
            values = logits[..., [bad, good]].softmax(dim=-1)[..., 1]
        elif logits.shape[-1] == 1:
            values = logits[..., 0].sigmoid()
        else:
            label = 1 if self.label is None else self.folder.labels.index(self.label)
            values = logits.softmax(dim=-1)[..., label]
        rated: list[list[float]] = values.tolist()
        return rated

    def _token_of(self, tokenizer: Any, verdict: str) -> int:
        ids = encode_text(tokenizer, verdict)
        if len(ids) != 1:
            raise InvalidSettings(f"the verdict {verdict!r} is {len(ids)} tokens of {self.model!r}; it must be one")
        return ids[0]

    def _output(self, trajectory: Trajectory, encoded: Encoded, values: Sequence[float]) -> RewardOutput:
        if not values or not all(map(math.isfinite, values)):
            return self.as_output(None if not values else math.nan, encoded, "")
        total = COMBINE[self.combine](values)
        worst = min(range(len(values)), key=values.__getitem__)
        output = self.as_output(
            total,
            encoded,
            f"{self.combine} of {len(values)} steps; the lowest is step {worst + 1} with {values[worst]:.3f}",
            step_values=list(values),
        )
        return msgspec.structs.replace(output, token_rewards=self._word_rewards(trajectory.response, values))

    def _word_rewards(self, response: str, values: Sequence[float]) -> list[float]:
        """The reward of each step at its last word; 0 at all others."""
        rewards: list[float] = []
        before = 0.0
        for index, step in enumerate(self._steps(response)):
            if self.combine == "mean":
                earned = values[index] / len(values)
            else:
                now = COMBINE[self.combine](values[: index + 1])
                earned, before = now - before, now
            rewards += [0.0] * (len(step.split()) - 1) + [earned]
        return rewards
