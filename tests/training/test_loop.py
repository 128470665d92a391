"""A run trains, tells of every step, and survives rewards that fail."""

import json
import math
import random

import pytest

from plaudit import RewardOutput, Status, reward
from plaudit.errors import DataError, InvalidAdvantage, InvalidSettings, PlauditError, TrainingError
from plaudit.launching.openrlhf_flags import read_openrlhf_flags
from plaudit.serving import ServerSettings, ServerThread
from plaudit.training import Samples, train
from plaudit.training.collecting import Batch
from plaudit.training.config.reading import load_config
from plaudit.training.engine import Progress
from plaudit.training.log_writers import RunName, WandbWriter
from plaudit.training.recorder import UnscoredBatches
from tests.training.runs import curves, metrics, rollouts, small, varied

EVERYTHING = (
    "logging.tensorboard=true", "logging.report=true", "training.save_reward_analysis=true",
)  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "trained"
    return train(small(folder, *EVERYTHING))


def test_a_run_folder_holds_everything_about_the_run(trained):
    found = {path.name for path in trained.folder.path.iterdir()}
    assert found == {
        "config.yaml", "metrics.jsonl", "rollouts.jsonl", "checkpoints", "model", "samples.md",
        "report.html", "tensorboard", "reward_analysis.json", "reward_analysis.txt",
    }  # fmt: skip
    assert load_config(trained.folder.config) == small(trained.folder.path, *EVERYTHING)


def test_metrics_have_one_object_per_step_and_evaluations_where_they_are_due(trained):
    rows = metrics(trained.folder.path)
    assert [row["step"] for row in rows] == list(range(7))
    assert [row["step"] for row in rows if "eval/score" in row] == [0, 3, 6]
    assert all("eval/pass@1" in row and "eval/pass@2" in row for row in rows if "eval/score" in row)
    wanted = {"reward", "score", "entropy", "length", "lr", "filter/share", "tokens_per_s", "time/sample",
              "time/reward", "time/update"}  # fmt: skip
    assert all(wanted <= row.keys() for row in rows[1:])
    assert trained.before == {name: value for name, value in rows[0].items() if name != "step"}
    assert trained.after["eval/score"] == rows[-1]["eval/score"]


def test_rollouts_hold_every_response_with_its_step_and_group(trained):
    rows = rollouts(trained.folder.path)
    assert len(rows) == 6 * 16
    assert [row["training_step"] for row in rows[::16]] == [1, 2, 3, 4, 5, 6]
    assert len({row["group"] for row in rows}) == 6 * 4
    assert all(row["reward_output"]["status"] == "ok" for row in rows)


def test_the_trained_model_can_be_loaded_and_is_the_last_checkpoint(trained):
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(trained.folder.model)
    [newest] = [path for path in trained.folder.checkpoints.iterdir() if path.name == "step-000006"]
    import torch

    weights = torch.load(newest / "state.pt", weights_only=True)["weights"]
    assert torch.equal(model.get_parameter("lm_head.weight"), weights["lm_head.weight"])


def test_the_same_seed_gives_the_same_curves_and_another_gives_others(trained, tmp_path):
    train(small(tmp_path / "same", "logging.rollouts_every=0"))
    train(small(tmp_path / "other", "seed=2", "steps=2"))
    assert curves(tmp_path / "same") == curves(trained.folder.path)
    assert curves(tmp_path / "other")[1] != curves(trained.folder.path)[1]


@pytest.mark.parametrize(
    "options",
    [
        ["filter.by=mean", "filter.max_refills=2"],
        ["loss.kl_beta=0.05", "loss.kl_in=loss"],
        ["loss.kl_beta=0.05", "loss.kl_in=reward", "advantage=rloo"],
        ["training.updates_per_batch=2", "training.minibatches=2", "loss.name=dapo"],
        ["advantage=reinforce++", "loss.name=gspo", "optimizer.schedule=cosine", "optimizer.warmup_steps=2"],
        ["training.async_train=true", "training.max_staleness=2", "advantage=dr_grpo", "loss.name=cispo"],
        ["model.lora_rank=4", "sampling.temperature=0.7", "training.gamma=0.9"],
    ],
    ids=["filter", "kl in loss", "kl in reward", "minibatches", "gspo", "async", "lora"],
)
def test_options_of_the_config_train(tmp_path, options):
    quick = ("steps=2", "training.reward_backend=inline", "eval.prompts=2", "logging.samples=0")
    train(small(tmp_path / "run", *quick, *options), reward=varied)
    rows = metrics(tmp_path / "run")[1:]
    assert len(rows) == 2
    assert all(math.isfinite(value) for row in rows for value in row.values())
    assert any(row.get("grad_norm", 0.0) > 0 for row in rows)


