"""Put texts that nobody vouches for before a judge, so that they cannot pass for anything but text.

Everything of a sample (prompt, response, reference) stands between tags that carry the code of the call, and each of
its lines begins with a bar. The code is derived from the texts themselves and occurs in none of them, so that no text
can close its fence or write a verdict; it is the same when the same texts come again, so that a judge at temperature 0
is asked the same question. What a reader does not see is removed, and what chat templates would take for the end of a
message is broken up.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from plaudit.verify.text import remove_invisible

__all__ = ["BAR", "Fence", "break_marks", "code_for", "remove_unseen"]

BAR = "| "
CODE_LENGTH = 8
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")
_BETWEEN = re.compile(r"[\W_]+")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_TEMPLATE_MARKS = re.compile(
    r"<(?=[|｜][^|｜<>\s]{1,40}[|｜]>)"  # <|im_start|>, <|eot_id|>, <｜User｜>
    r"|<(?=/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|tool_call|tool_response|s_\w+|\w{1,16}_token)>)"
    r"|<(?=/?(?:think|thinking|thought|reasoning)>)"  # what a judge's own thoughts stand between
    r"|<(?=<SYS>>|</SYS>>)|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|THINK)\])",
    re.IGNORECASE,
)
"""The first sign of what a chat template ends a message with; a space behind it makes plain text of it."""


@dataclass(slots=True)
class Fence:
    """Fences of one call; `changes` counts what had to be removed or broken up, by what it was."""

    code: str
    changes: dict[str, int] = field(default_factory=dict)

    def enclose(self, label: str, text: str) -> str:
        """The text between tags that only this call knows."""
        lines = self._make_plain(text).splitlines() or [""]
        body = "\n".join(f"{BAR}{line}".rstrip() for line in lines)
        return f"<{label}-{self.code}>\n{body}\n</{label}-{self.code}>"

    def _make_plain(self, text: str) -> str:
        seen = remove_unseen(text)
        self._count("invisible", len(text) - len(seen))
        plain, marks = _TEMPLATE_MARKS.subn(lambda match: f"{match[0]} ", seen)
        self._count("template_marks", marks)
        return plain

    def _count(self, what: str, number: int) -> None:
        if number:
            self.changes[what] = self.changes.get(what, 0) + number


def remove_unseen(text: str) -> str:
    """The text without what a reader does not see and UTF-8 cannot hold."""
    return _CONTROLS.sub("", remove_invisible(_SURROGATES.sub("\ufffd", text)))


def break_marks(text: str) -> str:
    """The text with a space in whatever a chat template would take for the end of a message."""
    return _TEMPLATE_MARKS.sub(lambda match: f"{match[0]} ", text)


def code_for(texts: Iterable[str], settings: Mapping[str, object]) -> str:
    """A code that follows from the texts and settings and occurs in none of the texts, however it is spelt."""
    listed = list(texts)
    spelt = [_spelling(text) for text in listed]
    digest = hashlib.blake2b(repr(sorted(settings.items())).encode("utf-8", "surrogatepass"), digest_size=32)
    for text in listed:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    while True:
        code = _letters(digest.digest())
        if not any(code in text for text in spelt):
            return code
        digest.update(b"again")


def _spelling(text: str) -> str:
    """The letters and digits of a text, as somebody would read them who sees through wide or hidden characters."""
    return _BETWEEN.sub("", unicodedata.normalize("NFKC", remove_unseen(text)).casefold())


def _letters(digest: bytes) -> str:
    """Letters and digits that tokenizers and people do not confuse."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    return "".join(alphabet[byte % len(alphabet)] for byte in digest[:CODE_LENGTH])
