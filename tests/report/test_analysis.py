"""The analysis finds what a reward pays and how responses fail, and invents nothing."""

import random

import pytest

from plaudit import RewardOutput, Status, Trajectory
from plaudit.report import collect_figures
from plaudit.report.statistics.patterns import NEAR_KINDS, find_kinds
from plaudit.report.terminal.analysis_text import WIDTH, describe_batch, render_analysis
from plaudit.training.metrics import reward_metrics


def judged(response, reward, *, score=None, reason="", step=None, prompt="What is 2 + 2?", **metadata):
    trajectory = Trajectory(prompt, response, ground_truth=4, training_step=step, metadata=metadata)
    return trajectory, RewardOutput(reward, score=score, reason=reason)


def names(kinds):
    return {kind.name for kind in kinds}


@pytest.fixture
def run():
    """A reward that pays boxed answers, over four steps in which they become common."""
    draws = random.Random(5)
    scored = []
    for step in range(4):
        for _ in range(50):
            boxed = draws.random() < 0.2 + 0.2 * step
            number = draws.randrange(10)
            response = (
                f"It is clear that the final answer to this is \\boxed{{{number}}}" if boxed else f"maybe {number}"
            )
            reward = 1.0 if boxed else 0.0
            scored.append(
                judged(response, reward, score=reward, reason="" if boxed else f"no box in {number}", step=step)
            )
    slow = RewardOutput.unscored(Status.TIMEOUT, "took longer than 10 s")
    return [*scored, (Trajectory("?", "…", training_step=3), slow)]


def test_kinds_that_earn_more_and_less_are_found(run):
    patterns = collect_figures(run).patterns
    assert "states an answer" in names(patterns.high)
    assert "of the form 'a 9'" in names(patterns.low)
    assert "states an answer" not in names(patterns.low)
    best = next(kind for kind in patterns.high if kind.name == "states an answer")
    assert best.mean == best.difference == 1.0


def test_failures_are_described_by_reason_with_numbers_left_out_and_an_example(run):
    pattern = next(each for each in collect_figures(run).patterns.failures if each.what == "no box in N")
    assert (pattern.share_of_failures, pattern.share_of_others) == (1.0, 0.0)
    assert pattern.example.response.startswith("maybe ")
    assert pattern.example.ground_truth == "4"


def test_unscored_samples_are_not_failures(run):
    figures = collect_figures(run)
    assert figures.patterns.failing == sum(output.score == 0.0 for _, output in run)
    assert figures.summary.statuses == {"ok": 200, "timeout": 1}
    assert "took longer than 10 s" in render_analysis(figures)


def test_the_text_has_skewness_variance_steps_kinds_and_patterns(run):
    figures = collect_figures(run)
    rewards = [output.reward for _, output in run if output.ok]
    mean = sum(rewards) / len(rewards)
    variance = mean * (1 - mean)
    text = render_analysis(figures)
    assert f"skewness {(1 - 2 * mean) / variance**0.5:+.2f}" in text
    assert f"variance {variance:.4g}" in " ".join(text.split())
    assert [line.split()[0] for line in text.partition("dead groups\n")[2].splitlines()[:4]] == ["0", "1", "2", "3"]
    assert "Responses that earn more than the others" in text
    assert "no box in N" in text
    assert "maybe" in text


def test_many_steps_are_shown_as_ten():
    figures = collect_figures(judged("x", float(step), step=step) for step in range(95))
    rows = render_analysis(figures).partition("dead groups\n")[2].partition("\n\n")[0].splitlines()
    assert len([row for row in rows if row.strip()]) == 10


def test_kinds_that_differ_by_chance_are_left_out():
    draws = random.Random(1)
    words = ["alpha", "beta gamma", "\\boxed{3}", "so 2 + 2 = 4, therefore 4", "12", ""]
    noise = [judged(draws.choice(words), draws.random(), reason=draws.choice(["a", "b"])) for _ in range(300)]
    patterns = collect_figures(noise).patterns
    assert patterns.high == patterns.low == patterns.failures == ()


def test_without_scores_the_lower_half_of_the_range_fails():
    scored = [judged("a", -1.0), judged("b", 0.9), judged("c", 1.0), judged("d", -0.2)]
    assert collect_figures(scored).patterns.failing == 2


@pytest.mark.parametrize(
    ("scored", "remark"),
    [
        ([judged("a", 0.5), judged("b", 0.5)], "Every reward is 0.5"),
        ([judged("a" * n, float(n), prompt=p) for n in range(1, 9) for p in "xyz"], "longer ones earn more"),
        ([judged("a", x, prompt=str(x)) for x in (0.0, 0.5, 1.0) for _ in range(2)], "100 % of 3 groups are dead"),
    ],
    ids=["constant", "length", "dead groups"],
)
def test_common_problems_get_a_remark(scored, remark):
    assert remark in " ".join(render_analysis(collect_figures(scored)).split())