def test_filtering_leaves_groups_out_and_fills_up(tmp_path):
    train(small(tmp_path / "run", "steps=3", "filter.by=mean", "filter.max_refills=8"))
    rows, told = rollouts(tmp_path / "run"), metrics(tmp_path / "run")
    trained_on = [row for row in rows if not row.get("left_out")]
    assert any(row.get("left_out") for row in rows)
    assert any(row["filter/share"] > 0 for row in told[1:])
    for start in range(0, len(trained_on), 4):
        scores = {row["reward_output"]["score"] for row in trained_on[start : start + 4]}
        assert scores == {0.0, 1.0}


@reward
def failing(response: str, ground_truth: str) -> float:
    """Raises on some samples, gives NaN on others."""
    first = response[:1]
    if first in "012":
        raise RuntimeError("no luck")
    return float("nan") if first in "34" else float(response == ground_truth)


def test_rewards_that_raise_or_give_nan_cost_statuses_not_the_run(tmp_path):
    train(small(tmp_path / "run", "steps=3", "training.reward_backend=inline"), reward=failing)
    rows = rollouts(tmp_path / "run")
    statuses = {row["reward_output"]["status"] for row in rows}
    assert statuses == {"ok", "error"}
    assert all(row["reward_output"]["reward"] is None for row in rows if row["reward_output"]["status"] == "error")
    assert all(0 < row["status/error"] < 1 for row in metrics(tmp_path / "run")[1:])


def test_a_hanging_reward_gives_a_status_and_does_not_end_the_run(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import time\n\n"
        "def slow(response, ground_truth):\n"
        "    time.sleep(60 if response.startswith('1') else 0)\n"
        "    return float(response == ground_truth)\n"
    )
    options = ["training.reward_deadline_s=0.5", "training.reward_workers=2", "steps=1", "eval.every=0"]
    train(small(tmp_path / "run", f"training.reward_function={tmp_path}/slow.py:slow", *options))
    statuses = [(row["response"][:1], row["reward_output"]["status"]) for row in rollouts(tmp_path / "run")]
    assert {status for first, status in statuses if first == "1"} == {"timeout"}
    assert {status for first, status in statuses if first != "1"} == {"ok"}


@reward(deterministic=False)
def by_chance(response: str) -> RewardOutput:
    """Random numbers."""
    return RewardOutput(random.random())


def test_a_random_reward_trains_nothing_where_the_real_one_does(tmp_path):
    budget = ["steps=25", "seed=2", "sampling.prompts_per_step=16", "sampling.samples_per_prompt=8",
              "model.warm_start_steps=25", "model.warm_start_batch=64", "eval.prompts=64", "eval.every=0",
              "eval.samples_per_prompt=4", "eval.greedy=false", "logging.samples=0", "logging.rollouts_every=0",
              "checkpoint.every=0"]  # fmt: skip
    random.seed(1)
    real = train(small(tmp_path / "real", *budget))
    chance = train(small(tmp_path / "chance", *budget, "training.reward_backend=inline"), reward=by_chance)
    assert real.before == chance.before
    assert real.after["eval/score"] > real.before["eval/score"] + 0.1
    assert chance.after["eval/score"] < chance.before["eval/score"] + 0.05


def test_no_steps_only_evaluate(tmp_path):
    outcome = train(small(tmp_path / "run", "steps=0"))
    assert outcome.before == outcome.after
    assert [row["step"] for row in metrics(tmp_path / "run")] == [0]


