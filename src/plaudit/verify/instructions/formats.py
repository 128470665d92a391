"""Instructions about the form of a response: bullets, highlights, sections, titles, JSON, brackets."""

import json
import re

from plaudit.verify.instructions.instruction import Instruction, N, compare, count, result, text_argument, texts
from plaudit.verify.instructions.parts import has_word, words_of
from plaudit.verify.patterns import compile_late
from plaudit.verify.text import bare_words, sentences_of
from plaudit.verify.verifier import Verdict

_BULLET = compile_late(
    r"^[^\S\n]*(?:[*-][^\S\n]+(?=\S)(?![*\-][^\S\n])[^\n]*[^\W_]|-[^\W\d_]|\*[^\W\d_](?![^*\n]*\*))", re.MULTILINE
)
_HIGHLIGHT = compile_late(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]*[^\s*])\1(?!\*)")
_PLACEHOLDER = compile_late(r"\[([^\[\]\n]*)\]")
_TITLE = compile_late(r"(?<![\w<])<<([^<>\n]*)>>(?![\w>])")
_OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
SIX_ASTERISKS = compile_late(r"(?<!\*)\*{6}(?!\*)")
_BRACKETED_WORD = compile_late(r"\[[^\[\]\s]*\]")
_BIGRAM = compile_late(r"<<([^<>]*)>>")
_JOINED = compile_late(r"[.!?][\"'”’)]*+-(?=\S)")
_NOT_JOINED = compile_late(r"(?<=[^\W_]{2})[.!?…]++[\"'”’)]*+[A-ZÀ-Þ–—_~|/]")
LINE_MARKUP = r"^[ \t#>*_\-–—\[(]*"


def number_placeholders(text: str, num_placeholders: int) -> Verdict:
    """So many texts in square brackets."""
    return compare(sum(map(has_word, _PLACEHOLDER.findall(text))), "at least", num_placeholders, "placeholders")


def postscript(text: str, postscript_marker: str) -> Verdict:
    """A line or a sentence that starts with the marker and continues after it."""
    marker = postscript_marker.strip()
    letters = [re.escape(letter) for letter in marker.rstrip(".").split(".")]
    spelled = (
        r"\.\s?".join(letters) + (r"\." if marker.endswith(".") else r"\.?") if "." in marker else re.escape(marker)
    )
    pattern = rf"(?:{LINE_MARKUP}|(?<=[.!?:)\"”])[^\S\n]+[*_]*){spelled}(?!\w)(?P<content>.*)"
    match = re.search(pattern, text, re.MULTILINE | re.DOTALL | re.IGNORECASE)
    if match is None:
        return result(False, f"nothing starts with {marker!r:.20}")
    return result(has_word(match["content"]), f"{match['content'].strip()[:40]!r} follows {marker!r:.20}")


def number_bullets(text: str, num_bullets: int) -> Verdict:
    """Exactly `num_bullets` lines that start with `*` or `-`; emphasis, dividers and negative numbers do not count."""
    return compare(len(_BULLET.findall(text)), "exactly", num_bullets, "bullet points")


def constrained(text: str) -> Verdict:
    """One of the three answers of IFEval is there, and no other of them."""
    return _one_option([option for option in _OPTIONS if option in text])


def choice(text: str, options: tuple[str, ...]) -> Verdict:
    """One of the options is there, and no other of them."""
    present = [option for option in options if option.casefold() in text.casefold()]
    return _one_option([each for each in present if not any(each != other and each in other for other in present)])


def _one_option(options: list[str]) -> Verdict:
    return result(
        len(options) == 1, f"the answer has {', '.join(map(repr, options))[:80]}" if options else "no option is there"
    )


def number_highlights(text: str, num_highlights: int) -> Verdict:
    """So many texts between asterisks."""
    highlights = [match for match in _HIGHLIGHT.finditer(text) if has_word(match[2])]
    return compare(len(highlights), "at least", num_highlights, "highlighted sections")


def number_sections(text: str, section_spliter: str, num_sections: int, relation: str) -> Verdict:
    """So many sections with content, each headed by the word and a number of its own."""
    heading = re.compile(
        rf"{LINE_MARKUP}(?:\d+[.)][ \t]+)?[*_]*{re.escape(section_spliter.strip())}[^\S\n]?(\d+)(?!\w)", re.MULTILINE
    )
    headings = list(heading.finditer(text))
    ends = [*(match.start() for match in headings[1:]), len(text)]
    numbers = {match[1] for match, end in zip(headings, ends, strict=False) if has_word(text[match.end() : end])}
    return compare(len(numbers), relation, num_sections, f"sections headed {section_spliter!r:.30}")


