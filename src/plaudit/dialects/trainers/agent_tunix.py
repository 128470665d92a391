"""Agent-Tunix rewards: `(response, prompt, metadata) -> float` as documented, and the batch form of its code.

That form, `(prompts, completions, answer, **columns)`, is Tunix's, which Agent-Tunix is built on; all of it is text.
The expected answer is in the metadata, so the ground truth is given as `answer` unless the data has such a column.
"""

from functools import partial
from operator import attrgetter
from typing import Any

from plaudit.contract.binding import Convention, own_values
from plaudit.dialects.completions import is_completions_function, text_completions_reward
from plaudit.dialects.dialect import Dialect, ForeignReward, System, parameters
from plaudit.dialects.standins import Later
from plaudit.trajectory import Trajectory

__all__ = ["SYSTEM"]


def _metadata(trajectory: Trajectory) -> dict[str, Any]:
    """Metadata and columns, and the ground truth as `answer` where they have none."""
    truth = {} if trajectory.ground_truth is None else {"answer": trajectory.ground_truth}
    return {**truth, **own_values(trajectory)}


_CONVENTION = Convention(
    names={"response": attrgetter("response"), "prompt": attrgetter("prompt_text"), "metadata": _metadata},
    fills_columns=False,
)


def _matches_documented(candidate: Any) -> bool:
    asked = set(parameters(candidate))
    return {"response", "metadata"} <= asked <= set(_CONVENTION.names)


_TITLE = "Agent-Tunix function"
SYSTEM = System(
    name="agent_tunix",
    title="Agent-Tunix",
    distribution="agent-tunix",
    shape="function of `(response, prompt, metadata)` or `(prompts, completions, answer, **columns)`",
    dialects=(
        Dialect(_TITLE, partial(ForeignReward, convention=_CONVENTION), _matches_documented),
        Dialect(_TITLE, text_completions_reward, matches_if_imported=is_completions_function),
    ),
    stand_ins={"agent_tunix": Later("plaudit.dialects.packages.agent_tunix_rewards", "ANSWERS")},
)
