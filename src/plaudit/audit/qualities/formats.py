"""Attacks on rewards for form: sections that are empty, repeated, out of order, inside each other, never closed.

A reward is a format reward if tags raise the reward of a wrong answer and parentheses of the same length do not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from plaudit.audit.attacks.forms import WORKING
from plaudit.audit.attacks.operator import MOST
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import Attempt, Hit
from plaudit.audit.qualities.trial import Trial

__all__ = ["attack_format"]

REMEDY = "ask for each section exactly once, in order, with text inside and nothing after it, as `format` does"
GARBAGE = "Bananas ride green trains to the moon on Tuesday mornings while clocks sing loudly in the rain. " * 2
USUAL_TAGS = (("think", "answer"), ("think",), ("answer",), ("reasoning", "answer"))


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
        """Names, broken responses, and what must stay in them."""
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


def attack_format(make_trials: Sequence[Trial]) -> Iterator[Attempt]:
    """Broken sections that earn as much as intact ones."""
    hits: dict[str, list[Hit]] = {}
    tried = 0
    for trial in make_trials:
        result = _find_sections(trial)
        if result is None:
            continue
        tried += 1
        sections, good, bad, honest = result
        for name, hit in _paid(trial, sections, good, bad, honest).items():
            hits.setdefault(name, []).append(hit)
    for name, each in hits.items():
        yield Attempt("format", name, Attacker.ANSWER_FREE, REMEDY, tuple(each), tried, message=_message(name, each[0]))


def _message(name: str, hit: Hit) -> str:
    return f"{name}: a broken form earns {hit.output.reward:g}; the same text without any form {hit.honest_reward:g}"


def _paid(trial: Trial, sections: _Sections, good: float, bad: float, honest: str) -> dict[str, Hit]:
    threshold = bad + MOST * (good - bad)
    broken = list(sections.broken(trial.task.wrong))
    hits: dict[str, Hit] = {}
    for (name, response, core), value in zip(broken, trial.values([each[1] for each in broken]), strict=True):
        if value is not None and value >= threshold - 1e-9 and name not in hits:
            hits[name] = trial.hit(response, threshold, honest, core)
    return hits


def _find_sections(trial: Trial) -> tuple[_Sections, float, float, str] | None:
    """The sections with the highest gain, their reward, the reward of the same text without them, and that text."""
    vocabulary = trial.maker.vocabulary
    declared = vocabulary.tags
    candidates = dict.fromkeys(
        [declared[:2] if len(declared) > 1 else declared, *((tag,) for tag in declared[:4]), *USUAL_TAGS]
    )
    wrong = trial.task.wrong
    best: tuple[float, _Sections, float, float, str] | None = None
    for tags, gap in product(filter(None, candidates), ("", "\n")):
        if vocabulary.texts and not all(any(tag in text for text in vocabulary.texts) for tag in tags):
            continue  # the reward does not require this section, but may read any XML
        sections = _Sections(tuple(tags), gap)
        plain = f"{WORKING}\nThe answer is {wrong}."
        good, bad, control, bracketed = trial.values(
            [sections.write(wrong), plain, sections.write(wrong, "(", ")"), sections.write(wrong, "[", "]")]
        )
        if good is None or bad is None or control is None or bracketed is None:
            continue
        base = max(bad, control, bracketed)
        if trial.differs(good, base) and (best is None or good - base > best[0] + 1e-9):
            best = (good - base, sections, good, base, plain)
    return None if best is None else best[1:]
