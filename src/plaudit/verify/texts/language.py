"""Is the answer in the language that was asked for? With the languages that can be detected, and their scripts.

Detection is by py3langid, which carries its model. Sentences are judged one by one, so that a foreign part is seen.
"""

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from plaudit.errors import InvalidTrajectory, require
from plaudit.trajectory import Trajectory
from plaudit.verify.fences import find_fences
from plaudit.verify.patterns import compile_late
from plaudit.verify.rows import find_column, read_literal
from plaudit.verify.tags import thoughts_of
from plaudit.verify.text import remove_invisible, replace_spans, sentences
from plaudit.verify.verifier import Answer, Verdict, Verifier

LANGUAGES = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "as": "Assamese", "az": "Azerbaijani", "be": "Belarusian",
    "bg": "Bulgarian", "bn": "Bengali", "br": "Breton", "bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh",
    "da": "Danish", "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish",
    "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fo": "Faroese", "fr": "French",
    "ga": "Irish", "gd": "Scottish Gaelic", "gl": "Galician", "gu": "Gujarati", "ha": "Hausa", "he": "Hebrew",
    "hi": "Hindi", "hr": "Croatian", "ht": "Haitian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian",
    "ig": "Igbo", "is": "Icelandic", "it": "Italian", "ja": "Japanese", "jv": "Javanese", "ka": "Georgian",
    "kk": "Kazakh", "km": "Khmer", "kn": "Kannada", "ko": "Korean", "ku": "Kurdish", "ky": "Kyrgyz", "la": "Latin",
    "lb": "Luxembourgish", "lo": "Lao", "lt": "Lithuanian", "lv": "Latvian", "mg": "Malagasy", "mk": "Macedonian",
    "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi", "ms": "Malay", "mt": "Maltese", "my": "Burmese",
    "ne": "Nepali", "nl": "Dutch", "no": "Norwegian", "oc": "Occitan", "or": "Odia", "pa": "Punjabi", "pl": "Polish",
    "ps": "Pashto", "pt": "Portuguese", "qu": "Quechua", "ro": "Romanian", "ru": "Russian", "rw": "Kinyarwanda",
    "sa": "Sanskrit", "si": "Sinhala", "sk": "Slovak", "sl": "Slovenian", "sn": "Shona", "so": "Somali",
    "sq": "Albanian", "sr": "Serbian", "st": "Sotho", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil",
    "te": "Telugu", "tg": "Tajik", "th": "Thai", "tk": "Turkmen", "tl": "Tagalog", "tr": "Turkish", "tt": "Tatar",
    "ug": "Uyghur", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek", "vi": "Vietnamese", "xh": "Xhosa",
    "yo": "Yoruba", "zh": "Chinese", "zu": "Zulu",
}  # fmt: skip
NAMES = {name.casefold(): code for code, name in LANGUAGES.items()} | {
    "farsi": "fa", "filipino": "tl", "mandarin": "zh", "simplified chinese": "zh", "traditional chinese": "zh",
    "chinese (simplified)": "zh", "chinese (traditional)": "zh", "brazilian portuguese": "pt", "slovene": "sl",
    "bokmål": "no", "norwegian bokmål": "no", "nynorsk": "no", "oriya": "or", "bahasa indonesia": "id",
    "modern greek": "el", "punjabi (gurmukhi)": "pa", "castilian": "es",
}  # fmt: skip
DIALECTS = {
    "nn": "no", "nb": "no", "pcm": "en", "ext": "es", "an": "es", "arz": "ar", "ary": "ar", "wuu": "zh", "yue": "zh",
    "grc": "el", "hbo": "he", "iw": "he", "uzs": "uz", "vec": "it", "lij": "it", "gcr": "fr", "gcf": "fr", "wa": "fr",
    "gom": "mr", "ltg": "lv", "sdh": "ku", "fil": "tl", "in": "id", "fy": "nl", "crh": "tr",
}  # fmt: skip
"""Codes of varieties, and the language that they count as."""
NOUNS_CAPITALISED = {"de", "lb"}
ONE_LANGUAGE = {
    "ja": "[\u3040-\u30ff]|[\u4e00-\u9fff](?=[\u3040-\u30ff])|(?<=[\u3040-\u30ff])[\u4e00-\u9fff]",
    "ko": "[\uac00-\ud7af\u1100-\u11ff]",
    "th": "[\u0e00-\u0e7f]",
    "el": "[\u0370-\u03ff\u1f00-\u1fff]",
    "he": "[\u0590-\u05ff]",
    "ka": "[\u10a0-\u10ff]",
    "hy": "[\u0530-\u058f]",
    "km": "[\u1780-\u17ff]",
    "lo": "[\u0e80-\u0eff]",
    "my": "[\u1000-\u109f]",
    "ta": "[\u0b80-\u0bff]",
    "te": "[\u0c00-\u0c7f]",
    "kn": "[\u0c80-\u0cff]",
    "ml": "[\u0d00-\u0d7f]",
    "gu": "[\u0a80-\u0aff]",
    "or": "[\u0b00-\u0b7f]",
    "si": "[\u0d80-\u0dff]",
}
"""Characters that, of the languages here, only one is written in (nearly only)."""


