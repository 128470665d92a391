"""Edits of an honest response that a reward pays, by three rules that hold in any domain.

What the row determines must be right: a response with another value, with a part left out or in another order is wrong.
More is not better: another answer beside the right one, a range that covers everything or the form without any content
earn nothing. All else is free, such as the order of the keys of an object.

An edit is certain where the rules alone say that its result is wrong. The others are for rows with a verifier that
judges the result.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from plaudit.audit.attacks.operator import FULL, MOST, SOME, Draft
from plaudit.audit.findings import Attacker
from plaudit.audit.oracle import is_within_a_tenth
from plaudit.audit.rows.answer import FEW_WORDS, NUMBER, ORDERED, TOKEN, Answer
from plaudit.audit.rows.objects import (
    OTHER_DIGITS,
    OTHER_LETTERS,
    change_values,
    changed,
    copies,
    exchanged,
    other_value,
    reduced,
    renamed,
    with_another,
)

NEARLY = 0.9
LONG = 400
MOST_PARTS, MOST_LINES, MOST_OTHERS = 10, 12, 4
MOST_SINGLE = 3
NO_ANSWER = "I do not know."
_QUOTED = re.compile(r'(?<=[:=(,] )"([^"]*)"|(?<==)"([^"]*)"|\'([^\']*)\'')
PART = re.compile(rf"{TOKEN.pattern}|[<>=≤≥≠±%$€£]+")
_UNIT = re.compile(r"\d\s?([^\W\d_]+)")
_TAG = re.compile(r"</?\w+>")


def _change(token: str, numbers: Sequence[str]) -> Iterator[str]:
    """Values that differ from the given one: numbers by far more than a tolerance, words in their letters or the order.

    Of several numbers, such as those of a box, one is moved by more than all of them.
    """
    if not token[0].isdigit():
        yield token.translate(OTHER_LETTERS)
        yield from [turned for place in range(len(token) - 1) if (turned := _exchange(token, place)) != token][:1]
    elif len(numbers) > MOST_SINGLE and all(len(number) > 1 for number in numbers):
        digits = len(token.partition(".")[2])
        yield f"{float(token) + max(map(float, numbers)) + 7:.{digits}f}"
    else:
        shifted = token.translate(OTHER_DIGITS)
        yield f"9{shifted[1:]}" if shifted[0] == "0" and token[0] != "0" else shifted
        if len(token) < 3 and 0 < int(token) < 32:  # as a part of a date or a time
            yield str((int(token) + 5) % 12 + 1).zfill(len(token))


def _exchange(token: str, place: int) -> str:
    """The token with two neighbouring letters exchanged."""
    return f"{token[:place]}{token[place + 1]}{token[place]}{token[place + 2 :]}"


def _replace(text: str, token: str, other: str) -> str:
    """Replace a part in the text everywhere, in capitals where it stands in capitals."""
    return PART.sub(
        lambda match: match[0] if match[0].casefold() != token else other.upper() if match[0].isupper() else other, text
    )


def _certain(text: str, share: float = FULL, also: str | None = None, controls: tuple[str, ...] = ()) -> Draft:
    return Draft(text, (text,), share, also, controls, is_certain=True)


def _copies(answer: Answer, change: Callable[[Any], Iterator[Any]]) -> Iterator[Draft]:
    """Copies of the object of an answer with one part changed."""
    return (_certain(json.dumps(each)) for each in islice(copies(answer.data, change), MOST_PARTS))


def _other_values(answer: Answer) -> Iterator[Draft]:
    """Replace one value of the truth everywhere; change the sign of a number; replace any number, quoted text, case."""
    text, leaves = answer.text, answer.leaves
    if answer.data is not None:
        yield from _copies(answer, changed)
        yield from _copies(answer, renamed)
        yield _certain(json.dumps(change_values(answer.data, lambda _: None)), MOST)
    elif not answer.is_prose:
        numbers = [number for leaf in leaves for number in NUMBER.findall(leaf)]
        for token in list(dict.fromkeys(answer.tokens or _other_notation(answer)))[:MOST_PARTS]:
            for other in _change(token, numbers):
                yield _certain(_replace(text, token, other))
        yield from _with_free_numbers(answer, numbers)
        if len(leaves) == 1 and re.fullmatch(r"-?\d+[/.]\d+", leaves[0]):
            yield _certain(text.replace(leaves[0], re.sub("[/.]", "", leaves[0])))
        if answer.tokens and len(leaves) == 1 and re.fullmatch(r"-?\d[\d.]*(?: \w+)?", leaves[0]):
            sign = leaves[0][1:] if leaves[0][0] == "-" else f"-{leaves[0]}"
            yield from [_certain(text.replace(leaves[0], sign))] if re.search("[1-9]", sign) else ()
    yield Draft(NUMBER.sub(lambda number: str(int(float(number[0])) + 7919), text))
    yield from map(Draft, (_QUOTED.sub('"zq"', text), text.upper(), text.lower(), f"{text}, and so on, and more."))
    yield Draft(re.sub(r"[^\w\s]", "", text))


def _with_free_numbers(answer: Answer, numbers: Sequence[str]) -> Iterator[Draft]:
    """A wrong value beside extreme ones of the numbers that the truth does not determine, such as a confidence."""
    free = [number for number in NUMBER.findall(answer.text) if number not in answer.tokens]
    if free and answer.tokens:
        wrong = _replace(answer.text, answer.tokens[0], next(_change(answer.tokens[0], numbers)))
        for extreme in ("0", "1", "100"):
            yield _certain(_set_numbers(wrong, free, extreme), NEARLY)


def _set_numbers(text: str, numbers: Sequence[str], value: str) -> str:
    return NUMBER.sub(lambda match: value if match[0] in numbers else match[0], text)


def _other_notation(answer: Answer) -> list[str]:
    """The numbers and units of a short answer that writes a number of the truth in another way."""
    if not any(NUMBER.search(leaf) for leaf in answer.leaves) or len(answer.text.split()) > FEW_WORDS:
        return []
    units = _units(answer.text)
    return [each for each in map(str.casefold, TOKEN.findall(answer.text)) if each[0].isdigit() or each in units]


def _units(text: str) -> set[str]:
    """The words that stand right behind a number."""
    return {unit.casefold() for unit in _UNIT.findall(text)}


def _mixed(answer: Answer) -> Iterator[Draft]:
    """Replace a word, a number or a sign by the one at that place, from either end, of the answer to another row.

    One of many numbers may be near enough, as in a box.
    """
    fixed = {part.casefold() for leaf in answer.leaves for part in PART.findall(leaf)} if answer.tokens else set()
    fixed.update(() if answer.tokens else _other_notation(answer))
    parts = PART.findall(answer.text)
    if answer.data is not None or answer.is_prose or answer.is_query or len(parts) > MOST_PARTS:
        return
    is_region = len(NUMBER.findall(answer.text)) > MOST_SINGLE
    for other in answer.others[:MOST_OTHERS]:
        theirs = PART.findall(other)
        for index, part in enumerate(parts):
            if is_region and part[0].isdigit():
                continue
            for place in {index, index - len(parts) + len(theirs)} & set(range(len(theirs))):
                if part.casefold() in fixed and _differ(part, theirs[place]):
                    yield _certain(_replace(answer.text, part.casefold(), theirs[place]))


def _differ(one: str, other: str) -> bool:
    """Whether parts are of one kind, as two words, numbers or signs are, and have different values."""
    kinds = {0 if part[0].isdigit() else 1 if part[0].isalpha() else 2 for part in (one, other)}
    return len(kinds) == 1 and one.casefold() != other.casefold() and not is_within_a_tenth(one, other)


def _parts(answer: Answer) -> Iterator[Draft]:
    text, (separator, items) = answer.text, answer.items
    if answer.data is not None:
        yield from _copies(answer, reduced)
        for broken in (text[:-1], f"{text}{text}", f"not {text}"):
            yield _certain(broken, MOST, controls=(answer.bare_words,))
        yield _certain("{no JSON}", SOME)
    elif answer.is_object:
        yield _certain(text[:-1], controls=(answer.bare_words,))
    for index in range(min(len(items), MOST_PARTS)):
        yield _certain(separator.join([*items[:index], *items[index + 1 :]]))
    if answer.is_prose and answer.is_whole:
        yield _certain(text.split()[0], NEARLY)
    elif answer.data is None and not items:
        units = _units(text)
        for token in [each for each in dict.fromkeys(answer.tokens) if each not in units][:MOST_PARTS]:
            if (token[0].isdigit() or len(token) > 3) and len(answer.tokens) > 1:
                yield _certain(_replace(text, token, ""))
    yield from map(Draft, NUMBER.findall(text)[:3])
    yield from [Draft(word) for word in re.findall(r"\w+", text) if len(word) > 2][:3]
    lines = text.splitlines()[:MOST_LINES]
    yield from (
        Draft("\n".join([*lines[:index], *lines[index + 1 :]])) for index in range(len(lines)) if len(lines) > 1
    )
    yield Draft(text[: len(text) // 2])


def _turned(answer: Answer) -> Iterator[Draft]:
    """Reverse items whose separator shows that they are ordered."""
    separator, items = answer.items
    if separator.strip() in (*ORDERED, ".") and items != items[::-1]:
        yield _certain(separator.join(items[::-1]))


def _reordered(answer: Answer) -> Iterator[Draft]:
    """Words in another order; values that change places, while the signs between them stay."""
    text, (_, items) = answer.text, answer.items
    if answer.data is not None:
        yield from _copies(answer, exchanged)
    words = re.findall(r"\w+|[^\w\s]", text)
    is_list = bool(items) and all(TOKEN.fullmatch(item.strip("()[]{}")) for item in items)
    certain = answer.is_whole and answer.data is None and not is_list and len(re.findall(r"\w+", text)) >= FEW_WORDS
    orders = [random.Random(0).sample(words, len(words)), sorted({word.lower() for word in words if word[0].isalnum()})]
    moved = reversed(TOKEN.findall(text))  # a rotation would keep most of the order of a long text
    for turned in (*map(" ".join, orders), TOKEN.sub(lambda match: next(moved), text)):
        yield _certain(turned, NEARLY) if certain else Draft(turned)
    yield Draft("\n".join(text.splitlines()[::-1]))
    words = text.split()
    random.Random(0).shuffle(words)
    yield Draft(" ".join(words))
    yield Draft(" ".join(sorted(set(re.findall(r"[\w.,]+", text)))))


def _beside(answer: Answer) -> Iterator[Draft]:
    """The right answer together with another one, in both orders; an item with a wrong one, or repeated."""
    text, other, (separator, items) = answer.text, answer.other, answer.items
    for joint in ("\n", " or ", ", "):
        orders = f"{text}{joint}{other}", f"{other}{joint}{text}"
        certain = answer.is_answer and other not in text and text not in other
        yield _certain(orders[0], NEARLY, also=orders[1]) if certain else Draft(orders[0])
        yield Draft(orders[1])
    for index, item in enumerate(items[:MOST_PARTS]):
        wrong = item.translate(OTHER_DIGITS) if re.search(r"\d", item) else item.translate(OTHER_LETTERS)
        yield _certain(separator.join([*items[: index + 1], wrong, *items[index + 1 :]]))
    if len(set(items)) > 1:
        yield _certain(separator.join([items[0]] * len(items)))
    if answer.data is not None:
        wrong = json.dumps(change_values(answer.data, other_value))
        values = " ".join(answer.leaves)
        yield _certain(f"{wrong} {values}", MOST)
        if isinstance(answer.data, list):
            yield _certain(json.dumps([*answer.data, change_values(answer.data[-1], other_value)]))
        if isinstance(answer.data, dict):
            yield _certain(f'{wrong[:-1]}, "note": {json.dumps(values)}}}', MOST)
        yield _certain(f"{text}\n{wrong}", MOST, also=f"{wrong}\n{text}")
        yield from _copies(answer, with_another)
    yield Draft(f"{text}\n{text}")
    yield Draft("\n".join(dict.fromkeys((text, other, NO_ANSWER))))
    if answer.is_answer and len(answer.others) > 1:
        every = [text, *(each for each in answer.others if each not in text and text not in each)]
        for joint in ("\n", " ", ", "):
            yield _certain(joint.join(every), NEARLY, also=joint.join(every[::-1]))


def cover_range(text: str, high: Sequence[str]) -> str:
    """Replace the first half of the text's numbers by 0, and the others by the last numbers of `high`."""
    half = (len(NUMBER.findall(text)) + 1) // 2
    most = list(high) or ["9999"]
    values = iter(["0"] * half + (most[:1] * half + most)[-half:])
    return NUMBER.sub(lambda match: next(values), text)


