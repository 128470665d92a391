"""Prove the contract of a reward: try it on nasty texts, twice, in another order, alone, and in a new process.

No finding means that none was found on these samples, not that there is none. Without a deadline everything is scored
in this process, and a reward that never returns holds up the check.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from plaudit.contract.function import RewardFunction, Rewarding
from plaudit.loading import load
from plaudit.testing.checking import repetition, single_samples
from plaudit.testing.checking.findings import Finding, Rule
from plaudit.testing.checking.observation import Scoring, observe
from plaudit.testing.checking.probes import nasty_samples, ordinary_samples, without_truth
from plaudit.testing.checking.supervision import check_under_deadline
from plaudit.trajectory import Trajectory

__all__ = ["check_reward"]


def check_reward(
    reward: Rewarding | str,
    trajectories: Sequence[Trajectory] | None = None,
    *,
    seed: int = 0,
    deadline_s: float | None = None,
) -> list[Finding]:
    """What is wrong with a reward; the empty list when nothing was found.

    `reward` is a reward, a plain function, or a spec string as `plaudit.load` takes it; only a spec is also tried in a
    fresh process. Give `trajectories` when the reward needs columns of your data; each is scored about four times. With
    a deadline the check runs in a process of its own, and a sample that takes longer is a finding.

    >>> from plaudit import reward
    >>> @reward(bounds=(0.0, 1.0))
    ... def polite(response): return float("please" in response.lower())
    >>> check_reward(polite)
    []
    """
    if deadline_s is not None:
        return check_under_deadline(_check, reward, trajectories, seed, deadline_s)
    return _check(reward, trajectories, seed, frozenset())


def _check(
    reward: Rewarding | str, trajectories: Sequence[Trajectory] | None, seed: int, excluded: frozenset[str]
) -> list[Finding]:
    """The check itself, without the responses that are excluded."""
    subject = load(reward)
    given = list(trajectories or ())
    samples = [sample for sample in given or ordinary_samples(seed) if sample.response not in excluded]
    if not samples:
        return []
    first = observe(subject, samples)
    probes = [sample for sample in nasty_samples(samples, seed) if sample.response not in excluded]
    if not given:  # given samples show by themselves which truths there are, and whether one can be missing
        probes.append(without_truth(samples[0]))
    nasty = [observe(subject, [sample]) for sample in probes]
    findings = [*_on_single_samples(subject, first, nasty)]
    findings += single_samples.check_containment(subject, samples)
    if given:
        findings += single_samples.check_variation(first.observations)
    elif all(finding.rule is not Rule.GROUND_TRUTH for finding in findings):
        findings += single_samples.check_odd_truths(subject, samples[0])
    spec = reward if isinstance(reward, str) else None
    return [*findings, *islice(_on_repetition(subject, first, nasty, spec, seed), 1)]


def _on_single_samples(reward: RewardFunction, first: Scoring, nasty: Sequence[Scoring]) -> Iterator[Finding]:
    strained = [observation for scoring in nasty for observation in scoring.observations]
    observations = [*first.observations, *strained]
    if failed := list(single_samples.check_every_sample_failing(observations)):
        yield from failed
        return
    yield from single_samples.check_any_scored(first.observations)
    yield from single_samples.check_failures(reward, observations)
    yield from single_samples.check_range(reward, observations)
    yield from single_samples.check_garbage(first.observations, strained)


def _on_repetition(
    reward: RewardFunction, first: Scoring, nasty: Sequence[Scoring], spec: str | None, seed: int
) -> Iterator[Finding]:
    """Lazily, most basic rule first: the caller takes the first finding."""
    yield from repetition.check_purity([first, *nasty])
    if not reward.deterministic:
        return
    yield from repetition.check_repetition(reward, first)
    if spec is not None:
        yield from repetition.check_fresh_process(spec, first)
    yield from repetition.check_order(reward, first, seed)
    yield from repetition.check_independence(reward, first)
