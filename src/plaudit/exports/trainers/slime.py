"""slime: `--custom-rm-path` with `async fn(args, sample)`, or a list of samples with `--group-rm`.

An unscored sample can be masked. With `--reward-key` results are dicts that also hold components and status.
"""

from typing import Any

from plaudit.exports.convention import Export, Grouping
from plaudit.exports.exported import AsyncExportedReward, Call, ExportedReward, OnUnscored, Rated
from plaudit.trajectory import Trajectory

__all__ = ["EXPORTS"]


def slime_call(reward: ExportedReward, args: Any, sample: Any, **_: Any) -> Call:
    """The reward of a sample, or those of a list of samples."""
    if isinstance(sample, list):
        rated = yield [_sample(reward, each) for each in sample]
        return [_result(reward, args, *pair) for pair in zip(sample, rated, strict=True)]
    rated = yield _sample(reward, sample)
    return _result(reward, args, sample, rated)


def _result(reward: ExportedReward, args: Any, sample: Any, rated: Rated) -> Any:
    if not rated.output.ok and reward.settings.on_unscored is OnUnscored.MASK:
        sample.remove_sample = True
    key = getattr(args, "reward_key", None)
    return {**reward.details(rated.output), key: rated.value} if key else rated.value


def _sample(reward: ExportedReward, sample: Any) -> Trajectory:
    row = getattr(sample, "metadata", None) or {}
    ids = list(sample.tokens or [])[-sample.response_length :] if sample.response_length else None
    group = getattr(sample, "group_index", None)
    return reward.sample(sample.prompt, sample.response, row, ids, ground_truth=sample.label, group=group)


EXPORTS = (
    Export(
        "slime",
        slime_call,
        "python train.py … --custom-rm-path {module}.reward    # and --group-rm for a reward of groups",
        (OnUnscored.MASK, OnUnscored.MEAN, OnUnscored.RAISE),
        AsyncExportedReward,
        Grouping.CALL,
    ),
)
