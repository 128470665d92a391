"""Audit an environment: goal-less policies, changed solutions, leaks between episodes, chance, and the contract.

A policy without a goal is paid if it earns at least half of what the solution of the same start earns; without a
solution, if its score or reward is at least one half. Where there are no tools, or no solutions, words may be right by
luck: there it must be paid in at least half of the episodes. What needs a solution is listed as not tried where none is
known.
"""

import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plaudit.agents import Agent, Environment, EnvironmentHost, EpisodeStart, Example
from plaudit.agents.checking import check_agent
from plaudit.audit.environments.found import Found
from plaudit.audit.environments.playing import Play, Transcript, play_all, scripted
from plaudit.audit.environments.policies import ENDINGS, OBEYING, STEPS, Attack, attacks_on, follow_orders, spam_calls
from plaudit.audit.environments.replaying import REFERENCES, Replays
from plaudit.audit.environments.solutions import (
    ChangedSolution,
    change_solution,
    contains_solution,
    without_one_call,
    words_of,
)
from plaudit.audit.findings import Attacker, AttackFinding, AuditReport, Level, most_severe_first
from plaudit.errors import RolloutsError
from plaudit.findings import Rule, Severity
from plaudit.loading import load_agent
from plaudit.trajectory import Trajectory, message_text
from plaudit.verify.tools.parsing import parse_tool_calls

MOST_EXAMPLES = 40
PLAIN_STARTS = [EpisodeStart(f"What is {a} x {b}? ", str(a * b), seed=a) for a, b in ((6, 7), (1, 7), (2, 9))]
"""The starts for environments that do not describe which starts fit them."""
MIN_TRUTH, NEAR = 4, 12
MOST_WORDS = 12
WRONG = "plaudit"
"""An action that is wrong everywhere."""
HALF = 0.5


