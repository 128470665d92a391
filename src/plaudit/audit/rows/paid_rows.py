"""Attacks on rows: edits of honest responses that the reward pays, and what it pays for another row's response.

Of a row of a known kind, its verifier says which responses are wrong; so is any pay where the verifier declines a row,
such as one with an empty ground truth. Of any other row, edits that are certain to be wrong are tried.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from plaudit.audit.attacks.forms import Form
from plaudit.audit.attacks.operator import FULL, SOME, Draft
from plaudit.audit.candidates import VISIBLE, Candidate, find_hits
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import OUTWEIGHS, OUTWEIGHS_REMEDY, Attempt, Hit
from plaudit.audit.honest_rewards import HonestRewards
from plaudit.audit.oracle import judge_by_row
from plaudit.audit.qualities.judgements import has_free_words
from plaudit.audit.rows.answer import Answer, find_object
from plaudit.audit.rows.edits import EDITS, NEARLY, NO_ANSWER
from plaudit.audit.samples import SampleMaker
from plaudit.audit.subject import Subject
from plaudit.audit.tasks import Kind, Task
from plaudit.columns import usual_names_of
from plaudit.contract.output import RewardOutput
from plaudit.trajectory import Trajectory

FAMILY = "rows"
LEAST_SHARE = 0.02
MOST_TASKS = 8
BARE = Form("bare", "")
WHOLE_KINDS = (Kind.MEASURE, Kind.SENTENCE, Kind.JSON)
REMEDY = "refuse what the verifier of these rows refuses: plaudit verify KIND shows why"
ROW_REMEDY = "do not score a row that cannot be judged"
VALUES = "compare everything that the ground truth determines, and accept nothing beside it"
UNREADABLE = "give a response that cannot be read no more than a wrong one"


@dataclass(frozen=True, slots=True)
class PaidRow:
    """A row with an answer that is paid, and what a wrong response earns."""

    answer: Answer
    right: float
    wrong: float
    form: Form = BARE
    is_known: bool = False
    """Whether a verifier judges the responses."""
    wrong_output: RewardOutput | None = None
    other: float | None = None
    """The reward of the right response to another row, where it is less."""
    nothing: float | None = None

    @property
    def task(self) -> Task:
        return self.answer.task

    def candidates(self, drafts: Sequence[Draft]) -> list[Candidate]:
        """The drafts to try: with a verifier all, paid nearly like the right response; else those that are certain."""
        if self.is_known:
            return [self.candidate(Draft(each.response, share=NEARLY)) for each in drafts]
        right = self.answer.text.split()
        return [self.candidate(each) for each in drafts if each.is_certain and str(each.response).split() != right]

    def candidate(self, draft: Draft) -> Candidate:
        present = self.form.present
        shown = replace(
            draft,
            response=present(str(draft.response)),
            also=None if draft.also is None else present(draft.also),
            controls=tuple(present(str(control)) for control in draft.controls),
        )
        return Candidate(self.task, shown, self.wrong, self.right - self.wrong, self.wrong_output)

    def family(self, usual: str) -> str:
        """The family of an edit, whose usual one holds where the answer is no object."""
        is_record = self.answer.is_object and self.answer.text.lstrip()[0] == "{"
        if usual and not is_record:
            return usual
        if is_record or self.answer.is_structure:
            return "structure"
        return "similarity" if self.answer.is_prose else "answers"


def find_paid_rows(
    subject: Subject,
    maker: SampleMaker,
    samples: Sequence[Trajectory],
    paid: Sequence[Task],
    honest_rewards: HonestRewards,
) -> list[PaidRow]:
    """Rows with a verifier that passes one of their responses; then paid rows of the user's; else the built-in ones."""
    known = _find_known_rows(subject, maker, samples)
    others = [task for task in paid if judge_by_row(task, task.right) is None]
    rows = [_measure(subject, maker, task, others[index - 1]) for index, task in enumerate(others)]
    if known or paid:
        return known + [row for row in rows if row is not None]
    return [
        PaidRow(
            Answer(each.task.right, each.task, each.task.truth, (each.task.wrong,), maker.vocabulary.words),
            each.right, each.wrong, each.form, wrong_output=each.wrong_output,
        )
        for each in honest_rewards.measured_tasks
        if each.task.kind in WHOLE_KINDS
    ]  # fmt: skip


