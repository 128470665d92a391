"""`plaudit launch`: a config as the command of another trainer."""

import json
import shlex
import sys

import pytest

from plaudit.cli import main
from plaudit.errors import DataError, InvalidSettings
from plaudit.launching import Machines, plan_launch
from plaudit.launching.openrlhf_flags import read_openrlhf_flags
from plaudit.launching.tables import TABLES
from plaudit.training.config.keys import flatten
from plaudit.training.config.reading import KEYS, load_config

REWARD = "def good(response, ground_truth):\n    return float(response == ground_truth)\n"
SETTINGS = (
    "model.path=owner/model", "model.dtype=bfloat16", "model.device=cuda", "data.path=sums.jsonl",
    "data.prompt_key=q", "data.ground_truth_key=answers", "training.reward_function=mine.py:good", "advantage=rloo",
    "sampling.prompts_per_step=8", "sampling.samples_per_prompt=4", "sampling.max_new_tokens=32", "steps=20",
    "optimizer.lr=1e-6", "loss.kl_beta=0.01", "data.max_prompt_tokens=100", "output_dir=run",
)  # fmt: skip
TWO = Machines(gpus=2)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(REWARD)
    rows = [{"q": f"{n}+1=", "answers": str(n + 1), "level": n} for n in range(20)]
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def plan(trainer, *more, **options):
    return plan_launch(load_config(overrides=[*SETTINGS, *more]), trainer, f"to-{trainer}", machines=TWO, **options)


def arguments(launch) -> dict[str, str]:
    if launch.trainer == "verl":
        return dict(word.partition("=")[::2] for (word,) in launch.words[1:])
    return {words[0].removeprefix("--"): " ".join(words[1:]) for words in launch.words[1:]}


def test_openrlhf_gets_reward_label_estimator_samples_model_and_data():
    launch = plan("openrlhf")
    given = arguments(launch)
    assert launch.words[0] == ["python3", "-m", "openrlhf.cli.train_ppo_ray"]
    assert given["reward.remote_url"] == "to-openrlhf/plaudit_reward.py"
    assert (given["data.prompt_dataset"], given["data.label_key"]) == ("to-openrlhf/data/train.jsonl", "answers")
    assert given["eval.dataset"] == "to-openrlhf/data/test.jsonl"
    assert given["actor.model_name_or_path"] == "owner/model"
    assert (given["algo.advantage.estimator"], given["rollout.n_samples_per_prompt"]) == ("rloo", "4")
    assert (given["actor.adam.lr"], given["data.max_len"]) == ("1e-06", "132")
    assert (given["algo.kl.init_coef"], given["algo.kl.use_loss"], given["algo.kl.estimator"]) == ("0.01", "", "k3")
    assert launch.unmapped == []
    assert any("no other columns" in each for each in launch.notes)


def test_the_command_of_openrlhf_is_read_back_as_the_same_settings():
    more = ("loss.name=dapo", "loss.clip_high=0.3", "filter.by=mean", "filter.low=0.1", "training.minibatches=2")
    flags = read_openrlhf_flags(shlex.split(plan("openrlhf", *more).command.replace("\\\n", " "))[3:])
    read = flatten(flags.complete(load_config(overrides=flags.overrides), lambda _: 18).to_dict())
    ours = flatten(load_config(overrides=[*SETTINGS, *more]).to_dict())
    for key in (
        "advantage", "optimizer.lr", "sampling.samples_per_prompt", "loss.kl_beta", "loss.kl_in", "loss.clip_high",
        "filter.by", "filter.low", "training.minibatches", "data.ground_truth_key", "data.max_prompt_tokens",
    ):  # fmt: skip
        assert read[key] == ours[key], key


def test_verl_gets_its_columns_and_settings(folder):
    launch = plan("verl")
    given = arguments(launch)
    assert given["algorithm.adv_estimator"] == "rloo"
    assert given["actor_rollout_ref.rollout.n"] == "4"
    assert given["reward.custom_reward_function.path"] == "to-verl/plaudit_reward.py"
    assert given["actor_rollout_ref.actor.kl_loss_type"] == "low_var_kl"
    assert launch.unmapped == ["optimizer.schedule=linear"]
    import pyarrow.parquet

    row = pyarrow.parquet.read_table(folder / "to-verl" / "data" / "train.parquet").to_pylist()[0]
    assert row["prompt"][0]["role"] == "user"
    question = row["prompt"][0]["content"]
    assert row["reward_model"]["ground_truth"] == str(int(question.split("+")[0]) + 1)
    assert "level" in row["extra_info"]