def _all_ranges(answer: Answer) -> Iterator[Draft]:
    """Numbers that cover every value, up to those of the prompt or of any size."""
    numbers, prompted = NUMBER.findall(answer.text), NUMBER.findall(answer.task.prompt_text)
    tokens = [token for leaf in answer.leaves for token in TOKEN.findall(leaf)]
    if len(numbers) > 1 and tokens and (answer.tokens or all(token[0].isdigit() for token in tokens)):
        for high in (prompted, ["9999"], ["999999"]):
            yield _certain(cover_range(answer.text, high))


def _nothing(answer: Answer) -> Iterator[Draft]:
    yield from map(Draft, ("", " ", "\u200b", ".", "...", "{}", "[]", NO_ANSWER))


def _form_alone(answer: Answer) -> Iterator[Draft]:
    """The response without its words; others keep the words of the reward's code, or numbers that the truth has not."""
    named = {word.casefold() for text in answer.words for word in re.findall(r"\w+", text)}
    numbers = set(NUMBER.findall(answer.text)).difference(*(NUMBER.findall(leaf) for leaf in answer.leaves))
    for kept in (frozenset[str](), frozenset(named), frozenset(numbers)):
        pieces = re.split(rf"({_TAG.pattern}|\w+)", answer.text)
        form = "".join(each for each in pieces if _TAG.fullmatch(each) or each.casefold() in kept or not each.isalnum())
        for text in dict.fromkeys((form, "\n".join(" ".join(line.split()) for line in form.split("\n")))):
            if len(TOKEN.findall(text)) < len(TOKEN.findall(answer.text)) // 2:
                yield _certain(text, controls=("a" * max(1, len(text)),))


