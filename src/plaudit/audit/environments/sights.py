"""The ground truth in what the agent reads before it has found it: the first observation, feedback, errors."""

import re
from collections.abc import Iterator, Sequence

from plaudit.audit.environments.playing import Transcript
from plaudit.audit.environments.policies import ENDINGS, spam_calls
from plaudit.audit.environments.target import Target
from plaudit.audit.environments.violation import Violation

LEAST, NEAR = 4, 12
"""The least length of a truth of which one occurrence counts, and how much of the text around it is compared."""
WRONG = "plaudit"
"""An action that is wrong everywhere."""
_REMEDY = "keep it out of what the agent reads"


def find_truths(target: Target) -> Iterator[Violation]:
    """Truths that are shown, if the same words stand around those of several starts; else a place may list them all."""
    shown: dict[str, list[tuple[str, str, Transcript]]] = {}
    starts = 0
    for index, example in enumerate(target.examples):
        truth = "" if isinstance(example.start.ground_truth, bool) else str(example.start.ground_truth or "")
        if not truth.strip() or _place(truth, example.start.prompt) is not None:
            continue
        starts += 1
        for how, text, played in _texts(target, index, truth):
            if (place := _place(truth, text)) is not None:
                before, after = text[: place.start()], text[place.end() :]
                shown.setdefault(how, []).append((before[-NEAR:] or after[:NEAR], truth, played))
    for how, places in shown.items():
        repeated = {(near, truth) for near, truth, _ in places}
        alike = len({near for near, _, _ in places}) < len(repeated)
        if alike or (starts == 1 and len(places[0][1]) >= LEAST):
            _, truth, played = places[0]
            yield Violation("ground truth in sight", how, played, f"{how} the ground truth {truth!r:.40}", _REMEDY)


def _place(truth: str, text: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w){re.escape(truth)}(?!\w)", text)


def _texts(target: Target, index: int, truth: str) -> Iterator[tuple[str, str, Transcript]]:
    """What the agent reads before it has found the truth, with how it came to read it."""
    start = target.examples[index].start
    wrong = target.play(index, [WRONG, truth])
    yield "the first observation shows", wrong.observation.removeprefix(start.prompt), wrong
    if _place(truth, wrong.observation) is None:
        if len(wrong.results) == 2 and target.is_paid(index, wrong):
            yield "the answer to a wrong action, after which it is paid, tells", wrong.feedback[0], wrong
        calls = spam_calls(target.tools)
        failed = target.play(index, [*calls, ENDINGS[0]]) if calls else wrong
        yield "the error of a call tells", _errors(failed.feedback), failed


def _errors(feedback: Sequence[str]) -> str:
    return "\n".join(line for text in feedback for line in text.splitlines() if line.startswith("error"))