def test_trl_gets_a_reward_by_name_and_takes_the_arguments_for_real(folder):
    launch = plan("trl", "model.device=cpu", "model.lora_rank=8", "logging.wandb=true")
    assert launch.words[0][:4] == ["env", "PYTHONPATH=to-trl", "trl", "grpo"]
    given = arguments(launch)
    assert given["reward_funcs"] == "plaudit_reward.reward"
    assert (given["num_generations"], given["lora_r"], given["report_to"]) == ("4", "8", "wandb")
    from trl.scripts.grpo import make_parser

    words = [word for words in launch.words[1:] for word in words]
    script, training, model, _ = make_parser().parse_args_and_config(words)
    assert (script.reward_funcs, training.num_generations, model.lora_r) == (["plaudit_reward.reward"], 4, 8)
    assert (training.max_steps, training.learning_rate) == (20, 1e-6)
    row = json.loads((folder / "to-trl" / "data" / "train.jsonl").read_text().splitlines()[0])
    assert set(row) == {"prompt", "ground_truth", "level"}


def test_the_reward_file_gives_the_numbers_of_the_reward(folder, monkeypatch):
    plan("trl", "training.reward_workers=1")
    monkeypatch.syspath_prepend(str(folder / "to-trl"))
    monkeypatch.delitem(sys.modules, "plaudit_reward", raising=False)  # of another launch in this process
    import plaudit_reward

    assert plaudit_reward.reward(prompts=["1+1=", "1+1="], completions=["2", "3"], ground_truth=["2", "2"]) == [
        1.0,
        0.0,
    ]
    plaudit_reward.reward.close()


@pytest.mark.parametrize("trainer", ["openrlhf", "verl", "trl"])
def test_keys_without_a_counterpart_are_listed_by_name(trainer):
    launch = plan(trainer, "training.log_rewards=true", "model.warm_start_steps=5")
    assert {"training.log_rewards=true", "model.warm_start_steps=5"} <= set(launch.unmapped)


def test_arguments_of_the_trainer_are_passed_on_as_written_and_replace_ours():
    launch = plan(
        "openrlhf", extra=["--vllm.num_engines", "1", "--ds.zero_stage", "3", "--actor.adam.betas", "0.9", "1"]
    )
    assert arguments(launch)["ds.zero_stage"] == "3"
    assert arguments(launch)["actor.adam.betas"] == "0.9 1"
    assert [words for words in launch.words if words[0] == "--vllm.num_engines"] == [["--vllm.num_engines", "1"]]
    launch = plan("verl", extra=["trainer.nnodes=4", "+anything.of.theirs=[1,2]"])
    assert [word for (word,) in launch.words[1:] if "nnodes" in word] == ["trainer.nnodes=4"]
    assert ["+anything.of.theirs=[1,2]"] in launch.words


@pytest.mark.parametrize(
    ("trainer", "settings", "message"),
    [
        ("openrlhf", ["model.path="], "name one that the trainer can load"),
        ("openrlhf", ["training.reward_function="], "training.reward_function=my.py:name"),
        ("openrlhf", ["advantage=maxrl"], "advantage=maxrl: openrlhf has"),
        ("openrlhf", ["loss.name=sapo"], "loss.name=sapo"),
        ("verl", ["advantage=pass_at_k"], "advantage=pass_at_k: verl has"),
        ("verl", ["training.agent_file=agent.py"], "launch it with openrlhf"),
        ("trl", ["advantage=gae"], "TRL's GRPOTrainer knows"),
        ("vrl", [], "did you mean 'verl'"),
    ],
)
def test_unsupported_estimators_losses_and_agents_are_errors(trainer, settings, message):
    with pytest.raises(InvalidSettings) as raised:
        plan(trainer, *settings)
    assert message in str(raised.value)


def test_data_not_on_this_machine_are_passed_by_name_with_a_note():
    launch = plan("openrlhf", "data.path=openai/gsm8k")
    assert arguments(launch)["data.prompt_dataset"] == "openai/gsm8k"
    assert arguments(launch)["data.input_key"] == "q"
    assert any("openai/gsm8k is not on this machine" in each for each in launch.notes)


def test_ground_truths_of_mixed_types_are_an_error_for_verl(folder):
    (folder / "sums.jsonl").write_text('{"q": "1+1=", "answers": "2"}\n{"q": "1+2=", "answers": 3}\n')
    with pytest.raises(DataError, match="a column has one type"):
        plan("verl", "data.eval_share=0")


def test_a_server_is_given_to_openrlhf_by_its_address():
    launch = plan("openrlhf", "training.reward_function=http://localhost:5000/get_reward")
    assert arguments(launch)["reward.remote_url"] == "http://localhost:5000/get_reward"


def test_every_key_of_the_tables_exists():
    for table in TABLES.values():
        assert {*table.renamed, *table.choices, *table.computed_from} <= set(KEYS)


def test_a_folder_with_files_is_replaced_only_with_overwrite(folder, capsys):
    line = ["launch", "trl", *SETTINGS, "-o", "there"]
    assert _exit_code(line) == 0
    assert _exit_code(line) == 2
    assert "there is not empty; --overwrite replaces" in capsys.readouterr().err
    assert _exit_code([*line, "--overwrite"]) == 0


def _exit_code(line) -> int:
    with pytest.raises(SystemExit) as exited:
        main(line)
    return exited.value.code
