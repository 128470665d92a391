"""What is told of a step and of an evaluation by task and by difficulty."""

import json

import pytest

from plaudit import RewardOutput, Trajectory
from plaudit.report.page.report_file import read_metrics
from plaudit.rollouts import Rollout
from plaudit.training.collecting import Batch
from plaudit.training.config.reading import load_config
from plaudit.training.config.schema import SamplingSettings
from plaudit.training.data.curriculum import Levels
from plaudit.training.data.prompts import Prompts
from plaudit.training.evaluation import HeldOut
from plaudit.training.metrics import split_metrics
from plaudit.training.sampling.sampler import Samples


def row(task, difficulty, response=""):
    return Trajectory(f"{task} {difficulty}", response, task=task, columns={"difficulty": difficulty})


def batch(rows, outputs, left_out=()):
    return Batch(
        1, Samples(rows), outputs, list(left_out), {}, 0, 0.0, 0, 0.0, 0.0, stream_metrics={"curriculum/a/stage": 2.0}
    )


def test_step_metrics_are_split_by_task_and_difficulty_including_left_out_groups():
    rows = [row("a", 1), row("a", 2), row("b", 1)]
    outputs = [RewardOutput(1.0, score=1.0), RewardOutput.unscored("error", "raised"), RewardOutput(50.0, score=0.5)]
    metrics = split_metrics(batch(rows, outputs, [Rollout(row("a", 1), RewardOutput(0.0, score=0.0))]), Levels.of(rows))
    assert metrics == {
        "curriculum/a/stage": 2.0,
        "task/a/share": 0.75, "task/a/score": 0.5, "task/a/reward": 0.5, "task/a/unscored": pytest.approx(1 / 3),
        "task/b/share": 0.25, "task/b/score": 0.5, "task/b/reward": 50.0, "task/b/unscored": 0.0,
        "difficulty/a/1/share": 0.5, "difficulty/a/1/score": 0.5,
        "difficulty/a/2/share": 0.25,
        "difficulty/b/1/share": 0.25, "difficulty/b/1/score": 0.5,
    }  # fmt: skip


def test_a_single_task_gets_no_metrics_of_its_own():
    assert split_metrics(batch([Trajectory("?", "", task="a")], [RewardOutput(1.0)]), Levels.of([])) == {
        "curriculum/a/stage": 2.0
    }


class Echo:
    """Responds with the difficulty, and is right where that is 1."""

    def sample(self, rows, count, *, settings):
        return Samples([Trajectory(each.prompt, str(each.columns["difficulty"]), task=each.task, group=each.group,
                                   columns=each.columns) for each in rows for _ in range(count)])  # fmt: skip

    def score(self, trajectories):
        return [RewardOutput(10.0, score=float(each.response == "1")) for each in trajectories]

    def close(self):
        """Nothing to end."""


def test_evaluation_metrics_are_split_by_task_and_difficulty():
    rows = [row("a", 1), row("a", 2), row("b", 2)]
    config = load_config(None, ["eval.samples_per_prompt=2", "eval.pass_at=[1]"])
    held_out = HeldOut(Prompts(tuple(rows)), Echo(), config, settings=SamplingSettings(4), levels=Levels.of(rows))
    metrics = held_out.evaluate(Echo(), 0)
    assert metrics["eval/score"] == pytest.approx(1 / 3)
    assert (metrics["eval/task/a/score"], metrics["eval/task/b/score"]) == (0.5, 0.0)
    assert (metrics["eval/task/a/pass@1"], metrics["eval/task/a/greedy"], metrics["eval/task/b/greedy"]) == (
        0.5,
        0.5,
        0.0,
    )
    assert (metrics["eval/difficulty/a/1"], metrics["eval/difficulty/a/2"]) == (1.0, 0.0)


def test_the_report_draws_metrics_by_task_and_by_difficulty(tmp_path):
    drawn = {"eval/task/a/score": 0.1, "eval/task/b/score": 0.2, "difficulty/1/share": 0.5, "eval/difficulty/1": 0.3}
    others = {"eval/difficulty/1_all": 0.3, "eval/difficulty/1_unscored": 0.0, "difficulty/1/score": 0.2}
    (tmp_path / "metrics.jsonl").write_text(json.dumps({"step": 1, **drawn, **others}) + "\n")
    assert read_metrics(tmp_path / "metrics.jsonl") == {name: [(1, value)] for name, value in drawn.items()}
