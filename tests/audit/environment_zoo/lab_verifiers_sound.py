"""An environment of verifiers 0.1 whose rubric compares the last message of the agent with the answer."""

import datasets
import verifiers as vf

from tests.audit.environment_zoo.lab_verifiers_flawed import ROWS, Quiz, words_of


def last_is_right(completion, answer):
    return float(words_of(completion[-1]) == answer)


def load_environment():
    return Quiz(dataset=datasets.Dataset.from_list(ROWS), rubric=vf.Rubric(funcs=[last_is_right]), max_turns=2)
