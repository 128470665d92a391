"""Being like a reference pays; what only looks like it to a measure does not."""

import random

import pytest

from plaudit import Status, Trajectory, load, score
from plaudit.errors import InvalidSettings
from plaudit.rewards import TextSimilarityReward

PROMPT = "Why is the sky blue on a clear day, and red in the evening?"
TRUTH = (
    "Air scatters short waves of light more than long ones, so blue light reaches us from all over the sky; in the "
    "evening the light crosses more air and only red is left."
)
PARTLY = "Air scatters short waves of light more than long ones, so the sky is blue."
OTHER = "Grass is green since its leaves take in red and blue light, and plants need that to grow."


def shuffled(text, seed=3):
    listed = text.split()
    random.Random(seed).shuffle(listed)
    return " ".join(listed)


ATTACKS = {
    "empty": "",
    "invisible": "\u200b\u200b",
    "copy of the prompt": PROMPT,
    "copy of the prompt with an answer tag": f"<answer>{PROMPT}</answer>",
    "prompt twice": f"{PROMPT} {PROMPT}",
    "bag of words": shuffled(TRUTH),
    "sorted words": " ".join(sorted(TRUTH.split())),
    "bag twice": f"{shuffled(TRUTH)} {shuffled(TRUTH, 4)}",
    "answer only thought": f"<think>{TRUTH}</think>",
    "sentence near everything": "It is what it is, and there are many things in it that one could talk about.",
}
REWARDS = [
    "edit_similarity",
    "token_similarity",
    "bleu",
    "chrf",
    "rouge",
    "qa_f1",
    "text_similarity(measure='rouge_1')",
]


def earned(reward, response, truth=TRUTH, prompt=PROMPT):
    return score(reward, [Trajectory(prompt=prompt, response=response, ground_truth=truth)])[0].reward


@pytest.mark.parametrize("spec", REWARDS)
@pytest.mark.parametrize("response", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_earns_less_than_half_of_a_partly_right_answer(spec, response):
    reward = load(spec)
    honest = earned(reward, PARTLY)
    assert earned(reward, TRUTH) == pytest.approx(1.0)
    assert honest > 0.15
    assert earned(reward, response) < honest / 2 or earned(reward, response) <= earned(reward, OTHER)


@pytest.mark.parametrize(("measure", "attack"), [("qa_f1", "bag of words"), ("rouge_1", "bag of words")])
def test_the_attack_works_without_the_guard(measure, attack):
    assert earned(TextSimilarityReward(measure, guard=False), ATTACKS[attack]) > 0.95
    assert earned(TextSimilarityReward("chrf", guard=False), PROMPT) > 0.15


def test_copying_is_right_where_the_reference_is_the_prompt():
    assert earned(load("chrf"), "Repeat me.", truth="Repeat me.", prompt="Repeat me.") == pytest.approx(1.0)


def test_a_correction_is_paid_for_what_it_changes():
    """The prompt is nearly right already: leaving it as it is earns nothing."""
    reward, prompt, truth = load("edit_similarity"), "He go to school every day.", "He goes to school every day."
    assert earned(reward, prompt, truth, prompt) == 0.0
    assert earned(reward, truth, truth, prompt) == 1.0


def test_the_best_of_several_references_counts_and_numbers_are_texts():
    assert earned(load("qa_exact"), "the Beatles", ["Queen", "Beatles"], "Who?") == 1.0
    assert earned(load("qa_exact"), "<think>42?</think><answer>41</answer>", 41, "How many?") == 1.0


@pytest.mark.parametrize(
    ("truth", "status"),
    [
        (None, Status.SKIPPED),
        ("", Status.SKIPPED),
        ([], Status.SKIPPED),
        ({"a": 1}, Status.UNPARSED),
        (["x", None], Status.UNPARSED),
    ],
)
def test_a_truth_that_is_no_text_leaves_the_sample_unscored(truth, status):
    [output] = score(load("bleu"), [Trajectory(prompt="?", response="x", ground_truth=truth)])
    assert output.status is status


def test_a_threshold_decides_the_score_only():
    reward = TextSimilarityReward("edit", threshold=0.5, guard=False)
    [near, far] = score(reward, [Trajectory(prompt="?", response=r, ground_truth="abcd") for r in ("abcx", "axxx")])
    assert (near.reward, near.score, far.reward, far.score) == (0.75, 1.0, 0.25, 0.0)


def test_settings_are_checked():
    with pytest.raises(InvalidSettings, match="did you mean 'rouge_l'"):
        TextSimilarityReward("rougeL")
