"""`plaudit train`: what it takes, prints and leaves, and how it fails."""

import json

import pytest

SMALL = (
    "steps=2", "sampling.prompts_per_step=2", "sampling.samples_per_prompt=2", "model.warm_start_steps=5",
    "eval.prompts=4", "eval.samples_per_prompt=1", "eval.pass_at=[1]", "logging.report=false",
)  # fmt: skip


def test_a_run_ends_with_its_evaluation_and_says_where_everything_is(plaudit, tmp_path):
    ran = plaudit("train", *SMALL, "output_dir=run")
    assert ran.code == 0, ran.err
    assert "score" in ran.out
    assert "2 steps; everything is in run" in ran.out
    assert "warm start: 5 supervised steps" in ran.err
    assert "step 2/2" in ran.err
    assert "held out: score" in ran.err
    assert (tmp_path / "run" / "samples.md").exists()
    again = plaudit("train", *SMALL, "output_dir=run")
    assert (again.code, "holds a run already" in again.err) == (2, True)
    resumed = plaudit("train", "output_dir=run", "--resume", "--json", "--quiet")
    assert (resumed.code, resumed.err) == (0, "")
    assert resumed.json["step"] == 2
    assert resumed.json["after"]["eval/score"] == json.loads(
        (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-1]
    )["eval/score"]  # fmt: skip


def test_the_printed_config_is_a_config(plaudit, tmp_path):
    printed = plaudit("train", "--print-config", "+optimizer.lr=1e-4")
    assert (printed.code, printed.err) == (0, "")
    assert "lr: 0.0001" in printed.out
    (tmp_path / "mine.yaml").write_text(printed.out)
    assert plaudit("train", "mine.yaml", "--print-config").out == printed.out
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["optimizer.lrr=1"], "did you mean 'optimizer.lr'?"),
        (["--labelkey", "answers"], "no option --labelkey; did you mean 'label_key'?"),
        (["--reward_pretrain", "some/model"], "no option --reward_pretrain"),
        (["missing.yaml"], "no config file 'missing.yaml'"),
        (["a.yaml", "b.yaml"], "one config file at most"),
        (["task=sorting"], "did you mean 'sort_digits'?"),
        (["training.reward_function=missing.py:fn"], "missing.py"),
        (["data.path=missing.jsonl", "training.reward_function=exact_match"], "missing.jsonl"),
    ],
    ids=["key", "flag", "refused flag", "file", "files", "task", "reward", "data"],
)
def test_wrong_input_is_one_line_and_exit_code_2(plaudit, tmp_path, arguments, message):
    ran = plaudit("train", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_flags_of_openrlhf_are_keys_and_a_key_wins_over_a_flag(plaudit, tmp_path):
    (tmp_path / "mine.yaml").write_text("seed: 5\n")
    flags = ("--label_key", "answers", "--async_train", "--n_samples_per_prompt", 4, "--use_wandb", "secret")
    printed = plaudit("train", *flags, "mine.yaml", "sampling.samples_per_prompt=6", "--print-config")
    assert (printed.code, printed.err) == (0, "")
    for line in ("ground_truth_key: answers", "async_train: true", "samples_per_prompt: 6", "seed: 5", "wandb: true"):
        assert line in printed.out
    assert "secret" not in printed.out


def test_lines_about_a_run_fit_into_80_columns(plaudit):
    ran = plaudit("train", *SMALL, "output_dir=run")
    assert ran.code == 0, ran.err
    assert max(map(len, ran.err.splitlines())) <= 80


def test_a_finished_run_is_made_longer_from_the_command_line(plaudit):
    assert plaudit("train", *SMALL, "output_dir=run").code == 0
    longer = plaudit("train", "--resume", "output_dir=run", "steps=3", "--json")
    assert (longer.code, longer.json["step"]) == (0, 3)


def test_there_must_be_a_run_to_resume_from(plaudit, tmp_path):
    ran = plaudit("train", *SMALL, "output_dir=run", "--resume")
    assert (ran.code, "no run in run to resume" in ran.err) == (2, True)
    assert not (tmp_path / "run").exists()


def test_a_reward_that_always_raises_ends_with_an_error_that_shows_it(plaudit, tmp_path):
    (tmp_path / "mine.py").write_text("def score(response):\n    raise ValueError('nothing works')\n")
    ran = plaudit("train", *SMALL, "steps=5", "output_dir=run", "training.reward_function=mine.py:score")
    assert ran.code == 2
    assert ran.err.count("nothing works") >= 2
    assert "training.max_unscored_batches" in ran.err
