"""Languages that can be detected: codes of ISO 639-1, English names, dialects, and scripts of one language."""

__all__ = ["DIALECTS", "LANGUAGES", "NAMES", "NOUNS_CAPITALISED", "ONE_LANGUAGE"]

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
