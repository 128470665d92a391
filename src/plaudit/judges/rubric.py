"""What a judge is to look at: criteria with their scales and weights, and examples of verdicts.

A rubric is a YAML file, a mapping of the same keys, or built in Python. Whatever is wrong with it is said when it is
read, with its place.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from plaudit.errors import InvalidSettings, did_you_mean
from plaudit.judges.verdict_fields import CODE, REASONING, ChoiceField, NumberField, Unreadable, VerdictField

__all__ = ["UNNAMED", "YES_NO", "Criterion", "Example", "Rubric", "RubricLike", "read_criteria", "read_rubric"]

YES_NO = "yes/no"
UNNAMED = "score"
"""The one criterion of a rubric that names none."""
_NAME = re.compile(r"[\w][\w .-]{0,79}")


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing to look at; a negative weight is for what a response should not do."""

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
        object.__setattr__(self, "scale", _checked_scale(self.scale))
        self.verdict_field("score")

    def verdict_field(self, name: str) -> VerdictField:
        """What a verdict holds for it, under that name."""
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
        object.__setattr__(self, "criteria", tuple(self.criteria))
        object.__setattr__(self, "examples", tuple(self.examples))
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
        """What a verdict holds: a value for each criterion, called `score` or `met` where there is one."""
        if len(self.criteria) == 1:
            return (self.criteria[0].verdict_field("met" if self.criteria[0].scale == YES_NO else "score"),)
        return tuple(criterion.verdict_field(criterion.name) for criterion in self.criteria)

    def example_values(self, example: Example) -> dict[str, Any]:
        """The verdict of an example, by the names of the fields."""
        given = example.verdict if isinstance(example.verdict, Mapping) else {self.criteria[0].name: example.verdict}
        if set(given) != {criterion.name for criterion in self.criteria}:
            wanted = ", ".join(criterion.name for criterion in self.criteria)
            raise InvalidSettings(f"the verdict of an example has a value for each of {wanted}; got {given!r:.80}")
        values = {}
        for criterion, each in zip(self.criteria, self.fields, strict=True):
            value = given[criterion.name]
            try:
                each.read(value)
            except Unreadable as error:
                raise InvalidSettings(f"an example's verdict: {error}") from None
            values[each.name] = ("yes" if value else "no") if isinstance(value, bool) else value
        return values

    def combine(self, shares: Sequence[float]) -> float:
        """Shares of the scales made one number from 0 to 1: weighted, over the sum of the positive weights."""
        weights = [criterion.weight for criterion in self.criteria]
        total = sum(weight * share for weight, share in zip(weights, shares, strict=True))
        return min(1.0, max(0.0, total / sum(weight for weight in weights if weight > 0)))


RubricLike: TypeAlias = Rubric | str | Path | Mapping[str, Any]


def read_rubric(given: RubricLike, *, scale: Any = (1.0, 10.0)) -> Rubric:
    """The rubric in a YAML file or a mapping; `scale` is for criteria that name none."""
    if isinstance(given, Rubric):
        return given
    if isinstance(given, Mapping):
        return _Reader("the rubric", scale).rubric(given)
    path = Path(given).expanduser()
    try:
        plain = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        nearby = [file.name for file in path.parent.glob("*.y*ml")] if path.parent.is_dir() else []
        raise InvalidSettings(f"no rubric {str(given)!r}{did_you_mean(path.name, nearby)}") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise InvalidSettings(f"cannot read the rubric {path}: {error}") from None
    return _Reader(path.name, scale).rubric(plain)


def read_criteria(given: Any, *, scale: Any) -> tuple[Criterion, ...]:
    """Criteria that stand in a data set: texts, or mappings; those without a name are numbered."""
    return _Reader("the criteria", scale).criteria(given)


class _Reader:
    """Reads plain data, and says where in it something is wrong."""

    def __init__(self, where: str, scale: Any) -> None:
        self.where, self.scale = where, scale

    def rubric(self, plain: Any) -> Rubric:
        if not isinstance(plain, Mapping):
            raise InvalidSettings(f"{self.where}: a rubric is a mapping with criteria, got {plain!r:.60}")
        self.check_keys(plain, [*(each.name for each in fields(Rubric)), "scale"], "the rubric")
        scale = plain.get("scale", self.scale)
        reader = _Reader(self.where, scale)
        given = plain.get("criteria", [{"name": UNNAMED, "scale": scale}] if "instructions" in plain else None)
        try:
            return Rubric(
                reader.criteria(given),
                self.text(plain, "instructions"),
                tuple(self.example(each) for each in self.items(plain.get("examples") or [], "examples")),
                self.text(plain, "name"),
            )
        except InvalidSettings as error:
            raise self.error(str(error).removeprefix(f"{self.where}: ")) from None

    def criteria(self, given: Any) -> tuple[Criterion, ...]:
        return tuple(self.criterion(each, place) for place, each in enumerate(self.items(given, "criteria"), 1))

    def criterion(self, given: Any, place: int) -> Criterion:
        plain = {"description": given} if isinstance(given, str) else given
        if not isinstance(plain, Mapping):
            raise self.error(f"criterion {place} is a text or a mapping, got {given!r:.60}")
        plain = {_OTHER_NAMES.get(str(key), str(key)): value for key, value in plain.items() if key not in _IGNORED}
        self.check_keys(plain, [each.name for each in fields(Criterion)], f"criterion {place}")
        try:
            return Criterion(**{"name": f"criterion_{place}", "scale": self.scale, **plain})
        except InvalidSettings as error:
            raise self.error(f"criterion {place}: {error}") from None

    def example(self, given: Any) -> Example:
        if not isinstance(given, Mapping):
            raise self.error(f"an example is a mapping with response and verdict, got {given!r:.60}")
        self.check_keys(given, [each.name for each in fields(Example)], "an example")
        if missing := [name for name in ("response", "verdict") if name not in given]:
            raise self.error(f"an example needs {' and '.join(missing)}")
        return Example(**{name: value if name == "verdict" else str(value) for name, value in given.items()})

    def items(self, given: Any, what: str) -> list[Any]:
        if not isinstance(given, list | tuple):
            raise self.error(f"{what} is a list, got {given!r:.60}")
        return list(given)

    def text(self, plain: Mapping[str, Any], name: str) -> str:
        value = plain.get(name) or ""
        if not isinstance(value, str):
            raise self.error(f"{name} is text, got {value!r:.60}")
        return value

    def check_keys(self, plain: Mapping[Any, Any], known: Sequence[str], what: str) -> None:
        for key in plain:
            if key not in known:
                raise self.error(f"{what} has the unknown key {key!r}{did_you_mean(str(key), known)}; known are "
                                 f"{', '.join(known)}")  # fmt: skip

    def error(self, what: str) -> InvalidSettings:
        return InvalidSettings(f"{self.where}: {what}")


_OTHER_NAMES = {"title": "name", "criterion": "description", "points": "weight"}
"""As data sets of rubrics write them."""
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
