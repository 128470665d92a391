"""verifiers: a reward of a v1 task (`taskset.task.rewards`), or a function of a `Rubric`."""

from collections.abc import Mapping
from typing import Any

from plaudit.exports.convention import MEAN, Export
from plaudit.exports.exported import AsyncExportedReward, Call, ExportedReward, OnUnscored

__all__ = ["EXPORTS"]


def task_call(reward: ExportedReward, task: Any, trace: Any) -> Call:
    """The reward of a trace, with components and status as its metrics; verifiers records an exception as its error."""
    row = task.model_dump() if hasattr(task, "model_dump") else dict(vars(task))
    output, value = yield reward.sample(_prompt(row.get("prompt")), trace.last_reply, row)
    details = reward.details(output, same_keys=False)
    trace.record_metrics({f"{reward.__name__}/{name}": each for name, each in details.items()})
    return value


def rubric_call(
    reward: ExportedReward,
    prompt: Any,
    completion: Any,
    answer: Any = None,
    state: Any = None,
    info: Any = None,
    task: Any = None,
) -> Call:
    """The reward of one completion; components and status are put into the state."""
    row = info if isinstance(info, Mapping) else {}
    output, value = yield reward.sample(_prompt(prompt), completion, row, ground_truth=answer, task=task)
    if isinstance(state, dict):
        state.setdefault("plaudit", {})[reward.__name__] = output.to_dict()
    return value


def _prompt(prompt: Any) -> Any:
    if prompt is None or isinstance(prompt, str):
        return prompt or ""
    return [each.model_dump(exclude_none=True) if hasattr(each, "model_dump") else dict(each) for each in prompt]


EXPORTS = (
    Export(
        "verifiers",
        task_call,
        '[taskset.task.rewards.{name}]\nfn = "{file}:reward"',
        (OnUnscored.RAISE, OnUnscored.MEAN),
        AsyncExportedReward,
    ),
    Export(
        "verifiers",
        rubric_call,
        "from {module} import reward\n\nrubric = vf.Rubric(funcs=[reward])",
        MEAN,
        AsyncExportedReward,
        form="legacy",
    ),
)
