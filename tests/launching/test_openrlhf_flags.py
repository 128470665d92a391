"""OpenRLHF's command lines, read as settings of a run."""

import json

import pytest
from typer.main import get_command

from plaudit.cli.app import _build
from plaudit.errors import InvalidSettings
from plaudit.launching.openrlhf_flags import ALIASES, OUR_OPTIONS, read_openrlhf_flags
from plaudit.training.config.reading import KEYS, load_config

DOCUMENT = (
    "--remote_rm_url ./reward_func_math.py --label_key answers --pretrain deepseek-ai/deepseek-math-7b-base "
    "--prompt_data gsm8k --advantage_estimator reinforce_baseline --n_samples_per_prompt 4"
)
COMPLETION = {"install-completion", "show-completion"}
AGENT = (
    "--async_train --agent_func_path ./agent_func_math.py --label_key answers --pretrain some/model "
    "--prompt_data gsm8k --advantage_estimator reinforce --max_steps 3 --dynamic_filtering "
    "--dynamic_filtering_reward_range 0.1 0.9 --use_wandb secret --wandb_project custom-rewards-debug"
)


def read(line: str):
    flags = read_openrlhf_flags(line.split())
    return flags, load_config(overrides=flags.overrides)


def test_documented_commands_become_the_same_keys():
    _, config = read(DOCUMENT)
    assert config.training.reward_function == "./reward_func_math.py"
    assert (config.data.path, config.data.ground_truth_key) == ("gsm8k", "answers")
    assert config.model.path == "deepseek-ai/deepseek-math-7b-base"
    assert (config.advantage, config.sampling.samples_per_prompt) == ("reinforce_baseline", 4)
    flags, config = read(AGENT)
    assert (config.training.agent_file, config.training.agent_max_steps) == ("./agent_func_math.py", 3)
    assert config.training.async_train
    assert (config.filter.by, config.filter.low, config.filter.high) == ("mean", 0.1, 0.9)
    assert (config.logging.wandb, config.logging.project) == (True, "custom-rewards-debug")
    assert flags.environment == {"WANDB_API_KEY": "secret"}
    assert "secret" not in json.dumps(config.to_dict())


def test_old_and_new_flag_names_give_equal_configs():
    old = "--pretrain m --init_kl_coef 0.02 --use_kl_loss --kl_estimator k3 --eps_clip_low_high 0.2 0.3 --max_epochs 2"
    new = (
        "--actor.model_name_or_path m --algo.kl.init_coef 0.02 --algo.kl.use_loss --algo.kl.estimator k3 "
        "--actor.eps_clip_low_high 0.2 0.3 --train.max_epochs 2"
    )
    assert read(old)[1] == read(new)[1]
    assert read(old)[1].loss.kl_in == "loss"


def test_a_kl_weight_alone_is_in_the_reward_by_k1_as_openrlhf_has_it():
    loss = read("--init_kl_coef 0.01")[1].loss
    assert (loss.kl_beta, loss.kl_in, loss.kl_estimator) == (0.01, "reward", "k1")


def test_a_switch_does_not_swallow_the_config_file():
    flags, _ = read("--colocate_all_models run.yaml --enable_prefix_caching steps=3 --save_steps -1")
    assert flags.rest == ["run.yaml", "steps=3"]
    assert flags.overrides == ["checkpoint.every=0"]


def test_relative_flags_are_converted_with_the_config():
    line = (
        "--rollout_batch_size 8 --n_samples_per_prompt 4 --train_batch_size 16 --micro_train_batch_size 4 "
        "--num_episodes 3 --lr_warmup_ratio 0.1 --max_len 512 --max_new_tokens 128 "
        "--actor_learning_rate 1e-6 --critic_learning_rate 9e-6"
    )
    flags, config = read(line)
    config = flags.complete(config, lambda _: 80)
    assert config.steps == 30
    assert config.optimizer.warmup_steps == 3
    assert (config.training.minibatches, config.training.gradient_accumulation) == (2, 4)
    assert config.data.max_prompt_tokens == 384
    assert config.training.critic_lr_factor == pytest.approx(9.0)


def test_flags_that_only_place_models_are_left_out_with_a_note_and_other_defaults_are_named():
    flags, _ = read("--zero_stage 3 --vllm_num_engines 2 --label_key answers")
    assert any("--zero_stage" in note and "one process" in note for note in flags.notes)
    assert any("--vllm_num_engines" in note and "sampling.sampler" in note for note in flags.notes)
    assert any("optimizer.lr=0.001 (there: 1e-6)" in note for note in flags.notes)


def test_a_key_that_the_command_line_sets_is_not_listed_as_a_default():
    [note] = read_openrlhf_flags(["--prompt_data", "data.jsonl", "optimizer.lr=1e-4"]).notes
    assert "optimizer.lr" not in note
    assert "sampling.prompts_per_step=32" in note


def test_a_command_without_such_flags_gets_no_notes():
    assert read_openrlhf_flags(["run.yaml", "steps=3"]).notes == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--lable_key answers", "no option --lable_key; did you mean 'label_key'?"),
        ("--reward_pretrain some/rm", "no option --reward_pretrain"),
        ("--label_key", "expected one argument"),
        ("--eval_steps often", "--eval_steps: takes a number, got 'often'"),
        ("--input_template Q:", "has no {}"),
        ("-z", "no option -z"),
    ],
)
def test_an_unknown_flag_or_a_wrong_value_is_an_error_that_names_it(line, message):
    with pytest.raises(InvalidSettings) as raised:
        read_openrlhf_flags(line.split())
    assert message in str(raised.value)


def test_a_batch_that_does_not_divide_and_a_length_without_its_part_are_errors():
    for line, message in [("--train_batch_size 100", "does not divide"), ("--max_len 2048", "add --max_new_tokens")]:
        flags, config = read(line)
        with pytest.raises(InvalidSettings, match=message):
            flags.complete(config, lambda _: 1)


def test_every_unknown_flag_is_named_at_once():
    with pytest.raises(InvalidSettings) as raised:
        read_openrlhf_flags(["--use_ms", "--enable_ema", "--nonsense"])
    assert all(name in str(raised.value) for name in ("--use_ms", "--enable_ema", "--nonsense"))


def test_every_alias_is_of_a_key_that_exists_and_of_one_key_only():
    names = [name for names in ALIASES.values() for name in names]
    assert len(names) == len(set(names))
    assert set(ALIASES) <= set(KEYS)


@pytest.mark.parametrize(
    "program",
    [
        "python3 -m openrlhf.cli.train_ppo_ray",
        "ray job submit --address=http://127.0.0.1:8265 -- python3 -m openrlhf.cli.train_ppo_ray",
    ],
)
def test_a_pasted_command_is_read_from_the_name_of_its_program(program):
    assert read(f"{program} {DOCUMENT}")[1] == read(DOCUMENT)[1]


def test_a_mistyped_option_of_ours_gets_a_hint():
    train = get_command(_build(["train"])).commands["train"]
    options = [each for parameter in train.params for each in parameter.opts]
    assert {each.removeprefix("--") for each in options if each.startswith("--")} <= set(OUR_OPTIONS) | COMPLETION
    with pytest.raises(InvalidSettings, match="no option --print-confg; did you mean 'print-config'"):
        read_openrlhf_flags(["--print-confg"])
