"""Combinations around a reward: how each is written as a spec, and the same combination as plain arithmetic."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.promises.styles import Style, level_spec

STEP = 5
LEVEL = 0.5
Numbers = Sequence[float | None]


@dataclass(frozen=True)
class Wrapper:
    name: str
    text: str
    """An expression of Python, a YAML text or an expression of ours; `{styled}` and `{level}` are the two parts."""
    number: Callable[[float], float]
    form: str = "python"
    by_group: bool = False
    uses: int = 1
    """How often the styled reward occurs in it."""

    def spec(self, style: Style, spec: str, folder: Path) -> str:
        """The spec of the wrapped reward; writes the file that it names where it names one."""
        styled, level = style.quoted(spec), repr(level_spec(spec))
        if self.form == "plain":
            return style.plain(spec)
        if self.form == "expression":
            return self.text.replace("{styled}", styled).replace("{level}", level)
        stem = f"{self.name}_{Path(spec.rpartition(':')[0]).stem}"
        if self.form == "yaml":
            options = f"\n    dialect: {style.dialect}" if style.dialect else ""
            text = self.text.replace("{styled}", f'"{spec}"{options}').replace("{level}", f'"{level_spec(spec)}"')
            (folder / f"{stem}.yaml").write_text(text)
            return str(folder / f"{stem}.yaml")
        parts = f"styled, level = load({style.plain(spec)!r}), load({level})"
        (folder / f"{stem}.py").write_text(f"{_IMPORTS}\n{parts}\nwrapped = {self.text}\n")
        return f"{folder / stem}.py:wrapped"

    def merge(self, numbers: Numbers, group_size: int) -> list[float | None]:
        """What the wrapped reward gives for the numbers of the styled one."""
        if not self.by_group:
            return [None if number is None else self.number(number) for number in numbers]
        groups = [numbers[start : start + group_size] for start in range(0, len(numbers), group_size)]
        return [number for group in groups for number in _standardized(group)]


def _standardized(group: Numbers) -> list[float | None]:
    scored = [number for number in group if number is not None]
    if len(set(scored)) < 2:
        return [None if number is None else 0.0 for number in group]
    mean, spread = statistics.fmean(scored), statistics.stdev(scored) + 1e-6
    return [None if number is None else (number - mean) / spread for number in group]


_IMPORTS = """
from plaudit import load
from plaudit.compose import maximum, minimum
from plaudit.schedules import LinearSchedule
"""

_YAML = """
sum:
  - reward: {styled}
    weight: 0.7
  - reward: {level}
    weight: 0.3
clip: [0.2, 0.6]
"""


def _clip(number: float, low: float, high: float) -> float:
    return min(high, max(low, number))


def _sum(number: float) -> float:
    return 0.7 * number + 0.3 * LEVEL


def _nested(number: float) -> float:
    return _clip(max(0.5 * number + 0.5 * LEVEL, min(number, LEVEL)), 0.0, 0.6)


_ALL = (
    Wrapper("plain", "", lambda number: number, form="plain"),
    Wrapper("sum", "0.7 * styled + 0.3 * level", _sum),
    Wrapper("gate", "level.gate(on=styled, at=0.5, otherwise=-1.0)", lambda number: LEVEL if number >= 0.5 else -1.0),
    Wrapper("clip", "styled.clip(0.2, 0.6)", lambda number: _clip(number, 0.2, 0.6)),
    Wrapper("minimum", "minimum(styled, level)", lambda number: min(number, LEVEL)),
    Wrapper("normaliser", "styled.normalized('group')", lambda number: number, by_group=True),
    Wrapper("schedule", "level + LinearSchedule(1.0, 0.0, steps=20) * styled", lambda number: LEVEL + 0.75 * number),
    Wrapper("nested", "maximum(0.5 * styled + 0.5 * level, minimum(styled, level)).clip(0.0, 0.6)", _nested, uses=2),
    Wrapper("yaml", _YAML, lambda number: _clip(_sum(number), 0.2, 0.6), form="yaml"),
    Wrapper("expression", "0.7 * {styled} + 0.3 * {level}", _sum, form="expression"),
)
WRAPPERS = {wrapper.name: wrapper for wrapper in _ALL}
