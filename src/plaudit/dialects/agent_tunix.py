"""Agent-Tunix rewards: `(response, prompt, metadata) -> float` as documented, and the batch form of its code.

The expected answer travels in the metadata there, so a ground truth is found under `answer` unless the data has its
own. In the batch form `(prompts, completions, answer, **columns)` every argument is a list.
"""

from typing import Any

from plaudit import checks
from plaudit.contract.binding import Binding
from plaudit.contract.function import FunctionReward, RewardFunction
from plaudit.dialects.dialect import Dialect, is_a, name_of, parameters
from plaudit.trajectory import Trajectory

__all__ = ["AGENT_TUNIX_BATCH", "AGENT_TUNIX_FUNCTION", "STAND_INS", "AgentTunixBatchReward", "AgentTunixReward"]

_DOCUMENTED = {"response", "prompt", "metadata"}
_IN_BATCH = {"prompts": "prompt_text", "completions": "response"}


class AgentTunixReward(RewardFunction):
    """A function of a response, its prompt as text, and metadata that holds the expected `answer`."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.name = name_of(function)
        self.asked = tuple(parameters(function))

    def compute_reward(self, trajectory: Trajectory) -> Any:
        known = {
            "response": trajectory.response,
            "prompt": trajectory.prompt_text,
            "metadata": metadata_of(trajectory),
        }
        return self.function(**{name: known[name] for name in self.asked})

    def __repr__(self) -> str:
        return self.name


class AgentTunixBatchReward(FunctionReward):
    """A function of whole batches: prompts, completions, the answers, and any further columns by name."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self.binding = Binding.of(function, plurals=_IN_BATCH)


def metadata_of(trajectory: Trajectory) -> dict[str, Any]:
    """The metadata with the columns, and the ground truth as `answer` where there is none."""
    metadata = {**trajectory.columns, **trajectory.metadata}
    if trajectory.ground_truth is not None:
        metadata.setdefault("answer", trajectory.ground_truth)
    return metadata


def _recognises_documented(candidate: Any) -> bool:
    asked = set(parameters(candidate))
    return {"response", "metadata"} <= asked <= _DOCUMENTED


def _recognises_batch(candidate: Any) -> bool:
    return set(_IN_BATCH) <= set(parameters(candidate))


_NAME = "Agent-Tunix function"
AGENT_TUNIX_FUNCTION = Dialect(_NAME, _recognises_documented, AgentTunixReward, is_a(AgentTunixReward))
AGENT_TUNIX_BATCH = Dialect(_NAME, _recognises_batch, AgentTunixBatchReward, is_a(AgentTunixBatchReward))

STAND_INS: dict[str, dict[str, object]] = {
    "agent_tunix.rewards": {name: getattr(checks, name) for name in checks.__all__},
}
