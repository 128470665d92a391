"""A reward model trained for real: it orders held-out pairs, says what it is worth, and loads as a reward."""

import json
from pathlib import Path

import pytest

from plaudit import Trajectory, load, score
from plaudit.errors import DataError, InvalidSettings, TrainingError
from plaudit.training import LengthVerdict, TrainedRewardModel, load_reward_model_config, train, train_reward_model
from plaudit.training.reward_model.fitting import load_classifier
from plaudit.training.reward_model.pair import read_pair
from plaudit.training.reward_model.pair_files import write_pairs
from tests.training.reward_model.counting_pairs import counting_pairs
from tests.training.runs import small

TOY_TASKS = Path(__file__).parents[3] / "examples" / "toy_tasks.py"
QUICK = ("training.steps=2", "training.batch_size=4", "model.max_tokens=64")


class Heard:
    def __init__(self):
        self.steps, self.notes = [], []

    def step(self, step, metrics):
        self.steps.append((step, metrics["steps"]))

    def note(self, text):
        self.notes.append(text)


def write(path: Path, rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def some_pairs(folder: Path, count=10, **more) -> Path:
    rows = [{"prompt": f"p{n}", "chosen": f"good {n}", "rejected": f"bad {n}", **more} for n in range(count)]
    return write(folder / "pairs.jsonl", rows)


def settings(pairs: Path, folder: Path, *overrides: str):
    return load_reward_model_config(None, [f"data.path={pairs}", f"output_dir={folder}", *QUICK, *overrides])


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> TrainedRewardModel:
    folder = tmp_path_factory.mktemp("counting")
    write_pairs([pair.to_row() for pair in counting_pairs().pairs], folder / "pairs.jsonl")
    overrides = [f"data.path={folder / 'pairs.jsonl'}", f"output_dir={folder / 'rm'}", "model.max_tokens=64"]
    short = ["training.steps=100", "training.batch_size=16", "training.lr=4e-3"]
    return train_reward_model(load_reward_model_config(None, [*overrides, *short]))


def test_the_embedded_model_orders_nine_of_ten_held_out_pairs(trained):
    assert trained.report.accuracy.value >= 0.9
    assert trained.report.accuracy.count >= 300
    assert trained.report.length.verdict is LengthVerdict.CLEAR


def test_a_policy_that_is_trained_with_the_reward_model_gets_better_by_the_true_reward(trained, tmp_path):
    """The judge of held-out prompts is the task's own reward, which counts words; training never asks it."""
    overrides = (
        f"task={TOY_TASKS}:length_control", "steps=12", "sampling.prompts_per_step=8", "sampling.samples_per_prompt=8",
        "model.warm_start_steps=20", "model.warm_start_batch=32", "eval.prompts=32", "eval.every=0",
        "eval.greedy=false", "eval.pass_at=[1]", "eval.samples_per_prompt=4", "checkpoint.every=0",
        "training.reward_backend=inline",
        f"training.reward_function=reward_model(model={str(trained.folder)!r})",
    )  # fmt: skip
    outcome = train(small(tmp_path / "run", *overrides))
    assert outcome.after["eval/reward"] > outcome.before["eval/reward"] + 0.1
    assert outcome.after["eval/unscored"] == 0.0


def test_the_folder_is_a_reward_that_says_what_the_report_says(trained):
    rows = [json.loads(line) for line in (trained.folder / "held_out.jsonl").read_text().splitlines()]
    samples = [Trajectory(prompt=row["prompt"], response=row["chosen"]) for row in rows[:20]]
    outputs = score(load(f"reward_model(model={str(trained.folder)!r})"), samples)
    assert [output.reward for output in outputs] == pytest.approx([row["reward_chosen"] for row in rows[:20]], abs=1e-4)


def test_everything_about_the_training_is_in_the_folder(trained):
    report = json.loads((trained.folder / "report.json").read_text())
    assert report["accuracy"]["value"] == trained.report.accuracy.value
    assert {"margins", "calibration", "length"} <= report.keys()
    metrics = [json.loads(line) for line in (trained.folder / "metrics.jsonl").read_text().splitlines()]
    assert metrics[-1]["loss"] < metrics[0]["loss"]
    again = load_reward_model_config(trained.folder / "training.yaml")
    assert again.training.steps == 100
    assert {each.name for each in trained.folder.parent.iterdir()} == {"pairs.jsonl", "rm"}  # nothing half done


def test_a_reward_model_is_trained_further_with_lora_and_the_same_seed_gives_the_same_numbers(trained, tmp_path):
    overrides = (f"model.path={trained.folder}", "model.lora_rank=2")
    pairs = some_pairs(tmp_path)
    heard = Heard()
    first, second = (
        train_reward_model(settings(pairs, tmp_path / name, *overrides), progress=heard) for name in ("a", "b")
    )
    assert first.report == second.report
    assert heard.steps == [(1, 2), (2, 2)] * 2
    [output] = score(first.load(), [Trajectory(prompt="a words:2\n", response="ab cd")])
    assert output.ok
    assert not (first.folder / "adapter_config.json").exists()  # adapters are built in


@pytest.mark.parametrize(
    ("too_long", "count", "said"),
    [
        ("truncate", 3, "1 of 4 pairs are longer than 64 tokens (model.max_tokens): their beginnings are left out"),
        ("skip", 2, "1 of 4 pairs are longer than 64 tokens (model.max_tokens): they are left out"),
    ],
)
def test_long_pairs_are_cut_or_left_out_with_a_note(too_long, count, said, tmp_path):
    from plaudit.training.reward_model.fitting import encode_pairs

    config = settings(tmp_path / "pairs.jsonl", tmp_path / "rm", f"data.too_long={too_long}")
    rows = [("a", "b"), ("x" * 200 + "a", "b"), ("b", "a"), ("ä", "ö")]
    pairs = [read_pair({"prompt": "p", "chosen": better, "rejected": worse}) for better, worse in rows]
    heard = Heard()
    examples = encode_pairs(load_classifier(config.model, seed=1), pairs, config, heard)
    assert len(examples) == count
    assert max(len(each["chosen_ids"]) for each in examples) <= 64
    assert heard.notes == [said, "left out 1 pair whose sides are the same to the model's tokenizer"]


@pytest.mark.parametrize(
    ("rows", "overrides", "error", "message"),
    [
        (
            [{"prompt": "p", "chosen": "a", "rejected": "a"}],
            (),
            DataError,
            "pairs.jsonl:1: chosen and rejected are the",
        ),
        ([{"prompt": "p", "chosen": "a"}], (), DataError, "pairs.jsonl:1: no column 'rejected'"),
        (None, ("model.path=nowhere",), InvalidSettings, "no model 'nowhere'"),
        (None, ("model.device=cuda:9",), InvalidSettings, "torch finds no cuda device"),
        (
            None,
            ("training.lr=1e30", "training.max_grad_norm=1e30"),
            TrainingError,
            "the training diverged; lower training.lr",
        ),
        (None, ("trl.learning_rte=1",), InvalidSettings, "did you mean 'learning_rate'"),
        (None, ("trl.learning_rate=1",), InvalidSettings, "trl.learning_rate duplicates a key"),
    ],
    ids=["same text", "no column", "no model", "no device", "diverged", "unknown to TRL", "ours"],
)
def test_refused_training_names_the_reason_and_writes_no_folder(rows, overrides, error, message, tmp_path):
    pairs = some_pairs(tmp_path) if rows is None else write(tmp_path / "pairs.jsonl", rows)
    with pytest.raises(error, match=message.replace("(", r"\(")):
        train_reward_model(settings(pairs, tmp_path / "rm", *overrides))
    assert [each.name for each in tmp_path.iterdir()] == ["pairs.jsonl"]


def test_a_folder_is_replaced_only_when_asked_and_only_if_it_is_a_reward_model(trained, tmp_path):
    with pytest.raises(TrainingError, match="holds a reward model already; --overwrite replaces it"):
        train_reward_model(settings(some_pairs(tmp_path), trained.folder))
    with pytest.raises(TrainingError, match="holds no reward model of ours"):
        train_reward_model(settings(some_pairs(tmp_path), tmp_path), overwrite=True)
    with pytest.raises(TrainingError, match="is the current folder; a reward model needs its own folder"):
        train_reward_model(settings(some_pairs(tmp_path), Path()), overwrite=True)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.stepss=3", "no key 'training.stepss'; did you mean 'training.steps'"),
        ("training.schedule=cosin", "expected one of linear, cosine, constant"),
        ("training.epochs=2", "steps=2 and epochs=2 both set the length"),
        ("data.held_out_share=1", "data.held_out_share"),
    ],
)
def test_a_wrong_key_or_value_is_named(override, message, tmp_path):
    with pytest.raises(InvalidSettings, match=message):
        settings(tmp_path / "pairs.jsonl", tmp_path / "rm", override)


def test_pairs_must_be_named(tmp_path):
    with pytest.raises(InvalidSettings, match="no pairs: name a file"):
        train_reward_model(load_reward_model_config(overrides=[f"output_dir={tmp_path / 'rm'}"]))