_PURPOSE = "detecting languages"
LEAST_LETTERS = 12
LEAST_LETTERS_OF_SCRIPT = 3
"""Letters of a script that belongs to one language, such as Hangul."""
ACCEPTED, REJECTED = 0.5, 0.05
"""A sentence is accepted from this probability of the language on, and rejected below that one."""
MOST_FOREIGN = 0.1
"""The share of letters in rejected sentences that a response may have."""
MOST_CHARACTERS = 20_000
MOST_SENTENCES = 200
_LEFT_OUT = compile_late(
    r"`[^`\n]*`|https?://\S+|(?<!\S)[^\s@]++@\S+\.\w+|\$\$.{0,1000}?\$\$|\$[^$\n]{1,200}\$|\\\(.{0,1000}?\\\)"
    r"|\\\[.{0,1000}?\\\]|\\[a-zA-Z]+(?:\{[^{}]{0,1000}\})?"
    r"|\"[^\"\n]{2,400}\"|“[^”\n]{2,400}”|„[^“”\n]{2,400}[“”]|«[^»\n]{2,400}»|‹[^›\n]{2,400}›|「[^」\n]{2,400}」"
    r"|『[^』\n]{2,400}』|(?:^|(?<=\n))[ \t]*>[^\n]*|<[^<>\n]{1,80}>",
    re.DOTALL,
)
_NAME = compile_late(r"(?<=[^\s.!?:;。\n])([ \t]+)[A-ZÀ-ÖØ-Þ][\w'’-]*")
_LOAN_WORD = compile_late(r"\b\w*[À-ÖØ-öø-ÿ]\w*")
_OTHER_SCRIPT = compile_late("[\u0370-\u1dff\u2e80-\ud7ff]")
_LATIN_CLAUSE = compile_late(r"(?<![A-Za-z'’])(?:[A-Za-z'’]++[\s,;:.!?-]*+){4,}+")
_LATIN_NAME = compile_late(r"\b[A-Z][\w'’-]*")
_LETTER = compile_late(r"[^\W\d_]")


@dataclass(frozen=True, repr=False)
class Language(Verifier[str]):
    """1.0 when the answer is in the language of the row, else 0.0; a text of a few words is not decided.

    Code, quotations and names do not count. `thoughts=True` asks for thoughts in the language, too.
    """

    kind: ClassVar[str] = "language"

    thoughts: bool = False

    def __post_init__(self) -> None:
        require("py3langid", purpose=_PURPOSE, extra="verifiers")

    def read(self, sample: Trajectory) -> str:
        wanted = find_column(sample, "language", "target_language")
        return find_language(_of_ifeval(sample) if wanted is None else wanted)

    def judge(self, task: str, answer: Answer) -> Verdict:
        parts = {"answer": _judge_text(task, answer.text)}
        if self.thoughts and (thoughts := thoughts_of(answer.response)).strip():
            parts["thoughts"] = _judge_text(task, thoughts)
        order = (0.0, None, 1.0)  # what fails decides, then what is open
        decisive = min(parts.values(), key=lambda part: order.index(part.score))
        return Verdict(decisive.score, decisive.reason, parts if len(parts) > 1 else {})


def find_language(wanted: Any) -> str:
    """The code of a language that is named by a code or in English; raises InvalidTrajectory for others."""
    name = wanted.strip().casefold() if isinstance(wanted, str) else ""
    code = NAMES.get(name, re.split(r"[-_]", name)[0])
    if DIALECTS.get(code, code) not in LANGUAGES:
        raise InvalidTrajectory(f"no language {wanted!r:.40} is known; give a code of ISO 639-1 or an English name")
    return DIALECTS.get(code, code)


