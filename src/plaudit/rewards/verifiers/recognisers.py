"""Which verifier a row needs: by the name of its data set, else by its columns.

A new verifier adds its data sets to `NAMES` and a row to `BY_COLUMNS`.
"""

from collections.abc import Callable
from typing import NamedTuple

from plaudit.trajectory import Trajectory
from plaudit.verify.rows import find_column

__all__ = ["BY_COLUMNS", "NAMES", "Recogniser", "recognise"]

NAMES: dict[str, tuple[str, ...]] = {
    "math": (
        "openai/gsm8k", "lighteval/MATH", "DigitalLearningGmbH/MATH-lighteval", "HuggingFaceH4/MATH-500", "math_dapo",
        "math", "math_dapo_reasoning", "numina_aops_forum", "numina_synthetic_math", "numina_amc_aime",
        "numina_synthetic_amc", "numina_cn_k12", "numina_olympiads", "hiyouga/geometry3k", "gsm8k", "strict_math",
    ),
    "code": ("codecontests", "apps", "codeforces", "taco"),
}  # fmt: skip
"""Rewards and the names that verl (`data_source`) and open-instruct (`dataset`) use for rows of their kind."""


class Recogniser(NamedTuple):
    """A reward, and which rows it is for."""

    spec: str
    columns: str
    """The columns that decide, for people."""
    matches: Callable[[Trajectory], bool]


def _has(*names: str) -> Callable[[Trajectory], bool]:
    return lambda sample: all(find_column(sample, name) is not None for name in names)


BY_COLUMNS: tuple[Recogniser, ...] = (
    Recogniser("regex", "pattern or regex", lambda sample: find_column(sample, "pattern", "regex") is not None),
    Recogniser("contains", "contains", _has("contains")),
    Recogniser("math", "answer with ####, or solution with \\boxed", lambda sample: _is_worked_solution(sample)),
)
"""Rows by their columns; the first that matches counts."""

_SPECS = {name.casefold(): spec for spec, names in NAMES.items() for name in names}


def recognise(sample: Trajectory) -> str | None:
    """The spec of the reward for a row; None for a row that nothing recognises."""
    for name in (sample.task, find_column(sample, "dataset")):
        if isinstance(name, str) and (spec := _SPECS.get(name.casefold())):
            return spec
    return next((recogniser.spec for recogniser in BY_COLUMNS if recogniser.matches(sample)), None)


def _is_worked_solution(sample: Trajectory) -> bool:
    truth = sample.ground_truth
    return isinstance(truth, str) and ("####" in truth or "\\boxed{" in truth)
