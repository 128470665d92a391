"""Pipelines as rewards, and the samples of documents 000, 001 and 004 that use models, with their own names."""

import shutil
import textwrap

import pytest
import transformers
from huggingface_hub import constants

from plaudit import Status, Trajectory, load, score
from plaudit.contract.contents import copies_of
from plaudit.errors import InvalidSettings, RewardNotLoaded
from plaudit.models import PipelineReward, RewardModel
from plaudit.models.loading import loaded_names
from tests.models.sentiment import save_sentiment_model
from tests.models.small_models import save_llama, save_reward_model

# Sentences that the head was not fitted to, best first.
SENTENCES = [
    "Absolutely thrilled, a superb and lovely evening!",
    "The soup was good.",
    "The train leaves at ten.",
    "The soup was not good.",
    "Dreadful: rude staff, dirty tables, horrible food.",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(save_sentiment_model(tmp_path_factory.mktemp("models") / "sentiment"))


def said(*responses):
    return [Trajectory(prompt="How was it?", response=response) for response in responses]


def test_real_sentences_are_ordered_by_their_sentiment(folder):
    outputs = score(PipelineReward(folder, task="sentiment-analysis"), said(*SENTENCES))
    rewards = [output.reward for output in outputs]
    assert rewards[0] > 0.9
    assert rewards[-1] < 0.1
    assert rewards[1] > rewards[3], "a negation is read"
    assert min(rewards[:2]) > max(rewards[3:])
    assert outputs[0].reason.startswith("POSITIVE")
    assert outputs[0].metadata["labels"] == pytest.approx(
        {"POSITIVE": rewards[0], "NEGATIVE": 1 - rewards[0]}, abs=1e-6
    )


def test_the_reward_is_that_of_the_documents_formula(folder):
    """score if POSITIVE else 1 − score, one by one."""
    classifier = transformers.pipeline("sentiment-analysis", model=folder)
    results = [classifier(sentence)[0] for sentence in SENTENCES]
    expected = [result["score"] if result["label"] == "POSITIVE" else 1 - result["score"] for result in results]
    rewards = [output.reward for output in score(PipelineReward(folder, batch_size=2), said(*SENTENCES))]
    assert rewards == pytest.approx(expected, abs=1e-5)


def test_labels_have_the_rewards_they_are_given(folder):
    scaled = PipelineReward(folder, labels={"POSITIVE": 2.0, "NEGATIVE": -1.0})
    plain = [output.reward for output in score(PipelineReward(folder), said(*SENTENCES))]
    assert [output.reward for output in score(scaled, said(*SENTENCES))] == pytest.approx([3 * r - 1 for r in plain])
    assert scaled.bounds == (-1.0, 2.0)


@pytest.mark.parametrize(
    ("problem", "labels", "bounds"),
    [
        ("regression", 1, None),
        ("multi_label_classification", 3, (-1.0, 3.0)),
        ("single_label_classification", 3, (-1.0, 2.0)),
        (None, 1, (0.0, 1.0)),
    ],
)
def test_outputs_and_bounds_are_those_of_transformers_for_every_problem_type(tmp_path, problem, labels, bounds):
    folder = str(save_reward_model(tmp_path / "m", num_labels=labels, problem_type=problem))
    worth = {f"LABEL_{index}": value for index, value in enumerate((1.0, 2.0, -1.0)[:labels])}
    reward = PipelineReward(folder, labels=worth)
    theirs = transformers.pipeline("text-classification", model=folder, top_k=None)
    expected = [sum(worth[each["label"]] * each["score"] for each in theirs([text])[0]) for text in ("ab", "cd")]
    assert [output.reward for output in score(reward, said("ab", "cd"))] == pytest.approx(expected, abs=1e-5)
    assert reward.bounds == bounds


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"labels": {"POSITIV": 1.0, "NEGATIVE": 0.0}}, "has no label 'POSITIV'; did you mean 'POSITIVE'?"),
        ({"labels": {"POSITIVE": 1.0}}, "labels lacks NEGATIVE"),
        ({"labels": {"POSITIVE": "good", "NEGATIVE": 0.0}}, "is a finite number, got 'good'"),
        ({"task": "fill-mask"}, "give read="),
        ({"task": "zero-shot-classification"}, "needs two labels or more"),
        ({"read": "nowhere.at_all:function"}, "is not a function"),
        ({"format": "chat"}, "no chat template"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_mapping_is_refused_when_the_reward_is_built(folder, settings, words):
    with pytest.raises(InvalidSettings) as raised:
        PipelineReward(folder, **settings)
    assert words in str(raised.value)


def test_generic_labels_need_values(tmp_path):
    folder = str(save_sentiment_model(tmp_path / "m", labels=("LABEL_0", "LABEL_1")))
    with pytest.raises(
        InvalidSettings, match=r"the reward of each label of .*: labels=\{'LABEL_0': 0.0, 'LABEL_1': 1.0\}"
    ):
        PipelineReward(folder)
    assert PipelineReward(folder, labels={"LABEL_0": 0, "LABEL_1": 1})(said(SENTENCES[0]))[0] > 0.9


def test_other_pipelines_are_read_by_a_function(tmp_path):
    folder = str(save_llama(tmp_path / "tagger", "LlamaForTokenClassification", num_labels=2))
    count = PipelineReward(folder, task="token-classification", read=len)
    assert [output.reward for output in score(count, said("abcd", "ab"))] == [4.0, 2.0]
    broken = PipelineReward(folder, task="token-classification", read=lambda given: "many")
    assert score(broken, said("ab"))[0].status is Status.UNPARSED


def test_a_long_text_is_read_from_its_end_with_a_note_or_refused(folder):
    long = "The train leaves at ten. " * 200 + "Absolutely thrilled, a superb and lovely evening!"
    [output] = score(PipelineReward(folder, max_length=16), said(long))
    assert output.reward > 0.9
    assert output.metadata["tokens_cut"] > 1000
    [refused] = score(PipelineReward(folder, too_long="refuse"), said(long))
    assert refused.status is Status.SKIPPED


def test_pipelines_and_reward_models_share_a_model(folder):
    pipeline, model = PipelineReward(folder), RewardModel(folder, format="response", label="POSITIVE")
    rewards = [[output.reward for output in score(each, said(*SENTENCES))] for each in (pipeline, model)]
    assert rewards[0] == pytest.approx(rewards[1], abs=1e-5)
    assert pipeline.load() is model.load()
    assert loaded_names().count(folder) == 1


def test_it_loads_by_name_with_its_labels(folder, tmp_path):
    spec = f"pipeline(model='{folder}', task='sentiment-analysis', labels={{'POSITIVE': 1.0, 'NEGATIVE': 0.0}})"
    assert load(spec)(said(SENTENCES[0]))[0] > 0.9
    (tmp_path / "reward.yaml").write_text(f'cautious: {{rewards: ["{spec}", "length(target=5)"], penalty: 0.5}}')
    [output] = score(load(str(tmp_path / "reward.yaml")), said(SENTENCES[1]))
    values = [component.reward for component in output.components.values()]
    assert output.metadata["disagreement"] == pytest.approx(abs(values[0] - values[1]))
    assert output.reward == pytest.approx(sum(values) / 2 - 0.5 * abs(values[0] - values[1]) / 2)


# The documents, section "Using External Models" and example 3, "Conversation Quality Rewards".

FLUX = """
    from flux.core.trajectory import Trajectory
    from flux.rewards import RewardFunction, RewardOutput
    from transformers import pipeline

    class SentimentReward(RewardFunction):
        def __init__(self):
            self.classifier = pipeline("sentiment-analysis")

        def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
            result = self.classifier(trajectory.response[:512])[0]
            value = result["score"] if result["label"] == "POSITIVE" else 1 - result["score"]
            return RewardOutput(reward=value)
"""

CONVERSATION = """
    import torch
    from transformers import pipeline

    quality_scorer = pipeline("text-classification", model="OpenAssistant/reward-model-deberta-v3-large")

    def reward_func(queries, prompts, labels):
        rewards = []
        for query, prompt, label in zip(queries, prompts, labels):
            result = quality_scorer(query)[0]
            value = result["score"] if result["label"] == "LABEL_1" else 1 - result["score"]
            if len(query[len(prompt):].split()) < 3:
                value *= 0.5
            rewards.append(value)
        rewards = torch.tensor(rewards)
        return {"rewards": rewards, "scores": rewards, "extra_logs": {"quality": rewards}}
"""


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """An empty store of the hub; models put there are found by their names, as after `hf download`."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr("transformers.utils.hub.is_offline_mode", lambda: True, raising=False)

    def put(name, folder, revision="0" * 40):
        store = tmp_path / "hub" / f"models--{name.replace('/', '--')}"
        (store / "refs").mkdir(parents=True)
        (store / "refs" / "main").write_text(revision)
        for branch in ("714eb0f",):  # the revision that transformers names for its default model
            (store / "refs" / branch).write_text(revision)
        shutil.copytree(folder, store / "snapshots" / revision)

    return put


def write(tmp_path, source):
    path = tmp_path / "document.py"
    path.write_text(textwrap.dedent(source))
    return str(path)


def test_the_sentiment_sample_runs_as_written(hub, folder, tmp_path):
    hub("distilbert/distilbert-base-uncased-finetuned-sst-2-english", folder)
    reward = load(write(tmp_path, FLUX) + ":SentimentReward")
    rewards = [output.reward for output in score(reward, said(*SENTENCES))]
    ours = PipelineReward("distilbert/distilbert-base-uncased-finetuned-sst-2-english", task="sentiment-analysis")
    assert rewards == pytest.approx([output.reward for output in score(ours, said(*SENTENCES))], abs=1e-5)
    assert copies_of(reward) == 1


def test_the_conversation_sample_runs_as_written(hub, tmp_path):
    hub("OpenAssistant/reward-model-deberta-v3-large", save_sentiment_model(tmp_path / "m", ("LABEL_0", "LABEL_1")))
    reward = load(write(tmp_path, CONVERSATION))
    outputs = score(reward, said(SENTENCES[0], SENTENCES[-1], "Lovely!"))
    assert outputs[0].reward > outputs[1].reward
    assert outputs[2].reward <= 0.5
    assert outputs[0].metadata["quality"] == outputs[0].reward == outputs[0].score
    assert copies_of(reward) == 1


def test_a_sample_whose_model_is_not_here_names_it(hub, tmp_path):
    with pytest.raises(RewardNotLoaded, match="`hf download OpenAssistant/reward-model-deberta-v3-large` fetches it"):
        load(write(tmp_path, CONVERSATION))
    with pytest.raises(RewardNotLoaded, match="`hf download distilbert/distilbert-base-uncased-finetuned-sst-2"):
        load(write(tmp_path, FLUX) + ":SentimentReward")
    with pytest.raises(InvalidSettings, match="hf download OpenAssistant/reward-model-deberta-v3-large"):
        PipelineReward("OpenAssistant/reward-model-deberta-v3-large")
