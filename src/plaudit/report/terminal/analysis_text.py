"""A reward analysis for people: plain text of at most 100 columns, and one line about the rewards of a batch.

Text that comes from samples is shown with its control characters escaped, since a response may hold anything.
"""

from collections.abc import Iterable, Sequence
from textwrap import wrap

from plaudit.contract.output import RewardOutput
from plaudit.report.analysis import FailurePattern, Kind, Period, RewardAnalysis, analyze
from plaudit.report.coverage import format_mean
from plaudit.report.distribution import Distribution
from plaudit.report.terminal.histogram import draw_bars

__all__ = ["analyze", "describe_batch", "render_analysis"]

WIDTH = 100
LEVELS = "▁▂▃▄▅▆▇█"


def describe_batch(outputs: Iterable[RewardOutput]) -> str:
    """The rewards of one batch: least, mean and most, spread, and a small histogram."""
    listed = list(outputs)
    unscored = sum(not output.ok for output in listed)
    distribution = Distribution.of((output.reward for output in listed if output.reward is not None), unscored)
    count = f"{len(listed)} samples" + (f", {unscored} not scored" if unscored else "")
    if distribution is None:
        return f"rewards of {count}"
    return f"rewards of {count}: {_moments(distribution)}  {_levels(distribution)}"


def render_analysis(analysis: RewardAnalysis) -> str:
    """The whole analysis as text."""
    summary = analysis.summary
    statuses = ", ".join(f"{count:,} {status}" for status, count in summary.statuses.items())
    lines = ["Reward analysis", "===============", "", f"{summary.count:,} samples ({statuses})"]
    if summary.reward is None:
        return "\n".join([*lines, "no sample was scored", *_unscored_lines(analysis)]) + "\n"
    lines += [f"reward: {_moments(summary.reward)}, variance {analysis.variance:.4g}"]
    if summary.score is not None:
        lines.append(f"score:  {_moments(summary.score)}")
    lines += _section("Distribution of rewards", ["  ".join(row) for row in draw_bars(summary.reward.bins, WIDTH)])
    lines += _section("Remarks", _remarks(analysis))
    lines += _section("Over training", [_period(period) for period in analysis.periods])
    lines += _section(
        "Components", [f"{name}: {_moments(distribution)}" for name, distribution in summary.components.items()]
    )
    lines += _section("Responses that earn more than the others", _kinds(analysis.high))
    lines += _section("Responses that earn less than the others", _kinds(analysis.low))
    title = f"Common failure patterns ({analysis.failing:,} of {summary.ok:,} scored samples fail)"
    lines += _section(title, [line for pattern in analysis.failures for line in _pattern(pattern)])
    lines += _section("Not scored", _unscored_lines(analysis))
    return "".join(f"{part}\n" for line in lines for part in _wrap(line))


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, "-" * len(title), *lines] if lines else []


def _moments(distribution: Distribution) -> str:
    skewness = "none" if distribution.skewness is None else f"{distribution.skewness:+.2f}"
    mean = format_mean(distribution.covered_mean, "{:.3g}".format)
    low, high, std = (f"{value:.3g}" for value in (distribution.min, distribution.max, distribution.std))
    return f"min {low}, mean {mean}, max {high}, std {std}, skewness {skewness}"


def _levels(distribution: Distribution) -> str:
    most = max(each.count for each in distribution.bins)
    bars = "".join(LEVELS[round((len(LEVELS) - 1) * each.count / most)] for each in distribution.bins)
    return f"[{bars}]"


def _period(period: Period) -> str:
    one = period.first_step == period.last_step
    steps = f"step {period.first_step}" if one else f"steps {period.first_step}–{period.last_step}"
    return f"{steps}: {_moments(period.reward)}"


def _kinds(kinds: Sequence[Kind]) -> list[str]:
    return [
        f"{kind.mean:8.3f} ({kind.difference:+.3f})  {kind.share:6.1%}  {_show(kind.name, WIDTH - 28)}"
        for kind in kinds
    ]


def _pattern(pattern: FailurePattern) -> list[str]:
    example = pattern.example
    shares = f"{pattern.share_of_failures:.0%} of failures ({pattern.count:,}), {pattern.share_of_others:.0%} of others"
    lines = [
        _show(pattern.what, WIDTH),
        f"    in {shares}",
        f"    prompt        {_show(example.prompt, WIDTH - 18)}",
        f"    response      {_show(example.response, WIDTH - 18)}",
    ]
    if example.ground_truth:
        lines.append(f"    ground truth  {_show(example.ground_truth, WIDTH - 18)}")
    why = f" ({example.reason})" if example.reason else ""
    return [*lines, f"    reward        {example.reward:.3g}{_show(why, WIDTH - 30)}"]


def _unscored_lines(analysis: RewardAnalysis) -> list[str]:
    return [
        f"{failure.count:,} {failure.status}: {_show(failure.reason, WIDTH - 30)} (first: {failure.example})"
        for failure in analysis.summary.failures
    ]


def _remarks(analysis: RewardAnalysis) -> list[str]:
    """What usually goes wrong with rewards, where this one shows it."""
    reward, groups = analysis.summary.reward, analysis.summary.groups
    if reward is None:
        return []
    remarks = []
    if reward.min == reward.max:
        remarks.append("All rewards are equal: nothing can be learnt from them.")
    elif len(reward.bins) == 2 and reward.bins[0].low == reward.bins[0].high:
        remarks.append("Only two values occur: graduated rewards would tell a near miss from a far one.")
    if groups.compared and groups.dead / groups.compared > 0.5:
        remarks.append(
            f"{groups.dead / groups.compared:.0%} of groups have equal rewards and teach nothing: "
            "sample more per prompt, filter, or choose other prompts."
        )
    if groups.length_correlation is not None and abs(groups.length_correlation) > 0.5:
        longer = "longer" if groups.length_correlation > 0 else "shorter"
        remarks.append(f"Within groups, {longer} responses earn more (correlation {groups.length_correlation:+.2f}).")
    return remarks


def _wrap(line: str) -> list[str]:
    """A line in parts of at most 100 columns: only texts of samples are cut, our own sentences never."""
    return [line] if len(line) <= WIDTH else wrap(line, WIDTH, subsequent_indent="    ")


def _show(text: str, width: int) -> str:
    printable = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    return _cut(printable, width)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