def attack_rows(subject: Subject, maker: SampleMaker, rows: Sequence[PaidRow]) -> Iterator[Attempt]:
    """Every edit on every row, then right responses and none on rows that cannot be judged."""
    if not rows:
        return
    answers = [_beside(index, rows) for index in range(len(rows))]
    for edit in EDITS:
        by_family: dict[str, list[Candidate]] = {}
        for row, answer in zip(rows, answers, strict=True):
            family = FAMILY if row.is_known else row.family(edit.family)
            by_family.setdefault(family, []).extend(row.candidates(list(edit.write(answer))))
        for family, candidates in by_family.items():
            tried = len({id(each.task) for each in candidates})
            hits = find_hits(subject, maker, candidates)
            remedy = REMEDY if family == FAMILY else VALUES
            yield Attempt(family, edit.name, edit.attacker, remedy, hits, tried, family == FAMILY)
    known = [row for row in rows if row.is_known]
    if known:
        broken = [hit for row in known if (hit := _hit_on_broken_row(subject, maker, row)) is not None]
        name, message = (
            "row that cannot be judged",
            "row that cannot be judged: any response earns what a right one does",
        )
        yield Attempt(FAMILY, name, Attacker.ANSWER_FREE, ROW_REMEDY, tuple(broken), len(known), False, message)
    yield from _check_wrong_responses(subject, maker, [row for row in rows if row.other is not None])


def _beside(index: int, rows: Sequence[PaidRow]) -> Answer:
    """The answer of a row with those of the other rows, the next ones first."""
    answer = rows[index].answer
    texts = dict.fromkeys((*answer.others, *(row.answer.text for row in (*rows[index + 1 :], *rows[:index]))))
    return replace(answer, others=tuple(text for text in texts if text != answer.text))


def check_no_answer(subject: Subject, maker: SampleMaker, samples: Sequence[Trajectory]) -> Iterator[Attempt]:
    """No answer that earns what the best response of a row does, where the same words in another order earn less."""
    known = maker.vocabulary
    read = {*known.parameters, *known.keys, *known.attributes}
    hits = []
    for sample in samples[:MOST_TASKS]:
        has_truth = sample.ground_truth is not None and read.intersection(usual_names_of("ground_truth"))
        if not has_truth and not read.intersection(sample.columns):
            continue
        words, task = sample.response.split(), Task.of_row(sample, sample.response, NO_ANSWER)
        texts = (sample.response, NO_ANSWER, " ".join(words[::-1]), " ".join(sorted(words)))
        candidates = [maker.sample(task, text) for text in texts]
        outputs = subject.score(candidates)
        rewards = [output.reward for output in outputs if output.reward is not None]
        if len(rewards) < len(texts):  # what was not scored cannot be compared
            continue
        right, nothing, *turned = rewards
        if 0 < right <= nothing and min(turned) < (1 - LEAST_SHARE) * right:
            hits.append(Hit(task, candidates[1], outputs[1], right, right))
    if hits:
        message = f"no answer: {NO_ANSWER!r} earns {hits[0].threshold:g}, and an honest response no more"
        tried = len(samples[:MOST_TASKS])
        yield Attempt("answers", "no answer", Attacker.ANSWER_FREE, UNREADABLE, tuple(hits), tried, False, message)


def _check_wrong_responses(subject: Subject, maker: SampleMaker, rows: Sequence[PaidRow]) -> Iterator[Attempt]:
    """A response that cannot be read and earns more than a wrong one; the form of a wrong one, if it is worth more
    than the answer.
    """
    candidates, outweighing = [], []
    for row in rows:
        base = max(row.other or 0.0, 0.0)
        share = FULL if has_free_words(subject, maker, replace(row.task, right=row.answer.text), row.form) else SOME
        drafts = [Draft(text, share=share, is_certain=True) for text in ("???", "", "}{", "-")]
        candidates += [Candidate(row.task, draft, base, row.right - base) for draft in drafts if row.right > base]
        if row.other is not None and row.nothing is not None:
            form, answer = row.other - row.nothing, row.right - row.other
            if form > answer + VISIBLE * (row.right - row.nothing):
                sample = maker.sample(row.task, row.form.present(row.answer.other))
                [output] = subject.score([sample])
                outweighing.append(Hit(row.task, sample, output, row.other, row.right))
    hits = find_hits(subject, maker, candidates)
    yield Attempt("answers", "unreadable response", Attacker.ANSWER_FREE, UNREADABLE, hits, len(rows), False)
    if 2 * len(outweighing) > len(rows):
        name, hit = OUTWEIGHS, outweighing[0]
        message = f"{name}: the response to another prompt earns {hit.threshold:g}, the right one {hit.honest_reward:g}"
        yield Attempt(
            "format", name, Attacker.ANSWER_FREE, OUTWEIGHS_REMEDY, tuple(outweighing), len(rows), False, message
        )