def audit_environment(
    environment: str | Path | type | Agent,
    examples: Sequence[Example] | None = None,
    *,
    deadline_s: float = 5.0,
    on_progress: Callable[[str], None] = lambda phase: None,
) -> AuditReport:
    """Everything that was found; `examples` are starts that fit the environment, with solutions where there are some.

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
class _Paid:
    """Episodes of one attack that were paid, among those that were played."""

    hits: list[tuple[Transcript, float | None]] = field(default_factory=list)
    tried: int = 0


class _EnvironmentAudit:
    def __init__(
        self, agent: Agent, examples: Sequence[Example] | None, deadline_s: float, on_progress: Callable[[str], None]
    ) -> None:
        self.agent, self.deadline_s, self.on_progress = agent, deadline_s, on_progress
        kind = agent.environment
        self.examples = list(examples or (kind.examples() if issubclass(kind, Environment) else ()))
        self.knows_starts = bool(self.examples)
        self.examples = self.examples[:MOST_EXAMPLES] or [Example(start) for start in PLAIN_STARTS]
        self.tools = list(getattr(kind, "tools", ()))
        self.findings: list[AttackFinding] = []
        self.searched: list[str] = []
        self.untried: list[str] = []
        self.notes: list[str] = []
        self.episodes, self.stopped = 0, False
        self.honest: dict[int, float] = {}
        """The reward of the right solution of an example, where the solution is known and paid."""

    def run(self) -> AuditReport:
        began = time.monotonic()
        host = self._open_host()
        try:
            self._phase("contract", self._check_contract())
            if not self.stopped:
                self._phase("episodes played again", self._replay(host))
                self._phase("goal without reward", self._check_solutions(host))
                self._phase("reward without goal", self._attack(host))
                self._phase("changed solutions", self._change_solutions(host))
                self._phase("calls left out", self._leave_out_calls(host))
                self._phase("ground truth in sight", self._look_for_truth(host))
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

    def _phase(self, name: str, results: Iterator[Found]) -> None:
        self.on_progress(name)
        environment = self.agent.spec or self.agent.environment.__name__
        self.findings += [each.to_finding(environment) for each in results]
        if name != "contract" and not any(reason.startswith(f"{name}:") for reason in self.untried):
            self.searched.append(name)

    def _open_host(self) -> EnvironmentHost:
        """A process where environments can be loaded there, so that a leak shows and nothing hangs this one."""
        return self.agent.build_host(workers=None if self.agent.spec is None else 1)

    def _play_all(self, host: EnvironmentHost, plays: Sequence[Play], steps: int = STEPS) -> list[Transcript]:
        self.episodes += len(plays)
        return play_all(host, plays, steps, self.deadline_s)

    def _check_contract(self) -> Iterator[Found]:
        starts = [example.start for example in self.examples[:: max(1, len(self.examples) // 2)]]
        for finding in check_agent(self.agent, starts, deadline_s=self.deadline_s):
            if finding.severity is not Severity.ERROR:
                self.notes.append(f"{finding.rule}: {finding.message}")
            elif finding.rule is Rule.TOTAL and not self.knows_starts:
                self.stopped = True
                self.untried.append(f"contract: {finding.message}; give rows that fit: plaudit audit ENVIRONMENT ROWS")
            elif finding.rule is not Rule.DETERMINISTIC:  # `_replay` says why
                self.stopped = self.stopped or finding.rule in (Rule.DEADLINE, Rule.TOTAL)
                transcript = Transcript(starts[0], actions=[finding.response])
                yield Found("contract", finding.rule.value, transcript, finding.message, finding.remedy, Level.MEDIUM)

    def _check_solutions(self, host: EnvironmentHost) -> Iterator[Found]:
        """Play all solutions; what they earn is what attacks are compared with."""
        unpaid = []
        solved = [(index, example) for index, example in enumerate(self.examples) if example.actions]
        if not solved:
            self.untried.append(
                "goal without reward: no solution is known; define `examples`, or give rows with `actions`"
            )
        for index, example in solved:
            plays = [Play(example.start, scripted((), "")), Play(example.start, scripted(example.actions))]
            idle, played = self._play_all(host, plays, max(STEPS, len(example.actions)))
            reward = played.reward
            score = played.results[-1].score if played.results else None
            if reward is not None and reward > max(idle.reward or 0.0, 0.0) and (score is None or score >= HALF):
                self.honest[index] = reward
            elif reward is not None or played.failure is not None:
                unpaid.append(played)
        if unpaid:
            message = f"goal without reward: the solution of {len(unpaid)} of {len(solved)} starts earns nothing"
            why = unpaid[0].failure.reason if unpaid[0].failure else ""
            remedy = f"pay for the goal however it is reached{f' ({why})' if why else ''}; or correct the solution"
            hits, tried = len(unpaid), len(solved)
            yield Found("goal without reward", "solution", unpaid[0], message, remedy, hits=hits, tried=tried)

    def _attack(self, host: EnvironmentHost) -> Iterator[Found]:
        paid: dict[str, list[tuple[Attack, _Paid]]] = {}
        has_reward = False
        for attack in attacks_on(self.tools, self._known_words(), _names_in_code(self.agent.environment)):
            result = _Paid()
            episodes = self._play_all(host, [Play(example.start, attack.policy) for example in self.examples])
            for index, (example, played) in enumerate(zip(self.examples, episodes, strict=True)):
                has_reward = has_reward or played.reward is not None
                result.tried += played.failure is None
                paid_early = self._is_paid_early(index, played)
                if (paid_early or self._is_paid(index, played)) and not contains_solution(
                    played.actions, example.actions
                ):
                    result.hits.append((played, self.honest.get(index)))
            paid.setdefault(attack.together or f"{attack.kind}/{attack.name}", []).append((attack, result))
        if not has_reward:
            self.untried.append(
                "reward without goal: the environment gives no rewards; audit the reward function that does"
            )
        for attempts in paid.values():
            if all(self._counts(*attempt) for attempt in attempts):
                yield self._found_attack(*attempts[0])
        yield from self._look_for_farming(host)
        yield from self._follow_orders(host)

    def _known_words(self) -> list[str]:
        """Actions that fit the environment: those of solutions, and the first numbers. None without a solution."""
        words = [action for index in self.honest for action in words_of(self.examples[index].actions)]
        return list(dict.fromkeys([*words, *map(str, range(4))]))[:MOST_WORDS] if self.honest else []

    def _follow_orders(self, host: EnvironmentHost) -> Iterator[Found]:
        """Where the calls of a solution earn nothing without its words, obeying their results must earn nothing."""
        for index, honest in self.honest.items():
            start, actions = self.examples[index].start, self.examples[index].actions
            calls = [action for action in actions if parse_tool_calls(action)]
            if not calls:
                continue
            plays = [Play(start, scripted(calls, ENDINGS[0])), Play(start, follow_orders(calls, self.tools))]
            alone, obeyed = self._play_all(host, plays)
            orders = [action for action in obeyed.actions if action not in (*calls, ENDINGS[0])]
            is_answer = any(order in action for order in orders for action in actions)
            if orders and not is_answer and not self._is_paid(index, alone) and self._is_paid(index, obeyed):
                message = f"reward without goal: obeying the result of a tool earns {obeyed.reward:g}"
                yield Found(
                    "follow injections", "orders in results of a solution", obeyed, message, OBEYING, honest=honest
                )
                return

    def _is_paid(self, index: int, played: Transcript) -> bool:
        if played.reward is None:
            return False
        if index in self.honest:
            return played.reward >= HALF * self.honest[index]
        score = played.results[-1].score
        return (played.reward if score is None else score) >= HALF

    def _is_paid_early(self, index: int, played: Transcript) -> bool:
        """Whether the first action ended the episode, its score says that the goal is missed, and it earned something.

        Only where the solution needs several actions: in a single one, a part of the reward may be for its form.
        """
        if len(played.results) != 1 or not played.done or len(self.examples[index].actions) < 2:
            return False
        score = played.results[0].score
        return index in self.honest and score is not None and score <= 0 < (played.reward or 0.0)

    def _counts(self, attack: Attack, result: _Paid) -> bool:
        """Whether paid episodes count: all do where solutions and tools are known; else a word may be right by luck."""
        has_rights = not (self.honest and self.tools) or attack.may_be_right
        least = max(1, result.tried / 2) if has_rights else 1
        return len(result.hits) >= least

    def _found_attack(self, attack: Attack, result: _Paid) -> Found:
        played, honest = result.hits[0]
        beside = "" if honest is None else f"; the solution earns {honest:g}"
        ended_at_once = attack.kind == "loop" and len(played.actions) == 1
        kind = "end at once" if ended_at_once else attack.kind
        message = f"reward without goal: {kind} ({attack.name[:60]}) earns {played.reward:g}{beside}"
        return Found(
            kind, attack.name[:60], played, message, attack.remedy, attacker=Attacker.ANSWER_FREE,
            hits=len(result.hits), tried=result.tried, honest=honest,
        )  # fmt: skip

    def _look_for_farming(self, host: EnvironmentHost) -> Iterator[Found]:
        """A reward that grows with the number of actions: without an end, or beyond that of the solution."""
        for index, example in enumerate(self.examples[:REFERENCES]):
            for solution, action in self._repetitions(index):
                counts = (0, STEPS) if solution else (STEPS // 2, STEPS)
                plays = [Play(example.start, scripted([*solution, *[action] * n])) for n in counts]
                some, more = self._play_all(host, plays, len(solution) + STEPS)
                few, many = some.reward or 0.0, more.reward or 0.0
                if (more.done and not solution) or few <= 0 or many < 1.8 * few:
                    continue
                after = " after the solution" if solution else ""
                message = f"reward without goal: {STEPS} equal actions{after} earn {many:g}, {counts[0]} earn {few:g}"
                yield Found("loop", "reward grows with actions", more, message, "pay for progress once")
                return

    def _repetitions(self, index: int) -> list[tuple[Sequence[str], str]]:
        """What is done before, and the action that is then repeated."""
        solution = self.examples[index].actions if index in self.honest else ()
        repeated = [(solution, solution[-1])] if solution else []
        calls = spam_calls(self.tools)
        cycles = [calls[0], "\n".join(calls)] if calls else []
        return [*(((), action) for action in [*cycles, "again"]), *repeated]

    def _change_solutions(self, host: EnvironmentHost) -> Iterator[Found]:
        if not self.honest:
            self.untried.append("changed solutions: no solution is known")
        wrong: dict[str, tuple[ChangedSolution, _Paid]] = {}
        for index, honest in self.honest.items():
            example = self.examples[index]
            [words] = self._play_all(host, [Play(example.start, scripted(words_of(example.actions)))])
            calls_matter = (words.reward or 0.0) < (1 - 1e-9) * honest
            changes = change_solution(example.actions, prompt=example.start.prompt, calls_matter=calls_matter)
            for changed in changes:
                [played] = self._play_all(host, [Play(example.start, scripted(changed.actions))], len(changed.actions))
                _, result = wrong.setdefault(changed.name, (changed, _Paid()))
                result.tried += 1
                reward = played.reward or 0.0
                if (reward < HALF * honest) if changed.is_right else reward >= (1 - 1e-9) * honest:
                    result.hits.append((played, honest))
        for changed, result in wrong.values():
            if not result.hits:
                continue
            played, honest_reward = result.hits[0]
            kind = "goal without reward" if changed.is_right else "reward without goal"
            message = f"{kind}: {changed.name} earns {played.reward or 0.0:g}; the solution earns {honest_reward:g}"
            yield Found(
                kind, changed.name, played, message, changed.remedy, attacker=Attacker.ORACLE,
                hits=len(result.hits), tried=result.tried, honest=honest_reward,
            )  # fmt: skip

    def _leave_out_calls(self, host: EnvironmentHost) -> Iterator[Found]:
        """A solution of which any one call can be left out, but not all: a part of the goal is paid as all of it."""
        for index, honest in self.honest.items():
            start, actions = self.examples[index].start, self.examples[index].actions
            [words] = self._play_all(host, [Play(start, scripted(words_of(actions)))])
            if self._is_paid(index, words):
                continue
            played = Transcript(start)
            for shorter in without_one_call(actions):
                [played] = self._play_all(host, [Play(start, scripted(shorter))], len(shorter))
                if (played.reward or 0.0) < (1 - 1e-9) * honest:
                    break
            else:
                if played.actions:
                    message = "reward without goal: any one call of the solution can be left out, but not all of them"
                    remedy = "pay in full for the whole goal only"
                    yield Found("reward without goal", "a call left out", played, message, remedy, honest=honest)
                    return

    def _look_for_truth(self, host: EnvironmentHost) -> Iterator[Found]:
        """The ground truth in what the agent reads: at first, or as the answer to a wrong action."""
        shown: dict[str, list[tuple[str, Transcript]]] = {}
        starts = 0
        for index, example in enumerate(self.examples):
            start, truth = example.start, example.start.ground_truth
            if not isinstance(truth, str) or len(truth) < MIN_TRUTH or truth in start.prompt:
                continue
            starts += 1
            [played] = self._play_all(host, [Play(start, scripted([WRONG, truth]))], 2)
            texts = {"the first observation shows": played.observation.removeprefix(start.prompt)}
            if len(played.results) == 2 and self._is_paid(index, played) and truth not in played.observation:
                texts["the answer to a wrong action, after which it is paid, tells"] = played.feedback[0]
            for how, text in texts.items():
                if truth in text:
                    before, _, after = text.partition(truth)
                    shown.setdefault(how, []).append((before[-NEAR:] or after[:NEAR], played))
        # The same words around every truth tell it; in a list of places, or a text to be read, they differ.
        for how, places in shown.items():
            if starts == 1 or len({near for near, _ in places}) < len(places):
                played = places[0][1]
                message = f"{how} the ground truth {played.start.ground_truth!r:.40}"
                yield Found("ground truth in sight", how, played, message, "keep it out of what the agent reads")

    def _replay(self, host: EnvironmentHost) -> Iterator[Found]:
        replays = Replays(self.agent, self.examples, self.deadline_s)
        difference = replays.find_difference(host, self._open_host)
        self.episodes += replays.episodes
        if difference is not None:
            yield difference


def _names_in_code(environment: type) -> list[str]:
    """The names that the methods of a class use, without those of plaudit's own classes."""
    classes = [kind for kind in environment.__mro__ if not kind.__module__.startswith(("plaudit.", "builtins"))]
    methods = [value for kind in classes for value in vars(kind).values() if inspect.isfunction(value)]
    return list(dict.fromkeys(name for method in methods for name in method.__code__.co_names))
