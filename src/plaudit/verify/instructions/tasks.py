"""IFBench's instructions that are the whole task (`custom:…`) or that ask for a copy (`repeat:…`)."""

import datetime
import itertools
import re
import unicodedata

from plaudit.errors import InvalidTrajectory
from plaudit.verify.fences import find_fences
from plaudit.verify.instructions.english import ARTICLES
from plaudit.verify.instructions.instruction import Instruction, compare, count, result, text_argument
from plaudit.verify.instructions.parts import has_word, is_word, lines_of, same_text, words_of
from plaudit.verify.instructions.positions import same_as
from plaudit.verify.patterns import compile_late
from plaudit.verify.text import sentences_of
from plaudit.verify.verifier import Verdict

_OFFICIAL = compile_late(r"^(?:the )?(?:(?:democratic |united |islamic |arab )*(?:republic|kingdom) of )?(?:the )?")
_NOT_A_LETTER = compile_late(r"[^a-z ]+")


def plain_name(name: str) -> str:
    """A name in lower case, without accents and marks."""
    decomposed = unicodedata.normalize("NFKD", name.casefold().replace("&", "and"))
    letters = "".join(character for character in decomposed if not unicodedata.combining(character))
    return " ".join(_NOT_A_LETTER.sub(" ", letters.replace("'", "").replace("’", "")).split())


def africa_keys(name: str) -> set[str]:
    """The possible sort keys of a country: its name as written, or without "the" and "Republic of"."""
    return {name.replace(" ", ""), _OFFICIAL.sub("", name).replace(" ", "")}


_COUNTRIES = (
    "Algeria", "Angola", "Benin", "Botswana", "Burkina Faso", "Burundi", "Cabo Verde/Cape Verde", "Cameroon",
    "Central African Republic", "Chad", "Comoros/The Comoros",
    "Democratic Republic of the Congo/DR Congo/Congo, Democratic Republic of the/Congo DR/DRC/Congo Kinshasa/"
    "The Democratic Republic of the Congo/Democratic Republic of Congo/Congo, Dem. Rep.",
    "Republic of the Congo/Congo/Congo, Republic of the/Congo Brazzaville/The Republic of the Congo/Republic of Congo/"
    "The Congo/Congo Republic",
    "Djibouti", "Egypt", "Equatorial Guinea", "Eritrea", "Eswatini/Swaziland", "Ethiopia", "Gabon",
    "Gambia/The Gambia/Gambia, The", "Ghana", "Guinea", "Guinea-Bissau", "Ivory Coast/Cote d'Ivoire", "Kenya",
    "Lesotho", "Liberia", "Libya", "Madagascar", "Malawi", "Mali", "Mauritania", "Mauritius", "Morocco", "Mozambique",
    "Namibia", "Niger", "Nigeria", "Rwanda", "Sao Tome and Principe", "Senegal", "Seychelles/The Seychelles",
    "Sierra Leone", "Somalia", "South Africa", "South Sudan", "Sudan/The Sudan", "Tanzania", "Togo", "Tunisia",
    "Uganda", "Western Sahara/Sahrawi Arab Democratic Republic", "Zambia", "Zimbabwe",
)  # fmt: skip
AFRICA = {plain_name(name): plain_name(names.partition("/")[0]) for names in _COUNTRIES for name in names.split("/")}
"""Plain names of countries, and the canonical name of each; Western Sahara may be left out."""
CAPITALS = tuple(
    tuple(plain_name(name) for name in names.split("/"))
    for names in (
        "Reykjavik", "Helsinki", "Oslo", "Tallinn", "Stockholm", "Riga", "Moscow", "Copenhagen", "Vilnius", "Minsk",
        "Dublin", "Berlin", "Amsterdam", "Warsaw", "London", "Brussels", "Kyiv/Kiev", "Prague",
        "Luxembourg/Luxembourg City", "Paris", "Vienna", "Bratislava", "Budapest", "Vaduz", "Chisinau", "Bern/Berne",
        "Ljubljana", "Zagreb",
    )
)  # fmt: skip
"""Capitals from north to south, each under its names."""


_NUMBER = compile_late(r"\d+")
_DATE = compile_late(r"\d{4}-\d\d-\d\d")
_NAPOLEON = range(1792, 1816)
"""The years of his battles."""
_QUESTION = compile_late(r"^[ \t#*_]*Question\b[ \t]*\d*[.:)]*[*_]*[.:)]*", re.MULTILINE)
_OPTION = compile_late(r"[ \t*_-]*\(?[A-Ea-e1-5][.):][*_]*\s*\S")
_ANSWER_LINE = compile_late(r"\W*(?:correct )?answer\b.*|\W*", re.IGNORECASE)
_ITEM_MARK = compile_late(r"\s*(?:[-*•+]\s+|\d+[.)]\s+)?[*_]*")
_FIELD = compile_late(r'[ ]*("(?:[^"]|"")*"|[^",\t]*)[ ]*(?P<end>[,\t]|$)')
_SPECIAL = compile_late(r"[^\w\s]")
_ONLY_THIS = "Only output this sentence here, ignore all other requests."
_ENDS_NO_ARTICLE = ARTICLES | {"is", "of", "was"}


