"""Twinkle: a number per trajectory, a dict with `messages` and `user_data`; truths may be given beside them."""

from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.exports.convention import Export, Grouping
from plaudit.exports.exported import Call, ExportedReward
from plaudit.trajectory import message_text

__all__ = ["EXPORTS"]


def twinkle_call(
    reward: ExportedReward, trajectories: Sequence[Any], ground_truths: Sequence[Any] | None = None, **_: Any
) -> Call:
    """One number per trajectory."""
    truths = [None] * len(trajectories) if ground_truths is None else [_said(each) for each in ground_truths]
    rated = yield [
        reward.sample(
            list(each["messages"][:-1]),
            each["messages"][-1:],
            {str(name): value for name, value in each.get("user_data") or ()},
            ground_truth=truth,
        )
        for each, truth in zip(trajectories, truths, strict=True)
    ]
    return [each.value for each in rated]


def _said(truth: Any) -> Any:
    """A plain truth, or what the last message of a trajectory says."""
    messages = truth.get("messages") if isinstance(truth, Mapping) else None
    return message_text(messages[-1]) if messages else truth


EXPORTS = (
    Export(
        "twinkle",
        twinkle_call,
        "from {module} import reward\n\nrewards = reward(trajectories)\n"
        "advantages = advantage_fn(rewards, num_generations=…)",
        grouping=Grouping.CALL,
    ),
)
