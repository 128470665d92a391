"""Reward reasoning that makes the ground truth likely, under a model that reads both.

No answer is parsed and no verifier is needed: log p(truth | prompt, reasoning), as in VR-CLI (Gurung and Lapata 2025)
and its kin. The truth need not be short or exact. What a model of that size finds likely is what is rewarded.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidTrajectory
from plaudit.models.cpu_precision import import_torch
from plaudit.models.inputs import Encoded, write_inert, write_messages
from plaudit.models.loading import LoadedModel
from plaudit.models.local_model import LocalModelReward, compute_batched
from plaudit.rewards.text_similarity import references_of
from plaudit.settings import check_choice, set_field
from plaudit.trajectory import Trajectory
from plaudit.verify.rows import need_truth
from plaudit.verify.tags import find_blocks, without_blocks

__all__ = ["LikelihoodReward"]

MEASURES: dict[str, Callable[[float, float], float]] = {
    "logprob": lambda with_it, without: with_it,
    "probability": lambda with_it, without: math.exp(with_it),
    "gain": lambda with_it, without: with_it - without,
    "improvement": lambda with_it, without: 1.0 - math.exp(min(50.0, without - with_it)),
}
"""What the reward is, of the mean log-probability of the truth's tokens with and without the reasoning."""
WITH_BASELINE = ("gain", "improvement")


@dataclass(frozen=True, repr=False)
class LikelihoodReward(LocalModelReward):
    """How likely the ground truth becomes by the reasoning, under a causal language model.

    `measure` is "logprob" (the mean over the truth's tokens), "probability" (its exponential, in [0, 1]), "gain" (the
    log-probability above that without the reasoning) or "improvement" (1 − perplexity with / without, at most 1). The
    reasoning is what stands in `<think>`, else the response without its `<answer>`; `before_truth` stands between it
    and the truth. Of several references, the one with the highest reward counts. `format` is "chat" (the model's chat
    template) or "text".
    """

    model: str = "smollm2"
    measure: str = "gain"
    format: str = "text"
    before_truth: str = "\nThe answer is: "

    head: ClassVar[str] = "AutoModelForCausalLM"
    needs_ground_truth = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("measure", self.measure, MEASURES)
        self.folder.require_head("ForCausalLM", "LMHeadModel", purpose=self.name)
        self.check_format(self.format, ("chat", "text"))
        set_field(self, "bounds", (0.0, 1.0) if self.measure == "probability" else None)

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        loaded = self.load()
        with loaded.lock:
            read = [self._read(loaded, trajectory) for trajectory in trajectories]
            encoded = [each for group in read if not isinstance(group, RewardOutput) for each in group]
            rated = iter(compute_batched(loaded, encoded, self.batch_size, lambda batch: _rate(loaded, batch)))
            return [
                each if isinstance(each, RewardOutput) else self._output(each, [next(rated) for _ in each])
                for each in read
            ]

    def _read(self, loaded: LoadedModel, trajectory: Trajectory) -> list[Encoded] | RewardOutput:
        """The texts to rate: with the reasoning, and without it where the measure compares; one pair per reference."""
        try:
            references = references_of(need_truth(trajectory))
            reasoning = write_inert(loaded.tokenizer, _reasoning(trajectory.response))
            texts = [reasoning, ""] if self.measure in WITH_BASELINE else [reasoning]
            contexts = [self._context(loaded, trajectory, text) for text in texts]
            return [self._encode(loaded, context, truth) for truth in references for context in contexts]
        except InvalidTrajectory as error:
            return RewardOutput.unscored(Status.SKIPPED, f"{self.name}: {error}")

    def _context(self, loaded: LoadedModel, trajectory: Trajectory, reasoning: str) -> str:
        if self.format == "text":
            prompt = trajectory.prompt_text
            return f"{prompt}\n{reasoning}{self.before_truth}" if reasoning else f"{prompt}{self.before_truth}"
        prompt = write_messages(loaded.tokenizer, trajectory.messages[:-1], add_generation_prompt=True)
        return f"{prompt}{reasoning}{self.before_truth}"

    def _encode(self, loaded: LoadedModel, context: str, truth: str) -> Encoded:
        """Context and truth as tokens; the truth stays whole, `truth` marks its tokens."""

        def ids_of(text: str, begins: bool) -> list[int]:
            clean = text.encode("utf-8", "replace").decode()
            return list(loaded.tokenizer(clean, add_special_tokens=begins, verbose=False)["input_ids"])

        before, wanted = ids_of(context, self.format == "text"), ids_of(truth, False)
        limit = self.max_length or loaded.context
        room = len(before) if limit is None else limit - len(wanted)
        if not wanted or not before or room < 1:
            raise InvalidTrajectory(f"the ground truth has {len(wanted)} tokens, and the model reads {limit}")
        if len(before) > room and self.too_long == "refuse":
            raise InvalidTrajectory(
                f"{len(before) + len(wanted)} tokens, and {self.model!r} reads {limit}; say too_long='truncate' to "
                "leave the beginning out"
            )
        kept = before[-room:]
        ids = [*kept, *wanted]
        features = {"input_ids": ids, "truth": [0] * len(kept) + [1] * len(wanted)}
        return Encoded(features, len(before) + len(wanted))

    def _output(self, encoded: Sequence[Encoded], rated: Sequence[float | None]) -> RewardOutput:
        if any(each is None for each in rated):
            return self.as_output(None, encoded[0], "")
        size = 2 if self.measure in WITH_BASELINE else 1
        logprobs = [float(each or 0.0) for each in rated]
        pairs = [(logprobs[index], logprobs[index + size - 1]) for index in range(0, len(logprobs), size)]
        value, with_it, without = max((self._measure(*pair), *pair) for pair in pairs)
        notes = {"logprob": with_it, "perplexity": math.exp(min(50.0, -with_it))}
        reason = f"log-probability {with_it:.3f} a token"
        if self.measure in WITH_BASELINE:
            notes["logprob_without"] = without
            reason += f", {without:.3f} without the reasoning"
        return self.as_output(value, encoded[0], reason, **notes)

    def _measure(self, with_it: float, without: float) -> float:
        return MEASURES[self.measure](with_it, without) if math.isfinite(with_it + without) else -math.inf