def test_a_folder_with_a_run_is_not_replaced_by_default(trained, tmp_path):
    config = small(tmp_path / "run", "steps=0", "eval.prompts=1")
    train(config)
    with pytest.raises(TrainingError, match="holds a run already; --resume continues it, --overwrite replaces it"):
        train(config)
    (tmp_path / "run" / "mine.txt").write_text("not plaudit's")
    train(config, overwrite=True)
    assert (tmp_path / "run" / "mine.txt").exists()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (["advantage=grop"], Exception, "no advantage named 'grop'; did you mean 'grpo'"),
        (["loss.name=grop"], Exception, "no loss named 'grop'; did you mean 'grpo'"),
        (["task=sort_digit"], InvalidSettings, "did you mean 'sort_digits'"),
        (["task=null"], InvalidSettings, "nothing to train on"),
        (["training.reward_function=chek_answer"], Exception, "did you mean 'check_answer'"),
        (["sampling.max_new_tokens=300"], InvalidSettings, "leaves no room for a prompt"),
        (["training.agent_file=agent.py"], Exception, "no file .*agent.py"),
        (["sampling.sampler=vllm"], InvalidSettings, "would not follow its updates"),
        (["model.path=no/such/model"], Exception, "there is no folder 'no/such/model'"),
    ],
    ids=["advantage", "loss", "task", "nothing", "reward", "context", "agent", "vllm", "model"],
)
def test_a_config_that_is_invalid_fails_before_the_first_sample_and_leaves_no_folder(tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        train(small(tmp_path / "run", *options))
    assert not (tmp_path / "run").exists()


def test_an_empty_data_set_and_one_without_a_reward_are_errors(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "one.jsonl").write_text('{"prompt": "1=", "ground_truth": "1"}\n')
    with pytest.raises(DataError, match="no prompts"):
        train(small(tmp_path / "run", f"data.path={tmp_path}/empty.jsonl", "training.reward_function=exact_match"))
    with pytest.raises(InvalidSettings, match=r"set training.reward_function"):
        train(small(tmp_path / "run", f"data.path={tmp_path}/one.jsonl"))


def test_a_prompt_longer_than_the_context_is_named(tmp_path):
    (tmp_path / "long.jsonl").write_text('{"prompt": "1=", "ground_truth": "1"}\n{"prompt": "%s"}\n' % ("1" * 300))
    options = [f"data.path={tmp_path}/long.jsonl", "training.reward_function=exact_match", "data.eval_share=0"]
    with pytest.raises(DataError, match=r"1 of 2 prompts .* sample 1 with 300"):
        train(small(tmp_path / "run", *options))


def test_a_policy_is_trained_on_data_of_ones_own(tmp_path):
    lines = [f'{{"question": "{a}+{b}", "answer": "{a + b}"}}\n' for a in range(5) for b in range(5)]
    (tmp_path / "sums.jsonl").write_text("".join(lines))
    options = [f"data.path={tmp_path}/sums.jsonl", "data.prompt_template={question}=", "steps=2",
               "data.ground_truth_key=answer", "training.reward_function=exact_match", "sampling.max_new_tokens=4",
               "training.reward_backend=inline", "data.eval_share=0.2"]  # fmt: skip
    train(small(tmp_path / "run", *options))
    seen = {row["prompt"] for row in rollouts(tmp_path / "run")}
    assert all(prompt.endswith("=") and "+" in prompt for prompt in seen)


@reward
def constant(response):
    return 0.5


@reward
def huge(response):
    return 1e200 * random.random()


class Notes(Progress):
    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


def test_repeated_prompts_and_unreadable_characters_are_reported_once(tmp_path):
    rows = [{"prompt": text, "answer": "1"} for text in ("a=", "a=", "b=", "é=", "c=", "d=", "e=", "f=")]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    heard = Notes()
    options = ("steps=1", f"data.path={tmp_path}/data.jsonl", f"data.eval_path={tmp_path}/data.jsonl",
               "training.reward_backend=inline")  # fmt: skip
    train(small(tmp_path / "run", *options), reward=constant, progress=heard)
    assert heard.notes == [
        "no model.path (--pretrain): training the embedded tiny model",
        "7 of 7 prompts occur more than once in the data",
        "7 held-out prompts are also trained on, so their score says little about others",
        "the model's tokenizer does not know 'é': all of them become <unknown>",
    ]


def test_a_kl_estimator_without_gradient_is_refused_with_the_reason(tmp_path):
    with pytest.raises(InvalidSettings, match=r"k1 has no useful gradient .*kl_in=reward"):
        train(small(tmp_path / "run", "loss.kl_beta=0.1", "loss.kl_estimator=k1"))
    train(small(tmp_path / "run", "steps=1", "loss.kl_beta=0.1", "loss.kl_estimator=k1", "loss.kl_in=reward"))


def test_a_huge_reward_ends_the_run_with_a_remedy(tmp_path):
    with pytest.raises(InvalidAdvantage, match="divide, clip or normalize"):
        train(small(tmp_path / "run", "steps=1", "training.reward_backend=inline"), reward=huge)


@reward
def raising(response):
    raise KeyError("no such column")


def test_a_reward_that_always_raises_is_shown_at_once_and_ends_the_run_with_a_checkpoint(tmp_path):
    heard = Notes()
    config = small(tmp_path / "run", "steps=9", "training.max_unscored_batches=2", "checkpoint.every=0")
    with pytest.raises(TrainingError, match=r"no sample was scored in 2 batches .*KeyError.*--resume") as ended:
        train(config, reward=raising, progress=heard)
    assert "training.max_unscored_batches" in str(ended.value)
    shown = next(note for note in heard.notes if "no such column" in note)
    assert shown.startswith("step 1: none of 16 samples")
    assert [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()] == ["step-000002"]
    outcome = train(config, reward=constant, resume=True)
    assert outcome.step == 9
    assert outcome.to_dict()["unscored"] == pytest.approx(2 / 9)


def test_a_batch_that_is_scored_ends_the_count_of_those_that_were_not():
    heard = Notes()
    guard = UnscoredBatches(2, heard)

    def batch(*outputs):
        return Batch(1, Samples([]), list(outputs), [], {}, 0, 0.0, 0, 0.0, 0.0)

    failed = RewardOutput.unscored(Status.ERROR, "boom")
    assert guard.check(batch(failed)) is None
    assert guard.check(batch(failed, RewardOutput(1.0))) is None
    assert guard.check(batch(failed)) is None
    assert "boom" in guard.check(batch(failed, failed))
    assert guard.check(batch()) is None
    assert len(heard.notes) == 2


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (["model.device=cuda"], InvalidSettings, "device='cuda': torch finds no cuda device"),
        (["model.device=gpu"], InvalidSettings, "torch finds no gpu device"),
        (["training.reward_function=missing.py:fn"], PlauditError, "missing.py"),
        (["task=sort_digit"], InvalidSettings, "did you mean"),
    ],
    ids=["cuda", "unknown device", "reward", "task"],
)
def test_cheap_checks_come_before_the_model_is_loaded(tmp_path, monkeypatch, options, error, words):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("plaudit.training.run.load_policy", lambda *_, **__: pytest.fail("the model was loaded"))
    with pytest.raises(error, match=words):
        train(small(tmp_path / "run", *options))
    assert not (tmp_path / "run").exists()


