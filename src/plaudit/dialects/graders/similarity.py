"""How alike two texts are, from 0 to 1, by the measures that text_similarity graders name.

The documentation names measures, not implementations: here fuzzy_match is the ratio of rapidfuzz, bleu, gleu and meteor
are NLTK's for one sentence, rouge is the F1 of Google's rouge-score. cosine compares embeddings of a hosted model.
"""

from collections.abc import Callable
from typing import Any

from plaudit.errors import InvalidSettings, did_you_mean, require

__all__ = ["MEASURES", "measure"]

_EXTRA, _PURPOSE = "graders", "a text_similarity grader"


def measure(name: str) -> Callable[[str, str], float]:
    """The function of (text, reference) that a name stands for."""
    if name == "cosine":
        raise InvalidSettings("evaluation_metric 'cosine' needs a hosted embedding model; use another measure")
    if name not in MEASURES:
        raise InvalidSettings(
            f"no evaluation_metric {name!r}{did_you_mean(name, MEASURES)} (there are {', '.join(MEASURES)})"
        )
    return MEASURES[name]


def _fuzzy_match(text: str, reference: str) -> float:
    fuzz: Any = require("rapidfuzz.fuzz", extra=_EXTRA, purpose=_PURPOSE)
    return float(fuzz.ratio(text, reference)) / 100


def _bleu(text: str, reference: str) -> float:
    bleu: Any = require("nltk.translate.bleu_score", extra=_EXTRA, purpose=_PURPOSE)
    smooth = bleu.SmoothingFunction().method1
    return float(bleu.sentence_bleu([reference.split()], text.split(), smoothing_function=smooth))


def _gleu(text: str, reference: str) -> float:
    gleu: Any = require("nltk.translate.gleu_score", extra=_EXTRA, purpose=_PURPOSE)
    return float(gleu.sentence_gleu([reference.split()], text.split()))


def _meteor(text: str, reference: str) -> float:
    meteor: Any = require("nltk.translate.meteor_score", extra=_EXTRA, purpose=_PURPOSE)
    return float(meteor.meteor_score([reference.split()], text.split()))


def _rouge(kind: str) -> Callable[[str, str], float]:
    def rouge(text: str, reference: str) -> float:
        scorer: Any = require("rouge_score.rouge_scorer", extra=_EXTRA, purpose=_PURPOSE)
        return float(scorer.RougeScorer([kind]).score(reference, text)[kind].fmeasure)

    return rouge


MEASURES: dict[str, Callable[[str, str], float]] = {
    "fuzzy_match": _fuzzy_match, "bleu": _bleu, "gleu": _gleu, "meteor": _meteor,
    **{f"rouge_{size}": _rouge(f"rouge{size}") for size in range(1, 6)}, "rouge_l": _rouge("rougeL"),
}  # fmt: skip
