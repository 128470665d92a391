"""What the picture of a run shows: its panels, and the lines in each.

Panels by task and by difficulty are made of the metrics that a run has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["MAIN", "PANELS", "Line", "Panel", "number_of", "series_of", "split_panels"]

INK, FAINT, GRID = "#1f2933", "#7b8794", "#e4e7eb"
BLUE, GREEN, ORANGE, RED, PURPLE, TEAL = "#2f6fde", "#1f9d61", "#e8833a", "#d64545", "#7c5cd6", "#17a2b8"
LEVELS = ("#1b7f5c", "#4da167", "#9bb84a", "#d9b93b", "#e8943a", "#dd6b42", "#c4434a", "#9b2f5e", "#6b2a6b", "#43265f")
"""From easy to hard."""


@dataclass(frozen=True, slots=True)
class Line:
    """A metric: its name in metrics.jsonl, how the picture calls it, its colour; `points` are few and get marks."""

    metric: str
    label: str
    color: str
    points: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the picture; `stacked` lines add up, `share` is told in percent, `zeros` shows what is always 0 too."""

    title: str
    lines: tuple[Line, ...]
    stacked: bool = False
    share: bool = False
    zeros: bool = False

    def visible_lines(self, metrics: Sequence[Mapping[str, Any]]) -> list[Line]:
        """The lines there is something to see of, each once where two are the same."""
        found: dict[tuple[float, ...], Line] = {}
        for place, line in enumerate(self.lines):
            values = tuple(series_of(line.metric, metrics)[1])
            if any(values) or (values and self.zeros):
                found.setdefault((place,) if self.stacked else values, line)  # layers that are alike still add up
        return list(found.values())


MAIN = Panel(
    "Reward in training, score on held-out prompts",
    (
        Line("reward", "reward, training", BLUE),
        Line("score", "score, training", TEAL),
        Line("reward_all", "reward, all samples", PURPLE),
        Line("score_all", "score, all samples", FAINT),
        Line("eval/score", "held-out score", GREEN, points=True),
        Line("eval/score_all", "held-out score, all samples", RED, points=True),
        Line("eval/greedy", "held-out score, greedy", ORANGE, points=True),
        Line("eval/greedy_all", "held-out score, greedy, all samples", INK, points=True),
        Line("eval/greedy_reward", "held-out reward, greedy", ORANGE, points=True),
    ),
    zeros=True,
)
PANELS = (
    Panel("Response length (tokens)", (Line("length", "mean", PURPLE),)),
    Panel("Entropy", (Line("entropy", "per token", TEAL),)),
    Panel(
        "KL",
        (Line("kl", "to the start", RED), Line("kl_old", "to the sampler", ORANGE)),
    ),
    Panel(
        "Teaches nothing",
        (
            Line("status/unparsed", "unparsed", FAINT),
            Line("status/skipped", "skipped", GREEN),
            Line("status/error", "error", RED),
            Line("status/timeout", "timeout", ORANGE),
            Line("status/memory", "memory", PURPLE),
            Line("filter/share", "groups filtered", BLUE),
            Line("groups/alike", "groups alike", TEAL),
        ),
        share=True,
    ),
    Panel(
        "Seconds per step",
        (
            Line("time/sample", "sample", BLUE),
            Line("time/reward", "reward", ORANGE),
            Line("time/update", "update", GREEN),
        ),
        stacked=True,
    ),
)


def split_panels(metrics: Sequence[Mapping[str, Any]]) -> list[Panel]:
    """What was trained when, and how well it went: by task where there are several, by difficulty where it is known."""
    names = list(dict.fromkeys(name for row in metrics for name in row))
    kind = "score" if any(_ends(name, "eval/task/", "/score") for name in names) else "reward"
    tasks = _lines(names, "eval/task/", f"/{kind}", (BLUE, ORANGE, GREEN, PURPLE, TEAL, RED), points=True)
    shares = _lines(names, "difficulty/", "/share", LEVELS)
    scores = _lines(names, "eval/difficulty/", "", LEVELS, points=True)
    return [
        Panel(f"Held-out {kind} by task", tasks, zeros=True),
        Panel("Prompts by difficulty", shares, stacked=True, share=True),
        Panel("Held-out score by difficulty", scores, zeros=True),
    ]


def _lines(
    names: Sequence[str], start: str, end: str, colors: Sequence[str], *, points: bool = False
) -> tuple[Line, ...]:
    coverage = {f"{name}{ending}" for name in names for ending in ("_all", "_unscored")}
    metrics = [name for name in names if _ends(name, start, end) and name not in coverage]
    step = max(1, (len(colors) - 1) // max(1, len(metrics) - 1))  # few levels use the whole range of colours
    lines = []
    for index, name in enumerate(metrics):
        label, color = name.removeprefix(start).removesuffix(end), colors[index * step % len(colors)]
        lines.append(Line(name, label, color, points))
        lines += [Line(f"{name}_all", f"{label}, all samples", color, points)] if f"{name}_all" in coverage else []
    return tuple(lines)


def _ends(name: str, start: str, end: str) -> bool:
    return name.startswith(start) and name.endswith(end) and len(name) > len(start) + len(end)


def series_of(metric: str, metrics: Sequence[Mapping[str, Any]]) -> tuple[list[int], list[float]]:
    """The steps that have a metric, and its values there."""
    pairs = [(row["step"], value) for row in metrics if (value := number_of(row, metric)) is not None]
    return [step for step, _ in pairs], [value for _, value in pairs]


def number_of(row: Mapping[str, Any], metric: str) -> float | None:
    """A metric of a step; None where it has none."""
    value = row.get(metric)
    return float(value) if isinstance(value, int | float) else None
