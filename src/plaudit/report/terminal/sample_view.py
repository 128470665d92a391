"""One sample in full on the terminal: what was asked, said and right, and what every part of the reward made of it."""

from collections.abc import Mapping

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
from plaudit.report.samples import PickedSample

__all__ = ["component_weights", "render_sample"]

MAX_TEXT = 1_500
LAYOUT = "\n\t"


def render_sample(sample: PickedSample, reward: RewardFunction | None = None) -> RenderableType:
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
        slopes = reward.rule.combine([0.0] * len(reward.parts), step).slopes  # schedules, as they stand at this step
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
