"""The table at the end of a run: no mean without its coverage, and a reward is not called a score."""

import io
from types import SimpleNamespace

from rich.console import Console

from plaudit import RewardOutput, Status, Trajectory
from plaudit.cli.training.train import outcome_table
from plaudit.training.evaluation import evaluate


def drawn(before, after):
    folder = SimpleNamespace(path="runs/train", unscored_share=lambda: 0.0)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(outcome_table(SimpleNamespace(before=before, after=after, step=25, folder=folder)))
    return console.export_text()


def held_out(correct, wrong, unscored, *, score):
    values = [1.0] * correct + [0.0] * wrong
    outputs = [RewardOutput(value, score=value if score else None) for value in values]
    outputs += [RewardOutput.unscored(Status.ERROR, "too long")] * unscored
    return evaluate((Trajectory(f"p{number}", "r"), output) for number, output in enumerate(outputs)).metrics()


def test_a_score_that_rises_because_failures_are_dropped_is_shown_as_such():
    shown = drawn(held_out(11, 21, 0, score=True), held_out(11, 12, 9, score=True))
    assert "score     0.344   0.478 (0.344 over all, 28% unscored)" in shown
    assert "pass@1    0.344   0.478 (0.344 over all, 28% unscored)" in shown


def test_a_reward_without_scores_is_never_called_a_score():
    before, after = (held_out(1, 1, 0, score=False) | {"eval/greedy_reward": 0.5} for _ in range(2))
    shown = drawn(before, after)
    assert "greedy reward" in shown
    assert "score" not in shown


def test_without_held_out_prompts_there_is_no_table():
    assert drawn({}, {}).strip() == "25 steps; everything is in runs/train"
