"""Attacks on rows of a known kind find the bugs planted in copies of verifiers, and nothing in the verifiers."""

import pytest

from benchmarks.audit_verifiers import samples_of
from benchmarks.broken_verifiers import BROKEN
from plaudit import Trajectory, load, reward
from plaudit.audit.honest_rewards import HonestRewards
from plaudit.audit.rows.answer import find_object
from plaudit.audit.rows.paid_rows import attack_rows, check_no_answer, find_paid_rows
from plaudit.audit.samples import SampleMaker
from plaudit.audit.subject import Budget, Subject
from plaudit.audit.vocabulary import read_vocabulary
from plaudit.engine import Scorer
from tests.parts import part

TRIED = [copy for copy in BROKEN if part([copy.reward.__name__], 3)]


def attacks_paid_by(reward, samples):
    """The attacks that a reward pays."""
    with Scorer(load(reward), backend="inline", deadline_s=None) as scorer:
        subject = Subject(scorer, scorer, Budget(), isolated=False)
        maker = SampleMaker(read_vocabulary(subject.reward))
        nothing = HonestRewards((), (), (), (), (), 0.0, 0.0, 0, ())
        attempts = list(attack_rows(subject, maker, find_paid_rows(subject, maker, samples, (), nothing)))
    assert attempts, "no row has a verifier that passes its response"
    return {attempt.operator for attempt in attempts if attempt.hits}


def test_the_object_of_the_truth_is_found_in_the_text_around_it():
    calls = [{"name": "mail", "arguments": {"to": "Ada"}}]
    text = '[{"name": "mail", "arguments": {"to": "Ada"}}]'
    assert find_object(f"<call>\n{text}\n</call>", calls) == ("<call>\n", text, "\n</call>")
    assert find_object(f"[1] {text}", calls) == ("[1] ", text, "")
    for other in (f"<call>{text}</call>", "see [2]", "{", ""):
        assert find_object(other, [2]) == ("", other, "")


@pytest.mark.parametrize("copy", TRIED, ids=lambda copy: copy.reward.__name__)
def test_a_bug_planted_in_a_copy_of_a_verifier_is_found(copy):
    assert attacks_paid_by(copy.reward, samples_of(copy.kind)) & copy.attacks


@pytest.mark.parametrize("kind", sorted({copy.kind for copy in BROKEN}))
def test_nothing_is_found_in_a_verifier_with_its_own_rows(kind):
    assert attacks_paid_by(kind, samples_of(kind)) == set()


def test_words_that_are_not_scored_in_another_order_are_no_sign_of_a_reward_for_no_answer():
    def find(words_of_another_order):
        @reward
        def judged(response, ground_truth):
            if response in (ground_truth, "I do not know."):
                return 1.0
            return words_of_another_order

        sample = Trajectory("Say it.", "first this then that", ground_truth="first this then that")
        with Scorer(judged, backend="inline") as scorer:
            subject = Subject(scorer, scorer, Budget(), isolated=False)
            return list(check_no_answer(subject, SampleMaker(read_vocabulary(judged)), [sample]))

    assert [len(find(value)) for value in (0.0, None)] == [1, 0]
