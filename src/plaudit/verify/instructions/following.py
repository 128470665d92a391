"""Does a response follow its instructions? The verifiers `ifeval`, `if_train` and `ifbench`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from plaudit.errors import InvalidSettings, require
from plaudit.trajectory import Trajectory
from plaudit.verify.instructions.constraints import IFBENCH, IFEVAL, TRAINING, Constraint, read_constraints
from plaudit.verify.instructions.instruction import Instruction
from plaudit.verify.instructions.parts import has_word
from plaudit.verify.instructions.published import PUBLISHED
from plaudit.verify.text import remove_invisible
from plaudit.verify.verifier import Answer, Verdict, Verifier


@dataclass(frozen=True, repr=False)
class _Following(Verifier[list[Constraint]]):
    """The answer against the instructions of its row; a component for each instruction."""

    known: ClassVar[Mapping[str, Instruction]]

    loose: bool = False
    aggregate: str = "all"
    published: bool = False

    def __post_init__(self) -> None:
        if self.aggregate not in ("all", "fraction"):
            raise InvalidSettings(f"aggregate is all or fraction, got {self.aggregate!r}")
        require("py3langid", purpose="detecting languages", extra="verifiers")

    def read(self, sample: Trajectory) -> list[Constraint]:
        constraints = read_constraints(sample, self.known)
        if not self.published:
            return constraints
        return [replace(each, instruction=PUBLISHED.get(each.name, each.instruction)) for each in constraints]

    def judge(self, task: list[Constraint], answer: Answer) -> Verdict:
        text = remove_invisible(answer.text)
        variants = list(_variants(text)) if self.loose else [text]
        components: dict[str, Verdict] = {}
        for constraint in task:
            repeated = sum(name.partition(" #")[0] == constraint.name for name in components)
            name = f"{constraint.name} #{repeated + 1}" if repeated else constraint.name
            components[name] = _best(constraint, variants)
        return _combine(components, self.aggregate)


@dataclass(frozen=True, repr=False)
class IfEval(_Following):
    """1.0 when the answer follows every instruction of an IFEval row, else 0.0; a component for each instruction.

    The row has `instruction_id_list` and `kwargs`. `loose=True` also accepts the answer without its first or last line
    and without asterisks, as IFEval's loose accuracy does. `aggregate="fraction"` gives the share that is followed.
    `published=True` judges the types that the card lists as the public checker does, faults included.
    """

    kind: ClassVar[str] = "ifeval"
    known: ClassVar[Mapping[str, Instruction]] = IFEVAL


@dataclass(frozen=True, repr=False)
class IfTrain(_Following):
    """The share of instructions of a training row that the answer follows; a component for each instruction.

    Rows of IF_multi_constraints_upto5 and RLVR-IFeval have them in `ground_truth`; `instruction_id_list` and `kwargs`
    work too. `aggregate="all"` gives 1.0 only when all are followed. `loose=True` as for `ifeval`.
    """

    kind: ClassVar[str] = "if_train"
    known: ClassVar[Mapping[str, Instruction]] = TRAINING

    aggregate: str = "fraction"


@dataclass(frozen=True, repr=False)
class IfBench(_Following):
    """1.0 when the answer follows every instruction of an IFBench row, else 0.0; a component for each instruction.

    Rows may mix the instructions of IFBench with those of `ifeval` and `if_train`. `loose`, `aggregate` and
    `published` as for `ifeval`.
    """

    kind: ClassVar[str] = "ifbench"
    known: ClassVar[Mapping[str, Instruction]] = {**TRAINING, **IFBENCH}

    def __post_init__(self) -> None:
        super().__post_init__()
        require("lemminflect", purpose="finding verbs", extra="verifiers")


def _variants(text: str) -> Iterator[str]:
    """The text, without its first or its last line or both, and each of them without asterisks."""
    lines = text.split("\n")
    kept = dict.fromkeys("\n".join(part).strip() for part in (lines, lines[1:], lines[:-1], lines[1:-1]))
    variants = dict.fromkeys([*kept, *(variant.replace("*", "").strip() for variant in kept)])
    yield from (variant for variant in variants if has_word(variant) or variant == text)


def _best(constraint: Constraint, variants: list[str]) -> Verdict:
    """The verdict on the first variant that follows the instruction, else that on the text itself."""
    first = constraint.check(variants[0])
    if first.passed:
        return first
    return next((verdict for verdict in map(constraint.check, variants[1:]) if verdict.passed), first)


def _combine(components: Mapping[str, Verdict], aggregate: str) -> Verdict:
    failed = [f"{name}: {part.reason}" for name, part in components.items() if part.score == 0.0]
    undecided = [f"{name}: {part.reason}" for name, part in components.items() if part.score is None]
    if undecided and (aggregate == "fraction" or not failed):
        return Verdict(None, "; ".join(undecided)[:300], components)
    share = 1 - len(failed) / len(components)
    reason = "; ".join(failed)[:300] or f"follows {len(components)} of {len(components)} instructions"
    return Verdict(share if aggregate == "fraction" else float(not failed), reason, components)
