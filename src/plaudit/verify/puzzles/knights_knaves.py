"""Does the answer say of everybody whether they are a knight or a knave? Puzzles as in Logic-RL."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from plaudit.errors import InvalidTrajectory
from plaudit.trajectory import Trajectory
from plaudit.verify.answers.final_answer import find_final_answer
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import find_column, need_truth, read_literal
from plaudit.verify.verifier import Answer, Verdict, Verifier

__all__ = ["KnightsKnaves"]

LONGEST_ANSWER = 20_000
_NAME = r"\b[^\W\d_][\w'’-]{0,60}+(?:[ \t][A-Z][\w'’-]{0,60}+){0,3}"
_STATEMENT = compile_late(
    rf"(?P<name>{_NAME})(?i:[ \t]+is[ \t]+(?:an?|the)[ \t]+|[ \t]*(?:[:=→|]|->|[ \t][-–—])[ \t]*(?:an?[ \t]+)?)"
    r"(?P<role>(?i:knight|knave))\b"
    rf"|(?P<names>{_NAME}(?:(?:,[ \t]*(?:and[ \t]+)?|[ \t]+and[ \t]+){_NAME}){{1,20}})"
    r"[ \t]+(?i:are[ \t]+(?:both[ \t]+|all[ \t]+)?(?P<roles>knight|knave)s)\b"
)
"""Somebody is a knight, in a sentence, after a colon or in a table; or several are knights."""
_BETWEEN_NAMES = compile_late(r",[ \t]*(?:and[ \t]+)?|[ \t]+and[ \t]+")
_MARKUP = compile_late(r"[*_`]+")
_DOUBT = compile_late(r"\bor\b|\bnot\b|n['’]t\b|\?|(?<!are )\bboth\b|\bif\b|\beither\b", re.IGNORECASE)
_JOINING = compile_late(r"\A(?:and|so|then|while|but|thus|therefore|hence)[ \t]+", re.IGNORECASE)


@dataclass(frozen=True, repr=False)
class KnightsKnaves(Verifier[Mapping[str, str]]):
    """1.0 when the answer says of every person rightly that they are a knight or a knave, else 0.0."""

    kind: ClassVar[str] = "knights_knaves"

    def read(self, sample: Trajectory) -> Mapping[str, str]:
        names = read_literal(find_column(sample, "names"))
        if isinstance(names, list):
            flags = read_literal(find_column(sample, "solution"))
            flags = read_literal(sample.ground_truth) if flags is None else flags
            if not isinstance(flags, list) or len(flags) != len(names) or not all(isinstance(f, bool) for f in flags):
                raise InvalidTrajectory(f"solution is a list of {len(names)} booleans, got {flags!r:.60}")
            roles = ["knight" if flag else "knave" for flag in flags]
            return dict(zip((str(name).casefold() for name in names), roles, strict=True))
        written = find_column(sample, "solution_text_format") or need_truth(sample)
        solution = _roles(written) if isinstance(written, str) else None
        if not solution:
            raise InvalidTrajectory(f"the solution says of each person once what they are, got {written!r:.60}")
        return solution

    def judge(self, task: Mapping[str, str], answer: Answer) -> Verdict:
        final = find_final_answer(answer.text)
        if not final.readings or len(final.readings[0]) > LONGEST_ANSWER:
            return Verdict(0.0, "no single answer")
        text = _MARKUP.sub("", final.readings[0])
        if _DOUBT.search(text):
            return Verdict(0.0, "the answer leaves something open or denies it")
        roles = _roles(text)
        if roles is None:
            return Verdict(0.0, "somebody is said to be both")
        wrong = [name for name in {**task, **roles} if task.get(name) != roles.get(name)]
        if wrong:
            return Verdict(0.0, f"wrong or missing: {', '.join(sorted(wrong))}"[:200])
        return Verdict(1.0, f"right about all {len(task)}")


def _roles(text: str) -> dict[str, str] | None:
    """What a text says that people are; None if it says two things of somebody."""
    roles: dict[str, str] = {}
    for statement in _STATEMENT.finditer(text):
        names = [statement["name"]] if statement["name"] else _BETWEEN_NAMES.split(statement["names"])
        role = (statement["role"] or statement["roles"]).casefold()
        for name in names:
            if roles.setdefault(_JOINING.sub("", name).casefold(), role) != role:
                return None
    return roles
