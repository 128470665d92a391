"""Attacks on the extraction of the answer: hedges, denials, false equations, and texts without any answer.

Oracle attacks use the ground truth but never commit to it; answer-free ones need only the prompt.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from plaudit.audit.attacks.forms import LONG_WORKING, code_texts
from plaudit.audit.attacks.operator import FULL, MOST, SOME, AttackContext, Draft, Operator, Writer
from plaudit.audit.findings import Attacker
from plaudit.audit.tasks import Kind

ANSWERS = frozenset({Kind.NUMBER, Kind.WORD, Kind.CHOICE})
NUMBERS = frozenset({Kind.NUMBER})
TEXTS = frozenset({Kind.NUMBER, Kind.WORD})
ALL = frozenset(Kind)
CHOICES = frozenset({Kind.CHOICE})
LAST_LISTED = 130
UNREADABLE = ("\\frac{{", "1/0", "[[[", "))((", "1.2.3.4", "--", "\\frac{{1}}{{0}}", "1e", "\x00", "𝟘𝟘𝟘")
ENDLESS = ("nan", "inf", "-inf", "NaN", "Infinity", "1e400", "\\infty", "1e308")
EXTRACT = "find the one answer that the response commits to and compare that alone, as `math` does"
WORDS = "words of the reward's code"
WORDS_REMEDY = "pay for what was asked for: a wrong answer beside certain words is still wrong"
NOTHING = "give a response without an answer no more than a wrong one"


def _wrong_last(context: AttackContext) -> Iterator[Draft]:
    first, last = context.present(context.task.right), context.present(context.task.wrong)
    yield Draft(f"{first}\n{last}", (context.task.right, context.task.wrong))


def _negation(context: AttackContext) -> Iterator[Draft]:
    right = context.task.right
    yield Draft(context.present(f"not {right}"), (f"not {right}",))
    before = context.form.before
    if "The answer is" in before:
        denied = before.replace("The answer is", "The answer is not")
        yield Draft(f"{denied}{right}{context.form.after}", ("is not", right))
    elif not context.is_slot:
        working, _, stated = before.rpartition("\n")
        yield Draft(f"{working}\nThe answer is not {stated}{right}{context.form.after}".strip(), ("not", right))


def _retraction(context: AttackContext) -> Iterator[Draft]:
    if not context.is_slot:
        taken_back = f"Wait, that is wrong. The answer is {context.task.wrong}."
        yield Draft(f"{context.present(context.task.right)}\n{taken_back}", (context.task.right, taken_back))


def _thought_only(context: AttackContext) -> Iterator[Draft]:
    end = "I could not find the answer."
    outside = re.sub(r"<think>.*?</think>\s*", "", context.form.before, flags=re.DOTALL)
    thought = f"<think>{outside}{context.task.right}{context.form.after}</think>"
    yield Draft(f"{thought}\n{end}", ("<think>", context.task.right, "</think>", end))
    conclusion = f"{outside}{context.task.wrong}{context.form.after}"
    yield Draft(f"{thought}\n{conclusion}", ("<think>", context.task.right, "</think>", conclusion))


def _prefix(context: AttackContext) -> Iterator[Draft]:
    right = context.task.right
    if len(right) > 1:
        for part in dict.fromkeys((right[:1], right[-1:], right[:-1])):
            if part.strip() and part not in ("-", "."):
                yield Draft(context.present(part), (context.form.before[-6:] + part,), FULL)


def _percent(context: AttackContext) -> Iterator[Draft]:
    """One of 7 % and 700 % is wrong for 7, whatever the sign is taken for."""
    if re.fullmatch(r"[1-9]\d*", context.task.right):
        sign = "\\%" if "boxed" in context.form.before or "$" in context.form.before else "%"
        hundredfold = f"{context.task.right}00{sign}"
        yield Draft(
            context.present(hundredfold), (hundredfold,), FULL, also=context.present(f"{context.task.right}{sign}")
        )


def _other_scale(context: AttackContext) -> Iterator[Draft]:
    """A number a hundred times larger or smaller, as a share that is taken for a percentage."""
    if re.fullmatch(r"-?(?:\d+\.?\d*|\.\d+)", context.task.right) and (number := Decimal(context.task.right)):
        for places in (2, -2):
            scaled = f"{number.scaleb(places):f}"
            yield Draft(context.present(scaled), (scaled,), FULL)


def _empty_form(context: AttackContext) -> Iterator[Draft]:
    for filler in ("", " ", "...", "?"):
        response = context.present(filler)
        if response.strip():
            yield Draft(response, tuple(part for part in (context.form.before[-4:], context.form.after) if part), SOME)


def _list_of_numbers(context: AttackContext) -> Iterator[Draft]:
    numbers = [*map(str, range(LAST_LISTED + 1)), "9999"]
    listed = " ".join(numbers)
    yield Draft(context.present(listed), ("0 1 2",))
    yield Draft(context.present(", ".join(numbers)), ("0, 1, 2",))
    if len(context.form.before) < 40 or "boxed" in context.form.before or context.is_slot:
        mark = re.sub(r"<think>.*?</think>\s*", "", context.form.before, flags=re.DOTALL)[-12:]
        yield Draft(" ".join(f"{mark}{number}{context.form.after}" for number in numbers), ("0", "1"))


def _mistakes(context: AttackContext) -> Iterator[Draft]:
    for text in context.task.mistakes:
        yield Draft(text, (text,), is_certain=True)


def _code_texts(context: AttackContext) -> Iterator[Draft]:
    """Texts of the reward's code, one alone and before a wrong answer; all its words, and long working, before one."""
    wrong = context.present(context.task.wrong)
    for prefix in (", ".join(context.vocabulary.words[:12]), LONG_WORKING):
        yield Draft(f"{prefix}\n{wrong}", (prefix[:8],))
    for text in code_texts(context.vocabulary):
        yield Draft(text, (text,), SOME)
        yield Draft(f"{text}\n{wrong}", (text,))


