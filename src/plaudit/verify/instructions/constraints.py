"""The instructions of a row: `instruction_id_list` and `kwargs`, or a `ground_truth` that has both.

Data sets store the lists as lists, as JSON text or as the text of a Python literal; arguments that an instruction does
not have are null. RLVR-IFeval names a function (`func_name`) and its arguments in one object.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plaudit.errors import InvalidTrajectory, did_you_mean
from plaudit.trajectory import Trajectory
from plaudit.verify.instructions import counts, every_word, formats, keywords, layouts, lengths, positions, tasks
from plaudit.verify.instructions.instruction import Instruction
from plaudit.verify.rows import columns_of, find_column, read_literal
from plaudit.verify.verifier import Verdict

IFEVAL = {**keywords.IFEVAL, **lengths.IFEVAL, **formats.IFEVAL, **positions.IFEVAL}
"""The 25 instruction types of IFEval."""
TRAINING = {
    **IFEVAL, **keywords.TRAINING, **lengths.TRAINING, **formats.TRAINING, **positions.TRAINING,
}  # fmt: skip
"""The types of IFEval and the 29 that AllenAI added for training (IFEvalG)."""
IFBENCH = {**counts.IFBENCH, **every_word.IFBENCH, **layouts.IFBENCH, **tasks.IFBENCH}
"""The 58 types of IFBench; the test set has 57 of them."""
FUNCTIONS = {
    **keywords.FUNCTIONS, **lengths.FUNCTIONS, **formats.FUNCTIONS, **positions.FUNCTIONS,
}  # fmt: skip
"""The functions that rows of RLVR-IFeval name."""
MOST_INSTRUCTIONS = 100


@dataclass(frozen=True, slots=True)
class Constraint:
    """An instruction of a row with its arguments."""

    name: str
    instruction: Instruction
    arguments: Mapping[str, Any]

    def check(self, text: str) -> Verdict:
        """Whether a text follows the instruction; raises InvalidTrajectory where the arguments make no sense."""
        return self.instruction.check(text, **self.arguments)


def read_constraints(sample: Trajectory, known: Mapping[str, Instruction]) -> list[Constraint]:
    """The instructions of a row; raises InvalidTrajectory where one is unknown or lacks an argument."""
    function = _function_of(sample)
    if function is not None:
        return [_constraint(function.get("func_name"), function, FUNCTIONS)]
    names, settings = _lists_of(sample)
    if not names or len(names) > MOST_INSTRUCTIONS:
        raise InvalidTrajectory(f"a row has 1 to {MOST_INSTRUCTIONS} instructions, got {len(names)}")
    if len(names) != len(settings):
        raise InvalidTrajectory(f"{len(names)} instructions but {len(settings)} kwargs")
    return [_constraint(name, each, known) for name, each in zip(names, settings, strict=True)]


def instruction_names(sample: Trajectory) -> set[str]:
    """The ids of the instructions of a row; none for a row that has no such list."""
    truth = sample.ground_truth
    in_text = isinstance(truth, str) and "instruction_id" in truth[:200]
    in_list = isinstance(truth, list) and len(truth) == 1 and isinstance(truth[0], Mapping)
    if not in_text and not in_list and find_column(sample, "instruction_id_list", "instruction_id") is None:
        return set()
    try:
        return {name for name in _lists_of(sample)[0] if isinstance(name, str)}
    except InvalidTrajectory:
        return set()


def _lists_of(sample: Trajectory) -> tuple[list[Any], list[Any]]:
    truth = _truth_of(sample)
    names = read_literal(find_column(sample, "instruction_id_list"))
    settings = read_literal(find_column(sample, "kwargs"))
    if names is None and isinstance(truth, Mapping):
        names = read_literal(truth.get("instruction_id", truth.get("instruction_id_list")))
        settings = read_literal(truth.get("kwargs"))
    if names is None:
        columns = ", ".join(columns_of(sample))
        raise InvalidTrajectory(
            f"the row has no instruction_id_list, nor a ground_truth that has one (found {columns})"
        )
    if not isinstance(names, list | tuple) or not isinstance(settings, list | tuple):
        raise InvalidTrajectory(f"instruction_id_list and kwargs must be lists, got {names!r:.60} and {settings!r:.60}")
    return list(names), list(settings)


def _function_of(sample: Trajectory) -> Mapping[str, Any] | None:
    truth = _truth_of(sample)
    return truth if isinstance(truth, Mapping) and "func_name" in truth else None


def _truth_of(sample: Trajectory) -> Any:
    """The object in the ground truth, which may be text and a list of one object."""
    truth = read_literal(sample.ground_truth)
    return read_literal(truth[0]) if isinstance(truth, list | tuple) and len(truth) == 1 else truth


def _constraint(name: Any, settings: Any, known: Mapping[str, Instruction]) -> Constraint:
    instruction = known.get(name) if isinstance(name, str) else None
    if instruction is None:
        guess = did_you_mean(name, list(known)) if isinstance(name, str) else ""
        raise InvalidTrajectory(f"no instruction {name!r:.80} is known{guess}")
    read = read_literal(settings)
    if read is not None and not isinstance(read, Mapping):
        raise InvalidTrajectory(f"{name}: kwargs must be an object, got {settings!r:.60}")
    try:
        return Constraint(name, instruction, instruction.read(read or {}))
    except InvalidTrajectory as error:
        raise InvalidTrajectory(f"{name}: {error}") from None