def _measure(subject: Subject, maker: SampleMaker, task: Task, other: Task) -> PaidRow | None:
    """A paid row of the user's; where the response to another row earns as much, the truth decides nothing."""
    truth = task.truth
    if truth is None:
        names = [name for name in (*maker.vocabulary.parameters, *maker.vocabulary.keys) if name in task.columns]
        values = [task.columns[name] for name in dict.fromkeys(names)]
        truth = values[0] if len(values) == 1 else values or None
    right, elsewhere, nothing = subject.rewards(
        [maker.sample(task, text) for text in (task.right, other.right, NO_ANSWER)]
    )
    if right is None or nothing is None or elsewhere is None:
        return None
    words = maker.vocabulary.words
    before, text, after = find_object(task.right, truth)
    form = Form("as in the row", before, after) if before + after else BARE
    other_text = other.right if form is BARE else find_object(other.right, other.truth)[1]
    if other is not task and truth is not None and elsewhere < right - LEAST_SHARE * max(abs(right), abs(elsewhere)):
        return PaidRow(
            Answer(text, task, truth, (other_text,), words), right, elsewhere, form, other=elsewhere, nothing=nothing
        )
    if nothing >= right:
        return None
    return PaidRow(Answer(task.right, task, None, words=words), right, nothing)


def _find_known_rows(subject: Subject, maker: SampleMaker, samples: Sequence[Trajectory]) -> list[PaidRow]:
    """The rows with a verifier that passes one of their responses: the one that the reward pays most, if it pays it."""
    by_row: dict[str, list[Task]] = {}
    for sample in samples:
        task = Task.of_row(sample, sample.response, NO_ANSWER)
        judged = judge_by_row(task, sample.response)
        if judged is not None and judged.score == 1.0:
            by_row.setdefault(json.dumps([task.truth, task.columns], default=str), []).append(task)
    known = []
    for tasks in list(by_row.values())[:MOST_TASKS]:
        pays = subject.rewards([maker.sample(task, text) for task in tasks for text in (task.right, task.wrong)])
        right, task = max(zip((pay or 0.0 for pay in pays[::2]), tasks, strict=True), key=lambda pair: pair[0])
        if right > 0:
            wrong = min(0.0, *(pay or 0.0 for pay in pays[1::2]))
            known.append(PaidRow(Answer(task.right, task, task.truth), right, wrong, is_known=True))
    return known


def _hit_on_broken_row(subject: Subject, maker: SampleMaker, row: PaidRow) -> Hit | None:
    """Report an empty answer that is paid on a row whose truth is empty or whose instructions are unknown."""
    for task in _broken_rows(row.task):
        judged = judge_by_row(task, task.wrong, like=row.task)
        if judged is None or judged.score is not None:
            continue
        sample = maker.sample(task, task.wrong)
        [output] = subject.score([sample])
        threshold = row.candidate(Draft("", share=NEARLY)).threshold
        if output.reward is not None and output.reward >= threshold:
            return Hit(task, sample, output, threshold, row.wrong)
    return None


def _broken_rows(task: Task) -> Iterator[Task]:
    for truth in ("", [], [""]):
        columns = {name: truth if value == task.truth else value for name, value in task.columns.items()}
        yield replace(task, truth=truth, columns=columns)
        lists = {name: truth for name, value in columns.items() if isinstance(value, list)}
        yield replace(task, columns={**columns, **lists})
    if "instruction_id_list" in task.columns:
        unknown = {"instruction_id_list": ["unknown:instruction"], "kwargs": [{}]}
        yield replace(task, columns={**task.columns, **unknown})
