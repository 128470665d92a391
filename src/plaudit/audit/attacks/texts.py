"""Attacks on rewards that compare texts or structures: the reference's words in any order, broken JSON."""

import json
import random
from collections.abc import Iterator
from dataclasses import replace

from plaudit.audit.attacks.operator import FULL, MOST, SOME, AttackContext, Draft, Operator, Writer
from plaudit.audit.findings import Attacker
from plaudit.audit.oracle import read_json
from plaudit.audit.tasks import Kind

__all__ = ["TEXT_OPERATORS"]

SENTENCES = frozenset({Kind.SENTENCE})
OBJECTS = frozenset({Kind.JSON})
NEARLY = 0.9


def _bag_of_words(context: AttackContext) -> Iterator[Draft]:
    words = context.task.right.split()
    for seed in range(2):
        shuffled = words[:]
        random.Random(seed).shuffle(shuffled)
        text = " ".join(shuffled)
        yield Draft(context.present(text), (text,), NEARLY)


def _alphabet(context: AttackContext) -> Iterator[Draft]:
    text = " ".join(sorted(set(context.task.right.lower().split())))
    yield Draft(context.present(text), (text,), NEARLY)


def _denied_reference(context: AttackContext) -> Iterator[Draft]:
    text = f"It is false that {context.task.right}. In truth, {context.task.wrong}."
    yield Draft(context.present(text), (text,), 0.95)


def _one_word(context: AttackContext) -> Iterator[Draft]:
    word = context.task.right.split()[0]
    yield Draft(context.present(word), (word,), NEARLY)


def _not_json(context: AttackContext) -> Iterator[Draft]:
    right = context.task.right
    for text in (f"{right[:-1]}", f"{right}{right}", f"not {right}"):
        yield Draft(context.present(text), (text,), MOST)
    yield Draft(context.present("{no JSON}"), ("{no JSON}",), SOME)


def _values_anywhere(context: AttackContext) -> Iterator[Draft]:
    """The values of the truth beside wrong ones, as text."""
    if isinstance(context.task.truth, dict):
        values = " ".join(str(value) for value in context.task.truth.values())
        text = f"{context.task.wrong} {values}"
        yield Draft(text, (text,))
        wrapped = context.task.wrong[:-1] + f', "note": "{values}"' + "}"
        yield Draft(context.present(wrapped), (wrapped,))


def _one_value(context: AttackContext) -> Iterator[Draft]:
    """One value of the truth, the others wrong; paid like all of them."""
    truth, wrong = context.task.truth, read_json(context.task.wrong)
    if isinstance(truth, dict) and isinstance(wrong, dict) and len(truth) > 1 and truth.keys() == wrong.keys():
        for key in truth:
            text = json.dumps({**wrong, key: truth[key]})
            yield Draft(context.present(text), (text,), FULL)


def _several_objects(context: AttackContext) -> Iterator[Draft]:
    """A right object beside a wrong one, paid in either order."""
    right, wrong = context.task.right, context.task.wrong
    text = f"{right}\n{wrong}"
    yield Draft(context.present(text), (right, wrong), also=context.present(f"{wrong}\n{right}"))


def _keys_only(context: AttackContext) -> Iterator[Draft]:
    if isinstance(context.task.truth, dict):
        text = "{" + ", ".join(f'"{key}": null' for key in context.task.truth) + "}"
        yield Draft(context.present(text), (text,))


def _text(name: str, kinds: frozenset[Kind], write: Writer, attacker: Attacker = Attacker.ORACLE) -> Operator:
    family, remedy = (
        ("similarity", "compare the order of words too, or judge by more than overlap")
        if kinds is SENTENCES
        else ("structure", "parse the whole response and compare values by their keys")
    )
    return Operator(name, family, attacker, kinds, write, remedy)


TEXT_OPERATORS: tuple[Operator, ...] = (
    _text("bag of reference words", SENTENCES, _bag_of_words),
    _text("sorted reference words", SENTENCES, _alphabet),
    _text("denied reference", SENTENCES, _denied_reference),
    _text("one reference word", SENTENCES, _one_word),
    replace(_text("broken JSON", OBJECTS, _not_json), about_signs=True),
    _text("values anywhere", OBJECTS, _values_anywhere),
    _text("one value right", OBJECTS, _one_value),
    _text("several objects", OBJECTS, _several_objects),
    _text("keys without values", OBJECTS, _keys_only, Attacker.ANSWER_FREE),
)
