"""Prove the contract of a reward: try it on nasty texts, twice, in another order, alone, and in a new process.

No finding means that none was found on these samples, not that there is none. Everything is scored in this process
without a deadline; a reward that hangs on a nasty text hangs here.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from plaudit.contract.function import RewardFunction, Rewarding
from plaudit.loading import load
from plaudit.testing.checking import repetition, single_samples
from plaudit.testing.checking.findings import Finding
from plaudit.testing.checking.observation import Scoring, observe
from plaudit.testing.checking.probes import nasty_responses, ordinary_samples, with_response, without_truth
from plaudit.trajectory import Trajectory

__all__ = ["check_reward"]


def check_reward(
    reward: Rewarding | str, trajectories: Sequence[Trajectory] | None = None, *, seed: int = 0
) -> list[Finding]:
    """What is wrong with a reward; the empty list when nothing was found.

    `reward` is a reward, a plain function, or a spec string as `plaudit.load` takes it; only a spec is also tried in a
    fresh process. Give `trajectories` when the reward needs columns of your data; each is scored about four times.

    >>> from plaudit import reward
    >>> @reward(bounds=(0.0, 1.0))
    ... def polite(response): return float("please" in response.lower())
    >>> check_reward(polite)
    []
    """
    subject = load(reward)
    given = list(trajectories or ())
    samples = given or ordinary_samples(seed)
    first = observe(subject, samples)
    nasty = [observe(subject, [sample]) for sample in _nasty_samples(samples, seed)]
    if not given:  # given samples show whether a truth can be missing
        nasty.append(observe(subject, [without_truth(samples[0])]))
    findings = [*_on_single_samples(subject, first, nasty)]
    if given:
        findings += single_samples.check_variation(first.observations)
    spec = reward if isinstance(reward, str) else None
    return [*findings, *islice(_on_repetition(subject, first, nasty, spec, seed), 1)]


def _nasty_samples(samples: Sequence[Trajectory], seed: int) -> list[Trajectory]:
    pattern = next((sample for sample in samples if sample.ground_truth is not None), samples[0])
    return [with_response(pattern, response) for response in nasty_responses(seed)]


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
