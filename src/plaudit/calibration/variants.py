"""Versions of a response that differ in one respect only, and responses that a careless judge accepts.

Both versions of a pair end with the response word for word. `longer_pair`: a short or a long opening without content,
with the same layout. `markup_pair`: the same opening with or without Markdown, with equal numbers of characters, words
and lines, so that a judge that counts any of them sees no difference.
"""

import re
from collections.abc import Sequence

NOTHING = "There is nothing to report."
"""The baseline of the attacks: a response that no criterion of content accepts."""
_OPENING = (
    "What follows is the reply to what was written above, in the order in which it came up, one part after the other, "
    "and then the same once more, as it is often done where somebody would like to read a thing twice before going on "
    "to whatever comes next. Before the reply itself comes a passage that leads up to it, as there often is one in "
    "letters and in talks, with a few words that could be left out, since all of them only say that a reply is about "
    "to come, which it does further down, and again at the end. The lines below hold the reply. They are put down here "
    "a first time as running text, and a second time on their own, so that whoever would like to skip this passage may "
    "do so and go straight to the end, where nothing is different."
)
_ITEM = re.compile(r"^(\s*)([-*+•])\s(.*)")
_PLAIN_WORDS = re.compile(r"[\w'’.,:;!?%$€()/=+<>\\{}\[\]-]+")
_MARKS = re.compile(r"[*_`#>|~]+|^\s*[-+•]\s+|^\s*\d+[.)]\s+", re.MULTILINE)
_WORDS = re.compile(r"[^\W\d_]{4,}")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "about above after also been before being below between could does each else even ever every following from "
        "give given gives have having here into itself just like made make many more most must never none once only "
        "other please question response responses reply answer same shall should since some such than that their them "
        "then there these they this those upon used uses using very want were what when where whether which while whom "
        "whose will with within would write your prompt criterion",
    )
)
"""Words that name no topic."""


def longer_pair(response: str) -> tuple[str, str]:
    """The response after a short opening, and after a long one that repeats it without its markup."""
    copy = " ".join(_PLAIN_WORDS.findall(_MARKS.sub(" ", response)))
    return f"Reply:\n\n{response}", f"{_OPENING} {copy} Reply:\n\n{response}"


def markup_pair(response: str) -> tuple[str, str]:
    """The response behind a plain opening, and behind the same opening with a heading, a list and bold words.

    Lines become items of the list, except for the last; the marks of the response are replaced in the plain version.
    """
    *first, last = response.splitlines() or [""]
    items = [line if not line.strip() or _ITEM.match(line) else f"- {line}" for line in first]
    plain = [_ITEM.sub(r"\1\3 \2", line) for line in [*items, last]]
    return (
        "\n\n".join(["== Reply\n\n==As written== -\n==In full== -\n==As follows:== -", _neutral("\n".join(plain))]),
        "\n\n".join(["## Reply\n\n- **As written**\n- **In full**\n- **As follows:**", "\n".join([*items, last])]),
    )


def _neutral(text: str) -> str:
    """The text with as many characters, none of which is a mark of Markdown."""
    return text.replace("**", "==").replace("`", "'").replace("#", "=")


def attack_topical(prompt: str, criterion: str, hidden: str) -> str:
    """A response that names the topic without any statement about it."""
    return (
        f"There is a lot to be said about {_list(prompt, hidden, 4)}, and about {_list(criterion, hidden, 6)} as well."
    )


def attack_implicit(prompt: str, criterion: str, hidden: str) -> str:
    """A response that leaves everything to the reader."""
    return (
        f"As for {_list(prompt, hidden, 4)}: this goes without saying and is not written down here. A reader who looks "
        "between the lines will see what is meant."
    )


def attack_partial(parts: Sequence[str]) -> str:
    """A response that claims to do the first part of a compound criterion, and no other."""
    return f"{parts[0].strip().rstrip('.?!')}: this much is here, and nothing else was done."


def _list(text: str, hidden: str, most: int) -> str:
    """Some words of content of a text, none of which occurs in the text that must stay hidden."""
    kept: dict[str, str] = {}
    for word in _WORDS.findall(text):
        lower = word.lower()
        if lower not in _COMMON and lower not in hidden.lower():
            kept.setdefault(lower, word)
    words = list(kept.values())[:most] or ["this"]
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
