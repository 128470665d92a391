"""Inspect: a scorer `async score(state, target) -> Score`, registered with the mean and its standard error."""

import math
from typing import Any

from plaudit.errors import require
from plaudit.exports.convention import Export
from plaudit.exports.exported import AsyncExportedReward, Call, ExportedReward, ExportSettings, OnUnscored

__all__ = ["EXPORTS"]


def inspect_call(reward: ExportedReward, state: Any, target: Any) -> Call:
    """The score of a finished sample, unscored if there is no number; components and status are in its metadata."""
    score = _scoring().Score
    truth = list(target) if len(target) > 1 else target.text
    chat = state.input if isinstance(state.input, str) else [_message(each) for each in state.input]
    output, value = yield reward.sample(chat, state.output.completion, state.metadata, ground_truth=truth)
    metadata = {**reward.details(output, same_keys=False), "status": output.status.value}
    if math.isnan(value):
        return score.unscored(reason=output.status.value, explanation=output.reason, metadata=metadata)
    return score(value=value, explanation=output.reason, metadata=metadata)


def _message(message: Any) -> dict[str, Any]:
    return {"role": message.role, "content": message.text}


def _scoring() -> Any:
    return require("inspect_ai.scorer", package="inspect-ai", purpose="a scorer for Inspect")


def make_scorer(settings: ExportSettings) -> AsyncExportedReward:
    """The exported reward, registered under its own name."""

    def factory() -> AsyncExportedReward:
        return AsyncExportedReward(settings)

    scoring = _scoring()
    register = scoring.scorer(metrics=[scoring.mean(), scoring.stderr()], name=settings.name)
    exported: AsyncExportedReward = register(factory)()
    return exported


EXPORTS = (
    Export(
        "inspect",
        inspect_call,
        "from {module} import reward\n\ntask = Task(dataset=…, solver=generate(), scorer=reward)",
        (OnUnscored.NAN, OnUnscored.RAISE),
        make_scorer,
    ),
)
