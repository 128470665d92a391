"""Measures of likeness give the numbers of the libraries and papers they are named after."""

import pytest
import sacrebleu

from plaudit.checks.similarity import MEASURES, MOST_CHARACTERS, find_measure, word_order
from plaudit.errors import InvalidSettings

TEXT = "The cat sat on the mat and looked at the door."
REFERENCE = "A cat was sitting on the mat, looking at the old door."


@pytest.mark.parametrize("name", sorted(MEASURES.keys() - {"meteor"}))  # meteor needs a word net that NLTK downloads
def test_a_text_is_like_itself_and_nothing_like_another(name):
    assert find_measure(name)(TEXT, TEXT) == pytest.approx(1.0)
    assert find_measure(name)("Quarks!", "Im Wald, dort ging ein Kind") < 0.25
    assert 0.0 <= find_measure(name)(TEXT, REFERENCE) < 1.0
    assert find_measure(name)("x" * 1_000_000, REFERENCE) < 0.1


def test_bleu_and_chrf_are_sacrebleus():
    assert find_measure("bleu")(TEXT, REFERENCE) == pytest.approx(
        sacrebleu.sentence_bleu(TEXT, [REFERENCE]).score / 100
    )
    assert find_measure("chrf")(TEXT, REFERENCE) == pytest.approx(
        sacrebleu.sentence_chrf(TEXT, [REFERENCE]).score / 100
    )


@pytest.mark.parametrize("kind", ["rouge1", "rouge2", "rougeL"])
@pytest.mark.parametrize("text", [TEXT, "the the the mat", "", "!?"])
def test_rouge_is_rouge_scores(kind, text):
    from rouge_score.rouge_scorer import RougeScorer

    name = {"rouge1": "rouge_1", "rouge2": "rouge_2", "rougeL": "rouge_l"}[kind]
    expected = RougeScorer([kind]).score(REFERENCE, text)[kind].fmeasure
    assert find_measure(name)(text, REFERENCE) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "reference", "f1", "exact"),
    [
        ("Denver Broncos", "the Denver Broncos!", 1.0, 1.0),
        ("the broncos of Denver", "Denver Broncos", 0.8, 0.0),
        ("in 1066", "1066", 2 / 3, 0.0),
        ("1067", "1066", 0.0, 0.0),
        ("", "A", 0.0, 0.0),  # SQuAD's own script gives 1: it takes the answer "A" for an article
        ("the", "A", 0.0, 0.0),
        ("a", "A", 1.0, 1.0),
    ],
)
def test_extractive_answers_are_compared_as_squad_does(text, reference, f1, exact):
    assert find_measure("qa_f1")(text, reference) == pytest.approx(f1)
    assert find_measure("qa_exact")(text, reference) == exact


def test_order_counts_where_most_words_are_shared():
    assert word_order(REFERENCE, REFERENCE) == 1.0
    assert word_order("door old the at looking mat the on sitting was cat a", REFERENCE) < 0.1
    assert word_order("mat cat door", REFERENCE) == 1.0
    assert word_order("The dog lay by the fire; the old cat was at the door.", REFERENCE) > 0.8


def test_an_unknown_measure_is_named_with_the_known():
    with pytest.raises(InvalidSettings, match="no measure 'blue'; did you mean 'bleu'"):
        find_measure("blue")


@pytest.mark.parametrize("name", sorted(MEASURES.keys() - {"meteor"}))
def test_long_texts_are_compared_to_their_ends(name):
    """Else the beginning of a long reference would earn what all of it does, and be an exact match of it."""
    measure, whole = find_measure(name), " ".join(f"w{n}" for n in range(8_000))
    assert measure(whole, whole) == pytest.approx(1.0)
    assert measure(whole[:MOST_CHARACTERS], whole) < 0.8
    assert measure(whole[:MOST_CHARACTERS] + " other" * 5_000, whole) < 0.8
