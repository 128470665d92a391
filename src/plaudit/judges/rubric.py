"""Rubrics: criteria with scales and weights, and examples of verdicts.

A rubric is a YAML file, a mapping of the same keys, or built in Python. It is checked when it is read; errors name the
criterion.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from plaudit.errors import InvalidSettings
from plaudit.judges.prompt import CODE, REASONING, ChoiceField, NumberField, Unreadable, VerdictField
from plaudit.settings import check_keys, read_settings, read_yaml, set_field

YES_NO = "yes/no"
UNNAMED = "score"
"""The one criterion of a rubric that names none."""
_NAME = re.compile(r"[\w][\w .-]{0,79}")


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion; a negative weight is for what a response should not do."""

    name: str
    description: str = ""
    weight: float = 1.0
    scale: tuple[float, float] | str = (1.0, 10.0)
    """The lowest and the highest number, or "yes/no"."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name) or self.name in (CODE, REASONING):
            raise InvalidSettings(
                f"a criterion's name is letters, digits, spaces, dots and dashes, other than {CODE} and {REASONING}; "
                f"got {self.name!r:.60}"
            )
        if not isinstance(self.description, str):
            raise InvalidSettings(f"the description of {self.name} is text, got {self.description!r:.60}")
        _check_weight(self.name, self.weight)
        set_field(self, "scale", _checked_scale(self.scale))
        self.verdict_field("score")

    def verdict_field(self, name: str) -> VerdictField:
        """The field of a verdict for this criterion."""
        if isinstance(self.scale, str):
            return ChoiceField(name, ("yes", "no"))
        return NumberField(name, *self.scale)

    def share(self, value: Any) -> float:
        """A value of a verdict as a share of the scale, from 0 to 1."""
        if isinstance(self.scale, str):
            return float(value == "yes")
        low, high = self.scale
        return float((value - low) / (high - low))


@dataclass(frozen=True, slots=True)
class Example:
    """A response with the verdict that it deserves: one value, or one for each criterion by name."""

    response: str
    verdict: Any
    prompt: str = ""
    reference: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Rubric:
    """Criteria, what the judge should know about the task, and examples."""

    criteria: tuple[Criterion, ...]
    instructions: str = ""
    examples: tuple[Example, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        set_field(self, "criteria", tuple(self.criteria))
        set_field(self, "examples", tuple(self.examples))
        if not self.criteria:
            raise InvalidSettings("a rubric needs at least one criterion")
        names = [criterion.name for criterion in self.criteria]
        if len(set(names)) < len(names):
            raise InvalidSettings(f"the criteria of a rubric have different names, got {', '.join(names)}")
        if not any(criterion.weight > 0 for criterion in self.criteria):
            raise InvalidSettings("a rubric needs a criterion with a weight above 0")
        for example in self.examples:
            self.example_values(example)

    @property
    def fields(self) -> tuple[VerdictField, ...]:
        """The fields of a verdict: a value for each criterion, called `score` or `met` if there is only one."""
        if len(self.criteria) == 1:
            return (self.criteria[0].verdict_field("met" if self.criteria[0].scale == YES_NO else "score"),)
        return tuple(criterion.verdict_field(criterion.name) for criterion in self.criteria)

    def example_values(self, example: Example) -> dict[str, Any]:
        """The verdict of an example, by the names of the fields."""
        verdict = example.verdict if isinstance(example.verdict, Mapping) else {self.criteria[0].name: example.verdict}
        if set(verdict) != {criterion.name for criterion in self.criteria}:
            names = ", ".join(criterion.name for criterion in self.criteria)
            raise InvalidSettings(f"the verdict of an example has a value for each of {names}; got {verdict!r:.80}")
        values = {}
        for criterion, each in zip(self.criteria, self.fields, strict=True):
            value = verdict[criterion.name]
            try:
                each.read(value)
            except Unreadable as error:
                raise InvalidSettings(f"an example's verdict: {error}") from None
            values[each.name] = ("yes" if value else "no") if isinstance(value, bool) else value
        return values

    def combine(self, shares: Sequence[float]) -> float:
        """One number from 0 to 1: the weighted sum of the shares over the sum of the positive weights."""
        weights = [criterion.weight for criterion in self.criteria]
        total = sum(weight * share for weight, share in zip(weights, shares, strict=True))
        return min(1.0, max(0.0, total / sum(weight for weight in weights if weight > 0)))


RubricLike: TypeAlias = Rubric | str | Path | Mapping[str, Any]


def read_rubric(source: RubricLike, *, scale: Any = (1.0, 10.0)) -> Rubric:
    """The rubric in a YAML file or a mapping; `scale` is for criteria without one."""
    if isinstance(source, Rubric):
        return source
    if isinstance(source, Mapping):
        return _read_rubric(source, "the rubric", scale)
    return _read_rubric(read_yaml(source, "rubric"), Path(source).name, scale)


def read_criteria(plain: Any, *, scale: Any, where: str = "the criteria") -> tuple[Criterion, ...]:
    """Criteria from plain data: texts or mappings; those without a name are numbered."""
    return tuple(_read_criterion(each, number, scale, where) for number, each in enumerate(_as_list(plain, where), 1))


def _read_rubric(plain: Any, where: str, scale: Any) -> Rubric:
    if not isinstance(plain, Mapping):
        raise InvalidSettings(f"{where}: a rubric is a mapping with criteria, got {plain!r:.60}")
    settings = {name: value for name, value in plain.items() if value is not None and name != "scale"}
    scale = plain.get("scale", scale)
    check_keys(settings, [each.name for each in fields(Rubric)], where)
    default = [{"name": UNNAMED}] if "instructions" in plain else None
    settings["criteria"] = read_criteria(settings.get("criteria", default), scale=scale, where=f"{where}: criteria")
    settings["examples"] = tuple(
        read_settings(Example, each, f"{where}: an example") for each in _as_list(settings.get("examples", []), where)
    )
    return read_settings(Rubric, settings, where)


def _read_criterion(plain: Any, number: int, scale: Any, where: str) -> Criterion:
    if isinstance(plain, str):
        plain = {"description": plain}
    if isinstance(plain, Mapping):
        named = {_OTHER_NAMES.get(str(key), str(key)): value for key, value in plain.items() if key not in _IGNORED}
        plain = {"name": f"criterion_{number}", "scale": scale, **named}
    return read_settings(Criterion, plain, f"{where}: criterion {number}")


def _as_list(plain: Any, where: str) -> list[Any]:
    if not isinstance(plain, list | tuple):
        raise InvalidSettings(f"{where} is a list, got {plain!r:.60}")
    return list(plain)


_OTHER_NAMES = {"title": "name", "criterion": "description", "points": "weight"}
"""Names in public data sets of rubrics."""
_IGNORED = ("tags",)


def _check_weight(name: str, weight: Any) -> None:
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight) or weight == 0:
        raise InvalidSettings(f"the weight of {name} is a finite number other than 0, got {weight!r:.60}")


def _checked_scale(scale: Any) -> tuple[float, float] | str:
    if isinstance(scale, str) and scale.replace(" ", "") == YES_NO:
        return YES_NO
    ends = list(scale) if isinstance(scale, list | tuple) else []
    if len(ends) != 2 or any(isinstance(end, bool) or not isinstance(end, int | float) for end in ends):
        raise InvalidSettings(f"a scale is [lowest, highest] or {YES_NO!r}, got {scale!r:.60}")
    return float(ends[0]), float(ends[1])
