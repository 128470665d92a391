"""Rewards that compare a response with its ground truth by a model: by meaning, or by likelihood.

`SimilarityReward` takes the angle between the embeddings of two texts. Embeddings take little notice of the order of
words and much of the topic, so a list of the reference's words earns little, a copy of the prompt nothing, and a
sentence that is near everything no more than the prompt is. `LikelihoodReward` needs no verifier: it is
log p(truth | prompt, reasoning), as in VR-CLI (Gurung and Lapata 2025); the truth need not be short or exact.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from plaudit.checks.similarity import word_order
from plaudit.contract.failures import describe_unusable
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidTrajectory
from plaudit.models.cpu_precision import import_torch
from plaudit.models.inputs import Encoded, encode_text, encode_texts, pad_inputs, write_inert, write_messages
from plaudit.models.loading import LoadedModel
from plaudit.models.local_model import LocalModelReward, compute_batched
from plaudit.models.locating import ModelFolder
from plaudit.rewards.text_similarity import answer_text, discount_copying, references_of
from plaudit.settings import NonNegative, check_choice, set_field
from plaudit.trajectory import Trajectory
from plaudit.verify.rows import need_truth
from plaudit.verify.tags import find_blocks, without_blocks
from plaudit.verify.text import words

POOLINGS: dict[str, Callable[[Any, Any], Any]] = {
    "pooling_mode_cls_token": lambda states, mask: states[:, 0],
    "pooling_mode_max_tokens": lambda states, mask: states.masked_fill(mask == 0, float("-inf")).max(dim=1).values,
    "pooling_mode_mean_tokens": lambda states, mask: (states * mask).sum(dim=1) / mask.sum(dim=1),
}
"""The functions that pool token vectors into a text vector, by the names that sentence-transformers saves."""


@dataclass(frozen=True, repr=False)
class SimilarityReward(LocalModelReward):
    """The similarity of answer and ground truth in meaning, in [0, 1]: the cosine of sentence embeddings.

    `model` is a sentence-transformers folder; "minilm" is all-MiniLM-L6-v2 from its wheel. Of several references in a
    list the best counts. `guard=False` gives the bare cosine, 0 where it is negative. From `threshold` on the score is
    1, below it 0; without one it is the reward.
    """

    model: str = "minilm"
    guard: bool = True
    threshold: NonNegative | None = None

    head: ClassVar[str] = "AutoModel"
    bounds = (0.0, 1.0)
    needs_ground_truth = True

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[RewardOutput]:
        prepared = [self._prepare(trajectory) for trajectory in trajectories]
        texts = [
            text
            for trajectory, each in zip(trajectories, prepared, strict=True)
            if not isinstance(each, RewardOutput)
            for text in (each[0], *each[1], *self._prompts(trajectory))
        ]
        vectors, lengths = self._embed(list(dict.fromkeys(texts)))
        return [
            each if isinstance(each, RewardOutput) else self._compare(trajectory, each[0], each[1], vectors, lengths)
            for trajectory, each in zip(trajectories, prepared, strict=True)
        ]

    def _prompts(self, trajectory: Trajectory) -> list[str]:
        """The prompt, if copies of it are discounted."""
        return [trajectory.prompt_text] if self.guard and words(trajectory.prompt_text) else []

    def _prepare(self, trajectory: Trajectory) -> tuple[str, list[str]] | RewardOutput:
        """The answer and its references, or the output where no model is needed."""
        try:
            references = references_of(need_truth(trajectory))
        except InvalidTrajectory as error:
            return describe_unusable(error)
        answer = answer_text(trajectory.response)
        if not words(answer):
            return RewardOutput(0.0, score=0.0, reason="the answer is empty", metadata={"cosine": 0.0})
        return answer, references

    def _embed(self, texts: Sequence[str]) -> tuple[dict[str, Any], dict[str, tuple[int, int]]]:
        """The unit vector of each text (None: memory ran out), and its tokens before and after it was cut."""
        if not texts:
            return {}, {}
        loaded = self.load()
        with loaded.lock:
            pool = POOLINGS[_pooling(self.folder)]
            written = [write_inert(loaded.tokenizer, text) for text in texts]
            encoded = encode_texts(loaded, written, self._limit(loaded))

            def compute(batch: Sequence[Encoded]) -> list[Any]:
                inputs = pad_inputs(loaded, batch)
                pooled = pool(loaded.model(**inputs).last_hidden_state.float(), inputs["attention_mask"].unsqueeze(-1))
                return list((pooled / pooled.norm(dim=1, keepdim=True)).cpu())

            computed = compute_batched(loaded, encoded, self.batch_size, compute)
        lengths = {text: (each.full_length, len(each)) for text, each in zip(texts, encoded, strict=True)}
        return dict(zip(texts, computed, strict=True)), lengths

    def _limit(self, loaded: LoadedModel) -> int | None:
        """The length that the model was trained on, which may be less than it can read."""
        trained = self.folder.read_json("sentence_bert_config.json").get("max_seq_length")
        limits = [limit for limit in (self.max_length or trained, loaded.context) if limit]
        return min(limits, default=None)

    def _compare(
        self,
        trajectory: Trajectory,
        answer: str,
        references: Sequence[str],
        vectors: dict[str, Any],
        lengths: dict[str, tuple[int, int]],
    ) -> RewardOutput:
        prompt = trajectory.prompt_text
        before, kept = lengths[answer]
        if self.too_long == "refuse" and before > kept:
            return RewardOutput.unscored(
                Status.SKIPPED, f"{self.name}: the answer has {before} tokens, and {self.model!r} reads {kept}"
            )
        compared = [vectors[text] for text in (answer, *references, *self._prompts(trajectory))]
        if any(vector is None for vector in compared):
            return RewardOutput.unscored(Status.MEMORY, f"{self.name}: memory ran out; set max_length or batch_size=1")
        if not all(bool(vector.isfinite().all()) for vector in compared):  # min and max would turn NaN into a number
            return RewardOutput.unscored(Status.ERROR, f"{self.name}: the embedding is not a number; take float32")

        def cosine(text: str, reference: str) -> float:
            return max(0.0, min(1.0, float(vectors[text] @ vectors[reference])))

        def rate(text: str, reference: str) -> float:
            return cosine(text, reference) * word_order(text, reference)

        bare = max(cosine(answer, reference) for reference in references)
        value = max(discount_copying(rate, answer, prompt, each) for each in references) if self.guard else bare
        notes: dict[str, Any] = {"cosine": bare, **({"tokens_cut": before - kept} if before > kept else {})}
        reason = f"cosine {bare:.3f}" + (f", {value:.3f} as guarded" if value != bare else "")
        reason += f"; its first {before - kept} tokens were left out" if before > kept else ""
        score = value if self.threshold is None else float(value >= self.threshold)
        return RewardOutput(value, score=score, reason=reason, metadata=notes)


def _pooling(folder: ModelFolder) -> str:
    config = folder.read_json("1_Pooling/config.json")
    return next((name for name in POOLINGS if config.get(name)), "pooling_mode_mean_tokens")


MEASURES: dict[str, Callable[[float, float], float]] = {
    "logprob": lambda with_it, without: with_it,
    "probability": lambda with_it, without: math.exp(with_it),
    "gain": lambda with_it, without: with_it - without,
    "improvement": lambda with_it, without: 1.0 - math.exp(min(50.0, without - with_it)),
}
"""The reward as a function of the mean log-probability of the truth's tokens with and without the reasoning."""
WITH_BASELINE = ("gain", "improvement")


@dataclass(frozen=True, repr=False)
class LikelihoodReward(LocalModelReward):
    """How likely the ground truth becomes by the reasoning, under a causal language model.

    `measure` is "logprob" (the mean over the truth's tokens), "probability" (its exponential, in [0, 1]), "gain" (the
    log-probability above that without the reasoning) or "improvement" (1 − perplexity with / without, at most 1). The
    reasoning is the text in `<think>`, else the response without its `<answer>`; `before_truth` is put between it
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
        before = encode_text(loaded.tokenizer, context, special=self.format == "text")
        wanted = encode_text(loaded.tokenizer, truth)
        limit = self.max_length or loaded.context
        room = len(before) if limit is None else limit - len(wanted)
        if not wanted or not before or room < 1:
            raise InvalidTrajectory(f"the ground truth has {len(wanted)} tokens, and the model reads {limit}")
        if len(before) > room and self.too_long == "refuse":
            raise InvalidTrajectory(
                f"{len(before) + len(wanted)} tokens, and {self.model!r} reads {limit}; set too_long='truncate' to "
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
