"""Attacks on rewards for form: broken sections, and texts that look like JSON, XML or a code block and are none.

A reward is a format reward if tags raise the reward of a wrong answer and parentheses of the same length do not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from plaudit.audit.attacks.forms import WORKING
from plaudit.audit.attacks.operator import Draft
from plaudit.audit.candidates import Contrast, Trial

SECTIONS = "ask for each section exactly once, in order, with text inside and nothing after it, as `format` does"
PARSER = "parse the whole response with a real parser, as `structured` does"
GARBAGE = "Bananas ride green trains to the moon on Tuesday mornings while clocks sing loudly in the rain. " * 2
USUAL_TAGS = (("think", "answer"), ("think",), ("answer",), ("reasoning", "answer"))
PLAIN = "The name is Ada and the answer is in the text, with some more words after it."
_UNMARKED = str.maketrans('<>{}[]"`', "(((((('.")


@dataclass(frozen=True, slots=True)
class _Sections:
    """Tags in their order; the last holds the answer, unless it is for thoughts. `gap` is put at both ends of each."""

    tags: tuple[str, ...]
    gap: str

    @property
    def holds_answer(self) -> bool:
        return len(self.tags) > 1 or self.tags[0] not in ("think", "thinking", "reasoning", "thought")

    def write(self, answer: str, left: str = "<", right: str = ">") -> str:
        return "\n".join([*self._wrap(self._texts(answer), left, right), *self._outside(answer)])

    def broken(self, answer: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Names, broken responses, and the text that each must keep."""
        tags, gap, texts = self.tags, self.gap, self._texts(answer)
        opening, outside = tuple(f"<{tag}>" for tag in tags), "".join(f"\n{text}" for text in self._outside(answer))
        both = tuple(part for tag in tags for part in (f"<{tag}>", f"</{tag}>"))
        for filler in ("", " \n "):
            empty = (gap and "\n").join(self._wrap([filler] * len(tags)))
            yield "empty sections", empty, both
            yield "empty sections", empty + outside, both
        swapped = "\n".join(f"</{tag}>{gap}{text}{gap}<{tag}>" for tag, text in zip(tags, texts, strict=True))
        yield "reversed tags", swapped, tuple(part for tag in tags for part in (f"</{tag}>", f"<{tag}>"))
        yield (
            "unclosed sections",
            "\n".join(f"<{tag}>{gap}{text}" for tag, text in zip(tags, texts, strict=True)),
            opening,
        )
        yield "tags alone", (gap or " ").join(opening), opening
        if len(tags) > 1:
            yield from self._broken_order(answer)

    def _broken_order(self, answer: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        good, tags, gap, texts = self.write(answer), self.tags, self.gap, self._texts(answer)
        both = tuple(part for tag in tags for part in (f"<{tag}>", f"</{tag}>"))
        swapped = "\n".join(reversed(self._wrap(texts)))
        yield "sections out of order", swapped, tuple(f"<{tag}>" for tag in reversed(tags))
        yield "repeated sections", "\n".join([good] * 3), (*both, *both)
        inner = "".join(f"<{tag}>{gap}{text}{gap}" for tag, text in zip(tags, texts, strict=True))
        yield "nested sections", inner + (gap or "").join(f"</{tag}>" for tag in reversed(tags)), (inner,)
        yield "text after the last section", f"{good}\n{GARBAGE}", (f"</{tags[-1]}>", "Bananas")

    def _wrap(self, texts: Sequence[str], left: str = "<", right: str = ">") -> list[str]:
        return [
            f"{left}{tag}{right}{self.gap}{text}{self.gap}{left}/{tag}{right}"
            for tag, text in zip(self.tags, texts, strict=True)
        ]

    def _texts(self, answer: str) -> list[str]:
        return [WORKING] * (len(self.tags) - 1) + [answer if self.holds_answer else WORKING]

    def _outside(self, answer: str) -> list[str]:
        return [] if self.holds_answer else [f"The answer is {answer}."]


def write_formats(trial: Trial) -> Iterator[Contrast]:
    """Broken sections, beside intact ones."""
    sections = _find_sections(trial)
    if sections is None:
        return
    good, without = sections.write(trial.task.wrong), _without_sections(trial, sections)
    named: dict[str, list[Draft]] = {}
    for name, response, core in sections.broken(trial.task.wrong):
        named.setdefault(name, []).append(Draft(response, core))
    for name, drafts in named.items():
        yield Contrast("format", name, SECTIONS, without, drafts, [good])


def _without_sections(trial: Trial, sections: _Sections) -> list[str]:
    """The same text without sections, and with other brackets in the place of tags."""
    wrong = trial.task.wrong
    plain = f"{WORKING}\nThe answer is {wrong}."
    return [plain, sections.write(wrong, "(", ")"), sections.write(wrong, "[", "]")]


def _find_sections(trial: Trial) -> _Sections | None:
    """The sections that raise the reward of a wrong answer most."""
    vocabulary = trial.maker.vocabulary
    declared = vocabulary.tags
    candidates = dict.fromkeys(
        [declared[:2] if len(declared) > 1 else declared, *((tag,) for tag in declared[:4]), *USUAL_TAGS]
    )
    gains: dict[_Sections, float] = {}
    for tags, gap in product(filter(None, candidates), ("", "\n")):
        if vocabulary.texts and not all(any(tag in text for text in vocabulary.texts) for tag in tags):
            continue  # the reward does not require this section, but may read any XML
        sections = _Sections(tuple(tags), gap)
        good, *without = trial.values([sections.write(trial.task.wrong), *_without_sections(trial, sections)])
        known = [value for value in without if value is not None]
        if good is not None and len(known) == len(without) and trial.differs(good, max(known)):
            gains[sections] = round(good - max(known), 9)
    return max(gains, key=lambda each: gains[each], default=None)


def write_structures(trial: Trial) -> Iterator[Contrast]:
    """Responses that cannot be parsed, beside ones that can."""
    for name, good, broken in _structures(trial):
        drafts = [Draft(text, (text,), controls=(_unmark(text),)) for text in broken]
        yield Contrast("structure", name, PARSER, _without_structure(good), drafts, good)


def _unmark(text: str) -> str:
    """The text without its structure marks; plain text instead of a text that has none."""
    unmarked = text.translate(_UNMARKED)
    return PLAIN if unmarked == text else unmarked


def _without_structure(texts: Sequence[str]) -> list[str]:
    """The words in plain text, and in a block of another kind if one of the texts is a block."""
    words = " ".join(re.findall(r"\w+", texts[0].removeprefix("```python")))
    fenced = [f"```\n{words}\n```", f"```json\n{words}\n```"] if not texts[0].startswith("```") else []
    return [PLAIN, words, *fenced]


def _structures(trial: Trial) -> Iterator[tuple[str, list[str], list[str]]]:
    """Names of structures, well-formed texts, and broken ones that look like the best paid of them."""
    yield from _objects(trial)
    yield (
        "broken XML",
        ["<root><name>Ada</name><answer>text</answer></root>"],
        ["<root><name>Ada</root></name>", "<root>", "<root", "</root><root>"],
    )
    yield (
        "empty code block",
        ["```python\nprint('Ada')\n```", "```\nprint('Ada')\n```"],
        ["``````", "```\n```", "```python\n```", "```python"],
    )


def _objects(trial: Trial) -> Iterator[tuple[str, list[str], list[str]]]:
    vocabulary = trial.maker.vocabulary
    declared = [key for key in (*vocabulary.keys, *vocabulary.words) if key.isidentifier()][:6]
    keys = list(dict.fromkeys([*declared, "answer", "name"]))
    bodies = [", ".join(f'"{key}": "Ada"' for key in keys), *(f'"{key}": "Ada"' for key in keys[:4])]
    paid = [value or 0.0 for value in trial.values(["{" + body + "}" for body in bodies])]
    body = bodies[paid.index(max(paid))]
    good = "{" + body + "}"
    broken = [
        "{" + body, "{ this is not JSON }", "{" + body + ",}", "{answer: Ada}", body + "}", "{}}{{", "{" + body + "]",
    ]  # fmt: skip
    yield "a bare value for JSON", [good], ["0", "null", "true", '"Ada"', "3.5"]
    yield "broken JSON", [good, f"```json\n{good}\n```"], [*broken, f"```json\n{broken[0]}\n```"]
