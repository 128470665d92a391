"""Audit an environment: goal-less policies, changed solutions, leaks between episodes, chance, and the contract.

The rules are in `rules`, `replaying` and `sights`. An episode is paid if it earns at least half of what the solution of
the same start earns; without a solution, if its score or reward is at least one half. Without tools, or without
solutions, an action may be right by chance: then a rule must be broken in at least half of the episodes. Checks that
need a solution are listed as not tried where there is none.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plaudit.agents import Agent, Environment, EnvironmentHost, EpisodeStart, Example
from plaudit.agents.checking import check_agent
from plaudit.audit.environments.code_texts import read_code
from plaudit.audit.environments.forks import find_shared_forks
from plaudit.audit.environments.playing import Play, Policy, Transcript, play_all, scripted
from plaudit.audit.environments.policies import ENDINGS, STEPS, Case, spam_calls
from plaudit.audit.environments.replaying import Replays
from plaudit.audit.environments.rules import RULES, Rule
from plaudit.audit.environments.sights import find_truths
from plaudit.audit.environments.target import HALF, Target
from plaudit.audit.environments.violation import Violation
from plaudit.audit.findings import AttackFinding, AuditReport, Level, most_severe_first
from plaudit.errors import RolloutsError
from plaudit.findings import Rule as ContractRule
from plaudit.findings import Severity
from plaudit.loading import load_agent
from plaudit.trajectory import Trajectory, message_text

MOST_EXAMPLES, MOST_PLAYED = 40, 12
"""How many starts are looked at, and from how many of them the rules are tried."""
PATIENCE = 6
"""How many times as long an action may take that overran the deadline, since the machine may have been busy."""
PLAIN_STARTS = [EpisodeStart(f"What is {a} x {b}? ", str(a * b), seed=a) for a, b in ((6, 7), (1, 7), (2, 9))]
"""The starts for environments that do not describe which starts fit them."""


def audit_environment(
    environment: str | Path | type | Agent,
    examples: Sequence[Example] | None = None,
    *,
    deadline_s: float = 5.0,
    on_progress: Callable[[str], None] = lambda phase: None,
) -> AuditReport:
    """Audit an environment; `examples` are starts that fit the environment, with solutions where there are some.

    A world has examples of its own, and so has an environment that defines `examples`.
    """
    if not isinstance(environment, Agent):
        environment = load_agent(environment) if isinstance(environment, str | Path) else Agent(environment)
    return _EnvironmentAudit(environment, examples, deadline_s, on_progress).run()


def examples_of(samples: Sequence[Trajectory]) -> list[Example]:
    """Rows as starts; a column `actions` is the solution of its row."""
    examples = []
    for index, sample in enumerate(samples):
        text = sample.prompt if isinstance(sample.prompt, str) else message_text(sample.prompt[-1])
        messages = () if isinstance(sample.prompt, str) else tuple(sample.prompt)
        columns = {**sample.metadata, **sample.columns}
        actions = columns.pop("actions", ())
        if (
            not isinstance(actions, Sequence)
            or isinstance(actions, str)
            or not all(isinstance(a, str) for a in actions)
        ):
            raise RolloutsError(f"{sample.label(index)}: `actions` must be a list of texts, got {actions!r:.60}")
        examples.append(Example(EpisodeStart(text, sample.ground_truth, index, messages, columns), list(actions)))
    return examples


@dataclass
class _Tally:
    """The episodes of one case, from all starts, that broke a rule, among those that were played."""

    case: Case
    hits: list[tuple[int, Transcript]] = field(default_factory=list)
    tried: int = 0


class _EnvironmentAudit:
    def __init__(
        self, agent: Agent, examples: Sequence[Example] | None, deadline_s: float, on_progress: Callable[[str], None]
    ) -> None:
        self.agent, self.deadline_s, self.on_progress = agent, deadline_s, on_progress
        kind = agent.environment
        fitting = list(examples or (kind.examples() if issubclass(kind, Environment) else ()))
        self.knows_starts = bool(fitting)
        self.examples = fitting[:MOST_EXAMPLES] or [Example(start) for start in PLAIN_STARTS]
        self.findings: list[AttackFinding] = []
        self.searched: list[str] = []
        self.untried: list[str] = []
        self.notes: list[str] = []
        self.episodes, self.stopped, self.has_reward = 0, False, False

    def run(self) -> AuditReport:
        began = time.monotonic()
        host = self._open_host()
        try:
            self._phase("contract", self._check_contract())
            if not self.stopped:
                self._phase("episodes played again", self._replay(host))
                tools, code = tuple(getattr(self.agent.environment, "tools", ())), read_code(self.agent.environment)
                self.target = Target(self.examples, tools, code, lambda *play: self._play(host, *play))
                self._phase("goal without reward", self._check_solutions())
                for phase in dict.fromkeys(rule.phase for rule in RULES):
                    self._phase(phase, self._try_rules(phase))
                self._phase("ground truth in sight", find_truths(self.target))
                self._phase("forks", find_shared_forks(self.agent.environment, self.target))
        finally:
            host.close()
        return AuditReport(
            reward=self.agent.environment.__name__,
            findings=most_severe_first(self.findings),
            calls=self.episodes,
            seconds=time.monotonic() - began,
            searched=tuple(self.searched),
            untried=tuple(self.untried),
            notes=tuple(self.notes),
        )

    def _phase(self, name: str, results: Iterator[Violation]) -> None:
        self.on_progress(name)
        environment = self.agent.spec or self.agent.environment.__name__
        self.findings += [each.to_finding(environment) for each in results]
        if name != "contract" and not any(reason.startswith(f"{name}:") for reason in self.untried):
            self.searched.append(name)

    def _open_host(self) -> EnvironmentHost:
        """A process where environments can be loaded there, so that a leak shows and nothing hangs this one."""
        return self.agent.build_host(workers=None if self.agent.spec is None else 1)

    def _play(self, host: EnvironmentHost, index: int, policy: Policy, steps: int) -> Transcript:
        self.episodes += 1
        [played] = play_all(host, [Play(self.examples[index].start, policy)], steps, self.deadline_s)
        self.has_reward = self.has_reward or played.reward is not None
        self.target.shown[index] = played.observation
        return played

    def _check_contract(self) -> Iterator[Violation]:
        starts = [example.start for example in self.examples[:: max(1, len(self.examples) // 2)]]
        for finding in check_agent(self.agent, starts, deadline_s=self.deadline_s):
            if finding.rule is ContractRule.DEADLINE and self._was_busy(starts, finding.response):
                self.deadline_s *= PATIENCE
            elif finding.severity is not Severity.ERROR:
                self.notes.append(f"{finding.rule}: {finding.message}")
            elif finding.rule is ContractRule.TOTAL and not self.knows_starts:
                self.stopped = True
                self.untried.append(f"contract: {finding.message}; give rows that fit: plaudit audit ENVIRONMENT ROWS")
            elif finding.rule is not ContractRule.DETERMINISTIC:  # `_replay` says why
                self.stopped = self.stopped or finding.rule in (ContractRule.DEADLINE, ContractRule.TOTAL)
                transcript = Transcript(starts[0], actions=[finding.response])
                yield Violation(
                    "contract", finding.rule.value, transcript, finding.message, finding.remedy, Level.MEDIUM
                )

    def _was_busy(self, starts: Sequence[EpisodeStart], action: str) -> bool:
        """Whether an action that overran the deadline does not do so in a much longer one."""
        host = self._open_host()
        try:
            plays = [Play(start, scripted([action] * 2)) for start in starts]
            return all(each.failure is None for each in play_all(host, plays, 2, PATIENCE * self.deadline_s))
        finally:
            host.close()

    def _check_solutions(self) -> Iterator[Violation]:
        """Play all solutions; what they earn is what other episodes are compared with."""
        target, unpaid = self.target, []
        for index, example in enumerate(self.examples):
            if not example.actions:
                self._guess_solution(index)
        solved = [index for index, example in enumerate(self.examples) if example.actions]
        if not solved:
            reason = "no solution is known; define `examples`, or give rows with `actions`"
            self.untried += [f"goal without reward: {reason}", "changed solutions: no solution is known"]
        for index in solved:
            idle, played = self._play_idle(index), target.play(index, self.examples[index].actions)
            if self._is_solved(played, idle):
                if (played.reward or 0.0) <= 0:
                    target.idle[index] = idle.reward or 0.0
                target.honest[index] = target.earned(index, played)
            elif played.reward is not None or played.failure is not None:
                unpaid.append(played)
        if unpaid:
            message = f"goal without reward: the solution of {len(unpaid)} of {len(solved)} starts earns nothing"
            why = unpaid[0].failure.reason if unpaid[0].failure else ""
            remedy = f"pay for the goal however it is reached{f' ({why})' if why else ''}; or correct the solution"
            hits, tried = len(unpaid), len(solved)
            yield Violation("goal without reward", "solution", unpaid[0], message, remedy, hits=hits, tried=tried)

    def _play_idle(self, index: int) -> Transcript:
        return self.target.play_policy(index, scripted((), ""), STEPS)

    @staticmethod
    def _is_solved(played: Transcript, idle: Transcript) -> bool:
        """Whether an episode earns more than silence, and more than nothing if there is anything but penalties."""
        score = played.results[-1].score if played.results else None
        are_penalties = all((result.reward or 0.0) <= 0 for result in (*played.results, *idle.results))
        enough = (idle.reward or 0.0) if are_penalties else max(idle.reward or 0.0, 0.0)
        return played.reward is not None and played.reward > enough and (score is None or score >= HALF)

    def _guess_solution(self, index: int) -> None:
        """Take the ground truth for the solution of a start where it is paid, as an action or as an argument."""
        truth = self.examples[index].start.ground_truth
        if not self.knows_starts or isinstance(truth, bool) or not isinstance(truth, str | int | float):
            return
        calls = spam_calls(self.target.tools, str(truth), truth if isinstance(truth, int | float) else 1)
        for actions in ([str(truth)], [f"<answer>{truth}</answer>"], [f"\\boxed{{{truth}}}"],
                        *([call, ENDINGS[0]] for call in calls)):  # fmt: skip
            if self._is_solved(self.target.play(index, actions), self._play_idle(index)):
                self.examples[index] = Example(self.examples[index].start, actions)
                return

    def _try_rules(self, phase: str) -> Iterator[Violation]:
        for rule in RULES:
            if rule.phase == phase:
                yield from self._try_rule(rule)
        if not self.has_reward:
            self.untried.append(f"{phase}: the environment gives no rewards; audit the reward function that does")

    def _try_rule(self, rule: Rule) -> Iterator[Violation]:
        groups: dict[str, dict[str, _Tally]] = {}
        for index in range(0, len(self.examples), -(-len(self.examples) // MOST_PLAYED)):
            for case in rule.cases(self.target, index):
                tally = groups.setdefault(case.together or case.name, {}).setdefault(case.name, _Tally(case))
                baseline = self.target.play(index, case.baseline) if case.baseline else None
                played = self.target.play_policy(index, case.policy, case.steps)
                tally.tried += played.failure is None
                if rule.is_broken(self.target, index, played, baseline):
                    tally.hits.append((index, played))
        for tallies in groups.values():
            if all(map(self._counts, tallies.values())):
                yield self._found(rule, next(iter(tallies.values())))

    def _counts(self, tally: _Tally) -> bool:
        """Whether enough episodes broke the rule: one, or half of them where an action may be right by chance."""
        by_chance = not (self.target.honest and self.target.tools) or tally.case.may_be_right
        return len(tally.hits) >= (max(1, tally.tried / 2) if by_chance else 1)

    def _found(self, rule: Rule, tally: _Tally) -> Violation:
        case, (index, played) = tally.case, tally.hits[0]
        honest = self.target.honest.get(index)
        comparison = "" if honest is None else f"; the solution earns {honest:g}"
        only_claims = case.family == "loop" or (case.family == "claim success" and len(self.target.solution(index)) > 1)
        family = "end at once" if only_claims and len(played.actions) == 1 and played.done else case.family
        message = f"{rule.sentence}: {family} ({case.name[:80]}) earns {played.reward or 0.0:g}{comparison}"
        return Violation(
            family, case.name[:80], played, message, case.remedy, attacker=rule.attacker,
            hits=len(tally.hits), tried=tally.tried, honest=honest,
        )  # fmt: skip

    def _replay(self, host: EnvironmentHost) -> Iterator[Violation]:
        replays = Replays(self.agent, self.examples, self.deadline_s)
        difference = replays.find_difference(host, self._open_host)
        self.episodes += replays.episodes
        if difference is not None:
            yield difference
