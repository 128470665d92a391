"""Embeddings and likelihoods with real weights: all-MiniLM-L6-v2 and SmolLM2-135M-Instruct."""

import math

import pytest
import torch
import transformers

from plaudit import Status, Trajectory, load, score
from plaudit.errors import InvalidSettings
from plaudit.models import LikelihoodReward, SimilarityReward
from plaudit.models.locating import locate_model
from tests.models.small_models import save_llama
from tests.rewards.test_text_similarity import ATTACKS, OTHER, PARTLY, PROMPT, TRUTH

PARAPHRASE = (
    "Blue light has a short wavelength and is scattered by air molecules far more strongly, which is why it comes to "
    "us from every direction; at dusk sunlight travels through so much air that red is what remains."
)


def samples(*responses, prompt=PROMPT, truth=TRUTH):
    return [Trajectory(prompt=prompt, response=response, ground_truth=truth) for response in responses]


def rewards(reward, given):
    return [output.reward for output in score(reward, given)]


def test_sentences_are_ordered_by_their_similarity_in_meaning():
    same, paraphrase, partly, other, far = rewards(
        SimilarityReward(guard=False), samples(TRUTH, PARAPHRASE, PARTLY, OTHER, "The invoice is due on Friday.")
    )
    assert same == pytest.approx(1.0)
    assert same > paraphrase > other > far
    assert partly > other
    assert paraphrase > 0.6
    assert far < 0.1


def test_the_cosine_is_that_of_mean_pooled_states():
    folder = locate_model("minilm", purpose="a test").path
    tokenizer, model = (getattr(transformers, kind).from_pretrained(folder) for kind in ("AutoTokenizer", "AutoModel"))
    vectors = []
    for text in (PARTLY, TRUTH):
        with torch.no_grad():
            vectors.append(model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(dim=0))
    expected = torch.nn.functional.cosine_similarity(*vectors, dim=0).item()
    assert rewards(SimilarityReward(guard=False), samples(PARTLY, TRUTH))[0] == pytest.approx(expected, abs=1e-5)


def test_attacks_earn_less_than_a_partly_right_answer():
    honest, paraphrase, *attacks = rewards(SimilarityReward(), samples(PARTLY, PARAPHRASE, *ATTACKS.values()))
    assert honest > 0.2
    assert paraphrase > 0.2
    assert {name: value for name, value in zip(ATTACKS, attacks, strict=True) if value >= honest / 2} == {}
    bare = rewards(SimilarityReward(guard=False), samples(ATTACKS["bag of words"], PROMPT))
    assert min(bare) > 0.4, "both attacks work without the guard"


def test_samples_without_a_usable_truth_are_not_scored_and_the_others_are():
    given = [*samples(PARTLY), *samples(PARTLY, truth=None), *samples(PARTLY, truth={"a": 1}), *samples("")]
    outputs = score(load("similarity"), given)
    assert [output.status for output in outputs] == [Status.OK, Status.SKIPPED, Status.UNPARSED, Status.OK]
    assert outputs[3].reward == 0.0


def test_a_long_answer_says_what_was_left_out():
    [output] = score(SimilarityReward(), samples("word " * 2000 + TRUTH))
    assert output.metadata["tokens_cut"] > 1700
    [refused] = score(SimilarityReward(too_long="refuse"), samples("word " * 2000))
    assert refused.status is Status.SKIPPED


def test_an_embedding_that_is_no_number_is_a_status_and_not_the_best_reward(tmp_path):
    folder = save_llama(tmp_path / "embedder", "LlamaModel")
    model = transformers.AutoModel.from_pretrained(folder)
    model.norm.weight.data.fill_(math.nan)
    model.save_pretrained(folder)
    [output] = score(SimilarityReward(str(folder)), [Trajectory(prompt="", response="so", ground_truth="so")])
    assert output.status is Status.ERROR
    assert "not a number" in output.reason


APPLES = "Tom has 3 apples and buys 4 more. How many apples does he have?"
REASONING = {
    "right": "Tom starts with 3 apples and adds 4. 3 + 4 = 7.",
    "besides the point": "Trees are tall and green.",
    "wrong": "Tom starts with 3 apples and adds 4. 3 + 4 = 9.",
}


def test_right_reasoning_makes_the_truth_likely_and_wrong_reasoning_does_not():
    given = samples(*REASONING.values(), prompt=APPLES, truth="7")
    gains = rewards(LikelihoodReward(), given)
    assert gains[0] > 1.0
    assert gains[0] > gains[1] > gains[2]
    assert gains[2] < 0.0


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return str(save_llama(tmp_path_factory.mktemp("models") / "lm", "LlamaForCausalLM"))


def logprob_of(folder, context, truth):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    before, wanted = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (context, truth))
    with torch.no_grad():
        logits = model(torch.tensor([before + wanted])).logits[0].log_softmax(dim=-1)
    places = range(len(before) - 1, len(before) + len(wanted) - 1)
    return sum(logits[place, token].item() for place, token in zip(places, wanted, strict=True)) / len(wanted)


def test_the_reward_is_the_mean_log_probability_whatever_else_is_in_the_batch(small):
    given = [
        Trajectory(prompt="Q?", response="so" * size, ground_truth=truth) for size, truth in [(1, "ab"), (9, "abcde")]
    ]
    expected = [logprob_of(small, f"Q?\n{each.response}\nThe answer is: ", each.ground_truth) for each in given]
    without = [logprob_of(small, "Q?\nThe answer is: ", each.ground_truth) for each in given]
    assert rewards(LikelihoodReward(small, measure="logprob"), given) == pytest.approx(expected, abs=1e-4)
    assert rewards(LikelihoodReward(small, measure="probability"), given) == pytest.approx(
        list(map(math.exp, expected)), abs=1e-4
    )
    gains = [a - b for a, b in zip(expected, without, strict=True)]
    assert rewards(LikelihoodReward(small, measure="gain"), given) == pytest.approx(gains, abs=1e-4)
    improvements = [1 - math.exp(-gain) for gain in gains]
    assert rewards(LikelihoodReward(small, measure="improvement"), given) == pytest.approx(improvements, abs=1e-4)


@pytest.mark.parametrize("measure", ["logprob", "gain"])
def test_of_several_references_the_likeliest_counts(small, measure):
    reward = LikelihoodReward(small, measure=measure)
    one_each = [Trajectory("What?", "<think>abc</think>", ground_truth=truth) for truth in ("ab", "zq")]
    both = Trajectory("What?", "<think>abc</think>", ground_truth=["zq", "ab"])
    assert rewards(reward, [both]) == [pytest.approx(max(rewards(reward, one_each)), abs=1e-5)]


def test_thoughts_count_as_reasoning_and_the_answer_does_not(small):
    reward = LikelihoodReward(small, measure="logprob")
    thought, bare, answered = rewards(
        reward, samples("<think>so</think><answer>7</answer>", "so", "so<answer>7</answer>", prompt="Q?", truth="7")
    )
    assert thought == pytest.approx(bare, abs=1e-5)
    assert answered == pytest.approx(bare, abs=1e-5)


def test_a_truth_longer_than_the_context_is_skipped_and_a_long_context_cut(small):
    outputs = score(LikelihoodReward(small), [*samples("so", truth="x" * 300), *samples("so" * 300, truth="7")])
    assert outputs[0].status is Status.SKIPPED
    assert outputs[1].metadata["tokens"] == 256
    assert "left out" in outputs[1].reason
    with pytest.raises(InvalidSettings, match="ForCausalLM or LMHeadModel; 'minilm' is BertModel"):
        LikelihoodReward("minilm")
