"""Instructions as the public checkers of IFEval and IFBench judge them, faults included, to compare with their figures.

Types that are not here are judged by the same rule in both, or need data that the checkers download: their splitter of
sentences, tokens and tags of NLTK, a language detector, a list of syllables. Those keep our check.
"""

import csv
import dataclasses
import functools
import json
import re
import string
from collections.abc import Callable

from plaudit.verify.instructions.constraints import IFBENCH, IFEVAL
from plaudit.verify.instructions.counts import NAMES
from plaudit.verify.instructions.instruction import Instruction, result
from plaudit.verify.text import sentences_of
from plaudit.verify.verifier import Verdict

_OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_CONJUNCTIONS = {"and", "but", "for", "nor", "or", "so", "yet"}
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_LONGEST_MONTHS = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
_NO_MARKS = str.maketrans("", "", string.punctuation)
_MARKS = string.punctuation + " "


def _bullets(text: str, num_bullets: int) -> bool:
    return len(re.findall(r"^[^\S\n]*(?:\*[^*\n]|-)", text, re.MULTILINE)) == num_bullets


def _highlights(text: str, num_highlights: int) -> bool:
    single, double = re.findall(r"\*[^\n*]*\*", text), re.findall(r"\*\*[^\n*]*\*\*", text)
    return sum(bool(each.strip("*").strip()) for each in (*single, *double)) >= num_highlights


def _placeholders(text: str, num_placeholders: int) -> bool:
    closed = (line[: line.rfind("]") + 1] for line in text.split("\n"))
    return sum(len(re.findall(r"\[[^\]]*\]", line)) for line in closed) >= num_placeholders


def _title(text: str) -> bool:
    return any(each.strip("<>").strip() for each in re.findall(r"<<[^\n]+>>", text))


def _postscript(text: str, postscript_marker: str) -> bool:
    patterns = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
    return re.search(patterns.get(postscript_marker, re.escape(postscript_marker.lower())), text.lower()) is not None


def _sections(text: str, section_spliter: str, num_sections: int, relation: str) -> bool:
    return len(re.split(rf"\s?{re.escape(section_spliter)}\s?\d+\s?", text)) - 1 >= num_sections