def json_format(text: str) -> Verdict:
    """The whole answer is JSON, in a code fence or not."""
    written = text
    if text.startswith("```") and text.endswith("```") and len(text) > 6:
        inside = text[3:-3].strip()
        written = inside[4:] if inside[:4].lower() == "json" else inside
    try:
        json.loads(written, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return result(False, f"not JSON: {error}"[:120])
    return result(True, "valid JSON")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no value of JSON")


def title(text: str) -> Verdict:
    """A title in double angular brackets."""
    for match in _TITLE.finditer(text):
        start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        alone = not has_word(text[start : match.start()] + text[match.end() : len(text) if end < 0 else end])
        if has_word(match[1]) and (alone or match[1] == match[1].strip()):
            return result(True, f"the title is {match[1].strip()!r:.60}")
    return result(False, "there is no title such as <<poem of joy>>")


def two_responses(text: str) -> Verdict:
    """Two different responses, separated by six asterisks."""
    parts = [part.strip() for part in SIX_ASTERISKS.split(text)]
    kept = parts[not parts[0] : len(parts) - (len(parts) > 1 and not parts[-1])]
    if len(kept) != 2 or not all(has_word(part) for part in kept):
        return result(False, f"{sum(has_word(part) for part in parts)} responses between ******, expected 2")
    different = bare_words(kept[0]) != bare_words(kept[1])
    return result(different, "two different responses" if different else "both responses are the same")


def bracketed_words(text: str) -> Verdict:
    """Every word is in square brackets of its own."""
    number = sum(map(has_word, _BRACKETED_WORD.findall(text)))
    outside = words_of(_BRACKETED_WORD.sub(" ", text))
    return result(
        number > 0 and not outside, f"{outside[0]!r:.40} is not in brackets" if outside else f"{number} words"
    )


def bigrams(text: str) -> Verdict:
    """Words are wrapped in pairs; the last one may stand alone if their number is odd."""
    groups = [len(group.split()) for group in _BIGRAM.findall(text) if has_word(group)]
    outside = words_of(_BIGRAM.sub(" ", text))
    after = words_of(text[text.rfind(">>") + 2 :]) if groups else []
    if not groups:
        return result(False, "nothing is wrapped in << >>")
    if outside and (len(outside) > 1 or not after or groups[-1] != 2):
        return result(False, f"{outside[0]!r:.40} is not wrapped")
    wrong = next((number for number in groups[:-1] if number != 2), groups[-1] if groups[-1] > 2 else None)
    return result(wrong is None, f"{len(groups)} pairs" if wrong is None else f"a pair of {wrong} words")


def joined_sentences(text: str) -> Verdict:
    """Sentences are joined by hyphens without spaces."""
    loose, touching = sentences_of(text), _NOT_JOINED.search(text)
    if len(loose) > 1 or touching:
        before = loose[0] if touching is None else text[: touching.end() - 1]
        return result(False, f"no hyphen follows {before[-40:]!r}")
    return result(
        " -" not in text and "- " not in text, f"{len(_JOINED.findall(text)) + 1} sentences joined by hyphens"
    )


IFEVAL = {
    "detectable_content:number_placeholders": Instruction(number_placeholders, {"num_placeholders": count}),
    "detectable_content:postscript": Instruction(postscript, {"postscript_marker": text_argument}),
    "detectable_format:number_bullet_lists": Instruction(number_bullets, {"num_bullets": count}),
    "detectable_format:constrained_response": Instruction(constrained),
    "detectable_format:number_highlighted_sections": Instruction(number_highlights, {"num_highlights": count}),
    "detectable_format:multiple_sections": Instruction(
        number_sections, {"section_spliter": text_argument, "num_sections": count}, fixed={"relation": "at least"}
    ),
    "detectable_format:json_format": Instruction(json_format),
    "detectable_format:title": Instruction(title),
    "combination:two_responses": Instruction(two_responses),
}
TRAINING = {
    "detectable_format:square_brackets": Instruction(bracketed_words),
    "detectable_format:bigram_wrapping": Instruction(bigrams),
    "detectable_format:sentence_hyphens": Instruction(joined_sentences),
}
FUNCTIONS = {
    "verify_postscript": Instruction(postscript, {"postscript_marker": text_argument}),
    "validate_placeholders": Instruction(number_placeholders, {"num_placeholders": N}),
    "verify_bullet_points": Instruction(number_bullets, {"num_bullets": N}),
    "validate_title": Instruction(title),
    "validate_choice": Instruction(choice, {"options": texts}),
    "validate_highlighted_sections": Instruction(number_highlights, {"num_highlights": N}),
    "validate_sections": Instruction(
        number_sections,
        {"section_spliter": ("section_splitter", text_argument), "num_sections": N},
        {"relation": "exactly"},
    ),
    "validate_json_format": Instruction(json_format),
    "validate_two_responses": Instruction(two_responses),
}
