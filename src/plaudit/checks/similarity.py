"""How alike two texts are, from 0 to 1, by the measures that papers and other systems name; and what they overlook.

`edit`, `fuzzy` (characters), `token` and `token_sort` (words) are rapidfuzz's, `bleu` and `chrf` sacrebleu's for one
sentence, `rouge_n` and `rouge_l` the F1 of Google's rouge-score, `qa_f1` and `qa_exact` SQuAD's, `gleu` and `meteor`
NLTK's. Some take no notice of the order of words: `word_order` says how much of an agreement is a bag of words.
"""

import functools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plaudit.errors import InvalidSettings, did_you_mean, require
from plaudit.verify.answers.final_answer import f1_of_words, squad_words
from plaudit.verify.text import bare_words, ngrams

_EXTRA, _PURPOSE = "similarity", "measuring how alike texts are"
MOST_CHARACTERS = 20_000  # what is longer is compared piece by piece, so that no response takes minutes


@dataclass(frozen=True, slots=True)
class Measure:
    """A function of (text, reference); `ordered` where a shuffled reference is seen to be another text.

    Texts beyond the limit are compared piece by piece, each piece with that in the same place, and count by their
    lengths; a measure that is quick on any text (`whole`) knows no limit.
    """

    function: Callable[[str, str], float]
    ordered: bool = True
    whole: bool = False

    def __call__(self, text: str, reference: str) -> float:
        longest = max(len(text), len(reference))
        if self.whole or longest <= MOST_CHARACTERS:
            return self._compare(text, reference)
        ends = [slice(start, start + MOST_CHARACTERS) for start in range(0, longest, MOST_CHARACTERS)]
        pieces = [(text[part], reference[part]) for part in ends]
        shared = [(self._compare(one, other), len(one) + len(other)) for one, other in pieces if one and other]
        return sum(value * length for value, length in shared) / (len(text) + len(reference))

    def _compare(self, text: str, reference: str) -> float:
        return min(1.0, max(0.0, float(self.function(text, reference))))


def find_measure(name: str, what: str = "measure") -> Measure:
    """The measure of a name, or an error that lists them."""
    if name not in MEASURES:
        raise InvalidSettings(f"no {what} {name!r}{did_you_mean(name, MEASURES)} (there are {', '.join(MEASURES)})")
    return MEASURES[name]


def word_order(text: str, reference: str) -> float:
    """1 where the words that two texts share stand side by side in both, towards 0 the more the text is a mere list.

    The fragmentation penalty of METEOR (Banerjee and Lavie 2005) at full weight, by the share of either text's words
    that both have: with m of them in c runs, 1 − (share · (c − 1) / (m − 1))³. Fewer than four words have no order.
    """
    written, wanted = bare_words(text[:MOST_CHARACTERS]), bare_words(reference[:MOST_CHARACTERS])
    shared = (Counter(written) & Counter(wanted)).total()
    if shared < 4:
        return 1.0
    beside = (Counter(ngrams(written, 2)) & Counter(ngrams(wanted, 2))).total()
    broken = max(0, shared - beside - 1) / (shared - 1)
    share = shared / min(len(written), len(wanted))  # repeating a list does not raise its score
    return 1.0 - (share * broken) ** 3


def _fuzzy(text: str, reference: str) -> float:
    return float(_load("rapidfuzz.fuzz").ratio(text, reference)) / 100


def _edit(text: str, reference: str) -> float:
    return float(_load("rapidfuzz.distance.Levenshtein").normalized_similarity(text, reference))


def _token(text: str, reference: str) -> float:
    indel = _load("rapidfuzz.distance.Indel")
    return float(indel.normalized_similarity(bare_words(text), bare_words(reference)))


def _token_sort(text: str, reference: str) -> float:
    ratio = _load("rapidfuzz.fuzz").token_sort_ratio(" ".join(bare_words(text)), " ".join(bare_words(reference)))
    return float(ratio) / 100


def _bleu(text: str, reference: str) -> float:
    return float(_sacrebleu("BLEU", effective_order=True).sentence_score(text, [reference]).score) / 100


def _chrf(text: str, reference: str) -> float:
    return float(_sacrebleu("CHRF").sentence_score(text, [reference]).score) / 100


@functools.cache
def _sacrebleu(metric: str, **settings: Any) -> Any:
    return getattr(_load("sacrebleu.metrics"), metric)(**settings)


def _gleu(text: str, reference: str) -> float:
    return float(_load("nltk.translate.gleu_score", "graders").sentence_gleu([reference.split()], text.split()))


def _meteor(text: str, reference: str) -> float:
    return float(_load("nltk.translate.meteor_score", "graders").meteor_score([reference.split()], text.split()))


def _rouge(size: int, text: str, reference: str) -> float:
    scored = _rouge_scorer(size).score(reference, text)
    return float(scored[f"rouge{size}"].fmeasure)


@functools.cache
def _rouge_scorer(size: int) -> Any:
    return _load("rouge_score.rouge_scorer").RougeScorer([f"rouge{size}"])


def _rouge_l(text: str, reference: str) -> float:
    """As rouge-score defines it; the longest common subsequence by rapidfuzz, since long texts take it minutes."""
    tokenize = _load("rouge_score.tokenize").tokenize
    written, wanted = tokenize(text, None), tokenize(reference, None)
    if not written or not wanted:
        return 0.0
    common = float(_load("rapidfuzz.distance.LCSseq").similarity(written, wanted))
    return 2 * common / (len(written) + len(wanted))


def _qa_f1(text: str, reference: str) -> float:
    return f1_of_words(squad_words(text), squad_words(reference))


def _qa_exact(text: str, reference: str) -> float:
    wanted = squad_words(reference)
    return float(bool(wanted) and squad_words(text) == wanted)


def _load(module: str, extra: str = _EXTRA) -> Any:
    return require(module, extra=extra, purpose=_PURPOSE)


MEASURES: dict[str, Measure] = {
    "edit": Measure(_edit),
    "fuzzy": Measure(_fuzzy),
    "token": Measure(_token),
    "token_sort": Measure(_token_sort, ordered=False),
    "bleu": Measure(_bleu),
    "chrf": Measure(_chrf, ordered=False),
    **{f"rouge_{size}": Measure(functools.partial(_rouge, size), ordered=size > 1) for size in range(1, 6)},
    "rouge_l": Measure(_rouge_l),
    "qa_f1": Measure(_qa_f1, ordered=False, whole=True),
    "qa_exact": Measure(_qa_exact, whole=True),
    "gleu": Measure(_gleu),
    "meteor": Measure(_meteor),
}
"""Every measure by the name that rewards and graders use."""
