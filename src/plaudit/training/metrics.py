"""The metrics of a step: samples, rewards and timings.

Entropy is estimated from the log-probs of the tokens drawn, over all of them; it costs no further pass.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.report.collecting import distribution_of
from plaudit.report.coverage import mean_reward, mean_score
from plaudit.rollouts import ScoredRollout
from plaudit.training.collecting import Batch
from plaudit.training.data.curriculum import Levels
from plaudit.trajectory import GroupKey, Trajectory


def step_metrics(
    batch: Batch, updated: Mapping[str, float], levels: Levels, *, update_s: float, step_s: float
) -> dict[str, Any]:
    """All values of a step in metrics.jsonl except its evaluation; `updated` are the numbers of the policy update.

    Groups that filtering left out count as sampled. Asynchronous sampling overlaps with the update, so the parts of the
    time may exceed the step.
    """
    everything = [*batch.scored, *batch.left_out]
    groups = outputs_by_group(everything)
    trajectories = [scored.trajectory for scored in everything]
    tokens = sum(trajectory.tokens.chosen for trajectory in trajectories if trajectory.tokens is not None)
    return {
        "step": batch.step,
        "epoch": batch.epoch,
        **reward_metrics(output for _, output in everything),
        **_lengths(trajectories),
        "entropy": _entropy(trajectories),
        "groups/alike": _share(_alike(group) for group in groups),
        "filter/share": sum(batch.reasons.values()) / len(groups) if groups else 0.0,
        **{f"filter/{reason.replace(' ', '_')}": float(count) for reason, count in batch.reasons.items()},
        "staleness": float(batch.staleness),
        **updated,
        "time/sample": batch.sample_s,
        "time/reward": batch.reward_s,
        "time/update": update_s,
        "time/step": step_s,
        "tokens_per_s": tokens / step_s if step_s else 0.0,
        **split_metrics(batch, levels),
    }


def reward_metrics(outputs: Iterable[RewardOutput]) -> dict[str, float]:
    """`reward` (mean) with `reward/min`, `/max`, `/std` and `/skewness`, `score`, `component/<name>`, `extra/<name>`
    for numbers in the outputs' metadata (a reward file's `extra_logs`), and `status/<status>` as shares of the batch.

    `reward_all`, `score_all` and `reward_unscored`, `score_unscored` are the coverage of the two means.
    """
    listed = list(outputs)
    metrics = {**mean_reward(listed).to_metrics("reward"), **mean_score(listed).to_metrics("score")}
    distribution = distribution_of(output.reward for output in listed if output.reward is not None)
    if distribution is not None:
        metrics |= {"reward/min": distribution.min, "reward/max": distribution.max, "reward/std": distribution.std}
        metrics |= {} if distribution.skewness is None else {"reward/skewness": distribution.skewness}
    values: dict[str, list[float]] = defaultdict(list)
    for output in listed:
        parts = [(f"component/{name}", each.reward) for name, each in output.flat_components().items()]
        for name, value in [*parts, *((f"extra/{name}", value) for name, value in output.metadata.items())]:
            if isinstance(value, bool | int | float) and math.isfinite(value):
                values[name].append(value)
    return {**metrics, **{name: statistics.fmean(each) for name, each in values.items()}, **_shares(listed)}


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
            total -= sum(tokens.logprobs)  # those of feedback are 0
            count += tokens.chosen
    return total / count if count else 0.0


def outputs_by_group(scored: Iterable[tuple[Trajectory, RewardOutput]]) -> list[list[RewardOutput]]:
    """The outputs of each group, in the order of the groups."""
    groups: dict[GroupKey, list[RewardOutput]] = defaultdict(list)
    for trajectory, output in scored:
        groups[trajectory.group_key].append(output)
    return list(groups.values())


def _alike(group: Sequence[RewardOutput]) -> bool:
    """Whether the group teaches nothing, since all its rewards are the same."""
    return len({output.reward for output in group if output.reward is not None}) <= 1


def _share(flags: Iterable[bool]) -> float:
    listed = list(flags)
    return sum(listed) / len(listed) if listed else 0.0


def _shares(outputs: Sequence[RewardOutput]) -> dict[str, float]:
    """The share of every status there is; `status/ok` always."""
    counts = {status: sum(output.status is status for output in outputs) for status in Status}
    return {
        f"status/{status.value}": count / len(outputs)
        for status, count in counts.items()
        if outputs and (count or status is Status.OK)
    }


def split_metrics(batch: Batch, levels: Levels) -> dict[str, float]:
    """`task/<task>/share`, `/reward`, `/score` and `/unscored`; `difficulty/<level>/share` and `/score`; and the
    metrics of a curriculum. Groups removed by filtering were sampled too, and count."""
    everything = [*batch.scored, *batch.left_out]
    tasks = split_by(everything, lambda row: row.task)
    metrics = dict(batch.stream_metrics)
    for task, part in tasks.items() if len(tasks) > 1 else ():
        metrics |= _describe(f"task/{task}", part, len(everything))
        rewards = [output.reward for _, output in part if output.reward is not None]
        metrics |= {f"task/{task}/reward": statistics.fmean(rewards)} if rewards else {}
        metrics[f"task/{task}/unscored"] = sum(not output.ok for _, output in part) / len(part)
    parts = split_by(everything, levels.label)
    for level in levels.all:
        metrics |= _describe(f"difficulty/{level}", parts.get(level, []), len(everything))
    return metrics


def split_by(
    scored: Iterable[ScoredRollout], key: Callable[[Trajectory], str | None]
) -> dict[str, list[ScoredRollout]]:
    """The samples by a key of their trajectories; those without one are left out."""
    parts: dict[str, list[ScoredRollout]] = defaultdict(list)
    for rollout in scored:
        if (name := key(rollout.trajectory)) is not None:
            parts[name].append(rollout)
    return dict(parts)


def _describe(name: str, part: Sequence[ScoredRollout], total: int) -> dict[str, float]:
    scores = [output.score for _, output in part if output.score is not None]
    share = {f"{name}/share": len(part) / total} if total else {}
    return share | ({f"{name}/score": statistics.fmean(scores)} if scores else {})
