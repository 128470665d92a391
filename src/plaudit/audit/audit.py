"""Attack a reward: measure what it pays, try every family within a budget, report wrong responses that were paid.

Without rollouts the audit uses built-in prompts with every usual type of ground truth; otherwise it uses the prompts of
the rollouts. No finding means: no exploit in this catalogue within this budget.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from plaudit.audit.candidates import attack_qualities, make_trials
from plaudit.audit.findings import Attacker, AttackFinding, AuditReport, most_severe_first
from plaudit.audit.hits import Attempt, Hit, Reporter
from plaudit.audit.honest_rewards import HonestRewards, measure_honest_rewards
from plaudit.audit.probes import invariants
from plaudit.audit.probes.groups import attack_groups
from plaudit.audit.probes.right_answers import check_objects, check_right_answers
from plaudit.audit.qualities.formats import write_formats, write_structures
from plaudit.audit.qualities.judgements import write_judgements, write_turns
from plaudit.audit.qualities.padding import check_right_lengths, write_lengths, write_words
from plaudit.audit.rows.answer import Answer
from plaudit.audit.rows.edits import NO_ANSWER
from plaudit.audit.rows.paid_rows import attack_rows, check_no_answer, find_paid_rows
from plaudit.audit.rows.truths import check_empty_truths, check_two_truths
from plaudit.audit.samples import SampleMaker, replace_response
from plaudit.audit.search import attack_answers, attack_near_truths
from plaudit.audit.seeds import Seeds, read_seeds
from plaudit.audit.subject import Budget, BudgetSpent, Subject
from plaudit.audit.tasks import Kind, Task
from plaudit.audit.vocabulary import read_vocabulary
from plaudit.contract.function import RewardLike
from plaudit.engine import Cache, Scorer
from plaudit.errors import ScoringFailed
from plaudit.loading import Loaded, resolve
from plaudit.remote.tokens import hide_tokens
from plaudit.testing import Rule
from plaudit.trajectory import Trajectory

DEADLINE_S = 5.0
PATIENCE = 6
"""The number of deadlines that a sample gets in a second run before its overrun is a finding."""
ERRATIC = (Rule.DETERMINISTIC, Rule.STATELESS)
TINY = 1e-9
OF_ANY_REWARD = ("invariants", "denial of service")
"""The checks that need no paid honest response and that attack no particular quality."""


def audit_reward(
    reward: RewardLike | Loaded | str,
    trajectories: Sequence[Trajectory] | None = None,
    *,
    budget: Budget | None = None,
    deadline_s: float | None = DEADLINE_S,
    workers: int | None = None,
    cache: Cache | str | Path | None = None,
    on_progress: Callable[[str], None] = lambda phase: None,
) -> AuditReport:
    """What a reward pays for without the task being solved, and which invariants it breaks.

    `trajectories` are rollouts of your own; without them, templates are used. With a deadline the reward runs on worker
    processes; `deadline_s=None` scores in this process, without attacks that would hang or end it. With a `cache` a
    second audit asks only what the first did not: worth it where a call costs money or time.
    """
    loaded = reward if isinstance(reward, Loaded) else resolve(reward)
    isolated = deadline_s is not None
    backend = "processes" if isolated else "inline"
    longer_s = None if deadline_s is None else PATIENCE * deadline_s
    with (
        Scorer(loaded, backend=backend, deadline_s=deadline_s, workers=workers, cache=cache) as scorer,
        Scorer(loaded, backend=backend, deadline_s=longer_s, workers=1) as retry_scorer,
    ):
        subject = Subject(scorer, retry_scorer, budget or Budget(), isolated=isolated)
        run = _Audit(loaded, subject, list(trajectories or ()), deadline_s, on_progress)
        return run.report()


class _Audit:
    """One run: the phases in order, and what they found until the budget was spent."""

    def __init__(
        self,
        loaded: Loaded,
        subject: Subject,
        trajectories: Sequence[Trajectory],
        deadline_s: float | None,
        on_progress: Callable[[str], None],
    ) -> None:
        self.loaded, self.subject, self.deadline_s = loaded, subject, deadline_s
        self.on_progress, self.seeds = on_progress, Seeds()
        self.maker = SampleMaker(read_vocabulary(subject.reward))
        self.trajectories = self.maker.name_truths(trajectories)
        self.spec = hide_tokens(loaded.spec or subject.reward.name)
        self.reporter = Reporter(subject, self.maker, self.spec)
        self.findings: list[AttackFinding] = []
        self.tried: dict[str, None] = {}
        self.searched: list[str] = []
        self.untried: list[str] = []
        self.notes: list[str] = []
        self.attempts: list[Attempt] = []

    def report(self) -> AuditReport:
        try:
            self._search()
        except BudgetSpent as spent:
            self.notes.append(f"stopped early: {spent}")
            if self.subject.overruns:
                self._note_overruns()
        return AuditReport(
            reward=self.spec,
            findings=most_severe_first(self._distinct()),
            calls=self.subject.calls,
            seconds=round(self.subject.seconds, 3),
            tried=tuple(self.tried),
            searched=tuple(self.searched),
            untried=tuple(self.untried),
            notes=tuple(self.notes),
            name=self.subject.reward.name,
        )

    def _search(self) -> None:
        self.on_progress("honest responses")
        honest_rewards = self._measure_honest_rewards()
        if not honest_rewards.scored:
            self._refuse(honest_rewards)
        if self._is_erratic(honest_rewards):
            self.notes.append("attacks are left out: the reward gives one sample different values, so none compare")
            return
        self._note_untried(honest_rewards)
        subject, maker = self.subject, self.maker
        rows = find_paid_rows(subject, maker, self.trajectories, self.seeds.paid, honest_rewards)
        no_answer = check_no_answer(subject, maker, self.trajectories)
        paid = self.seeds.paid
        beside = chain(
            check_two_truths(subject, maker, paid),
            check_empty_truths(subject, maker, paid, self.trajectories, honest_rewards.measured_tasks),
        )
        edits = chain(attack_rows(subject, maker, rows), check_objects(subject, maker, rows))
        self._try("rows", chain(edits, no_answer, beside))
        if self.attempts:
            self.searched.append("rows")
        for phase, attempts in self._phases(honest_rewards, [row.answer for row in rows]):
            if _has_basis(phase, honest_rewards):
                self.searched.append(phase)
            self._try(phase, attempts)

    def _try(self, phase: str, attempts: Iterator[Attempt]) -> None:
        self.on_progress(phase)
        for attempt in attempts:
            self.tried[f"{attempt.family}: {attempt.operator}"] = None
            self.attempts.append(attempt)
            self.findings += self.reporter.report(attempt)

    def _measure_honest_rewards(self) -> HonestRewards:
        """What honest responses earn; where no truth decides, columns that were guessed by their names hold it too.

        Of the user's samples, the answers that their truths stand for are tried first, then the responses, truths and
        columns that the reward pays.
        """
        rows = self.trajectories
        for row, following in zip(rows, [*rows[1:], *rows[:1]], strict=True):
            self.subject.accompany([row, *(replace_response(row, text) for text in (following.response, NO_ANSWER))])
        self.seeds = read_seeds(rows, self.subject.rewards)
        honest_rewards = measure_honest_rewards(self.subject, self.maker, self.seeds.tasks, self.seeds.forms)
        if not honest_rewards.measured_tasks and self.seeds.paid:
            paid = measure_honest_rewards(self.subject, self.maker, self.seeds.paid)
            honest_rewards = paid if paid.measured_tasks else honest_rewards
        if honest_rewards.measured_tasks or self.seeds.tasks or not self.maker.guesses_any:
            return honest_rewards
        plain = replace(self.maker, guesses=False)
        other = measure_honest_rewards(self.subject, plain, (), ())
        if not other.measured_tasks:
            return honest_rewards
        self.maker = plain
        self.reporter = replace(self.reporter, maker=plain)
        return other

    def _note_untried(self, honest_rewards: HonestRewards) -> None:
        """Report the attacks for which no honest reward exists to compare with, and the reason."""
        if honest_rewards.measured_tasks:
            return
        remedy = f"give samples that it pays: plaudit audit {self.spec} ROLLOUTS, or --cases TABLE"
        if honest_rewards.spread <= TINY:
            earned = f"all {honest_rewards.scored:,} honest responses earn {honest_rewards.low:g}"
            why = f"no honest answer was paid more than another: {earned}"
            self.untried.append(f"all attacks: {why}; {remedy}")
        else:
            self.untried.append(f"answers: no right answer earned more than a wrong one; {remedy}")

    def _phases(
        self, honest_rewards: HonestRewards, answers: Sequence[Answer]
    ) -> Iterator[tuple[str, Iterator[Attempt]]]:
        subject, maker = self.subject, self.maker
        order = (
            (Kind.WORD, Kind.NUMBER, Kind.OPEN)
            if honest_rewards.measured_tasks
            else (Kind.OPEN, Kind.WORD, Kind.NUMBER)
        )
        trials = make_trials(subject, maker, honest_rewards, *order)
        yield (
            "answers",
            chain(attack_answers(subject, maker, honest_rewards), attack_near_truths(subject, maker, honest_rewards)),
        )
        if subject.scope != "sample":
            yield "groups", attack_groups(subject, maker, honest_rewards, self.seeds.paid)
        yield "format", chain(attack_qualities(trials, write_formats), attack_qualities(trials, write_structures))
        right_lengths = check_right_lengths(subject, maker, honest_rewards)
        yield "length", chain(attack_qualities(trials, write_lengths), right_lengths)
        yield "words", attack_qualities(trials, write_words)
        if not honest_rewards.measured_tasks:
            yield "judges", attack_qualities(trials, write_judgements)
        yield "turns", attack_qualities(trials, write_turns)
        yield (
            "invariants",
            chain(
                invariants.check_order(honest_rewards, maker),
                invariants.check_gating(honest_rewards, maker),
                check_right_answers(subject, maker, honest_rewards),
            ),
        )
        yield "denial of service", invariants.check_denial_of_service(subject, maker, honest_rewards, answers)

    def _is_erratic(self, honest_rewards: HonestRewards) -> bool:
        """Check the contract; true if the reward of a sample differs between calls."""
        self.on_progress("contract")
        honest = [
            self.maker.sample(measured.task, measured.form.present(answer))
            for measured in honest_rewards.measured_tasks[:4]
            for answer in (measured.task.right, measured.task.wrong)
        ]
        honest = honest or [
            self.maker.sample(task, answer) for task in honest_rewards.tasks[:4] for answer in (task.right, task.wrong)
        ]
        fresh = [replace_response(each, f"{each.response}\nThat is all.") for each in honest[:2]]
        reward = self.loaded.spec or self.subject.reward
        samples = [*fresh, *honest[:5], *honest[:1]]  # new ones, and one that comes twice
        findings = list(invariants.check_contract(self.subject, reward, self.spec, samples, self.deadline_s))
        self.findings += findings
        self.tried["invariants: contract"] = None
        return any(finding.operator in ERRATIC for finding in findings)

    def _refuse(self, honest_rewards: HonestRewards) -> None:
        if self.subject.overruns:
            raise BudgetSpent("every response ran into the deadline or the memory limit")
        first = honest_rewards.failed[0] if honest_rewards.failed else None
        why = "" if first is None else f" ({first.status}: {first.reason})"
        raise ScoringFailed(
            f"{self.subject.reward.name} scored none of the samples{why}; give rollouts with the columns that it "
            f"needs: plaudit audit {self.spec} ROLLOUTS"
        )

    def _note_overruns(self) -> None:
        """Report the response that exceeded the deadline, if it does so again."""
        sample = self.subject.overrunning
        if sample is None or any(each.family == "denial of service" for each in self.findings):
            return
        output = self.subject.confirm_overrun(sample)
        if output is None:
            return
        task = Task(Kind.OPEN, sample.prompt, sample.ground_truth, "", "")
        message = f"denial of service: a response takes longer than the deadline ({output.reason})"
        remedy = "bound what a response can make it do, or give it a longer deadline (--deadline)"
        hit = Hit(task, sample, output, 0.0, None)
        attempt = Attempt("denial of service", "deadline", Attacker.INVARIANT, remedy, (hit,), 1, False, message)
        self.findings += self.reporter.report(attempt)

    def _distinct(self) -> list[AttackFinding]:
        """One finding per operator and component: the one with the shorter witness."""
        best: dict[str, AttackFinding] = {}
        for finding in self.findings:
            known = best.get(finding.key)
            if known is None or len(finding.witness.response) < len(known.witness.response):
                often = finding if known is None or finding.rate >= known.rate else known
                best[finding.key] = replace(finding, rate=often.rate, interval=often.interval)
        return list(best.values())


def _has_basis(phase: str, honest_rewards: HonestRewards) -> bool:
    """Whether there are honest rewards to compare a group of attacks with."""
    if phase in OF_ANY_REWARD:
        return False
    return bool(honest_rewards.measured_tasks) or (phase != "answers" and honest_rewards.spread > TINY)
