"""Check the contract of a reward: try it on difficult texts, twice, in another order, alone, and in a new process.

No finding means that none was found on these samples, not that there is none. Without a deadline everything is scored
in this process, and a reward that never returns holds up the check.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from plaudit.agents.agent import Agent
from plaudit.agents.checking import check_agent
from plaudit.agents.environment import EpisodeStart
from plaudit.contract.function import RewardLike
from plaudit.contract.scoring import scope_of
from plaudit.engine.shipping import Shipment
from plaudit.findings import Finding, Rule, Severity
from plaudit.loading import load_agent, resolve
from plaudit.testing.checking import repetition, sample_rules
from plaudit.testing.checking.probes import difficult_samples, ordinary_samples, without_truth
from plaudit.testing.checking.subjects import NOT_TRIED, LocalSubject, Observation, Subject, WorkerSubject
from plaudit.trajectory import Trajectory

__all__ = ["Finding", "Rule", "Severity", "check_env", "check_reward"]


def check_reward(
    reward: RewardLike | str,
    trajectories: Sequence[Trajectory] | None = None,
    *,
    seed: int = 0,
    deadline_s: float | None = None,
) -> list[Finding]:
    """What is wrong with a reward; the empty list when nothing was found.

    `reward` is a reward, a plain function, or a spec string as `plaudit.load` takes it; only a spec is also tried in a
    fresh process. Give `trajectories` when the reward needs columns of your data; each is scored about four times, and
    a few are also tried with changes. With a deadline the reward is called in a worker process, and a sample that takes
    longer is a finding.

    >>> from plaudit import reward
    >>> @reward(bounds=(0.0, 1.0))
    ... def polite(response): return float("please" in response.lower())
    >>> check_reward(polite)
    []
    """
    resolved = resolve(reward)
    loaded = resolved.reward
    samples = list(trajectories or ordinary_samples(seed))
    subject: Subject = LocalSubject(loaded)
    if deadline_s is not None:
        subject = WorkerSubject(loaded, Shipment.of(resolved), deadline_s)
    fresh = WorkerSubject(loaded, Shipment.of(resolved), deadline_s) if isinstance(reward, str) else None
    try:
        return _check(subject, fresh, samples, bool(trajectories), seed)
    finally:
        subject.close()
        if fresh is not None:
            fresh.close()


def _check(
    subject: Subject, fresh: Subject | None, samples: Sequence[Trajectory], are_given: bool, seed: int
) -> list[Finding]:
    first = subject.observe(samples)
    subject.company = [observation.trajectory for observation in first if observation.fault is None]
    probes = difficult_samples(samples, seed)
    if not are_given:  # given samples show which truths there are, and whether one can be missing
        probes.append(without_truth(samples[0]))
    difficult = [subject.observe_one(sample) for sample in probes]
    findings = [*_on_single_samples(subject, first, difficult)]
    findings += sample_rules.check_containment(subject, samples)
    if are_given:
        findings += sample_rules.check_variation(first)
    elif all(finding.rule is not Rule.GROUND_TRUTH for finding in findings):
        findings += sample_rules.check_odd_truths(subject, samples[0])
    return [*findings, *islice(_on_repetition(subject, fresh, first, difficult, seed), 1)]


def _on_single_samples(subject: Subject, first: list[Observation], difficult: list[Observation]) -> Iterator[Finding]:
    observations = [observation for observation in (*first, *difficult) if observation.output is not NOT_TRIED]
    if len(observations) < len(first) + len(difficult):
        message = f"only {len(observations)} samples were tried: {NOT_TRIED.reason}"
        yield Finding.of(Rule.SCORED, message, "", severity=Severity.INFO, remedy="correct that, and check again")
    if failed := list(sample_rules.check_every_sample_failing(observations)):
        yield from failed
        return
    yield from sample_rules.check_any_scored(first)
    yield from sample_rules.check_failures(subject, observations)
    yield from sample_rules.check_range(subject.reward, observations)
    yield from sample_rules.check_garbage(first, difficult)


def _on_repetition(
    subject: Subject, fresh: Subject | None, first: list[Observation], difficult: list[Observation], seed: int
) -> Iterator[Finding]:
    """Lazily, most basic rule first: the caller takes the first finding."""
    yield from repetition.check_purity([*first, *difficult])
    if subject.reward.deterministic is False:
        return
    if scope_of(subject.reward) == "sample":  # without those that failed, a batch would be another batch
        first = [each for each in first if each.fault is None and each.output is not NOT_TRIED]
    if not first:
        return
    yield from repetition.check_repetition(subject, first)
    if fresh is not None:
        yield from repetition.check_fresh_process(fresh, first)
    yield from repetition.check_order(subject, first, seed)
    yield from repetition.check_independence(subject, first)


def check_env(
    env: type | str | Path | Agent,
    starts: Sequence[EpisodeStart] | None = None,
    *,
    actions: Sequence[str] = (),
    seed: int = 0,
    deadline_s: float = 5.0,
) -> list[Finding]:
    """What is wrong with an environment; the empty list when nothing was found.

    `env` is a class or a spec as `load_agent` takes it; one given by a spec runs in processes, where what hangs is
    killed. `starts` are prompts with ground truths that fit the environment, and `actions` good ones.

    >>> from plaudit.agents import TreasureHunt
    >>> check_env(TreasureHunt)
    []
    """
    agent = env if isinstance(env, Agent) else load_agent(env) if isinstance(env, str | Path) else Agent(env)
    return check_agent(agent, starts, actions=actions, seed=seed, deadline_s=deadline_s)
