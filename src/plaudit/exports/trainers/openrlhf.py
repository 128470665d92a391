"""OpenRLHF: `--remote_rm_url FILE` with `reward_func(queries, prompts, labels)`.

It returns tensors of rewards, scores and logs, all of one value per sample. OpenRLHF ignores an exception of a reward,
so a number is always given, and it needs the same logs in every call. From 0.9.1 on, a call has one sample.
"""

from collections.abc import Sequence
from typing import Any

from plaudit.errors import require
from plaudit.exports.convention import Export
from plaudit.exports.exported import Call, ExportedReward

__all__ = ["EXPORTS"]


def openrlhf_call(
    reward: ExportedReward, queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]
) -> Call:
    """Rewards; scores, or rewards where there are none; components, statuses and numbers of the metadata as logs."""
    torch = require("torch", purpose="a reward for OpenRLHF", extra="train")
    rated = yield [
        reward.sample(prompt, query.removeprefix(prompt), {}, ground_truth=label)
        for query, prompt, label in zip(queries, prompts, labels, strict=True)
    ]
    scores = [each.value if each.output.score is None else each.output.score for each in rated]
    return {
        "rewards": torch.tensor([each.value for each in rated]),
        "scores": torch.tensor(scores),
        "extra_logs": {name: torch.tensor(values) for name, values in reward.log_columns(rated).items()},
    }


EXPORTS = (
    Export(
        "openrlhf",
        openrlhf_call,
        "python -m openrlhf.cli.train_ppo_ray … --reward.remote_url {argument} --data.label_key answer",
        entry="reward_func",
    ),
)
