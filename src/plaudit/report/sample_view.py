"""One sample in full on the terminal: what was asked, said and right, and what every part of the reward made of it."""

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from plaudit.contract.output import RewardOutput
from plaudit.report.formatting import bare_table, escape_controls
from plaudit.report.samples import PickedSample

__all__ = ["render_sample"]

MAX_TEXT = 1_500
LAYOUT = "\n\t"


def render_sample(sample: PickedSample) -> RenderableType:
    """Prompt, response, ground truth and the tree of components of one sample."""
    trajectory = sample.trajectory
    parts: list[RenderableType] = [
        Rule(Text(f"{trajectory.label(sample.index)} · {sample.why} · {_value(sample.output)}"), align="left"),
        _labelled("prompt", trajectory.prompt_text),
        _labelled("response", trajectory.response),
        _labelled("ground truth", "(none)" if trajectory.ground_truth is None else str(trajectory.ground_truth)),
        _components(sample.output),
    ]
    if sample.output.token_rewards is not None:
        parts.append(_labelled("token rewards", _token_rewards(trajectory.response, sample.output)))
    return Group(*parts, "")


def _labelled(label: str, text: str) -> RenderableType:
    shown = text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT // 2]} … {text[-MAX_TEXT // 2 :]}"
    return Group(Text(label, style="bold"), Padding(Text(escape_controls(shown, keep=LAYOUT)), (0, 0, 0, 2)))


def _components(output: RewardOutput) -> RenderableType:
    table = bare_table("part")
    table.add_column("reward", justify="right")
    table.add_column("score", justify="right")
    table.add_column("why", overflow="fold")
    for name, part in {"total": output, **output.flat_components()}.items():
        depth = name.count("/") + (name != "total")
        why = part.reason if name != "total" or not part.ok else ""
        why = "; ".join(filter(None, [why, *(f"{key}={value!r:.60}" for key, value in part.metadata.items())]))
        score = "" if part.score is None else f"{part.score:g}"
        table.add_row(
            "  " * depth + name.rpartition("/")[2], _value(part), score, Text(escape_controls(why, keep=LAYOUT))
        )
    return table


def _value(output: RewardOutput) -> str:
    return output.status.value if output.reward is None else f"{output.reward:.4g}"


def _token_rewards(response: str, output: RewardOutput) -> str:
    values = output.token_rewards or []
    if output.token_unit == "token":
        return " ".join(f"{value:g}" for value in values)
    words = zip(response.split(), values, strict=True)
    return " ".join(f"{word}[{value:g}]" if value else word for word, value in words)