def _reasoning(response: str) -> str:
    thought = [block.text.strip() for name in ("think", "thinking") for block in find_blocks(response, name)]
    return "\n".join(thought) if thought else without_blocks(response, ("answer",)).strip()


def _rate(loaded: LoadedModel, batch: Sequence[Encoded]) -> list[float]:
    """The mean log-probability of each sample's truth.

    Padded on the left, so that all truths are at the end: only there logits are needed, which for a vocabulary of
    50,000 words are most of the memory.
    """
    torch: Any = import_torch(extra="models", purpose="likelihoods")
    longest = max(map(len, batch))
    pad = loaded.tokenizer.pad_token_id or 0
    rows = [[pad] * (longest - len(each)) + each.features["input_ids"] for each in batch]
    marks = [[0] * (longest - len(each)) + [1] * len(each) for each in batch]
    ids, mask = (torch.tensor(values, device=loaded.device) for values in (rows, marks))
    lengths = [sum(each.features["truth"]) for each in batch]
    keep = max(lengths) + 1
    logits = loaded.model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=(mask.cumsum(dim=-1) - 1).clamp(min=0),
        logits_to_keep=keep,
        use_cache=False,
    ).logits.float()
    chosen = ids[:, -(keep - 1) :]
    rated = logits[:, -keep:-1].log_softmax(dim=-1).gather(2, chosen.unsqueeze(-1)).squeeze(-1)
    return [row[-length:].mean().item() for row, length in zip(rated, lengths, strict=True)]
