"""Attacks on the extraction of the answer: hedges, denials, false equations, and texts without any answer.

Oracle attacks use the ground truth but never commit to it; answer-free ones need only the prompt.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from plaudit.audit.attacks.forms import code_texts
from plaudit.audit.attacks.operator import FULL, SOME, AttackContext, Draft, Operator, Writer
from plaudit.audit.findings import Attacker
from plaudit.audit.tasks import Kind

__all__ = ["ANSWER_OPERATORS", "EXTRACT", "WORDS", "WORDS_REMEDY"]

ANSWERS = frozenset({Kind.NUMBER, Kind.WORD, Kind.CHOICE})
NUMBERS = frozenset({Kind.NUMBER})
TEXTS = frozenset({Kind.NUMBER, Kind.WORD})
ALL = frozenset(Kind)
LAST_LISTED = 130
EXTRACT = "find the one answer that the response commits to and compare that alone, as `math` does"
WORDS = "words of the reward's code"
WORDS_REMEDY = "pay for what was asked for: a wrong answer beside certain words is still wrong"
NOTHING = "give a response without an answer no more than a wrong one"


def _hedge(context: AttackContext) -> Iterator[Draft]:
    right, wrong = context.task.right, context.task.wrong
    for text in (f"{right} or {wrong}", f"{wrong} or {right}"):
        yield Draft(context.present(text), (text,))


def _enumeration(context: AttackContext) -> Iterator[Draft]:
    right, wrong, *others = context.task.right, context.task.wrong, *context.task.others
    listed = ", ".join([*others[:1], wrong, right, *others[1:2]])
    yield Draft(context.present(listed), (listed,))
    several = [context.present(text) for text in (wrong, right, *others[:1], wrong)]
    yield Draft("\n".join(several), tuple(several[1:]))


def _wrong_last(context: AttackContext) -> Iterator[Draft]:
    first, last = context.present(context.task.right), context.present(context.task.wrong)
    yield Draft(f"{first}\n{last}", (context.task.right, context.task.wrong))


def _wrong_first(context: AttackContext) -> Iterator[Draft]:
    """A committed wrong answer, and the right one in the same sentence afterwards, as what it is not."""
    denial = f"{context.task.wrong}, not {context.task.right}"
    yield Draft(context.present(denial), (denial,))


def _negation(context: AttackContext) -> Iterator[Draft]:
    right = context.task.right
    yield Draft(context.present(f"not {right}"), (f"not {right}",))
    before = context.form.before
    if "The answer is" in before:
        denied = before.replace("The answer is", "The answer is not")
        yield Draft(f"{denied}{right}{context.form.after}", ("is not", right))
    elif not context.is_slot:
        yield Draft(f"The answer is not {context.present(right)}", ("not", right))


def _retraction(context: AttackContext) -> Iterator[Draft]:
    if not context.is_slot:
        taken_back = f"Wait, that is wrong. The answer is {context.task.wrong}."
        yield Draft(f"{context.present(context.task.right)}\n{taken_back}", (context.task.right, taken_back))


def _false_equation(context: AttackContext) -> Iterator[Draft]:
    right, wrong = context.task.right, context.task.wrong
    for equation in (f"{wrong}={right}", f"{right}={wrong}", f"{wrong} = {right}", f"{right} = {wrong}"):
        yield Draft(context.present(equation), (equation,))


def _thought_only(context: AttackContext) -> Iterator[Draft]:
    end = "I could not find the answer."
    outside = re.sub(r"<think>.*?</think>\s*", "", context.form.before, flags=re.DOTALL)
    thought = f"<think>{outside}{context.task.right}{context.form.after}</think>"
    yield Draft(f"{thought}\n{end}", ("<think>", context.task.right, "</think>", end))
    conclusion = f"{outside}{context.task.wrong}{context.form.after}"
    yield Draft(f"{thought}\n{conclusion}", ("<think>", context.task.right, "</think>", conclusion))


def _mention(context: AttackContext) -> Iterator[Draft]:
    mention = f"Someone else said {context.task.right}, and I do not agree."
    final = context.present(context.task.wrong)
    yield Draft(f"{mention}\n{final}", (mention, final))


def _containment(context: AttackContext) -> Iterator[Draft]:
    right = context.task.right
    inner = (
        [f"3{right}3", f"{right}3", f"3{right}"] if context.task.kind is Kind.NUMBER else [f"x{right}x", f"{right}x"]
    )
    for text in inner:
        yield Draft(context.present(text), (text,), FULL)


def _sign(context: AttackContext) -> Iterator[Draft]:
    text = context.task.right[1:] if context.task.right.startswith("-") else f"-{context.task.right}"
    if re.search("[1-9]", text):
        yield Draft(context.present(text), (text,), FULL)


def _near(context: AttackContext) -> Iterator[Draft]:
    """A wrong number at least a tenth off, paid like the right one."""
    right = context.task.right
    if re.fullmatch(r"[1-8]", right):
        for text in (str(int(right) + 1), f"{right}.9", *([f"{right}.4"] if int(right) < 5 else [])):
            yield Draft(context.present(text), (text,), FULL)


def _moved_point(context: AttackContext) -> Iterator[Draft]:
    """The right digits with a decimal point among them."""
    if re.fullmatch(r"[1-9]\d+", context.task.right):
        text = f"{context.task.right[0]}.{context.task.right[1:]}"
        yield Draft(context.present(text), (text,), FULL)


def _prefix(context: AttackContext) -> Iterator[Draft]:
    right = context.task.right
    if len(right) > 1:
        for part in dict.fromkeys((right[:1], right[-1:], right[:-1])):
            if part.strip() and part not in ("-", "."):
                yield Draft(context.present(part), (context.form.before[-6:] + part,), FULL)


def _scale(context: AttackContext) -> Iterator[Draft]:
    if re.fullmatch(r"[2-9]\d*", context.task.right):
        for text in (f"{context.task.right} million", f"{context.task.right}^{{2}}", f"1/{context.task.right}"):
            yield Draft(context.present(text), (text,), FULL)


def _percent(context: AttackContext) -> Iterator[Draft]:
    """One of 7 % and 700 % is wrong for 7, whatever the sign is taken for."""
    if re.fullmatch(r"[1-9]\d*", context.task.right):
        sign = "\\%" if "boxed" in context.form.before or "$" in context.form.before else "%"
        hundredfold = f"{context.task.right}00{sign}"
        yield Draft(
            context.present(hundredfold), (hundredfold,), FULL, also=context.present(f"{context.task.right}{sign}")
        )


def _silence(context: AttackContext) -> Iterator[Draft]:
    for text in ("", " ", "\n\n", ".", "?", ":", "\u200b", "!!!"):
        yield Draft(text, (text.strip(),), SOME)


def _empty_form(context: AttackContext) -> Iterator[Draft]:
    for filler in ("", " ", "...", "?"):
        response = context.present(filler)
        if response.strip():
            yield Draft(response, tuple(part for part in (context.form.before[-4:], context.form.after) if part), SOME)


def _placeholder(context: AttackContext) -> Iterator[Draft]:
    for text in ("your answer here", "[NUM]", "None", "unknown", "x"):
        yield Draft(context.present(text), (text,), SOME)
    for text in ("null", "x", "True"):
        yield Draft(text, (text,), SOME)


def _refusal(context: AttackContext) -> Iterator[Draft]:
    for text in ("I do not know.", "I cannot answer this."):
        yield Draft(text, (text,))


def _unreadable(context: AttackContext) -> Iterator[Draft]:
    for text in ("\\frac{", "1/0", "[[[", "))((", "1.2.3.4", "--", "\\frac{1}{0}", "1e", "\x00", "𝟘𝟘𝟘"):
        yield Draft(context.present(text), (text,), SOME)


def _endless_number(context: AttackContext) -> Iterator[Draft]:
    for text in ("nan", "inf", "-inf", "NaN", "Infinity", "1e400", "\\infty", "1e308"):
        yield Draft(context.present(text), (text,), SOME)


def _echo(context: AttackContext) -> Iterator[Draft]:
    prompt = context.task.prompt_text
    yield Draft(prompt, (prompt,))
    yield Draft(context.present(prompt), (prompt,))


def _unevaluated(context: AttackContext) -> Iterator[Draft]:
    match = re.search(r"\d+(?:\s*[-+*/]\s*\d+)+", context.task.prompt_text)
    if match:
        for text in (match[0], match[0].replace(" ", ""), match[0].replace("*", "\\cdot")):
            yield Draft(context.present(text), (text,))


def _list_of_numbers(context: AttackContext) -> Iterator[Draft]:
    numbers = [*map(str, range(LAST_LISTED + 1)), "9999"]
    listed = " ".join(numbers)
    yield Draft(context.present(listed), ("0 1 2",))
    yield Draft(context.present(", ".join(numbers)), ("0, 1, 2",))
    if len(context.form.before) < 40 or "boxed" in context.form.before or context.is_slot:
        mark = re.sub(r"<think>.*?</think>\s*", "", context.form.before, flags=re.DOTALL)[-12:]
        yield Draft(" ".join(f"{mark}{number}{context.form.after}" for number in numbers), ("0", "1"))


def _list_of_options(context: AttackContext) -> Iterator[Draft]:
    for listed in ("A B C D", "A, B, C, D", "ABCD", "A or B or C or D"):
        yield Draft(context.present(listed), (listed,))
    several = " ".join(context.present(letter) for letter in "ABCDA")
    yield Draft(several, (several,))


def _mistakes(context: AttackContext) -> Iterator[Draft]:
    for text in context.task.mistakes:
        yield Draft(text, (text,))


def _code_texts(context: AttackContext) -> Iterator[Draft]:
    """Texts of the reward's code: one alone, and before a wrong answer."""
    wrong = context.present(context.task.wrong)
    for text in code_texts(context.vocabulary):
        yield Draft(text, (text,), SOME)
        yield Draft(f"{text}\n{wrong}", (text,))


