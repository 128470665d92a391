"""IFBench's instructions about the form of a response (`format:…`)."""

import itertools
import re

from plaudit.verify.instructions.english import MINOR_WORDS
from plaudit.verify.instructions.formats import LINE_MARKUP
from plaudit.verify.instructions.instruction import Instruction, compare, options, result, text_argument
from plaudit.verify.instructions.parts import has_word, lines_of, same_text, sentence_mark, words_of
from plaudit.verify.patterns import compile_late
from plaudit.verify.text import sentences_of
from plaudit.verify.verifier import Verdict

_EMOJI = "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff\u25aa-\u25fe\u203c\u2049\u20e3\u3030\u303d]"
_STOP_AND_EMOJI = compile_late(rf"(?<![.!?…。！？])([.!?…。！？]++[\"'”’»)\]*_]*+)[^\S\n]*+((?:{_EMOJI}[^\S\n]*+)++)")
_ENDS_IN_EMOJI = compile_late(rf"{_EMOJI}[\s.!?…。！？\"'”’»)\]*_]*\Z")
_FENCE_LINE = compile_late(r"\s*(?:`{3,}|~{3,})\w*\s*")
_QUOTED = compile_late(r'"[^"]*"|“[^”]*”|«[^»]*»')
_STAR_BULLET = compile_late(r"^[^\S\n]*\*(?:[^\S\n]+(?=[^\n]*[^\W_])|(?=[^\W\d_])(?![^*\n]*\*))", re.MULTILINE)
_DASH_BULLET = compile_late(r"^[^\S\n]*-(?:[^\S\n]+(?=[^\n]*[^\W_])|(?=[^\W\d_]))", re.MULTILINE)
_HEADING = compile_late(
    r"^[ \t]*(?:#{1,6}[ \t].*|<h[1-6]\b.*</h[1-6]>|\*\*[^*\n]+\*\*:?|<(b|strong)>[^\n]*</\1>"
    r"|(?:section|part|chapter) \w+.*)[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_THESIS = compile_late(r"(?:\s|>|<(?!i\b|em\b)[a-z][^>]*>)*<(i|em)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_LETTERED = compile_late(r"\W*a\W+b\W+c\b", re.IGNORECASE)
_OPENING, _CLOSING = "([{", ")]}"
_QUOTES = {'"': '"', "“": '"', "”": '"', "'": "'", "‘": "'", "’": "'"}
_TEMPLATE = compile_late(
    r"\W*My Answer:(?P<answer>.*)My Conclusion:(?P<conclusion>.*)Future Outlook:(?P<outlook>.*)", re.DOTALL
)


def emoji(text: str) -> Verdict:
    """Each sentence ends with an emoji, before its stop or after it."""
    sentences = sentences_of(_STOP_AND_EMOJI.sub(r" \2\1 ", text))
    without = next((sentence for sentence in sentences if not _ENDS_IN_EMOJI.search(sentence)), None)
    return result(without is None and bool(sentences), f"no emoji ends {without!r:.60}" if without else "all sentences")


def line_indent(text: str) -> Verdict:
    """Two lines or more, each indented more than the line before it."""
    lines = [line.expandtabs(4) for line in lines_of(text) if not _FENCE_LINE.fullmatch(line)]
    indents = [len(line) - len(line.lstrip()) for line in lines]
    followed = len(indents) > 1 and all(second > first for first, second in itertools.pairwise(indents))
    return result(followed, f"lines indented by {', '.join(map(str, indents))[:80]}")


def special_bullets(text: str, sep: str) -> Verdict:
    """Two items or more, each with the separator before it at the start of a line, or in a line with others."""
    mark = re.escape(sep.strip())
    starts = re.findall(rf"{LINE_MARKUP}{mark}(?=[^\n]*[^\W_])", text, re.MULTILINE)
    parts = re.split(rf"(?<!\S){mark}(?!\S)", text)[1:] if len(sep.strip()) > 1 else []
    return compare(max(len(starts), sum(map(has_word, parts))), "at least", 2, f"items with {sep!r:.20}")


def newline(text: str) -> Verdict:
    """Each line has one word at most."""
    longer = next((line for line in lines_of(text) if sum(map(has_word, line.split())) > 1), None)
    return result(longer is None and has_word(text), f"{longer!r:.60} has words" if longer else "one word a line")


def no_whitespace(text: str) -> Verdict:
    """No space and no line break."""
    return result(not any(map(str.isspace, text)), "without whitespace or not")


def sentences_and_bullets(text: str) -> Verdict:
    """Two sentences or more that end in a period, then two bullet points or more."""
    bullets = [match.start() for match in _STAR_BULLET.finditer(text)]
    before = sentences_of(text[: bullets[0]]) if bullets else []
    sentences = sum(sentence_mark(sentence) == "." for sentence in before)
    reason = f"{sentences} sentences with a period before {len(bullets)} bullet points, expected 2 and 2"
    return result(sentences >= 2 and len(bullets) >= 2, reason)


def sub_bullets(text: str) -> Verdict:
    """A bullet point with `*` or more, and below each one or more with `-`."""
    starts = [match.start() for match in _STAR_BULLET.finditer(text)]
    items = [text[start:end] for start, end in itertools.pairwise([*starts, len(text)])]
    lonely = next((item for item in items if not _DASH_BULLET.search(item)), None)
    return result(
        lonely is None and bool(items), f"no sub-bullet below {lonely!r:.60}" if lonely else f"{len(items)} bullets"
    )


def one_option(text: str, options: tuple[str, ...]) -> Verdict:
    """The whole text is one of the options; lettered options exactly, others in any case and without punctuation."""
    if _LETTERED.match(" ".join(options)):
        return result(text in options, f"{text!r:.40}, expected one of {', '.join(options)}")
    answer = _bare(text)
    return result(answer in map(_bare, options), f"{text!r:.40}, expected one of {', '.join(options)!s:.80}")


def _bare(text: str) -> list[str]:
    return words_of(text.casefold().replace("’", "'"))


def nested_brackets(text: str) -> Verdict:
    """Brackets of any kind, five levels deep, all closed and with a word in them."""
    opened: list[tuple[str, int, int]] = []  # the closing mark, its index, how deep the brackets inside are
    deepest, last_word = 0, -1
    for index, character in enumerate(text):
        if character in _OPENING:
            opened.append((_CLOSING[_OPENING.index(character)], index, 0))
        elif character.isalnum():
            last_word = index
        elif opened and character == opened[-1][0]:
            _, start, depth = opened.pop()
            deepest = max(deepest, depth + 1 if last_word > start else 0)
            if opened:
                opened[-1] = (*opened[-1][:2], max(opened[-1][2], depth + 1))
    return compare(deepest, "at least", 5, "levels of brackets")


def nested_quotes(text: str) -> Verdict:
    """Quotations inside quotations, three levels deep, in double and single quotation marks by turns."""
    opened: list[tuple[str, int]] = []  # the mark, and how deep the quotations inside are
    deepest = 0
    for index, character in enumerate(text):
        mark = _QUOTES.get(character)
        before, after = text[index - 1 : index], text[index + 1 : index + 2]
        if mark is None or (mark == "'" and before.isalnum() and after.isalnum()):
            continue
        marks = [each for each, _ in opened]
        if mark in marks and before.strip() and (mark == marks[-1] or not after.isalnum()):
            del opened[len(marks) - marks[::-1].index(mark) :]
            depth = opened.pop()[1] + 1
            deepest = max(deepest, depth)
            if opened:
                opened[-1] = (opened[-1][0], max(opened[-1][1], depth))
        elif (after.strip() and not before.isalnum()) and mark not in marks[-1:]:
            opened.append((mark, 0))
    return compare(deepest, "at least", 3, "levels of quotations")


def quote_unquote(text: str) -> Verdict:
    """After each quotation comes a word outside of quotation marks."""
    quotations = [match for match in _QUOTED.finditer(text) if has_word(match[0])]
    ends = [*(match.start() for match in quotations[1:]), len(text)]
    for quotation, end in zip(quotations, ends, strict=False):
        if not has_word(text[quotation.end() : end]):
            return result(False, f"nothing explains {quotation[0]!r:.60}")
    return result(has_word(text), f"{len(quotations)} quotations with an explanation")


def thesis(text: str) -> Verdict:
    """Each section, below its heading, starts with a text in HTML italics and continues after it."""
    headings = list(_HEADING.finditer(text))
    starts = [match.end() for match in headings] or [0]
    ends = [*(match.start() for match in headings[1:]), len(text)]
    sections = [text[start:end] for start, end in zip(starts, ends, strict=True) if has_word(text[start:end])]
    for section in sections:
        match = _THESIS.match(section)
        if match is None or not has_word(match[2]) or not has_word(section[match.end() :]):
            return result(False, f"no thesis in italics starts {section.strip()!r:.60}")
    return result(bool(sections), f"{len(sections)} sections")


def title_case(text: str) -> Verdict:
    """Each word but articles, conjunctions and prepositions starts with a capital, and most have lower-case letters."""
    words = [word for word in words_of(text) if word[0].isalpha()]
    wrong = next((word for index, word in enumerate(words) if word.islower() and (not index or _is_major(word))), None)
    if wrong is not None:
        return result(False, f"{wrong!r:.40} is in lower case")
    long = [word for word in words if sum(map(str.isalpha, word)) > 1]
    shouted = sum(word.isupper() for word in long)
    return result(bool(words) and 2 * shouted <= len(long), f"{shouted} of {len(long)} words are in capitals")


def _is_major(word: str) -> bool:
    return word.casefold() not in MINOR_WORDS


def output_template(text: str) -> Verdict:
    """The three labels in order, each once, and each with content."""
    match = _TEMPLATE.fullmatch(text)
    if match is None or any(text.count(label) > 1 for label in ("My Answer:", "My Conclusion:", "Future Outlook:")):
        return result(False, "not the template")
    parts = match.groupdict().items()
    empty = [name for name, part in parts if not has_word(part) or same_text(part.strip("*_ \n"), f"[{name}]")]
    return result(not empty, f"{', '.join(empty)} missing" if empty else "the template")


IFBENCH = {
    "format:emoji": Instruction(emoji),
    "format:line_indent": Instruction(line_indent),
    "format:list": Instruction(special_bullets, {"sep": text_argument}),
    "format:newline": Instruction(newline),
    "format:no_bullets_bullets": Instruction(sentences_and_bullets),
    "format:no_whitespace": Instruction(no_whitespace),
    "format:options": Instruction(one_option, {"options": options}),
    "format:output_template": Instruction(output_template),
    "format:parentheses": Instruction(nested_brackets),
    "format:quote_unquote": Instruction(quote_unquote),
    "format:quotes": Instruction(nested_quotes),
    "format:sub-bullets": Instruction(sub_bullets),
    "format:thesis": Instruction(thesis),
    "format:title_case": Instruction(title_case),
}
