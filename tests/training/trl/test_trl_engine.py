"""The same config trains with TRL, alone and in two processes, and leaves the same run folder."""

import json
import os
import signal
import socket
from pathlib import Path

import pytest
import torch
from accelerate.state import AcceleratorState
from safetensors.torch import load_file

from plaudit import RewardOutput, Status, reward
from plaudit.errors import InvalidSettings, TrainingError
from plaudit.training import RLOOAdvantage, train
from plaudit.training.config.reading import KEYS
from plaudit.training.config.trl_arguments import (
    ADVANTAGES,
    ARGUMENTS,
    BY_PLAUDIT,
    REQUIRED,
    Shape,
    check_trl_can,
    trl_arguments,
)
from plaudit.training.engine import Progress
from tests.forked import ForkedCommand
from tests.training.runs import curves, metrics, rollouts, small, varied

ONE = Shape(processes=1, max_new_tokens=6)


def test_every_key_without_a_counterpart_must_be_at_its_default(tmp_path):
    values = {bool: "true", int: "7", float: "0.3"}
    mapped = {*ARGUMENTS, *REQUIRED}
    for name, key in KEYS.items():
        if (
            name in mapped
            or name.startswith((*BY_PLAUDIT, "curriculum.", "filter."))
            or type(key.default) not in values
        ):
            continue
        with pytest.raises(InvalidSettings, match=f"{name}=.*no counterpart"):
            check_trl_can(small(tmp_path, f"{name}={values[type(key.default)]}"), ONE)


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("advantage=gae", "advantage=gae: TRL's GRPOTrainer knows grpo, "),
        ("sampling.samples_per_prompt=1", "sampling.samples_per_prompt=1: TRL compares at least two"),
        ("sampling.stop=[x]", "sampling.stop=['x']: "),
        ("training.async_train=true", "training.async_train=True: "),
        ("training.credit=steps", "training.credit=steps: "),
        ("training.gamma=0.9", "training.gamma=0.9: "),
        ("training.agent_file=a.py", "training.agent_file=a.py: "),
        ("filter.by=mean", "filter.by=mean: "),
        ("training.minibatches=3", "make 16 responses, which 3 parts"),
    ],
)
def test_settings_that_trl_cannot_express_are_refused_by_name(tmp_path, override, told):
    config = small(tmp_path / "run", "engine=trl", override, "eval.pass_at=[1]")
    with pytest.raises(InvalidSettings, match="engine=trl cannot do this") as refused:
        train(config)
    assert told in str(refused.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (("loss.kl_beta=0.1", "loss.kl_estimator=k2"), "loss.kl_estimator=k2"),
        (("loss.kl_beta=0.1", "loss.kl_in=reward"), "loss.kl_in=reward"),
        (("loss.name=reinforce", "training.minibatches=2"), "loss.name=reinforce"),
        (("loss.name=cispo", "loss.average=sequence"), "loss.average=sequence"),
        (("loss.name=cispo", "loss.clip_low=0.5"), "loss.clip_low=0.5"),
    ],
)
def test_combinations_that_trl_cannot_express_are_refused_and_harmless_ones_are_not(tmp_path, overrides, told):
    with pytest.raises(InvalidSettings, match=told):
        check_trl_can(small(tmp_path, *overrides), ONE)
    check_trl_can(small(tmp_path, overrides[-1]) if "clip" not in told else small(tmp_path), ONE)


def test_one_error_lists_all_refused_settings(tmp_path):
    with pytest.raises(InvalidSettings, match=r"training\.gamma=0\.5.*filter\.by=spread"):
        check_trl_can(small(tmp_path, "training.gamma=0.5", "filter.by=spread"), ONE)


