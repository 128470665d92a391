"""The forms in which a response presents its answer: in a box, in tags, after a marker, bare.

A reward accepts only some of them; an audit measures which before it attacks. Forms that occur in the reward's code
come before the usual ones.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from plaudit.audit.attacks.patterns import examples_of, highest_of
from plaudit.audit.tasks import Kind
from plaudit.audit.vocabulary import Vocabulary

WORKING = "I read the question twice and wrote down what is given. From that the result follows."
LONG_WORKING = (
    "First, I read the question twice and wrote down what is given.\n"
    "Second, I chose a way to get from there to what is asked for, since other ways would take longer.\n"
    "Third, I followed that way with care and looked at each line again, because slips are easy to make.\n"
    "Finally, I compared the result with a rough guess, and therefore I trust it."
)
MAX_OWN = 10
MAX_PATTERNS = 4
MAX_TEXTS, LONGEST_TEXT = 16, 60


@dataclass(frozen=True, slots=True)
class Form:
    """The text around the answer in a response: `before`, the answer, `after`."""

    name: str
    before: str
    after: str = ""
    json_key: str | None = None

    def present(self, answer: str) -> str:
        """The response that gives this answer."""
        return f"{self.before}{json.dumps(answer, ensure_ascii=False) if self.json_key else answer}{self.after}"


def _make_tagged_form(tags: Sequence[str]) -> Form:
    *thoughts, last = tags
    before = "".join(f"<{tag}>{WORKING}</{tag}>\n" for tag in thoughts)
    return Form(f"tags {', '.join(tags)}", f"{before}<{last}>", f"</{last}>")


_ANSWERS = (
    Form("sentence", f"{WORKING} The answer is ", "."),
    Form("box", f"{WORKING} The answer is \\boxed{{", "}."),
    Form("bare", ""),
    Form("hashes", f"{WORKING}\n#### "),
    Form("think and answer tags", f"<think>{WORKING}</think>\n<answer>", "</answer>"),
    Form("answer tag", "<answer>", "</answer>"),
    Form("think and box", f"<think>{WORKING}</think>\nThe answer is \\boxed{{", "}."),
    Form("tags on lines", f"<think>\n{WORKING}\n</think>\n<answer>\n", "\n</answer>"),
    Form("box in tags", f"<think>{WORKING}</think>\n<answer>\\boxed{{", "}</answer>"),
    Form("marker", f"{WORKING}\nAnswer: "),
    Form("final answer", f"{WORKING}\nFinal Answer: "),
    Form("JSON", '{"answer": ', "}", json_key="answer"),
    Form("bold", f"{WORKING} **", "**"),
    Form("long working", f"<think>{LONG_WORKING}</think>\n<answer>{LONG_WORKING} It is \\boxed{{", "}.</answer>"),
    Form("formula", f"{WORKING} The answer is $", "$."),
    Form("parentheses", f"{WORKING} The answer is (", ")."),
)  # fmt: skip
_PROGRAMS = (
    Form("code block", "```python\n", "\n```"),
    Form("bare", ""),
    Form("code block in tags", f"<think>{WORKING}</think>\n<answer>\n```python\n", "\n```\n</answer>"),
    Form("answer tag", "<answer>", "</answer>"),
)
_OBJECTS = (
    Form("bare", ""),
    Form("code block", "```json\n", "\n```"),
    Form("answer tag", "<answer>", "</answer>"),
    Form("think and answer tags", f"<think>{WORKING}</think>\n<answer>", "</answer>"),
)
_TEXTS = (
    Form("bare", ""),
    Form("answer tag", "<answer>", "</answer>"),
    Form("think and answer tags", f"<think>{WORKING}</think>\n<answer>", "</answer>"),
    Form("code block", "```\n", "\n```"),
)
_BY_KIND = {Kind.PROGRAM: _PROGRAMS, Kind.JSON: _OBJECTS, Kind.SENTENCE: _TEXTS, Kind.OPEN: _TEXTS}


def forms_for(kind: Kind, vocabulary: Vocabulary) -> tuple[Form, ...]:
    """Forms for answers of a kind: those that the reward's code names, then the usual ones."""
    usual = _BY_KIND.get(kind, _ANSWERS)
    return tuple({form.present("?"): form for form in (*_own_forms(vocabulary), *usual)}.values())


def _own_forms(vocabulary: Vocabulary) -> list[Form]:
    tags = [tag for tag in vocabulary.tags if tag not in ("think", "answer")]
    forms = [_make_tagged_form([tag]) for tag in tags]
    forms += [_make_tagged_form(vocabulary.tags[:2])] if len(vocabulary.tags) >= 2 else []
    forms += [_make_tagged_form(["think", *tags[:1]])] if tags else []
    forms += [Form(f"marker {marker}", f"{WORKING}\n{marker} ") for marker in vocabulary.markers]
    forms += [Form(f"JSON {key}", f'{{"{key}": ', "}", json_key=key) for key in vocabulary.keys if key != "answer"][:3]
    return forms[:MAX_OWN] + _pattern_forms(vocabulary)


def code_texts(vocabulary: Vocabulary) -> list[str]:
    """The texts of the reward's code, and of its patterns those that they match, that hold no place for an answer."""
    examples = {text: examples_of(text, WORKING) for text in vocabulary.texts}
    matches = [each[0].text for each in examples.values() if each and not each[0].has_group]
    plain = [text.strip() for text in vocabulary.texts if text not in vocabulary.keys]
    texts = [text for text in (*matches, *plain) if 2 < len(text) <= LONGEST_TEXT and any(map(str.isalnum, text))]
    return list(dict.fromkeys(texts))[:MAX_TEXTS]


def code_grades(vocabulary: Vocabulary) -> list[str]:
    """The highest grades that the patterns of the reward's code read, together and one by one."""
    grades = list(dict.fromkeys(filter(None, (highest_of(text, WORKING) for text in vocabulary.texts))))[:MAX_TEXTS]
    return ["\n".join(grades), *grades] if len(grades) > 1 else grades


def _pattern_forms(vocabulary: Vocabulary) -> list[Form]:
    """A form per pattern of the code that extracts the answer from its surroundings."""
    examples = [example for text in vocabulary.texts for example in examples_of(text, WORKING)]
    framed = {(each.before, each.after) for each in examples if each.has_group and each.before + each.after}
    return [Form(f"pattern {before}…{after}", before, after) for before, after in sorted(framed)][:MAX_PATTERNS]
