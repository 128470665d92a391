import io
import random

import pytest
from rich.console import Console

from plaudit import RewardOutput, Status, Trajectory
from plaudit.report.collecting import make_bins, summarize
from plaudit.report.figures import Bin
from plaudit.report.terminal.tables import render_histogram, render_summary

WIDTHS = (60, 80, 120)


def drawn(renderable, width=80, encoding="utf-8", **options):
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding)
    Console(file=file, width=width, **options).print(renderable)
    file.flush()
    return raw.getvalue().decode(encoding)


def run(count=1000):
    rng = random.Random(0)
    for index in range(count):
        trajectory = Trajectory(f"p{index % 50}", "r", id=f"s{index}")
        if index % 100 == 7:
            yield trajectory, RewardOutput.unscored(Status.ERROR, "math raised ValueError: no number")
        else:
            right = float(index % 4 == 0)
            parts = {"check_answer": RewardOutput(right, score=right), "format": RewardOutput(rng.random())}
            yield trajectory, RewardOutput(right, score=right, components=parts, latency_s=index / 1000)


SUMMARY = summarize(run())


def line_of(text, start):
    return next(line.split() for line in text.splitlines() if line.strip().startswith(start))


@pytest.mark.parametrize("width", WIDTHS)
def test_the_summary_shows_its_figures_at_any_width(width):
    text = drawn(render_summary(SUMMARY), width)
    assert max(map(len, text.splitlines())) <= width
    assert "1,000: 990 ok, 10 error" in text
    row = line_of(text, "reward")
    for figure in (SUMMARY.reward.mean, SUMMARY.reward.mean_all, SUMMARY.reward.p50, SUMMARY.reward.max):
        assert f"{figure:.3f}" in row
    assert f"{SUMMARY.components['format'].mean:.3f}" in line_of(text, "format")
    assert "s999 (999 ms)" in text
    assert line_of(text, "10  error")[2:4] == ["math", "raised"]


def test_a_wide_terminal_shows_quartiles_ends_and_skewness():
    row = line_of(drawn(render_summary(SUMMARY), 120), "format")
    spread = SUMMARY.components["format"]
    assert f"{spread.p25:.3f}" in row
    assert f"{spread.p75:.3f}" in row
    assert f"{spread.skewness:.2f}" in row


def test_a_narrow_terminal_leaves_out_columns_and_cuts_no_figure():
    text = drawn(render_summary(SUMMARY), 60)
    assert "…" not in text
    assert "skew" not in text
    assert "mean" in text


@pytest.mark.parametrize("width", WIDTHS)
def test_huge_values_and_long_names_fit(width):
    name = "a_reward_with_a_very_long_name/" * 3
    parts = {name: RewardOutput(-1.5e308)}
    text = drawn(render_summary(summarize([(Trajectory("p", "r"), RewardOutput(1.5e308, components=parts))])), width)
    assert max(map(len, text.splitlines())) <= width
    assert "1.5e+308" in text
    assert "…" not in text


EDGES = {
    "nothing": ([], "0"),
    "one sample": ([(Trajectory("p", "r"), RewardOutput(0.25))], "0.250"),
    "nothing scored": ([(Trajectory("p", "r"), RewardOutput.unscored(Status.SKIPPED, "no truth"))], "no truth"),
    "constant": ([(Trajectory("p", "r"), RewardOutput(0.5, score=1.0))] * 3, "1 dead (1 all right)"),
}


@pytest.mark.parametrize(("scored", "expected"), EDGES.values(), ids=EDGES)
@pytest.mark.parametrize("width", WIDTHS)
def test_unusual_runs_are_shown(scored, expected, width):
    assert expected in drawn(render_summary(summarize(scored)), width)


def test_text_from_samples_can_neither_colour_nor_break_the_terminal():
    reason = "[red]no\x1b[31m\r\nnumber \ud800 \u202e"
    scored = [(Trajectory("p", "r", id="\x1b[2J"), RewardOutput.unscored(Status.ERROR, reason))]
    text = drawn(render_summary(summarize(scored)), force_terminal=True)
    for escape in ("\x1b[31mnumber", "\x1b[2J", "\r", "\u202e"):
        assert escape not in text
    plain = drawn(render_summary(summarize(scored)))
    assert r"[red]no\x1b[31m\r\nnumber \ud800 \u202e" in plain


def test_no_color_and_pipes_get_plain_text(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    for renderable in (render_summary(SUMMARY), render_histogram(SUMMARY.reward.bins)):
        assert "\x1b[3" not in drawn(renderable, force_terminal=True)
        assert "\x1b" not in drawn(renderable)


def test_a_terminal_without_unicode_gets_ascii():
    scored = [(Trajectory("p", "r", id="é"), RewardOutput(1.0, components={"ß": RewardOutput(1.0)}, latency_s=1.0))]
    assert "\\xdf" in drawn(render_summary(summarize(scored)), encoding="ascii")
    assert "----------" in drawn(render_histogram(make_bins([0.0, 1.0, 1.0])), encoding="ascii")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_histogram_shows_counts_and_shares_and_fits(width):
    rng = random.Random(0)
    text = drawn(render_histogram(make_bins(rng.random() for _ in range(1234)), title="reward"), width)
    lines = text.splitlines()
    assert lines[0] == "reward"
    assert len(lines) == 11
    assert max(map(len, lines)) <= width
    assert sum(int(line.split()[-2]) for line in lines[1:]) == 1234


def test_bars_are_as_long_as_their_counts():
    lines = drawn(render_histogram([Bin(0.0, 0.0, 10), Bin(1.0, 1.0, 5), Bin(2.0, 2.0, 0)])).splitlines()
    bars = [line.count("━") + 0.5 * line.count("╸") for line in lines]
    assert bars[0] == pytest.approx(2 * bars[1], abs=1)
    assert bars[2] == 0
    assert [line.split()[-1] for line in lines] == ["66.7%", "33.3%", "0.0%"]


def test_two_distinct_values_get_one_bar_each():
    lines = drawn(render_histogram(make_bins([0.0, 1.0, 1.0, 1.0]))).splitlines()
    assert [line.split()[0] for line in lines] == ["0", "1"]
    assert [line.split()[-1] for line in lines] == ["25.0%", "75.0%"]


def test_values_close_together_keep_different_labels():
    lines = drawn(render_histogram(make_bins([0.1, 0.1000001]))).splitlines()
    assert [line.split()[0] for line in lines] == ["0.1", "0.1000001"]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_histogram_of_one_huge_constant_fits(width):
    (line,) = drawn(render_histogram(make_bins([-1.5e308] * 100_000)), width).splitlines()
    assert line.split()[-2:] == ["100,000", "100.0%"]
    assert len(line) <= width


def test_an_empty_histogram_has_a_message():
    assert drawn(render_histogram([])).strip() == "no values"
