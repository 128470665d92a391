"""AReaL: `f(prompt, completions, prompt_ids, completion_ids, **row)` of one sample, called in a pool of processes."""

from typing import Any

from plaudit.exports.convention import Export
from plaudit.exports.exported import Call, ExportedReward

__all__ = ["EXPORTS"]


def areal_call(
    reward: ExportedReward,
    prompt: Any,
    completions: str,
    prompt_ids: Any = None,
    completion_ids: Any = None,
    **row: Any,
) -> Call:
    """The reward of one completion."""
    rated = yield reward.sample(prompt or "", completions, row, completion_ids)
    return rated.value


EXPORTS = (
    Export("areal", areal_call, 'workflow_kwargs = {{"reward_fn": "{module}.reward", …}}    # of an RLVRWorkflow'),
)