def test_a_batch_is_shared_by_processes_and_steps_are_counted_in_optimizer_steps(tmp_path):
    config = small(
        tmp_path, "training.minibatches=2", "training.updates_per_batch=3", "training.gradient_accumulation=2"
    )
    arguments = trl_arguments(config, Shape(processes=2, max_new_tokens=6))
    assert arguments["per_device_train_batch_size"] * 2 * arguments["steps_per_generation"] == config.batch_size
    assert arguments["max_steps"] == config.steps * 6
    assert arguments["save_steps"] == config.checkpoint.every * 6


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("grpo", {"loss_type": "grpo", "epsilon": 0.2, "epsilon_high": 0.2, "importance_sampling_level": "token"}),
        ("dapo", {"loss_type": "dapo", "epsilon": 0.2, "epsilon_high": 0.28}),
        ("dr_grpo", {"loss_type": "dr_grpo", "max_completion_length": 6}),
        ("gspo", {"loss_type": "grpo", "importance_sampling_level": "sequence", "epsilon_high": 4e-4}),
        ("cispo", {"loss_type": "cispo", "epsilon_high": 5.0}),
        ("ppo", {"loss_type": "dapo", "delta": 3.0}),
    ],
)
def test_each_loss_has_its_counterpart(tmp_path, name, expected):
    arguments = trl_arguments(small(tmp_path, f"loss.name={name}"), ONE)
    assert {key: arguments[key] for key in expected} == expected


def test_rloo_is_a_weight_on_the_reward():
    rewards = [1.0, 0.0, 0.25, 0.5]
    (weight,) = ADVANTAGES["rloo"](4)["reward_weights"]
    mean = sum(rewards) / 4
    assert [weight * (each - mean) for each in rewards] == pytest.approx(RLOOAdvantage()(rewards, num_generations=4))


