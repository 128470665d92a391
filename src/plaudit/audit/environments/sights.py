"""The ground truth in what the agent reads before it has found it: the first observation, feedback, errors."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from plaudit.audit.environments.found import Found
from plaudit.audit.environments.known import Known
from plaudit.audit.environments.playing import Transcript
from plaudit.audit.environments.policies import ENDINGS, spam_calls

LEAST, NEAR = 4, 12
"""How long a truth must be to be told by itself, and how much of the text around it is compared."""
WRONG = "plaudit"
"""An action that is wrong everywhere."""
_REMEDY = "keep it out of what the agent reads"


def find_truths(known: Known) -> Iterator[Found]:
    """Truths that are shown, if the same words stand around those of several starts; else a place may list them all."""
    shown: dict[str, list[tuple[str, str, Transcript]]] = {}
    starts = 0
    for index, example in enumerate(known.examples):
        for truth in _forms(example.start.ground_truth):
            if not truth.strip() or _place(truth, example.start.prompt) is not None:
                continue
            starts += 1
            for how, text, played in _texts(known, index, truth):
                if (place := _place(truth, text)) is not None:
                    before, after = text[: place.start()], text[place.end() :]
                    shown.setdefault(how, []).append((before[-NEAR:] or after[:NEAR], truth, played))
    for how, places in shown.items():
        repeated = {(near, truth) for near, truth, _ in places}
        alike = len({near for near, _, _ in places}) < len(repeated)
        if alike or (starts == 1 and len(places[0][1]) >= LEAST):
            _, truth, played = places[0]
            yield Found("ground truth in sight", how, played, f"{how} the ground truth {truth!r:.40}", _REMEDY)


def _forms(truth: Any) -> list[str]:
    """How a text may show a truth."""
    if isinstance(truth, bool) or truth is None:
        return []
    if isinstance(truth, str | int | float):
        return [str(truth)]
    return [str(truth)] if isinstance(truth, list | tuple | dict) and truth else []


def _place(truth: str, text: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w){re.escape(truth)}(?!\w)", text)


def _texts(known: Known, index: int, truth: str) -> Iterator[tuple[str, str, Transcript]]:
    """What the agent reads before it has found the truth, with how it came to read it."""
    start = known.examples[index].start
    wrong = known.play(index, [WRONG, truth])
    yield "the first observation shows", wrong.observation.removeprefix(start.prompt), wrong
    if _place(truth, wrong.observation) is None:
        if len(wrong.results) == 2 and known.is_paid(index, wrong):
            yield "the answer to a wrong action, after which it is paid, tells", wrong.feedback[0], wrong
        calls = spam_calls(known.tools)
        failed = known.play(index, [*calls, ENDINGS[0]]) if calls else wrong
        yield "the error of a call tells", _errors(failed.feedback), failed


def _errors(feedback: Sequence[str]) -> str:
    return "\n".join(line for text in feedback for line in text.splitlines() if line.startswith("error"))
