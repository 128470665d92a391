"""Reward similarity to a reference text, by a measure that needs no model.

The reward adds guards to the measures: a copy of the prompt earns nothing, whatever it shares with the reference; a bag
of the reference's words earns little; an empty answer earns nothing. Without the guards the numbers are those of the
libraries, which a policy can exploit.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from plaudit.checks.similarity import MEASURES, find_measure, word_order
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidTrajectory
from plaudit.rewards.math import require_truth
from plaudit.settings import check_choice, check_number
from plaudit.trajectory import Trajectory
from plaudit.verify.tags import find_blocks, without_thinking
from plaudit.verify.text import words


@dataclass(frozen=True, repr=False)
class TextSimilarityReward(RewardFunction):
    """How like the ground truth the answer is, in [0, 1], by a `measure` such as "edit", "chrf" or "rouge_l".

    Of several references in a list the best counts. The answer is what stands in `<answer>`, else the response without
    its thinking. `guard=False` gives the bare measure. From `threshold` on the score is 1, below it 0; without one it
    is the reward.
    """

    measure: str = "chrf"
    _: KW_ONLY
    guard: bool = True
    threshold: float | None = None

    bounds = (0.0, 1.0)
    needs_ground_truth = True
    deterministic = True
    pure = True

    def __post_init__(self) -> None:
        check_choice("measure", self.measure, MEASURES)
        if self.threshold is not None:
            check_number("threshold", self.threshold, least=0)

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        return require_truth(trajectory, self._score)

    def _score(self, trajectory: Trajectory) -> RewardOutput:
        references = references_of(trajectory.ground_truth)
        answer = answer_text(trajectory.response)
        if not words(answer):
            return RewardOutput(0.0, score=0.0, reason="the answer is empty", metadata={"measured": 0.0})
        measured = max(find_measure(self.measure)(answer, reference) for reference in references)
        value = self._guarded(trajectory, answer, references) if self.guard else measured
        score = value if self.threshold is None else float(value >= self.threshold)
        reason = f"{self.measure} {measured:.3f}" + (f", {value:.3f} as guarded" if value != measured else "")
        return RewardOutput(value, score=score, reason=reason, metadata={"measured": measured})

    def _guarded(self, trajectory: Trajectory, answer: str, references: Sequence[str]) -> float:
        measure = find_measure(self.measure)

        def rate(text: str, reference: str) -> float:
            value = measure(text, reference)
            return value if measure.ordered or not value else value * word_order(text, reference)

        return max(discount_copying(rate, answer, trajectory.prompt_text, reference) for reference in references)


def discount_copying(rate: Callable[[str, str], float], answer: str, prompt: str, reference: str) -> float:
    """What the answer adds to a copy of the prompt: 0 for no more than that, 1 for the reference.

    Where the reference is the prompt itself, copying is what was asked for.
    """
    value, copied = rate(answer, reference), rate(prompt, reference) if words(prompt) else 0.0
    if copied <= 0.0 or copied >= 1.0:
        return value
    return max(0.0, (value - copied) / (1.0 - copied))


def answer_text(response: str) -> str:
    """The part of a response that counts: its one `<answer>`, else everything but the thoughts."""
    visible = without_thinking(response)
    blocks = find_blocks(visible, "answer")
    return blocks[0].text if len(blocks) == 1 else visible


def references_of(truth: Any) -> list[str]:
    """The texts that a ground truth offers; raises InvalidTrajectory if it is none."""
    listed = truth if isinstance(truth, list | tuple) else [truth]
    texts = [str(each) if isinstance(each, int | float) and not isinstance(each, bool) else each for each in listed]
    if not all(isinstance(each, str) and words(each) for each in texts):
        raise InvalidTrajectory(
            f"the ground truth is neither a text to compare with nor a list of texts: {truth!r:.80}"
        )
    return texts


def _spelling(measure: str, summary: str) -> functools.partial[TextSimilarityReward]:
    spelled = functools.partial(TextSimilarityReward, measure=measure)
    spelled.__doc__ = summary
    return spelled


edit_similarity = _spelling("edit", "1.0 less the share of characters to change to get the reference; Levenshtein.")
token_similarity = _spelling("token", "1.0 less the share of words to add and leave out to get the reference.")
bleu = _spelling("bleu", "BLEU of the answer against the reference, in [0, 1]; sacrebleu, one sentence.")
chrf = _spelling("chrf", "chrF, the F-score of character n-grams, in [0, 1]; sacrebleu.")
rouge = _spelling("rouge_l", "ROUGE-L, the F1 of the longest common subsequence of words.")
qa_f1 = _spelling("qa_f1", "The F1 of words of extractive question answering (SQuAD); the best of several answers.")
qa_exact = _spelling("qa_exact", "1.0 when the answer is the reference but for case, articles and punctuation (SQuAD).")
