r"""Multiple choice: the options that a prompt lists, and answers that name one by its letter or by its text."""

import re

from plaudit.verify.patterns import compile_late

_OPTION = compile_late(
    r"(?:^|(?<=[\s$/])|(?<=quad))(?:\\+textbf\s?\{\s?|\*\*|\\+(?:text|mathrm)\s?\{)?[(（]?(?P<letter>[A-J])(?:[)）]|[.:、．](?=\s|\$|\d))"
    r"[}*]{0,2}(?:\\+[ ,;:!]|\\+q?quad|[\s~:])*",
    re.MULTILINE,
)
_LETTER = compile_late(
    r"\W*(?:\\+(?:text|textbf|mathrm|mathbf|boldsymbol)\s?\{)?\W*(?:(?:option|choice|answer)\s+)?[(（]?([A-Ja-j])\s*"
    r"(?:[)）.:、}\s*$]+|$)",
    re.IGNORECASE,
)
_END = compile_late(r"(?:\\+q?quad|\\\\|[\s,;$~])+$")
_LETTERS = "ABCDEFGHIJ"
_LONGEST_PROMPT = 20_000
_LETTER_WITH_TEXT = compile_late(
    r"(?:\\text\s?\{\s?)?(?:(?:[Oo]ption|[Cc]hoice)\s)?\(?\s?([A-Ja-j])\s?(?:(?:[).:]|\\?\})\s?\}?(.*)|)", re.DOTALL
)


def find_options(prompt: str) -> dict[str, str]:
    """The options of a prompt by letter, from "(A) 12" or "A. 12" on; empty unless they run A, B, … in order."""
    text = prompt[-_LONGEST_PROMPT:]
    marked = list(_OPTION.finditer(text))
    first = max((index for index, option in enumerate(marked) if option["letter"] == "A"), default=len(marked))
    listed = marked[first:]
    options: dict[str, str] = {}
    for option, letter, following in zip(listed, _LETTERS, [*listed[1:], None], strict=False):
        if option["letter"] != letter:
            break
        content = text[option.end() : following.start() if following else len(text)]
        options[letter] = _END.sub("", content.split("\n\n")[0]).strip()
    *earlier, last = options or [""]
    if earlier and not any("\n" in options[letter] for letter in earlier):
        options[last] = options[last].split("\n")[0].rstrip()  # what follows is no part of an option
    return options if len(options) > 1 else {}


def may_name_option(text: str) -> bool:
    """Whether a text begins with the letter of an option."""
    return _LETTER.match(text) is not None


def find_letter(text: str, options: dict[str, str]) -> str | None:
    """The letter that a text names, alone or before the text of that option."""
    match = _LETTER.match(text)
    if not match or match[1].upper() not in options:
        return None
    letter, rest = match[1].upper(), text[match.end() :].strip(" .)}$*\\")
    return letter if not rest or rest.casefold() == options[letter].strip(" .)}$*\\").casefold() else None


def same_choice(truth: str, answer: str) -> bool:
    """Whether one side is a letter and the other that letter, alone or with its text."""
    one, other = _LETTER_WITH_TEXT.fullmatch(truth), _LETTER_WITH_TEXT.fullmatch(answer)
    if one is None or other is None or one[1].upper() != other[1].upper():
        return False
    texts = [side[2] for side in (one, other) if side[2] and side[2].strip(" )}")]
    if not texts:
        return one[1].isupper() or other[1].isupper()
    return len(texts) == 1 and one[1] == other[1] and one[1].isupper() and not _OPTION.search(texts[0])
