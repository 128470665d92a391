"""Agent-Tunix rewards: `(response, prompt, metadata) -> float` as documented, and the batch form of its code.

That form, `(prompts, completions, answer, **columns)`, is Tunix's, on which Agent-Tunix stands; all of it is text.

The expected answer travels in the metadata there, so a ground truth is found under `answer` unless the data has its
own.
"""

from typing import Any

from plaudit.dialects.completions import TextCompletionsExport, TextCompletionsReward, is_completions_function
from plaudit.dialects.dialect import Dialect, ForeignReward, System, parameters
from plaudit.dialects.export import Export, OnUnscored
from plaudit.dialects.standins import Later
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM", "AgentTunixReward"]

_DOCUMENTED = {"response", "prompt", "metadata"}


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
        return self.ask(**{name: known[name] for name in self.asked})


def _metadata(trajectory: Trajectory) -> dict[str, Any]:
    """The metadata with the columns, and the ground truth as `answer` where there is none."""
    metadata = {**trajectory.columns, **trajectory.metadata}
    if trajectory.ground_truth is not None:
        metadata.setdefault("answer", trajectory.ground_truth)
    return metadata


def _recognises_documented(candidate: Any) -> bool:
    asked = set(parameters(candidate))
    return {"response", "metadata"} <= asked <= _DOCUMENTED


_HOME = frozenset({"agent_tunix"})
_TITLE = "Agent-Tunix function"
SYSTEM = System(
    name="agent_tunix",
    title="Agent-Tunix",
    distribution="agent-tunix",
    shape="function of `(response, prompt, metadata)` or `(prompts, completions, answer, **columns)`",
    dialects=(
        Dialect("agent_tunix", _TITLE, _HOME, AgentTunixReward, recognises=_recognises_documented),
        Dialect("agent_tunix", _TITLE, _HOME, TextCompletionsReward, resembles=is_completions_function),
    ),
    exports=(
        Export(
            TextCompletionsExport,
            (OnUnscored.MEAN, OnUnscored.NAN, OnUnscored.RAISE),
            usage="from {module} import reward\n\nlearner = GrpoLearner(…, reward_fns=[reward])",
        ),
    ),
    stand_ins={"agent_tunix": Later("plaudit.dialects.packages.agent_tunix_rewards", "ANSWERS")},
)
