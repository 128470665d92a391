"""Built-in tasks: their truths are true, and what is held out is not trained on."""

from pathlib import Path

import pytest

from plaudit import load, score
from plaudit.errors import InvalidSettings
from plaudit.training import load_config, train
from plaudit.training.data.task_catalog import TASKS, find_task, sort_digits
from plaudit.training.model.loading import character_tokenizer
from plaudit.trajectory import Trajectory

EXAMPLES = Path(__file__).parents[3] / "examples"
SPECS = {name: name for name in TASKS} | {
    name: f"{EXAMPLES}/toy_tasks.py:{name}" for name in ("follow_format", "length_control")
}


@pytest.fixture(params=list(SPECS))
def task(request):
    return find_task(SPECS[request.param])


def reward_of(task):
    return load(task.reward) if isinstance(task.reward, str) else task.reward


def test_every_demonstration_earns_full_marks(task):
    outputs = score(reward_of(task), task.demonstrations[:200])
    assert {(output.reward, output.score) for output in outputs} == {(1.0, 1.0)}


def test_no_held_out_prompt_is_trained_on(task):
    assert not {row.prompt_text for row in task.prompts} & {row.prompt_text for row in task.held_out}
    assert len(task.held_out) >= 64


def test_demonstrations_fit_into_the_response_and_the_alphabet(task):
    tokenizer = character_tokenizer()
    for row in task.demonstrations[:200]:
        ids = tokenizer(row.response)["input_ids"]
        assert len(ids) < task.max_new_tokens
        assert tokenizer.unk_token_id not in [*ids, *tokenizer(row.prompt)["input_ids"]]


def test_a_task_is_the_same_every_time_it_is_made(task):
    assert find_task(SPECS[task.name]).held_out == task.held_out


@pytest.mark.parametrize(
    ("name", "truth", "response", "reward"),
    [
        ("sort_digits", "0123", "0123", 1.0),
        ("sort_digits", "0123", "123", 0.0),
        ("sort_digits", "0123", "0123 0123", 0.0),
        ("addition", "12", "<answer>12</answer>", 1.0),
        ("addition", "12", "<answer>21</answer>", 0.0),
        ("follow_format", "7", "The answer is 8.", 0.3),
        ("follow_format", "7", "", 0.0),
        ("length_control", 4, "a b", 0.5),
        ("length_control", 2, "a b c d e", 0.0),
    ],
)
def test_responses_get_the_expected_rewards(name, truth, response, reward):
    [output] = score(reward_of(find_task(SPECS[name])), [Trajectory("?", response, ground_truth=truth)])
    assert output.reward == pytest.approx(reward)


def test_more_digits_can_be_sorted():
    task = sort_digits(digits=6, held_out=100, size=500)
    assert (len(task.prompts), len(task.held_out)) == (400, 100)
    row = task.prompts[0]
    assert row.ground_truth == "".join(sorted(row.prompt[:6]))


def example(name, *overrides):
    return load_config(EXAMPLES / f"{name}.yaml", overrides)


@pytest.mark.parametrize("name", ["addition", "follow_format", "length_control"])
def test_the_example_of_a_task_trains_it_after_its_own_warm_start(name):
    config = example(name)
    assert config.task.endswith(name)
    assert config.model.warm_start_steps == find_task(SPECS[name]).warm_start_steps


@pytest.mark.parametrize("name", ["follow_format", "length_control"])
def test_a_warm_start_leaves_something_to_learn_and_something_to_learn_from(tmp_path, name):
    """A policy that is never right gets no reward to learn from; one that is nearly always right, none to gain."""
    untrained = train(example(name, "steps=0", f"output_dir={tmp_path}/run", "eval.prompts=64"))
    assert 0.05 < untrained.before["eval/score"] < 0.85


def test_an_unknown_task_is_named():
    with pytest.raises(InvalidSettings, match="no task named 'sort_digit'; did you mean 'sort_digits'"):
        find_task("sort_digit")