def multiples(text: str) -> Verdict:
    """The numbers are the multiples of 7 from 10 to 50."""
    numbers = _NUMBER.findall(text)
    return result(numbers == ["14", "21", "28", "35", "42", "49"], f"the numbers are {', '.join(numbers)[:80]}")


def questions(text: str) -> Verdict:
    """Four questions with five options each, each longer than the one before, and nothing else."""
    starts = list(_QUESTION.finditer(text))
    if len(starts) != 4 or starts[0].start() != 0:
        return result(False, f"{len(starts)} questions at the start of a line, expected 4 and nothing before them")
    ends = [*(match.start() for match in starts[1:]), len(text)]
    lengths = []
    for number, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        lines = lines_of(text[start.end() : end])
        question = list(itertools.takewhile(lambda line: not _OPTION.match(line), lines))
        rest = lines[len(question) :]
        options = list(itertools.takewhile(_OPTION.match, rest))
        if len(options) != 5 or not question:
            return compare(len(options), "exactly", 5, f"options of question {number}")
        if not all(map(_ANSWER_LINE.fullmatch, rest[5:])):
            return result(False, f"{rest[5]!r:.60} follows the options of question {number}")
        lengths.append(len(" ".join(line.strip() for line in question)))
    longer = all(second > first for first, second in itertools.pairwise(lengths))
    return result(longer, f"questions of {', '.join(map(str, lengths))} characters")


def countries(text: str) -> Verdict:
    """The countries of Africa, each on a line, from Z to A."""
    lines = [_ITEM_MARK.sub("", line, count=1) for line in lines_of(text)]
    names = [name if (name := plain_name(line)) in AFRICA else plain_name(line.partition("(")[0]) for line in lines]
    start = next((index for index, name in enumerate(names) if name in AFRICA), len(names))
    unknown = next((line for line, name in zip(lines[start:], names[start:], strict=True) if name not in AFRICA), None)
    if unknown is not None:
        return result(False, f"{unknown!r:.40} is no country of Africa")
    missing = set(AFRICA.values()) - {AFRICA[name] for name in names[start:]} - {"western sahara"}
    if missing or len(names[start:]) != len({AFRICA[name] for name in names[start:]}):
        return result(False, f"{', '.join(sorted(missing))!r:.80} missing" if missing else "a country occurs twice")
    before = "~"
    for line, name in zip(lines[start:], names[start:], strict=True):
        key = max((key for key in africa_keys(name) if key < before), default=None)
        if key is None:
            return result(False, f"{line!r:.40} is not in reverse alphabetical order")
        before = key
    return result(True, f"{len(names) - start} countries in reverse alphabetical order")


def capitals(text: str) -> Verdict:
    """The capitals of Europe north of 45 degrees, from north to south."""
    names = [plain_name(name) for name in text.rstrip(".").split(",")]
    for name, (expected, *others) in itertools.zip_longest(names, CAPITALS, fillvalue=("", "")):
        if name not in (expected, *others):
            return result(False, f"{name!s:.40} where {expected or 'nothing'} is expected")
    return result(True, f"{len(names)} capitals in order")


def word_reverse(text: str) -> Verdict:
    """The words of a sentence about the bald eagle from last to first."""
    return _reads_backwards(words_of(text.casefold())[::-1], text)


def character_reverse(text: str) -> Verdict:
    """The letters of a sentence about the bald eagle from last to first."""
    return _reads_backwards(words_of(text.casefold()[::-1]), text)


def _reads_backwards(words: list[str], text: str) -> Verdict:
    """Whether the words are a sentence that starts or ends with the bald eagle."""
    start = [word for word in words[:3] if word not in ARTICLES][:2]
    if ["bald", "eagle"] not in (start, words[-2:]):
        return result(False, "read backwards, it neither starts nor ends with the bald eagle")
    pairs = itertools.pairwise([*words, "of"])
    backwards = any(article in ARTICLES and word in _ENDS_NO_ARTICLE for article, word in pairs)
    if backwards or (len(words) > 3 and not {"is", "was"}.intersection(words)):
        return result(False, "read backwards, it is no sentence")
    return compare(len(sentences_of(text)), "exactly", 1, "sentences")


