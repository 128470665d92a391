"""The texts of a sample that a judge is shown: limited in length, and quoted between nonce-tagged delimiters.

Everything of a sample (prompt, response, reference) is untrusted. It stands between tags that carry the nonce of the
call, and each of its lines begins with a bar. The nonce is derived from the texts and occurs in none of them, so no
text can close its delimiter or write a verdict; equal texts get an equal nonce, so a judge at temperature 0 gets the
same prompt. Invisible characters are removed, and the control marks of chat templates are broken up. A text over the
limit is refused, or its middle is left out with a note.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, Literal

from msgspec import Meta

from plaudit.trajectory import Prompt, Trajectory, message_text
from plaudit.verify.text import remove_invisible

BAR = "| "
CODE_LENGTH = 8
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")
_BETWEEN = re.compile(r"[\W_]+")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_TEMPLATE_MARKS = re.compile(
    r"<(?=[|｜][^|｜<>\s]{1,40}[|｜]>)"  # <|im_start|>, <|eot_id|>, <｜User｜>
    r"|<(?=/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|tool_call|tool_response|s_\w+|\w{1,16}_token)>)"
    r"|<(?=/?(?:think|thinking|thought|reasoning)>)"  # delimiters of the judge's own reasoning
    r"|<(?=<SYS>>|</SYS>>)|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|THINK)\])",
    re.IGNORECASE,
)
"""The first character of each control mark of a chat template; a space after it makes the mark plain text."""


class Refused(Exception):
    """The judge gets no request for this sample; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class SampleTexts:
    """Prompt and response of a sample, the reference where there is one, and how many characters were left out."""

    prompt: str
    response: str
    reference: str | None = None
    left_out: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether the response has no visible text."""
        return not remove_unseen(self.response).strip()

    @property
    def all(self) -> list[str]:
        """Every untrusted text."""
        return [self.prompt, self.response, *([] if self.reference is None else [self.reference])]


@dataclass(frozen=True, eq=False)
class TextLimits:
    """Settings of a judge: whether the ground truth is shown as a reference, and how long a text may be."""

    _: KW_ONLY
    reference: Literal["auto", "required", "never"] = "auto"
    """Whether the ground truth is shown to the judge: where there is one, always, never."""
    max_chars: Annotated[int, Meta(ge=100)] = 60_000
    """The number of characters that prompt, response and reference may each have."""
    too_long: Literal["refuse", "truncate"] = "refuse"
    """The handling of a longer text: skip the sample, or leave out the middle."""

    def read_texts(self, trajectory: Trajectory) -> SampleTexts:
        """The texts of a sample; raises Refused if it cannot be sent to the judge."""
        reference = None if self.reference == "never" else _as_text(trajectory.ground_truth)
        if reference is None and self.reference == "required":
            raise Refused("there is no ground truth, and the judge needs one as its reference")
        texts = {"prompt": _prompt_text(trajectory.prompt), "response": trajectory.response}
        if reference is not None:
            texts["reference"] = reference
        kept = {name: self._limit(name, text) for name, text in texts.items()}
        left_out = sum(max(0, len(text) - self.max_chars) for text in texts.values())
        return SampleTexts(kept["prompt"], kept["response"], kept.get("reference"), left_out)

    def _limit(self, name: str, text: str) -> str:
        if len(text) <= self.max_chars:
            return text
        if self.too_long == "refuse":
            raise Refused(
                f"the {name} has {len(text):,} characters, more than max_chars={self.max_chars}; the judge was not "
                "asked (too_long='truncate' shows it without its middle)"
            )
        half = self.max_chars // 2
        note = f"[{len(text) - 2 * half:,} characters are left out here]"
        return f"{text[:half]}\n{note}\n{text[-half:]}"


@dataclass(slots=True)
class Fence:
    """Delimiters of one call; `changes` counts what was removed or broken up, by kind."""

    code: str
    changes: dict[str, int] = field(default_factory=dict)

    def enclose(self, label: str, text: str) -> str:
        """The text between tags that carry the nonce of this call."""
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
    """The text without invisible characters; surrogates are replaced."""
    return _CONTROLS.sub("", remove_invisible(_SURROGATES.sub("\ufffd", text)))


def break_marks(text: str) -> str:
    """The text with a space inside each control mark of a chat template."""
    return _TEMPLATE_MARKS.sub(lambda match: f"{match[0]} ", text)


def make_nonce(texts: Iterable[str], settings: Mapping[str, object]) -> str:
    """A nonce derived from the texts and settings that occurs in none of the texts, in any spelling."""
    listed = list(texts)
    spelt = [_spelling(text) for text in listed]
    digest = hashlib.blake2b(repr(sorted(settings.items())).encode("utf-8", "surrogatepass"), digest_size=32)
    for text in listed:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    while True:
        code = _nonce_letters(digest.digest())
        if not any(code in text for text in spelt):
            return code
        digest.update(b"again")


def _spelling(text: str) -> str:
    """The letters and digits of a text, normalised: wide and hidden characters do not hide the nonce."""
    return _BETWEEN.sub("", unicodedata.normalize("NFKC", remove_unseen(text)).casefold())


def _nonce_letters(digest: bytes) -> str:
    """Letters and digits that tokenizers and people do not confuse."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    return "".join(alphabet[byte % len(alphabet)] for byte in digest[:CODE_LENGTH])


def _prompt_text(prompt: Prompt) -> str:
    """The prompt as text; a chat as its messages, each with its role."""
    if isinstance(prompt, str):
        return prompt
    return "\n\n".join(f"[{message['role']}] {message_text(message)}" for message in prompt)


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