@reward
def halting(response: str, ground_truth: str) -> RewardOutput:
    """Scores only responses of four characters."""
    if len(response) != 4:
        return RewardOutput.unscored(Status.UNPARSED, "not four digits")
    return RewardOutput(float(response == ground_truth), score=float(response == ground_truth))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A small run with a reward that does not score everything."""
    folder = tmp_path_factory.mktemp("trl") / "run"
    options = ("engine=trl", "steps=4", "training.reward_backend=inline")
    return train(small(folder, *options), reward=halting)


def test_a_run_leaves_the_same_folder_as_the_local_engine(run, tmp_path):
    local = train(small(tmp_path / "local", "steps=1"))
    names = {path.name for path in local.folder.path.iterdir()}
    assert names == {path.name for path in run.folder.path.iterdir()}
    assert {path.name for path in local.folder.model.iterdir()} <= {path.name for path in run.folder.model.iterdir()}


def test_metrics_tell_every_step_and_evaluations_before_between_and_after(run):
    told = metrics(run.folder.path)
    assert [row["step"] for row in told] == [0, 1, 2, 3, 4]
    assert [row["step"] for row in told if "eval/score" in row and "eval/pass@1" in row] == [0, 3, 4]
    assert run.before["eval/score"] == told[0]["eval/score"]
    assert run.after["eval/score"] == told[-1]["eval/score"]
    assert all(row["grad_norm"] >= 0 and row["time/sample"] > 0 for row in told[1:])


def test_unscored_responses_stay_unscored(run):
    lines = rollouts(run.folder.path)
    assert len(lines) == 4 * 16
    unscored = [line for line in lines if line["reward_output"]["status"] == "unparsed"]
    assert unscored
    assert all(line["reward_output"]["reward"] is None for line in unscored)
    shares = [row["status/unparsed"] for row in metrics(run.folder.path)[1:] if "status/unparsed" in row]
    assert sum(shares) * 16 == pytest.approx(len(unscored))


def test_trl_starts_from_the_same_model_and_asks_the_same_prompts_as_the_local_engine(run, tmp_path):
    local = train(small(tmp_path / "local", "steps=4", "training.reward_backend=inline"), reward=halting)
    assert local.before == run.before
    asked = [line["prompt"] for line in rollouts(run.folder.path)]
    assert asked == [line["prompt"] for line in rollouts(local.folder.path)]


class Terminates(Progress):
    """Asks the run to stop at a step."""

    def __init__(self, step: int) -> None:
        self.at = step

    def step(self, step, metrics):
        if step == self.at:
            os.kill(os.getpid(), signal.SIGTERM)


def test_a_stopped_run_is_resumed_to_the_numbers_of_an_uninterrupted_one(run, tmp_path):
    config = small(tmp_path / "run", "engine=trl", "steps=4", "training.reward_backend=inline")
    stopped = train(config, reward=halting, progress=Terminates(1))
    assert (stopped.step, stopped.stopped_by) == (2, "SIGTERM")
    resumed = train(config, reward=halting, resume=True)
    assert resumed.after == run.after
    assert curves(tmp_path / "run") == curves(run.folder.path)
    assert rollouts(tmp_path / "run") == rollouts(run.folder.path)


class CountsWarmStarts(Progress):
    """Counts the supervised steps of a run."""

    steps = 0

    def warm_start(self, step, steps, loss):
        self.steps += 1


def test_with_lora_and_a_kl_only_the_adapters_are_saved_and_the_model_below_is_warmed_up_again(tmp_path):
    options = ["engine=trl", "model.lora_rank=2", "loss.kl_beta=0.1", "eval.prompts=2"]
    outcome = train(small(tmp_path / "run", "steps=1", *options))
    assert (outcome.folder.model / "adapter_model.safetensors").exists()
    assert metrics(tmp_path / "run")[-1]["kl"] >= 0.0
    progress = CountsWarmStarts()
    train(small(tmp_path / "run", "steps=2", *options), resume=True, progress=progress)
    assert progress.steps == 10  # no checkpoint keeps the weights below the adapters


def test_a_finished_run_continues_with_more_steps(run, tmp_path):
    """The prompts are those of a run that was begun with as many, and the learning rate follows the new length."""
    options = ["engine=trl", "training.reward_backend=inline", "checkpoint.every=0"]
    train(small(tmp_path / "run", "steps=2", *options), reward=halting)
    longer = train(small(tmp_path / "run", "steps=4", *options), reward=halting, resume=True)
    assert longer.step == 4
    assert longer.before == run.before
    told = metrics(tmp_path / "run")
    assert [row["step"] for row in told] == [0, 1, 2, 3, 4]
    assert [row["lr"] for row in told[3:]] == pytest.approx([row["lr"] for row in metrics(run.folder.path)[3:]])
    asked = [line["prompt"] for line in rollouts(run.folder.path)]
    assert [line["prompt"] for line in rollouts(tmp_path / "run")] == asked


def test_bfloat16_computes_so_and_trains_weights_of_float32(tmp_path):
    """At this learning rate an update is a ten-thousandth of a weight, which bfloat16 would round away."""
    options = ["model.dtype=bfloat16", "optimizer.lr=1e-6", "loss.kl_beta=0.001", "eval.prompts=2"]
    config = small(tmp_path / "run", "engine=trl", "steps=1", "training.reward_backend=inline", *options)
    outcome = train(config, reward=varied)
    after = load_file(outcome.folder.model / "model.safetensors")
    before = load_file(outcome.folder.checkpoints / "start" / "model.safetensors")
    assert {each.dtype for each in after.values()} == {torch.float32}
    layers = [name for name in before if "proj" in name]
    moved = sum(float((before[name] != after[name]).sum()) for name in layers)
    assert moved > 0.9 * sum(before[name].numel() for name in layers)


def test_the_kl_is_to_the_model_after_its_warm_start(tmp_path):
    outcome = train(small(tmp_path / "run", "engine=trl", "steps=1", "loss.kl_beta=0.1"))
    assert metrics(outcome.folder.path)[-1]["kl"] == pytest.approx(0.0, abs=1e-6)


def test_token_rewards_are_refused_instead_of_summed(tmp_path):
    @reward
    def per_word(response: str) -> RewardOutput:
        return RewardOutput(1.0, token_rewards=[1.0] * len(response.split()))

    config = small(tmp_path / "run", "engine=trl", "steps=1", "training.reward_backend=inline")
    with pytest.raises(TrainingError, match=r"training\.credit=outcome"):
        train(config, reward=per_word)


def test_zero_steps_only_evaluate(tmp_path):
    outcome = train(small(tmp_path / "run", "engine=trl", "steps=0"))
    assert outcome.before == outcome.after
    assert [row["step"] for row in metrics(tmp_path / "run")] == [0]


RANKED = """
import os
from plaudit import RewardOutput

