"""From the JSON of a grader to a reward."""

import ast
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from plaudit.checks.similarity import Measure, find_measure
from plaudit.contract.combination import CompoundReward
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.dialects.graders.model_graders import LabelModelGrader, ScoreModelGrader
from plaudit.dialects.graders.templates import fill, item_of, sample_of
from plaudit.errors import InvalidSettings, RewardNotLoaded, did_you_mean
from plaudit.trajectory import Trajectory


class StringCheckGrader(RewardFunction):
    """1 where a text is, is not or contains another, else 0."""

    bounds = (0.0, 1.0)
    deterministic = True

    def __init__(self, grader: dict[str, Any]) -> None:
        self.name, self.input, self.reference = _name(grader), grader["input"], grader["reference"]
        operation = grader["operation"]
        if operation not in _OPERATIONS:
            raise InvalidSettings(f"no operation {operation!r}{did_you_mean(operation, _OPERATIONS)}")
        self.operation = operation

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        text, reference = fill(self.input, trajectory), fill(self.reference, trajectory)
        value = float(_OPERATIONS[self.operation](text, reference))
        return RewardOutput(value, score=value)


_OPERATIONS: dict[str, Callable[[str, str], bool]] = {
    "eq": lambda text, reference: text == reference,
    "ne": lambda text, reference: text != reference,
    "like": lambda text, reference: reference in text,
    "ilike": lambda text, reference: reference.lower() in text.lower(),
}


class TextSimilarityGrader(RewardFunction):
    """How alike two texts are; `pass_threshold`, where there is one, decides only the score."""

    bounds = (0.0, 1.0)
    deterministic = True

    def __init__(self, grader: dict[str, Any]) -> None:
        self.name, self.input, self.reference = _name(grader), grader["input"], grader["reference"]
        self.metric, self.threshold = grader["evaluation_metric"], grader.get("pass_threshold")
        _find_measure(self.metric)

    def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        value = _find_measure(self.metric)(fill(self.input, trajectory), fill(self.reference, trajectory))
        return RewardOutput(value, score=value if self.threshold is None else float(value >= self.threshold))


class PythonGrader(RewardFunction):
    """What the `grade(sample, item)` of a source gives; the source runs like any reward file, without a sandbox."""

    def __init__(self, grader: dict[str, Any]) -> None:
        self.name, self.source = _name(grader), grader["source"]
        self._grade()

    def compute_reward(self, trajectory: Trajectory) -> Any:
        return self._grade()(sample_of(trajectory), item_of(trajectory))

    def _grade(self) -> Callable[[Any, Any], Any]:
        known = vars(self).get("grade")
        if known is None:
            namespace: dict[str, Any] = {"__name__": self.name}
            exec(compile(self.source, f"<grader {self.name}>", "exec"), namespace)
            known = namespace.get("grade")
            if not callable(known):
                raise InvalidSettings(f"the source of the grader {self.name} defines no grade(sample, item)")
            self.grade = known
        grade: Callable[[Any, Any], Any] = known
        return grade

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "grade"}


_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": min, "max": max, "abs": abs, "floor": math.floor, "ceil": math.ceil, "exp": math.exp, "sqrt": math.sqrt,
    "log": math.log,
}  # fmt: skip


class Formula:
    """The arithmetic of a multi grader, `0.5 * exact + 0.5 * min(style, 1)`; called with values it gives a number.

    It is checked when it is read, so a name that no grader has fails before the first sample.
    """

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text = text
        try:
            tree = ast.parse(text.replace("^", "**"), mode="eval")
        except SyntaxError:
            raise InvalidSettings(f"calculate_output {text!r} is not a formula") from None
        self._check(tree.body, names)
        self._code = compile(tree, "calculate_output", "eval")

    def __call__(self, values: Mapping[str, float]) -> float:
        return float(eval(self._code, {"__builtins__": {}}, {**_FUNCTIONS, **values}))

    def _check(self, node: ast.expr, names: Collection[str]) -> None:
        match node:
            case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC:
                self._check(left, names)
                self._check(right, names)
            case ast.UnaryOp(ast.USub() | ast.UAdd(), operand):
                self._check(operand, names)
            case ast.Call(ast.Name(name), arguments, []) if name in _FUNCTIONS:
                for argument in arguments:
                    self._check(argument, names)
            case ast.Constant(int() | float()):
                pass
            case ast.Name(name) if name in names:
                pass
            case _:
                what = ast.unparse(node)
                raise InvalidSettings(
                    f"calculate_output {self.text!r} uses {what!r}{did_you_mean(what, [*names, *_FUNCTIONS])}; it may "
                    f"use {', '.join(names)}, numbers, + - * / ^ and {', '.join(_FUNCTIONS)}"
                )


