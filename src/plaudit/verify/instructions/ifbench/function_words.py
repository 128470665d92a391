"""English function words: stop words, conjunctions, pronouns, and words that tell a verb from a noun."""

__all__ = ["ARTICLES", "AUXILIARIES", "CONJUNCTIONS", "MINOR_WORDS", "PRONOUNS", "STOP_WORDS"]

ARTICLES = frozenset({"a", "an", "the"})
CONJUNCTIONS = frozenset({"for", "and", "nor", "but", "or", "yet", "so"})
"""The coordinating conjunctions."""
_PERSONAL = frozenset({
    "i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves", "you", "your", "yours", "yourself",
    "yourselves", "he", "him", "his", "himself", "she", "her", "hers", "herself", "it", "its", "itself", "they",
    "them", "their", "theirs", "themselves",
})  # fmt: skip
PRONOUNS = _PERSONAL | frozenset({
    "themself", "oneself", "who", "whom", "whoever", "someone", "somebody", "something", "anyone", "anybody",
    "anything", "everyone", "everybody", "everything", "nobody", "nothing",
})  # fmt: skip
"""The words that are always pronouns; "this" and "which" may be something else."""
AUXILIARIES = frozenset({
    "am", "is", "are", "was", "were", "be", "been", "being", "have", "has", "had", "having", "do", "does", "did",
    "doing", "can", "could", "may", "might", "must", "shall", "should", "will", "would",
})  # fmt: skip
_PREPOSITIONS = frozenset({
    "of", "at", "by", "for", "with", "about", "against", "between", "into", "through", "during", "before", "after",
    "above", "below", "to", "from", "up", "down", "in", "out", "on", "off", "over", "under",
})  # fmt: skip
_OTHER_STOP_WORDS = frozenset({
    "what", "which", "who", "whom", "this", "that", "these", "those", "if", "because", "as", "until", "while",
    "again", "further", "then", "once", "here", "there", "when", "where", "why", "how", "all", "any", "both",
    "each", "few", "more", "most", "other", "some", "such", "no", "not", "only", "own", "same", "than", "too",
    "very", "just", "now", "s", "t", "d", "ll", "m", "o", "re", "ve", "y", "don", "ain", "aren", "couldn", "didn",
    "doesn", "hadn", "hasn", "haven", "isn", "ma", "mightn", "mustn", "needn", "shan", "shouldn", "wasn", "weren",
    "won", "wouldn",
})  # fmt: skip
STOP_WORDS = (
    ARTICLES | _PREPOSITIONS | _OTHER_STOP_WORDS | (_PERSONAL - {"mine", "us"}) | (CONJUNCTIONS - {"yet"})
    | (AUXILIARIES - {"could", "may", "might", "must", "shall", "would"})
)  # fmt: skip
"""The words that NLTK lists as English stop words, with the pieces that contractions leave."""
_OTHER_MINOR_WORDS = frozenset({
    "as", "if", "per", "via", "than", "vs", "v", "onto", "upon", "near", "like", "past", "since", "till", "until",
    "within", "without", "around", "across", "along", "among", "amid", "that", "once",
})  # fmt: skip
MINOR_WORDS = ARTICLES | CONJUNCTIONS | _PREPOSITIONS | _OTHER_MINOR_WORDS
"""The words that title case may leave in lower case: articles, conjunctions, prepositions."""
