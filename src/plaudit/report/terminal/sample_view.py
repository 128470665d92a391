"""One sample in full on the terminal: prompt, response, ground truth, and the output of every part of the reward.

Samples are picked while the run streams by, and only those are kept, so a run may be larger than the memory.
"""

import enum
import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from plaudit.contract.combination import Combination, NormalizedReward, combine_reasons
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.contract.rules import WeightedSum
from plaudit.report.conversation import prompt_as_text, response_as_text
from plaudit.report.formatting import bare_table, escape_controls
from plaudit.trajectory import Trajectory

MAX_TEXT = 1_500
LAYOUT = "\n\t"


def render_sample(sample: "PickedSample", reward: RewardFunction | None = None) -> RenderableType:
    """Prompt, response, ground truth and the components of one sample; with the reward, also their weights."""
    trajectory = sample.trajectory
    weights = {} if reward is None else component_weights(reward, trajectory.training_step)
    parts: list[RenderableType] = [
        Rule(Text(f"{trajectory.label(sample.index)} · {sample.why} · {_value(sample.output)}"), align="left"),
        _label("prompt", prompt_as_text(trajectory)),
        _label("response", response_as_text(trajectory)),
        _label("ground truth", "(none)" if trajectory.ground_truth is None else str(trajectory.ground_truth)),
        _components(sample.output, weights),
    ]
    if sample.output.token_rewards is not None:
        parts.append(_label("token rewards", _token_rewards(trajectory.response, sample.output)))
    return Group(*parts, "")


def component_weights(reward: RewardFunction, step: int | None) -> dict[str, float]:
    """The weight of each component that is a term of a sum, by its name in `flat_components`."""
    if isinstance(reward, NormalizedReward):
        return component_weights(reward.part, step)
    if not isinstance(reward, Combination):
        return {}
    weights: dict[str, float] = {}
    if isinstance(reward.rule, WeightedSum) and not reward.is_alias:
        slopes = reward.rule.combine([0.0] * len(reward.parts), step).slopes  # schedules at this step
        weights.update(zip(reward.component_names, slopes, strict=True))
    for name, part in zip(reward.component_names, reward.parts, strict=True):
        inner = component_weights(part, step)
        weights.update(inner if len(reward.parts) == 1 else {f"{name}/{below}": inner[below] for below in inner})
    return weights


def _label(label: str, text: str) -> RenderableType:
    shown = text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT // 2]} … {text[-MAX_TEXT // 2 :]}"
    return Group(Text(label, style="bold"), Padding(Text(escape_controls(shown, keep=LAYOUT)), (0, 0, 0, 2)))


def _components(output: RewardOutput, weights: Mapping[str, float]) -> RenderableType:
    table = bare_table("part")
    for title in ("reward", "score", *(("weight", "adds") if weights else ())):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("why", overflow="fold")
    of_parts = combine_reasons(list(output.components), list(output.components.values()))
    total = _why(output, shown=not output.components or output.reason != of_parts)
    table.add_row("total", *_figures(output, None, bool(weights)), total)
    for name, part in output.flat_components().items():
        label = "  " * (1 + name.count("/")) + name.rpartition("/")[2]
        table.add_row(label, *_figures(part, weights.get(name), bool(weights)), _why(part, shown=True))
    return table


def _figures(output: RewardOutput, weight: float | None, weighted: bool) -> list[str]:
    """The cells of a row: reward, score, and where there are weights the weight and what it adds to the total."""
    cells = [_value(output), "" if output.score is None else f"{output.score:g}"]
    if weighted:
        adds = "" if weight is None or output.reward is None else f"{weight * output.reward:.4g}"
        cells += ["" if weight is None else f"{weight:.4g}", adds]
    return cells


def _why(output: RewardOutput, *, shown: bool) -> Text:
    facts = [output.reason if shown else "", *(f"{key}={value!r:.60}" for key, value in output.metadata.items())]
    return Text(escape_controls("; ".join(filter(None, facts)), keep=LAYOUT))


def _value(output: RewardOutput) -> str:
    return output.status.value if output.reward is None else f"{output.reward:.4g}"


def _token_rewards(response: str, output: RewardOutput) -> str:
    values = output.token_rewards or []
    if output.token_unit == "token":
        return " ".join(f"{value:g}" for value in values)
    words = zip(response.split(), values, strict=True)
    return " ".join(f"{word}[{value:g}]" if value else word for word, value in words)


class Pick(enum.StrEnum):
    """Which samples to look at."""

    FAILED = "failed"
    LOWEST = "lowest"
    HIGHEST = "highest"
    FIRST = "first"


DEFAULT_PICKS = (Pick.FAILED, Pick.LOWEST, Pick.HIGHEST)
"""The default choice of samples."""


@dataclass(frozen=True, slots=True)
class PickedSample:
    """One sample of a run, and why it was picked."""

    index: int
    trajectory: Trajectory
    output: RewardOutput
    why: str


def pick_samples(
    scored: Iterable[tuple[Trajectory, RewardOutput]],
    count: int,
    picks: Sequence[Pick] = DEFAULT_PICKS,
    chosen: Sequence[str] = (),
) -> list[PickedSample]:
    """`count` samples, in turn from each of `picks`; or every sample whose id or index is in `chosen`."""
    if chosen:
        wanted = set(chosen)
        return [
            PickedSample(index, trajectory, output, "chosen")
            for index, (trajectory, output) in enumerate(scored)
            if str(index) in wanted or str(trajectory.id) in wanted
        ]
    piles = {pick: _Pile(pick, count) for pick in picks}
    for index, (trajectory, output) in enumerate(scored):
        for pile in piles.values():
            pile.add(index, trajectory, output)
    return _round_robin([pile.samples() for pile in piles.values()], count)


class _Pile:
    """The best `count` samples under one way of picking."""

    def __init__(self, pick: Pick, count: int) -> None:
        self._pick, self._count = pick, count
        self._heap: list[tuple[float, int, PickedSample]] = []

    def add(self, index: int, trajectory: Trajectory, output: RewardOutput) -> None:
        rank = self._rank(index, output)
        if rank is None:
            return
        sample = PickedSample(index, trajectory, output, self._pick.value)
        item = (rank, -index, sample)  # indices differ, so samples are never compared
        if len(self._heap) < self._count:
            heapq.heappush(self._heap, item)
        elif item[:2] > self._heap[0][:2]:
            heapq.heapreplace(self._heap, item)

    def samples(self) -> list[PickedSample]:
        return [sample for _, _, sample in sorted(self._heap, key=lambda item: item[:2], reverse=True)]

    def _rank(self, index: int, output: RewardOutput) -> float | None:
        if self._pick is Pick.FIRST:
            return -float(index)
        if self._pick is Pick.FAILED:
            return None if output.ok else -float(index)
        if output.reward is None:
            return None
        return output.reward if self._pick is Pick.HIGHEST else -output.reward


def _round_robin(piles: list[list[PickedSample]], count: int) -> list[PickedSample]:
    """The first of each pile, then the second of each, and so on; no sample twice."""
    taken: dict[int, PickedSample] = {}
    for index in range(count):
        for pile in piles:
            if index < len(pile) and len(taken) < count:
                taken.setdefault(pile[index].index, pile[index])
    return list(taken.values())