@pytest.mark.parametrize("scored", [[], [(Trajectory("?", "!"), RewardOutput.unscored(Status.ERROR, "boom"))]])
def test_an_analysis_of_nothing_is_text_too(scored):
    assert "No sample was scored" in render_analysis(collect_figures(scored))


def test_the_text_is_narrow_and_safe_for_a_terminal(run):
    nasty = [judged("\x1b[2J\r" + "long " * 100, -5.0, reason="bad\x07 " * 30, score=0.0) for _ in range(50)]
    text = render_analysis(collect_figures([*run, *nasty]))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert not any(char in text for char in "\x1b\x07\r")


KINDS = {
    "": "empty",
    "so be it": "shorter than 10 words",
    "word " * 201: "longer than 200 words",
    "the same thing " * 9: "repeats itself",
    "The answer is 4.": "states an answer",
    "The answer is 3. No, the answer is 4.": "states different answers",
    "2 + 2 = 5": "states false arithmetic",
    "```py\n1\n```": "holds a code block",
    "<answer>4": "leaves a tag open",
    "3 5 7": "of the form '9 9 9'",
}


@pytest.mark.parametrize(("response", "kind"), KINDS.items(), ids=KINDS.values())
def test_kinds_are_found_in_the_text(response, kind):
    assert kind in find_kinds(Trajectory("?", response))


NEAR = {
    ("3124", "1234"): {"has the ground truth's characters in another order"},
    ("1235", "1234"): {"is one character away from the ground truth"},
    ("123", "1234"): {"is one character away from the ground truth", "is shorter than the ground truth"},
    ("11234", "1234"): {"is one character away from the ground truth", "is longer than the ground truth"},
    ("2234", "2243"): {"has the ground truth's characters in another order"},
    ("9876", "1234"): set(),
    (" 1234 ", "1234"): set(),
    ("4", "5"): set(),
    ("It is 1234.", "1234"): {"is longer than the ground truth"},
}


@pytest.mark.parametrize(("texts", "kinds"), NEAR.items(), ids=[f"{a}-{b}" for a, b in NEAR])
def test_short_responses_are_compared_with_the_ground_truth(texts, kinds):
    response, truth = texts
    assert find_kinds(Trajectory("?", response, ground_truth=truth)) & set(NEAR_KINDS) == kinds


def test_a_response_that_was_cut_off_is_a_kind_of_its_own():
    assert "cut off at the length limit" in find_kinds(Trajectory("?", "a", metadata={"finish_reason": "length"}))
    assert "cut off at the length limit" not in find_kinds(Trajectory("?", "a", metadata={"finish_reason": "stop"}))


def test_the_line_of_a_batch_tells_its_distribution():
    outputs = [RewardOutput(0.0), RewardOutput(0.0), RewardOutput(1.0), RewardOutput.unscored(Status.ERROR, "boom")]
    line = describe_batch(outputs)
    assert "4 samples, 1 not scored: min 0, mean 0.333 (0.25 over all, 25% unscored), max 1" in line
    assert line.endswith("[█▅]")
    assert describe_batch([]) == "rewards of 0 samples"


def test_batch_metrics_hold_components_extra_logs_and_statuses():
    def output(a, b, **extra):
        return RewardOutput(a + b, score=a, components={"a": RewardOutput(a), "b": RewardOutput(b)}, metadata=extra)

    slow = RewardOutput.unscored(Status.TIMEOUT, "slow")
    metrics = reward_metrics([output(1.0, 0.5, hits=2, note="text"), output(0.0, 0.5, hits=4, bad=float("nan")), slow])
    assert metrics["reward"] == 1.0
    assert (metrics["reward/min"], metrics["reward/max"], metrics["reward/std"]) == (0.5, 1.5, 0.5)
    assert (metrics["score"], metrics["component/a"], metrics["component/b"]) == (0.5, 0.5, 0.5)
    assert metrics["extra/hits"] == 3.0
    assert {"extra/note", "extra/bad"}.isdisjoint(metrics)
    assert (metrics["status/ok"], metrics["status/timeout"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert "status/error" not in metrics


def test_a_batch_without_a_score_has_no_reward_metric():
    assert reward_metrics([RewardOutput.unscored(Status.ERROR, "boom")]) == {"status/ok": 0.0, "status/error": 1.0}
    assert reward_metrics([]) == {}
