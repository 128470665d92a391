"""Agent-Tunix rewards: `(response, prompt, metadata) -> float` as documented, and the batch form of its code.

The expected answer travels in the metadata there, so a ground truth is found under `answer` unless the data has its
own. In the batch form `(prompts, completions, answer, **columns)` every argument is a list.
"""

from typing import Any

from plaudit.contract.binding import Binding
from plaudit.contract.function import FunctionReward
from plaudit.dialects.dialect import Dialect, ForeignReward, parameters
from plaudit.dialects.packages.agent_tunix_rewards import ANSWERS
from plaudit.trajectory import Trajectory

__all__ = ["DIALECTS", "STAND_INS", "AgentTunixBatchReward", "AgentTunixReward"]

_DOCUMENTED = {"response", "prompt", "metadata"}
_IN_BATCH = {"prompts": "prompt_text", "completions": "response"}


class AgentTunixReward(ForeignReward):
    """A function of a response, its prompt as text, and metadata that holds the expected `answer`."""

    def __init__(self, foreign: Any) -> None:
        super().__init__(foreign)
        self.asked = tuple(parameters(foreign))

    def compute_reward(self, trajectory: Trajectory) -> Any:
        known = {
            "response": trajectory.response,
            "prompt": trajectory.prompt_text,
            "metadata": _metadata(trajectory),
        }
        return self.foreign(**{name: known[name] for name in self.asked})


class AgentTunixBatchReward(FunctionReward):
    """A function of whole batches: prompts, completions, the answers, and any further columns by name."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self.binding = Binding.of(function, plurals=_IN_BATCH)


def _metadata(trajectory: Trajectory) -> dict[str, Any]:
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


_HOME = frozenset({"agent_tunix"})
_TITLE = "Agent-Tunix function"
DIALECTS = (
    Dialect("agent_tunix", _TITLE, _HOME, AgentTunixReward, recognises=_recognises_documented),
    Dialect("agent_tunix", _TITLE, _HOME, AgentTunixBatchReward, recognises=_recognises_batch),
)
STAND_INS = ANSWERS