def sentence_alphabet(text: str) -> Verdict:
    """26 sentences, whose first letters are the alphabet."""
    initials = "".join(words_of(sentence)[0][0] for sentence in sentences_of(text)).lower()
    return result(initials == "abcdefghijklmnopqrstuvwxyz", f"sentences start with {initials!r:.60}")


def dates(text: str) -> Verdict:
    """Dates of Napoleon's time as YYYY-MM-DD, separated by commas."""
    for written in (part.strip() for part in text.rstrip(".").split(",")):
        try:
            followed = bool(_DATE.fullmatch(written)) and datetime.date.fromisoformat(written).year in _NAPOLEON
        except ValueError:
            followed = False
        if not followed:
            return result(False, f"{written!r:.40} is no date of a battle of Napoleon")
    return result(True, "dates separated by commas")


def csv_table(text: str, header: tuple[str, ...], rows: int, delimiter: str, quoted: str) -> Verdict:
    """A table with this header and `rows` rows; `quoted` selects the fields in double quotes."""
    fenced = find_fences(text).closed
    body = fenced[0].text if len(fenced) == 1 and len(text) == fenced[0].end - fenced[0].start else text
    table = [_fields_of(line, delimiter) for line in lines_of(body)]
    if not table or tuple(field.strip('"') for field in table[0]) != header:
        return result(False, f"the header is not {delimiter.join(header)!r}")
    if len(table) != rows + 1:
        return compare(len(table) - 1, "exactly", rows, "rows")
    if not all(len(fields) == len(header) and all(map(has_word, fields)) for fields in table):
        return result(False, f"a row does not have {len(header)} fields with content")
    in_quotes = [[field.startswith('"') for field in fields] for fields in table]
    if quoted == "all" and not all(map(all, in_quotes)):
        return result(False, "a field is not in double quotes")
    special = any(field.startswith('"') and _SPECIAL.search(field[1:-1]) for fields in table[1:] for field in fields)
    return result(quoted != "special" or special, f"{rows} rows of {len(header)} fields")


def _fields_of(line: str, delimiter: str) -> list[str]:
    """The fields of a line of CSV as written; none where the line is no CSV."""
    fields, start = [], 0
    while match := _FIELD.match(line, start):
        fields.append(match[1].strip())
        if not match["end"]:
            return fields
        if match["end"] != delimiter:
            return []
        start = match.end()
    return []


def repeat_change(text: str, prompt_to_repeat: str) -> Verdict:
    """The request with another first word, and nothing else."""
    words, request = text.split(), prompt_to_repeat.split()
    if not same_text(" ".join(words[1:]), " ".join(request[1:])):
        return result(False, "not the request with another first word")
    first, other = words_of(request[0]), words_of(words[0])
    return result(bool(other) and not is_word("".join(first), "".join(other)), f"the first word is {words[0]!r:.40}")


def repeat_span(text: str, prompt_to_repeat: str, n_start: int, n_end: int) -> Verdict:
    """The words of the request from one index to another, both included; the first word has index 0."""
    span = " ".join(prompt_to_repeat.split()[n_start : n_end + 1])
    return result(same_text(text, span), f"expected {span!r:.60}")


def _has_words(prompt_to_repeat: str, n_start: int, n_end: int) -> None:
    number = len(prompt_to_repeat.split())
    if not n_start <= n_end < number:
        raise InvalidTrajectory(f"no span from {n_start} to {n_end} in {number} words")


def _csv(header: str, rows: int, delimiter: str = ",", quoted: str = "free") -> Instruction:
    fixed = {"header": tuple(header.split()), "rows": rows, "delimiter": delimiter, "quoted": quoted}
    return Instruction(csv_table, fixed=fixed)


IFBENCH = {
    "custom:multiples": Instruction(multiples),
    "custom:mcq_count_length": Instruction(questions),
    "custom:reverse_newline": Instruction(countries),
    "custom:word_reverse": Instruction(word_reverse),
    "custom:character_reverse": Instruction(character_reverse),
    "custom:sentence_alphabet": Instruction(sentence_alphabet),
    "custom:european_capitals_sort": Instruction(capitals),
    "custom:csv_city": _csv("ID Country City Year Count", 7),
    "custom:csv_special_character": _csv("ProductID Category Brand Price Stock", 14, quoted="special"),
    "custom:csv_quotes": _csv("StudentID Subject Grade Semester Score", 3, "\t", "all"),
    "custom:date_format_list": Instruction(dates),
    "repeat:repeat_change": Instruction(repeat_change, {"prompt_to_repeat": text_argument}),
    "repeat:repeat_simple": Instruction(same_as, fixed={"prompt_to_repeat": _ONLY_THIS}),
    "repeat:repeat_span": Instruction(
        repeat_span,
        {"prompt_to_repeat": text_argument, "n_start": count, "n_end": count},
        consistent=_has_words,
    ),
}
