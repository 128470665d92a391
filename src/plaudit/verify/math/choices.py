r"""Multiple choice: the options that a prompt lists, and answers that name one by its letter or by its text."""

import re

__all__ = ["letter_of", "options_in"]

_OPTION = re.compile(
    r"(?:^|(?<=[\s$]))(?:\\+textbf\s?\{\s?|\*\*|\\+(?:text|mathrm)\s?\{)?[(（]?(?P<letter>[A-J])(?:[)）]|[.:、．](?=\s|\$|\d))"
    r"[}*]{0,2}(?:\\+[ ,;:!]|\\+q?quad|[\s~:])*",
    re.MULTILINE,
)
_LETTER = re.compile(
    r"\W*(?:\\+(?:text|textbf|mathrm|mathbf|boldsymbol)\s?\{)?\W*(?:(?:option|choice|answer)\s+)?[(（]?([A-Ja-j])\s*"
    r"(?:[)）.:、}\s*$]+|$)",
    re.IGNORECASE,
)
_END = re.compile(r"(?:\\+q?quad|\\\\|[\s,;$~])+$")
_LONGEST_PROMPT = 20_000


def options_in(prompt: str) -> dict[str, str]:
    """The options of a prompt by letter, from "(A) 12" or "A. 12" on; empty unless they run A, B, … in order."""
    found = list(_OPTION.finditer(prompt[-_LONGEST_PROMPT:]))
    starts = [place for place, option in enumerate(found) if option["letter"] == "A"]
    listed = found[starts[-1] :] if starts else []
    options: dict[str, str] = {}
    ends = [*(option.start() for option in listed[1:]), len(prompt)]
    for option, end in zip(listed, ends, strict=True):
        if option["letter"] != "ABCDEFGHIJ"[len(options) : len(options) + 1]:
            break
        text = prompt[-_LONGEST_PROMPT:][option.end() : end]
        options[option["letter"]] = _END.sub("", text.split("\n\n")[0]).strip()
    return options if len(options) > 1 else {}


def letter_of(text: str, options: dict[str, str]) -> str | None:
    """The letter that a text names, alone or in front of the text of its own option."""
    found = _LETTER.match(text)
    if not found or found[1].upper() not in options:
        return None
    letter, rest = found[1].upper(), text[found.end() :].strip(" .)}$*")
    return letter if not rest or rest.casefold() == options[letter].strip(" .)}$*").casefold() else None