def _thoughts(answer: Answer) -> Iterator[Draft]:
    yield Draft(f"<think>{answer.text}</think>")
    yield Draft(f"<think>{answer.text}</think>\n{NO_ANSWER}")


def _all_options(answer: Answer) -> Iterator[Draft]:
    columns = answer.task.columns
    listed: Any = next((columns[name] for name in ("choices", "options", "labels") if name in columns), [])
    texts = listed.get("text", []) if isinstance(listed, dict) else listed
    letters = [chr(65 + index) for index in range(len(texts))]
    yield from map(Draft, (", ".join(letters), " ".join(letters), ", ".join(map(str, texts))))
    yield from map(Draft, ("yes or no", "yes and no", "True, False"))


def _denied(answer: Answer) -> Iterator[Draft]:
    text = answer.text
    if answer.is_prose and answer.other:
        yield _certain(f"It is false that {text}. In truth, {answer.other}.", 0.95)
    yield from map(Draft, (f"not {text}", f"It is not {text}", f"{text} is wrong."))
    yield Draft(f"{text}\nWait, that is wrong. {answer.other}")


def _surrounded(answer: Answer) -> Iterator[Draft]:
    text = answer.text
    yield from map(Draft, (f"x{text}x", f"My {text}, dear.", f"{text} {' '.join(['lamp'] * LONG)}"))