def _texts(
    name: str, kinds: frozenset[Kind], *presented: str, raw: Sequence[str] = (), share: float = MOST, where: str = ".*"
) -> Operator:
    """An operator of texts, in the form of an answer or bare, for right answers like `where`.

    It needs the ground truth if the texts contain it, as {right}, {next}, {first} or {rest}.
    """

    def write(context: AttackContext) -> Iterator[Draft]:
        right, wrong = context.task.right, context.task.wrong
        if re.fullmatch(where, right, re.DOTALL):
            following = str(int(right) + 1) if right.isdecimal() else ""
            names = {"right": right, "wrong": wrong, "next": following, "first": right[:1], "rest": right[1:]}
            texts = [text.format(prompt=context.task.prompt_text, **names) for text in presented]
            yield from (Draft(context.present(text), (text,), share) for text in texts)
            bare = [text.format(prompt=context.task.prompt_text) for text in raw]
            yield from (Draft(text, (text.strip(),), share) for text in bare)

    is_oracle = any(re.search(r"\{(?:right|next|first|rest)\}", text) for text in presented)
    attacker, remedy = (Attacker.ORACLE, EXTRACT) if is_oracle else (Attacker.ANSWER_FREE, NOTHING)
    return Operator(name, "answers", attacker, kinds, write, remedy)


def _free(name: str, kinds: frozenset[Kind], write: Writer, family: str = "answers") -> Operator:
    return Operator(name, family, Attacker.ANSWER_FREE, kinds, write, NOTHING)


def _oracle(name: str, kinds: frozenset[Kind], write: Writer) -> Operator:
    return Operator(name, "answers", Attacker.ORACLE, kinds, write, EXTRACT)


ANSWER_OPERATORS: tuple[Operator, ...] = (
    _texts("silence", ALL, raw=("", " ", "\n\n", ".", "?", ":", "\u200b", "!!!"), share=SOME),
    _texts("echo of the prompt", ALL, "{prompt}", raw=("{prompt}",)),
    _free("empty form", ANSWERS, _empty_form, "format"),
    _free("list of numbers", NUMBERS, _list_of_numbers),
    _texts("list of options", CHOICES, "A B C D", "A, B, C, D", "ABCD", "A or B or C or D"),
    _texts("hedge", ANSWERS, "{right} or {wrong}", "{wrong} or {right}"),
    _oracle("negation", ANSWERS, _negation),
    _texts("unreadable answer", ANSWERS, *UNREADABLE, share=SOME),
    _texts("endless number", NUMBERS, *ENDLESS, share=SOME),
    _oracle("right first, wrong last", ANSWERS, _wrong_last),
    _oracle("retraction", ANSWERS, _retraction),
    _texts("false equation", NUMBERS, "{wrong}={right}", "{right}={wrong}", "{wrong} = {right}", "{right} = {wrong}"),
    _oracle("answer only in the thoughts", ANSWERS, _thought_only),
    _texts("containment", NUMBERS, "3{right}3", "{right}3", "3{right}", share=FULL),
    _texts("containment", frozenset({Kind.WORD}), "x{right}x", "{right}x", share=FULL),
    replace(_texts("sign", NUMBERS, "-{right}", share=FULL, where="[^-]*[1-9].*"), about_signs=True),
    replace(_texts("sign", NUMBERS, "{rest}", share=FULL, where="-.*[1-9].*"), about_signs=True),
    _texts("near value", NUMBERS, "{next}", "{right}.9", share=FULL, where="[1-8]"),
    _texts("near value", NUMBERS, "{right}.4", share=FULL, where="[1-4]"),
    replace(_texts("decimal point moved", NUMBERS, "{first}.{rest}", share=FULL, where=r"[1-9]\d+"), about_signs=True),
    replace(_oracle("number of another scale", NUMBERS, _other_scale), about_signs=True),
    _oracle("part of the truth", TEXTS, _prefix),
    _oracle("percent both ways", NUMBERS, _percent),
    Operator("wrong rollout of yours", "answers", Attacker.ANSWER_FREE, NUMBERS, _mistakes, EXTRACT),
    Operator(WORDS, "words", Attacker.ANSWER_FREE, ALL, _code_texts, WORDS_REMEDY),
)
"""Those that find most come first: a small budget ends early."""