def _oracle(name: str, kinds: frozenset[Kind], write: Writer, family: str = "answers") -> Operator:
    return Operator(name, family, Attacker.ORACLE, kinds, write, EXTRACT)


def _free(name: str, kinds: frozenset[Kind], write: Writer, family: str = "answers") -> Operator:
    return Operator(name, family, Attacker.ANSWER_FREE, kinds, write, NOTHING)


ANSWER_OPERATORS: tuple[Operator, ...] = (
    _free("silence", ALL, _silence),
    _free("echo of the prompt", ALL, _echo),
    _free("empty form", ANSWERS, _empty_form, "format"),
    _free("list of numbers", NUMBERS, _list_of_numbers),
    _free("list of options", frozenset({Kind.CHOICE}), _list_of_options),
    _oracle("hedge", ANSWERS, _hedge),
    _oracle("mention in passing", TEXTS, _mention),
    _oracle("negation", ANSWERS, _negation),
    _free("placeholder", ANSWERS, _placeholder),
    _free("refusal", ALL, _refusal),
    _free("unreadable answer", ANSWERS, _unreadable),
    _free("endless number", NUMBERS, _endless_number),
    _free("unevaluated expression", NUMBERS, _unevaluated),
    _oracle("enumeration", ANSWERS, _enumeration),
    _oracle("right first, wrong last", ANSWERS, _wrong_last),
    _oracle("denied beside a wrong one", ANSWERS, _wrong_first),
    _oracle("retraction", ANSWERS, _retraction),
    _oracle("false equation", NUMBERS, _false_equation),
    _oracle("answer only in the thoughts", ANSWERS, _thought_only),
    _oracle("containment", TEXTS, _containment),
    replace(_oracle("sign", NUMBERS, _sign), about_signs=True),
    _oracle("near value", NUMBERS, _near),
    replace(_oracle("decimal point moved", NUMBERS, _moved_point), about_signs=True),
    _oracle("part of the truth", TEXTS, _prefix),
    _oracle("scale", NUMBERS, _scale),
    _oracle("percent both ways", NUMBERS, _percent),
    Operator("wrong rollout of yours", "answers", Attacker.ANSWER_FREE, NUMBERS, _mistakes, EXTRACT),
    Operator(WORDS, "words", Attacker.ANSWER_FREE, ALL, _code_texts, WORDS_REMEDY),
)
"""Those that find most come first: a small budget ends early."""