def _json(text: str) -> bool:
    inside = text
    for fence in ("```json", "```Json", "```JSON", "```"):
        inside = inside.removeprefix(fence)
    try:
        json.loads(inside.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


def _between(text: str, divider: str) -> list[str] | None:
    """The stripped parts without an empty first or last one; None where another one is empty."""
    parts = [part.strip() for part in re.split(divider, text)]
    kept = [part for index, part in enumerate(parts) if part or 0 < index < len(parts) - 1]
    return kept if all(kept) else None


def _paragraphs(text: str, num_paragraphs: int) -> bool:
    return len(_between(text, r"\s?\*\*\*\s?") or ()) == num_paragraphs


def _two_responses(text: str) -> bool:
    parts = _between(text, r"\*{6}") or ()
    return len(parts) == 2 and parts[0] != parts[1]


def _unique_words(text: str, number: int) -> bool:
    return len({word.strip(_MARKS) for word in text.lower().split()}) >= number


def _sentence_type(text: str) -> bool:
    ends = [sentence[-1] for sentence in sentences_of(text)]
    return ends.count(".") == 2 * ends.count("?")


def _sentence_balance(text: str) -> bool:
    ends = [sentence[-1] for sentence in sentences_of(text)]
    return ends.count(".") == ends.count("?") == ends.count("!")


def _sentence_words(text: str) -> bool:
    sentences = sentences_of(text)
    return len(sentences) == 3 and len(set(map(len, sentences))) == 1


def _conjunctions(text: str, small_n: int) -> bool:
    return len({word for word in text.split() if word.strip(_MARKS).lower() in _CONJUNCTIONS}) >= small_n


def _person_names(text: str, number: int) -> bool:
    return sum(name in text for name in NAMES) >= number


def _numbers(text: str, number: int) -> bool:
    return len(re.findall(r"\d+", text.translate(_NO_MARKS))) == number


def _japanese(text: str, number: int) -> bool:
    words = (word.strip(_MARKS) for word in text.split()[number - 1 :: number])
    return all(not word or word.isdigit() or re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", word) for word in words)


def _palindromes(text: str) -> bool:
    return sum(len(word) >= 5 and word == word[::-1] for word in text.translate(_NO_MARKS).lower().split()) >= 10


def _brackets(text: str) -> bool:
    opened: list[str] = []
    deepest = 0
    for character in text:
        if character in "([{":
            opened.append(character)
            deepest = max(deepest, len(opened))
        elif character in ")]}":
            if opened and opened.pop() + character in ("()", "[]", "{}"):
                if deepest >= 5:
                    return True
            else:
                opened, deepest = [], 0
    return False


def _quote_unquote(text: str) -> bool:
    plain = "".join(re.sub("[“”]", '"', text).replace("'\"'", "").split())
    return '""' not in plain and not plain.strip(string.digits + string.punctuation.replace('"', "")).endswith('"')


def _separators(text: str, sep: str) -> bool:
    return text.count(sep) >= 2


def _sub_bullets(text: str) -> bool:
    return all("-" in part for part in text.split("*")[1:])


def _template(text: str) -> bool:
    return all(label in text for label in ("My Answer:", "My Conclusion:", "Future Outlook:"))


def _dates(text: str) -> bool:
    for written in text.split(","):
        match = _DATE.fullmatch(written.strip())
        if match is None:
            return False
        year, month, day = map(int, match.groups())
        if not 1769 <= year <= 1821 or month > 12 or day > _LONGEST_MONTHS.get(month, 99 if month == 0 else 31):
            return False
    return True


def _city_table(text: str, **_: object) -> bool:
    table = list(csv.reader(text.split("\n")))
    return (
        len(table) == 8
        and table[0] == ["ID", "Country", "City", "Year", "Count"]
        and all(len(row) == 5 for row in table)
    )


def _repeat_change(text: str, prompt_to_repeat: str) -> bool:
    return text != prompt_to_repeat and text.split()[1:] == prompt_to_repeat.split()[1:]


def _repeat_span(text: str, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    return text.lower().split() == prompt_to_repeat.lower().split()[n_start:n_end]


_CHECKS: dict[str, Callable[..., bool]] = {
    "detectable_format:number_bullet_lists": _bullets,
    "detectable_format:number_highlighted_sections": _highlights,
    "detectable_format:title": _title,
    "detectable_format:multiple_sections": _sections,
    "detectable_format:json_format": _json,
    "detectable_format:constrained_response": lambda text: any(option in text for option in _OPTIONS),
    "detectable_content:number_placeholders": _placeholders,
    "detectable_content:postscript": _postscript,
    "length_constraints:number_paragraphs": _paragraphs,
    "combination:two_responses": _two_responses,
    "combination:repeat_prompt": lambda text, prompt_to_repeat: text.lower().startswith(
        prompt_to_repeat.strip().lower()
    ),
    "startend:end_checker": lambda text, end_phrase: text.strip('"').lower().endswith(end_phrase.strip().lower()),
    "startend:quotation": lambda text: len(text) > 1 and text[0] == text[-1] == '"',
    "punctuation:no_comma": lambda text, characters: "," not in text,
    "count:unique_word_count": _unique_words,
    "count:conjunctions": _conjunctions,
    "count:person_names": _person_names,
    "count:numbers": _numbers,
    "count:words_japanese": _japanese,
    "ratio:sentence_type": _sentence_type,
    "ratio:sentence_balance": _sentence_balance,
    "ratio:sentence_words": _sentence_words,
    "words:palindrome": _palindromes,
    "format:parentheses": _brackets,
    "format:quote_unquote": _quote_unquote,
    "format:list": _separators,
    "format:sub-bullets": _sub_bullets,
    "format:output_template": _template,
    "custom:date_format_list": _dates,
    "custom:csv_city": _city_table,
    "custom:character_reverse": lambda text: "elgae dlab" in text.lower(),
    "repeat:repeat_change": _repeat_change,
    "repeat:repeat_span": _repeat_span,
}


def _as_published(check: Callable[..., bool]) -> Callable[..., Verdict]:
    @functools.wraps(check)
    def judge(text: str, **arguments: object) -> Verdict:
        followed = check(text, **arguments)
        return result(followed, f"{'followed' if followed else 'not followed'} as the public checker counts")

    return judge


PUBLISHED: dict[str, Instruction] = {
    name: dataclasses.replace((IFEVAL.get(name) or IFBENCH[name]), check=_as_published(check))
    for name, check in _CHECKS.items()
}
"""The types whose public checker differs from ours, with the check of the public one."""
