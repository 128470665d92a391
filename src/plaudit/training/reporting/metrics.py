"""The numbers of a step: what was drawn, what it earned, and where the time went.

Entropy is estimated from the log-probs of the tokens drawn, over all of them; it costs no further pass.
"""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence

from plaudit.contract.output import RewardOutput
from plaudit.rollouts import ScoredRollout
from plaudit.training.batches.collecting import Batch
from plaudit.training.reporting.reward_metrics import reward_metrics
from plaudit.trajectory import Trajectory

__all__ = ["batch_metrics", "time_metrics"]


def batch_metrics(batch: Batch) -> dict[str, float]:
    """What was drawn in a step and what it earned, with the groups that filtering left out."""
    everything = [*batch.scored, *batch.left_out]
    groups = _by_group(everything)
    trajectories = [scored.trajectory for scored in everything]
    return {
        **reward_metrics(output for _, output in everything),
        **_lengths(trajectories),
        "entropy": _entropy(trajectories),
        "groups/alike": _share(_alike(group) for group in groups),
        "filter/share": sum(batch.reasons.values()) / len(groups) if groups else 0.0,
        **{f"filter/{reason.replace(' ', '_')}": float(count) for reason, count in batch.reasons.items()},
        "staleness": float(batch.staleness),
    }


def time_metrics(batch: Batch, *, update_s: float, step_s: float) -> dict[str, float]:
    """The time split and the rate; asynchronous sampling overlaps with the update, so the parts may exceed the step."""
    tokens = batch.sampled.token_count + sum(t.tokens.chosen for t, _ in batch.left_out if t.tokens is not None)
    return {
        "time/sample": batch.sample_s,
        "time/reward": batch.reward_s,
        "time/update": update_s,
        "time/step": step_s,
        "tokens_per_s": tokens / step_s if step_s else 0.0,
    }


def _lengths(trajectories: Sequence[Trajectory]) -> dict[str, float]:
    lengths = [float(trajectory.tokens.chosen) for trajectory in trajectories if trajectory.tokens is not None]
    if not lengths:
        return {}
    ended = _share(trajectory.metadata.get("finish_reason") == "stop" for trajectory in trajectories)
    return {"length": statistics.fmean(lengths), "length/max": max(lengths), "length/ended": ended}


def _entropy(trajectories: Iterable[Trajectory]) -> float:
    total = count = 0.0
    for trajectory in trajectories:
        tokens = trajectory.tokens
        if tokens is not None and tokens.logprobs:
            total -= sum(tokens.logprobs)  # feedback adds 0
            count += tokens.chosen
    return total / count if count else 0.0


def _by_group(scored: Iterable[ScoredRollout]) -> list[list[RewardOutput]]:
    groups: dict[str | int, list[RewardOutput]] = defaultdict(list)
    for trajectory, output in scored:
        groups[trajectory.group_key].append(output)
    return list(groups.values())


def _alike(group: Sequence[RewardOutput]) -> bool:
    """Whether the group teaches nothing, since all its rewards are the same."""
    return len({output.reward for output in group if output.reward is not None}) <= 1


def _share(flags: Iterable[bool]) -> float:
    listed = list(flags)
    return sum(listed) / len(listed) if listed else 0.0
