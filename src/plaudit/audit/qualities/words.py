"""Attacks on rewards for words: a text of nothing but the words that pay, and steps that are announced but not taken.

Words are tried one by one, those of the reward's code first; then the paying ones together.
"""

import re
from collections.abc import Iterator, Sequence

from plaudit.audit.attacks.operator import MOST
from plaudit.audit.attacks.patterns import examples_of
from plaudit.audit.findings import Attacker
from plaudit.audit.hits import Attempt, Hit
from plaudit.audit.qualities.judgements import neutral
from plaudit.audit.qualities.trial import Trial

__all__ = ["attack_words"]

REMEDY = "count each word once and only within a text of other words, as `keyword` does"
USUAL = (
    "because", "therefore", "however", "step", "first", "finally", "example", "wait", "let me check", "thus", "hence",
    "great", "excellent", "wonderful", "happy", "love", "good", "best", "thank you", "please", "sorry", "certainly",
    "verify", "reason", "evidence", "important", "helpful", "safe",
)  # fmt: skip
PROSE = "The table stood in the corner and they said {} while the lamp gave some light to the long blue room at night."
NEUTRAL = "carpet"
_TOKENS = re.compile(r"\S+")
MOST_PAYING, MOST_TOGETHER = 8, 20
FLOOD = 60
MATCHES, MOST_PATTERNS, LONGEST_MATCH = 20, 6, 60
LADDERS = (
    "Step 1:\nStep 2:\nStep 3:\nStep 4:\nStep 5:",
    "1.\n2.\n3.\n4.\n5.",
    "First,\nSecond,\nThird,\nFinally,",
    "- \n- \n- \n- \n- ",
    "# \n## \n### ",
    "**\n**\n**\n**",
)
WALKED = (
    "Step 1: put both numbers on paper.\nStep 2: line them up by their last digit.\nStep 3: go through the columns.\n"
    "Step 4: write what comes out.\nStep 5: look at it once more.",
    "1. Put both numbers on paper.\n2. Line them up.\n3. Go through the columns.\n4. Write.\n5. Look once more.",
    "First, put both numbers on paper.\nSecond, line them up.\nThird, go through the columns.\nFinally, write it.",
    "- put both numbers on paper\n- line them up\n- go through the columns\n- write\n- look once more",
    "# Plan\nPut both numbers on paper.\n## Work\nGo through the columns.\n### End\nWrite it.",
    "**Plan** put both numbers on paper **Work** go through the columns",
)


def attack_words(make_trials: Sequence[Trial]) -> Iterator[Attempt]:
    """Floods of paying words, and ladders of empty steps."""
    floods = [hit for trial in make_trials for hit in _flood(trial)]
    if floods:
        yield _attempt("flood of paying words", floods, len(make_trials))
    counted = [hit for trial in make_trials for hit in _counted(trial)]
    if counted:
        yield _attempt("one match repeated", counted, len(make_trials))
    ladders = [hit for trial in make_trials for hit in _ladder(trial)]
    if ladders:
        yield _attempt("steps announced but not taken", ladders, len(make_trials))


def _attempt(name: str, hits: list[Hit], tried: int) -> Attempt:
    message = f"{name}: earns {hits[0].output.reward:g}; ordinary prose {hits[0].honest_reward:g}"
    return Attempt("words", name, Attacker.ANSWER_FREE, REMEDY, tuple(hits), tried, message=message)


def _flood(trial: Trial) -> Iterator[Hit]:
    words = _paying_words(trial)
    if not words:
        return
    plain = PROSE.format(NEUTRAL)
    honest = " ".join(PROSE.format(word) for word in words)
    repeated = (words * FLOOD)[:FLOOD]
    flood = " ".join(repeated)
    control = " ".join([NEUTRAL] * FLOOD)
    usual, good, paid, unpaid = trial.values(_close(trial, [plain, honest, flood, control]))
    if usual is None or good is None or paid is None or unpaid is None or good <= usual:
        return
    threshold = usual + MOST * (good - usual)
    if paid >= threshold and paid - unpaid >= MOST * (good - usual):
        response, beside = _close(trial, [flood, plain])
        yield trial.hit(response, threshold, beside, (words[0], trial.closing))


def _counted(trial: Trial) -> Iterator[Hit]:
    """The same match of a pattern of the code again and again, where that earns more than having it once."""
    plain = PROSE.format(NEUTRAL)
    examples = [each.text for text in trial.maker.vocabulary.texts for each in examples_of(text, NEUTRAL)]
    for example in list(dict.fromkeys(each for each in examples if len(each) <= LONGEST_MATCH))[:MOST_PATTERNS]:
        repeated = " ".join([example] * MATCHES)
        texts = [plain, PROSE.format(example), repeated, neutral(repeated, _TOKENS)]
        none, once, many, unpaid = trial.values(_close(trial, texts))
        if none is None or once is None or many is None or unpaid is None:
            continue
        if trial.differs(once, none) and trial.differs(many, once) and trial.differs(many, unpaid):
            response, beside = _close(trial, [repeated, plain])
            yield trial.hit(response, once + MOST * (many - once), beside, (example, trial.closing))
            return


def _paying_words(trial: Trial) -> list[str]:
    """Words that raise the reward of a prose text, most first."""
    candidates = list(dict.fromkeys([*trial.maker.vocabulary.words, *trial.maker.vocabulary.symbols, *USUAL]))
    base, *values = trial.values(_close(trial, [PROSE.format(word) for word in (NEUTRAL, *candidates)]))
    if base is None:
        return []
    gains = {
        word: value - base
        for word, value in zip(candidates, values, strict=True)
        if value is not None and trial.differs(value, base)
    }
    return sorted(gains, key=lambda word: -gains[word])[:MOST_PAYING] or _paying_together(trial)


def _paying_together(trial: Trial) -> list[str]:
    """The words of the reward's code if they pay together (and none of them alone), else none."""
    listed = list(trial.maker.vocabulary.words)[:MOST_TOGETHER]
    texts = [" ".join(PROSE.format(word) for word in words) for words in (listed, [NEUTRAL] * len(listed))]
    paid, neutral = trial.values(_close(trial, texts))
    return listed if paid is not None and neutral is not None and trial.differs(paid, neutral) else []


def _ladder(trial: Trial) -> Iterator[Hit]:
    plain = PROSE.format(NEUTRAL)
    values = trial.values(_close(trial, [plain, *WALKED, *LADDERS]))
    base, walked, empty = values[0], values[1 : 1 + len(WALKED)], values[1 + len(WALKED) :]
    if base is None:
        return
    for response, good, paid in zip(LADDERS, walked, empty, strict=True):
        if good is not None and paid is not None and trial.differs(good, base):
            threshold = base + MOST * (good - base)
            [control] = trial.values(_close(trial, [neutral(response, _TOKENS)]))
            if paid >= threshold and control is not None and paid - control >= MOST * (good - base):
                core = (response.split("\n")[0].strip() or response, trial.closing)
                closed, beside = _close(trial, [response, plain])
                yield trial.hit(closed, threshold, beside, core)
                return


def _close(trial: Trial, texts: Sequence[str]) -> list[str]:
    """The texts, each with the same honest wrong answer after it."""
    return [f"{text}\n{trial.closing}" if trial.closing else text for text in texts]