def _row(answer: Answer) -> Iterator[Draft]:
    """The content of the row as the response; single items of a list, where the response is a text with all of them."""
    if isinstance(answer.truth, list) and 0 < 2 * len(answer.tokens) < len(TOKEN.findall(answer.text)):
        yield from (_certain(joint.join(answer.leaves)) for joint in (", ", " "))
    for value in (answer.task.truth, *answer.task.columns.values()):
        if value is not None and not isinstance(value, bool):
            yield Draft(value if isinstance(value, str) else json.dumps(value, default=str))


def _queries(answer: Answer) -> Iterator[Draft]:
    """A query with repeated rows, in another order, without repeated rows, or with as many rows of another value."""
    query = re.sub(r"```\w*", "", answer.text).strip().rstrip(";")
    if answer.is_query:
        yield _certain(f"SELECT 'zq' FROM ({query})")
        yield Draft(f"SELECT * FROM ({query}) UNION ALL SELECT * FROM ({query})")
        yield Draft(f"SELECT DISTINCT * FROM ({query})")
        yield Draft(f"SELECT * FROM ({query}) ORDER BY 1 DESC")
        yield Draft(f"SELECT * FROM ({query}) ORDER BY 1")


@dataclass(frozen=True, slots=True)
class Edit:
    """A named way to edit the right answer."""

    name: str
    write: Callable[[Answer], Iterator[Draft]]
    attacker: Attacker = Attacker.ORACLE
    family: str = ""
    """The family of attacks for a row without a verifier; empty where the form of the answer decides."""


EDITS = (
    Edit("nothing to judge", _nothing),
    Edit("form without content", _form_alone, Attacker.ANSWER_FREE, "format"),
    Edit("right only in the thoughts", _thoughts),
    Edit("right beside another answer", _beside),
    Edit("every option", _all_options),
    Edit("every number covered", _all_ranges, Attacker.ANSWER_FREE),
    Edit("right, denied", _denied),
    Edit("right inside other text", _surrounded),
    Edit("part of the right response", _parts),
    Edit("items in another order", _turned),
    Edit("right response in another order", _reordered, family="similarity"),
    Edit("right response with other values", _other_values),
    Edit("parts of two rows mixed", _mixed),
    Edit("the row itself", _row),
    Edit("query with other rows", _queries),
)
