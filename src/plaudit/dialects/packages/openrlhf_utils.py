r"""OpenRLHF's agent classes, and its `extract_boxed_answer` and `grade_answer` by plaudit's exact comparison.

OpenRLHF grades by normalising text and by sympy. Where the two could differ is notation that one of them cannot read;
what plaudit cannot decide is not equal here, as there.
"""

from plaudit.agents import AgentExecutor, AgentInstance
from plaudit.dialects.packages.braces import find_closing_brace
from plaudit.verify.math import MathPolicy, Percent, Units, decide

_POLICY = MathPolicy(units=Units.IGNORE, percent=Percent.UNIT, rounding=False)


def last_boxed_only_string(string: str) -> str | None:
    r"""The last `\boxed{…}` or `\fbox{…}` unchanged, with any number of nested braces; None if there is none or it is
    open.
    """
    start = string.rfind("\\boxed")
    if start < 0:
        start = string.rfind("\\fbox")
    end = find_closing_brace(string, start) if start >= 0 else None
    return None if end is None else string[start : end + 1]


def remove_boxed(value: str | None) -> str | None:
    r"""The content of `\boxed{…}`; None for anything else."""
    held = (value or "").removeprefix("\\boxed{").removesuffix("}")
    return held if value == f"\\boxed{{{held}}}" else None


def extract_boxed_answer(solution: str) -> str | None:
    r"""The content of the last `\boxed{…}` of a solution, or None."""
    return remove_boxed(last_boxed_only_string(solution))


def grade_answer(given_answer: str | None, ground_truth: str | None) -> bool:
    """Whether an answer is the ground truth."""
    if given_answer is None or ground_truth is None:
        return False
    return decide(str(ground_truth), str(given_answer), _POLICY).equal is True


_MATH: dict[str, object] = {
    each.__name__: each for each in (extract_boxed_answer, grade_answer, last_boxed_only_string, remove_boxed)
}
STUBS: dict[str, dict[str, object]] = {
    "openrlhf.utils": {name: _MATH[name] for name in ("extract_boxed_answer", "grade_answer")},
    "openrlhf.utils.math_utils": _MATH,
    "openrlhf.utils.agent": {
        "AgentExecutorBase": AgentExecutor,
        "AgentInstanceBase": AgentInstance,
        "MultiTurnAgentExecutor": AgentExecutor,
    },
}