def _of_ifeval(sample: Trajectory) -> Any:
    listed = read_literal(find_column(sample, "kwargs"))
    settings = listed if isinstance(listed, list) else []
    languages = [each["language"] for each in settings if isinstance(each, Mapping) and each.get("language")]
    if not languages:
        raise InvalidTrajectory("the row has no column language or target_language")
    return languages[0]


def _judge_text(language: str, text: str) -> Verdict:
    weights = {"accepted": 0, "rejected": 0}
    foreign = ""
    for sentence in _sentences_to_judge(language, text[:MOST_CHARACTERS]):
        decision, detected = _judge_sentence(language, sentence)
        if decision is not None:
            weights["accepted" if decision else "rejected"] += _letters(sentence)
            foreign = foreign if decision else foreign or f"{sentence.strip()[:60]!r} is {detected}"
    decided = sum(weights.values())
    if not decided:
        return Verdict.undecided(f"too few words to tell whether it is {LANGUAGES[language]}")
    share = weights["rejected"] / decided
    passed = weights["accepted"] > 0 and share <= MOST_FOREIGN
    reason = f"{100 * (1 - share):.0f} % in {LANGUAGES[language]}" + (f"; {foreign}" if foreign else "")
    return Verdict(float(passed), reason)


def _sentences_to_judge(language: str, text: str) -> Iterable[str]:
    """Sentences long enough to tell; short ones are joined with what follows them on the same lines."""
    text = replace_spans(text, ((block.start, block.end, "\n") for block in find_fences(text).closed))
    plain = _LEFT_OUT.sub(" ", remove_invisible(text))
    if language in ONE_LANGUAGE:
        plain = _LATIN_NAME.sub("", plain)
    elif language not in NOUNS_CAPITALISED and not plain.isupper():
        plain = _NAME.sub(r"\1", plain)
    if language == "en":
        plain = _LOAN_WORD.sub("", plain)
    listed = [part for sentence in sentences(plain)[:MOST_SENTENCES] for part in _by_script(sentence)]
    long = [sentence for sentence in listed if _letters(sentence) >= LEAST_LETTERS]
    short = [sentence for sentence in listed if _letters(sentence) < LEAST_LETTERS]
    return [*long, *([" ".join(short)] if short else [])]


def _by_script(sentence: str) -> list[str]:
    """A sentence, and clauses in Latin letters that it has beside another script as sentences of their own."""
    if sentence.isascii() or not _OTHER_SCRIPT.search(sentence):
        return [sentence]
    return [_LATIN_CLAUSE.sub(" ", sentence), *_LATIN_CLAUSE.findall(sentence)]


def _judge_sentence(language: str, sentence: str) -> tuple[bool | None, str]:
    """Whether a sentence is in a language, None where that is open; and the language that it most likely is."""
    letters = _letters(sentence)
    script = next(
        (code for code, pattern in ONE_LANGUAGE.items() if len(re.findall(pattern, sentence)) * 2 > letters), ""
    )
    if script and letters >= LEAST_LETTERS_OF_SCRIPT:
        return script == language, LANGUAGES[script]
    if letters < LEAST_LETTERS:
        return None, ""
    ranked = _detect(sentence.lower() if sentence.upper() == sentence else sentence)
    likely = max(ranked, key=lambda code: ranked[code])
    probability = ranked.get(language, 0.0)
    if probability >= ACCEPTED or (likely == language and probability >= 2 * sorted(ranked.values())[-2]):
        return True, LANGUAGES[language]
    return (False if probability < REJECTED else None), LANGUAGES.get(likely, likely)


def _detect(text: str) -> dict[str, float]:
    """The probabilities of languages; those of dialects are added to their language."""
    merged: dict[str, float] = {}
    for code, probability in _identifier().rank(text):
        language = DIALECTS.get(code, code)
        merged[language] = merged.get(language, 0.0) + float(probability)
    return merged


@functools.cache
def _identifier() -> Any:
    langid = require("py3langid.langid", purpose=_PURPOSE, extra="verifiers")
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)


def _letters(text: str) -> int:
    return len(_LETTER.findall(text))
