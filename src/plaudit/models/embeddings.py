"""Reward meaning what a reference means, by the angle between the embeddings of two texts.

Embeddings take little notice of the order of words and much of the topic. So a list of the reference's words earns
little, a copy of the prompt nothing, and a sentence that is near everything no more than the prompt is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from plaudit.checks.similarity import word_order
from plaudit.contract.failures import describe_unusable
from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidTrajectory
from plaudit.models.inputs import Encoded, encode_texts, pad_inputs, write_inert
from plaudit.models.loading import LoadedModel
from plaudit.models.local_model import LocalModelReward, compute_batched
from plaudit.models.locating import ModelFolder
from plaudit.rewards.text_similarity import answer_text, discount_copying, references_of
from plaudit.settings import check_number
from plaudit.trajectory import Trajectory
from plaudit.verify.rows import need_truth
from plaudit.verify.text import words

__all__ = ["SimilarityReward"]

POOLINGS: dict[str, Callable[[Any, Any], Any]] = {
    "pooling_mode_cls_token": lambda states, mask: states[:, 0],
    "pooling_mode_max_tokens": lambda states, mask: states.masked_fill(mask == 0, float("-inf")).max(dim=1).values,
    "pooling_mode_mean_tokens": lambda states, mask: (states * mask).sum(dim=1) / mask.sum(dim=1),
}
"""How the vectors of tokens become that of a text, by the names that sentence-transformers saves."""


@dataclass(frozen=True, repr=False)
class SimilarityReward(LocalModelReward):
    """How near the answer is to the ground truth in meaning, in [0, 1]: the cosine of sentence embeddings.

    `model` is a sentence-transformers folder; "minilm" is all-MiniLM-L6-v2 from its wheel. Of several references in a
    list the best counts. `guard=False` gives the bare cosine, 0 where it is negative. From `threshold` on the score is
    1, below it 0; without one it is the reward.
    """

    model: str = "minilm"
    guard: bool = True
    threshold: float | None = None

    head: ClassVar[str] = "AutoModel"
    bounds = (0.0, 1.0)
    needs_ground_truth = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.threshold is not None:
            check_number("threshold", self.threshold, least=0)

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
        """The answer and its references, or what can be said without a model."""
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
        if not all(bool(vector.isfinite().all()) for vector in compared):  # min and max would make a number of it
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