class MultiGrader(CompoundReward):
    """A formula over the rewards of other graders; unscored where one of them is."""

    def __init__(self, grader: dict[str, Any]) -> None:
        self.name = _name(grader)
        declared = grader["graders"]
        graders = declared if isinstance(declared, Mapping) else {str(each["name"]): each for each in declared}
        self.graders = {name: grader_reward(each) for name, each in graders.items()}
        self.formula = Formula(grader["calculate_output"], self.graders)
        self.set_parts(self.graders.values())

    def merge_one(self, trajectory: Trajectory, outputs: Sequence[RewardOutput]) -> RewardOutput:
        parts = dict(zip(self.graders, outputs, strict=True))
        failed = next(((name, part) for name, part in parts.items() if part.reward is None), None)
        if failed is not None:
            name, part = failed
            return RewardOutput.unscored(part.status, f"{name}: {part.reason}", components=parts)
        try:
            value = self.formula({name: part.reward for name, part in parts.items() if part.reward is not None})
        except (ArithmeticError, ValueError) as error:
            return RewardOutput.unscored(Status.ERROR, f"{self.formula.text}: {error}", components=parts)
        return RewardOutput(value, components=parts)


GRADERS: dict[str, Callable[[dict[str, Any]], RewardFunction]] = {
    "string_check": StringCheckGrader,
    "text_similarity": TextSimilarityGrader,
    "python": PythonGrader,
    "score_model": ScoreModelGrader,
    "label_model": LabelModelGrader,
    "multi": MultiGrader,
}


def grader_from_file(path: Path) -> RewardFunction:
    """The reward that a JSON file describes."""
    try:
        grader = json.loads(path.read_text(encoding="utf-8"))
        return grader_reward(grader)
    except (ValueError, SyntaxError) as error:
        raise RewardNotLoaded(f"{path.name} is not a grader: {error}") from error


def grader_reward(grader: Any) -> RewardFunction:
    """The reward that a grader describes, or an error that names what is wrong with it."""
    if isinstance(grader, Mapping) and "type" not in grader and isinstance(grader.get("grader"), Mapping):
        grader = grader["grader"]  # as in the method of a fine-tuning job
    kind = grader.get("type") if isinstance(grader, Mapping) else None
    if kind not in GRADERS:
        hint = did_you_mean(str(kind), GRADERS)
        raise InvalidSettings(f"a grader's type is one of {', '.join(GRADERS)}, got {kind!r:.60}{hint}")
    try:
        return GRADERS[kind](dict(grader))
    except KeyError as error:
        raise InvalidSettings(f"the {kind} grader {_name(grader)!r} has no {error}") from None


def _name(grader: Mapping[str, Any]) -> str:
    return str(grader.get("name") or grader["type"])


_OTHER_NAMES = {"fuzzy_match": "fuzzy"}


def _find_measure(name: str) -> Measure:
    """The function of (text, reference) that a grader names; `plaudit.checks.similarity` says whose each one is."""
    if name == "cosine":
        raise InvalidSettings(
            "evaluation_metric 'cosine' needs a hosted embedding model; for a local one, use the reward `similarity` "
            "instead of a grader"
        )
    return find_measure(_OTHER_NAMES.get(name, name), "evaluation_metric")