def test_a_failed_start_leaves_no_folder_that_blocks_the_next(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise InvalidSettings("no login")

    monkeypatch.setattr("plaudit.training.recorder.RolloutsWriter", fail)
    with pytest.raises(InvalidSettings, match="no login"):
        train(small(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_weights_and_biases_without_a_login_says_what_to_do_before_the_model_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))  # where wandb keeps logins
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("plaudit.training.run.load_policy", lambda *_, **__: pytest.fail("the model was loaded"))
    with pytest.raises(InvalidSettings, match=r"logging.wandb=true: nobody is logged in .*WANDB_MODE=offline"):
        train(small(tmp_path / "run", "logging.wandb=true"))
    assert not (tmp_path / "run").exists()


def test_weights_and_biases_out_of_reach_gives_a_remedy(tmp_path, monkeypatch):
    import wandb

    def refuse(**_):
        raise wandb.errors.CommError("it cannot be reached")

    monkeypatch.setattr(wandb, "init", refuse)
    with pytest.raises(InvalidSettings, match=r"logging.wandb=true: .*it cannot be reached.*WANDB_MODE=offline"):
        WandbWriter(RunName(tmp_path / "run"))


def test_the_token_of_a_server_is_written_nowhere_and_a_run_is_resumed_with_or_without_it(tmp_path, monkeypatch):
    (tmp_path / "length.py").write_text("def length(response): return len(set(response)) / 10\n")
    token, run = "a-token-of-16-characters", tmp_path / "run"
    served = ServerSettings(rewards=(f"{tmp_path}/length.py:length",), port=0, workers=1, tokens=(token,))
    with ServerThread(served) as server:
        url = server.address.replace("http://", f"http://any:{token}@") + "/length"
        given = f"training.reward_function={url},{url}"
        train(small(run, given, "steps=2", "eval.every=0", "logging.tensorboard=true"))
        train(small(run, given, "steps=3", "eval.every=0", "logging.tensorboard=true"), resume=True)
        monkeypatch.setenv("PLAUDIT_TOKEN", token)
        train(load_config(run / "config.yaml", ["steps=4"]), resume=True)
    files = [path for path in run.rglob("*") if path.is_file()]
    assert len(rollouts(run)) == 4 * 16
    assert not [path for path in files if token.encode() in path.read_bytes()]


def test_a_run_is_rewarded_by_servers_that_openrlhfs_flag_names(tmp_path):
    (tmp_path / "length.py").write_text("def length(response): return len(set(response)) / 10\n")
    with ServerThread(ServerSettings(rewards=(f"{tmp_path}/length.py:length",), port=0, workers=1)) as server:
        urls = f"{server.address}/length,{server.address}/length"
        flags = read_openrlhf_flags(["--remote_rm_url", urls]).overrides
        assert flags == [f"training.reward_function={urls}"]
        train(small(tmp_path / "run", *flags, "steps=2", "eval.every=2"))
        scored = server.server.app.metrics.samples["length", "ok"]
    rows = rollouts(tmp_path / "run")
    assert [row["reward_output"]["reward"] for row in rows] == [len(set(row["response"])) / 10 for row in rows]
    assert scored >= len(rows) == 2 * 16