def ranked(response, ground_truth, group):
    kinds = len(set(response)) / 10  # differs within any group, so that every step has a gradient
    return RewardOutput(kinds, score=float(response == ground_truth), metadata={"scored_by": int(os.environ["RANK"])})
"""


def test_two_processes_share_sampling_scoring_and_updates(tmp_path):
    (tmp_path / "ranked.py").write_text(RANKED)
    spec = f"training.reward_function={tmp_path}/ranked.py:ranked"
    config = small(tmp_path / "run", "engine=trl", "steps=2", "checkpoint.every=1", spec)
    (tmp_path / "config.yaml").write_text(json.dumps(config.to_dict()))
    AcceleratorState._reset_state(reset_partial_state=True)  # of earlier tests in this process, which ran alone
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # as torchrun sets them
    shared = {"OMP_NUM_THREADS": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    ranks = [
        ForkedCommand(["train", tmp_path / "config.yaml", "--json"], {**shared, "RANK": rank, "LOCAL_RANK": rank})
        for rank in ("0", "1")
    ]
    assert [rank.wait() for rank in ranks] == [0, 0], "".join(rank.err for rank in ranks)
    outcome = json.loads(ranks[0].out)
    assert outcome["step"] == 2
    lines = rollouts(tmp_path / "run")
    assert len(lines) == 2 * 16
    assert {line["metadata"]["rank"] for line in lines} == {0, 1}
    assert {line["reward_output"]["metadata"]["scored_by"] for line in lines} == {0, 1}
    by_group = {(line["group"], line["reward_output"]["metadata"]["scored_by"]) for line in lines}
    assert len(by_group) == 8, "each group is scored by one process"
    assert [row["step"] for row in metrics(tmp_path / "run")] == [0, 1, 2]
    assert _weights_differ(tmp_path / "run" / "checkpoints", "checkpoint-1", "checkpoint-2")


def _weights_differ(folder: Path, first: str, second: str) -> bool:
    before, after = (load_file(folder / name / "model.safetensors") for name in (first, second))
    return any(not torch.equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("trl.los_type=sapo", "no 'los_type'; did you mean 'loss_type'"),
        ("trl.temperature=2", "set sampling.temperature instead"),
        ("trl.max_completion_length=7", "set sampling.max_new_tokens instead"),
        ("trl.report_to=wandb", "which plaudit sets itself"),
        ("trl.eval_strategy=sometimes", "TRL refuses these settings"),
    ],
)
def test_trl_arguments_are_checked_before_the_model_is_loaded(tmp_path, monkeypatch, option, words):
    monkeypatch.setattr("plaudit.training.run.load_policy", lambda *_, **__: pytest.fail("the model was loaded"))
    with pytest.raises(InvalidSettings, match=words):
        train(small(tmp_path / "run", "engine=trl", option))
    assert not (tmp_path / "run").exists()


def test_an_argument_that_is_passed_through_reaches_trl(tmp_path):
    config = small(tmp_path / "run", "engine=trl", "trl.mask_truncated_completions=true")
    assert trl_arguments(config, ONE)["mask_truncated_completions"] is True
