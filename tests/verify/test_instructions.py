"""Instructions that code can check: each type has labelled lines, takes any text, and is judged in time."""

import functools
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plaudit.errors import InvalidSettings
from plaudit.verify import IfBench, IfEval
from plaudit.verify.instructions.constraints import FUNCTIONS, IFBENCH, IFEVAL, TRAINING, read_constraints
from plaudit.verify.instructions.instruction import RELATIONS
from plaudit.verify.instructions.parts import divided, split_words, words_of
from plaudit.verify.instructions.published import PUBLISHED
from plaudit.verify.text import sentences_of
from plaudit.verify.verifier import sample_of
from tests.verify.catalogue import Label, read_lines

KNOWN = {"ifeval": IFEVAL, "if_train": TRAINING, "ifbench": {**TRAINING, **IFBENCH}}
OWN = {"ifeval": IFEVAL.keys(), "if_train": TRAINING.keys() - IFEVAL.keys(), "ifbench": IFBENCH.keys()}
SETTINGS = {
    "keywords": ["rain"], "keyword": "rain", "forbidden_words": ["rain"], "frequency": 2, "relation": "at least",
    "letter": "e", "let_frequency": 3, "let_relation": "at least", "language": "en", "num_sentences": 2,
    "num_paragraphs": 2, "num_words": 5, "nth_paragraph": 1, "first_word": "rain", "last_word": "rain",
    "num_placeholders": 1, "postscript_marker": "P.S.", "num_bullets": 2, "section_spliter": "Section",
    "num_sections": 2, "num_highlights": 1, "prompt_to_repeat": "Say it again.", "end_phrase": "The end.",
    "capital_frequency": 1, "capital_relation": "at least", "phrase": "one two three", "small_n": 2, "n_start": 0,
    "n_end": 2, "N": 3, "n": 1, "m": 1, "n_sent": 2, "n_words": 3, "keyword1": "a", "keyword2": "b",
    "func_name": "", "keyword_list": ["rain"], "word": "rain", "quantifier": "at least", "i": 1, "options": ["a", "b"],
    "section_splitter": "Section", "original_prompt": "Say it.", "min_words": 2, "max_words": 9, "percentage": 50,
    "reference_text": "rain falls", "sep": "SEP", "keyword3": "c", "keyword4": "d", "keyword5": "e",
}  # fmt: skip
OTHERS = {"format:options": {"options": "yes/no"}, "repeat:repeat_span": {"n_start": 0, "n_end": 1}}
EVERY = sorted({**TRAINING, **IFBENCH}) + sorted(FUNCTIONS)
PIECES = (
    "a. ", "*a", "[x", "1. a\n", '"a', "_", ".", " ", "P.S. ", "#*_-> ", "<<a ", "x", "'a ", "(", "😀", "* a\n", "\n",
)  # fmt: skip
every_type = pytest.mark.parametrize("name", EVERY)


def row_of(name, **changes):
    arguments = {**SETTINGS, **OTHERS.get(name, {}), **changes}
    if name in FUNCTIONS:
        return {"prompt": "?", "ground_truth": {**arguments, "func_name": name}}
    return {"prompt": "?", "instruction_id_list": [name], "kwargs": [arguments]}


def test_the_sets_have_the_published_sizes():
    assert len(IFEVAL) == 25
    assert len(TRAINING) == 25 + 29
    assert len(FUNCTIONS) == 25
    assert len(IFBENCH) == 58


@pytest.mark.parametrize("kind", KNOWN)
def test_every_type_has_four_labelled_responses_and_both_verdicts(kind):
    numbers = Counter()
    for line in read_lines(kind):
        if line.label is not Label.DECLINE:
            for constraint in read_constraints(sample_of(line.row, line.response), KNOWN[kind]):
                numbers[constraint.name, line.label] += 1
    passed = {name: numbers[name, Label.PASS] for name in OWN[kind]}
    failed = {name: numbers[name, Label.FAIL] for name in OWN[kind]}
    assert [name for name in OWN[kind] if min(passed[name], failed[name]) < 1 or passed[name] + failed[name] < 4] == []


@settings(max_examples=60, deadline=None)
@given(st.text(min_size=1) | st.text("aB1é .,:;!?()[]{}<>\\*_|\n\"'“”-+=/😀", min_size=1, max_size=80))
def test_every_type_judges_any_text(text):
    for constraint in every_constraint():
        assert constraint.check(text).score in (None, 0.0, 1.0)


@functools.cache
def every_constraint():
    return [read_constraints(sample_of(row_of(name), ""), KNOWN["ifbench"])[0] for name in EVERY]


@every_type
def test_an_argument_that_is_missing_or_of_the_wrong_type_declines_the_row(name):
    instruction = {**TRAINING, **IFBENCH, **FUNCTIONS}[name]
    for parameter, reader in instruction.arguments.items():
        column = reader[0] if isinstance(reader, tuple) else parameter
        for value in (None, {}, True, -1, float("nan"), [5], ""):
            for response in ("Rain falls.", ""):
                verdict = IfBench().verify(row_of(name, **{column: value}), response)
                assert verdict.score is None, (column, value)
                assert column in verdict.reason


@pytest.fixture(scope="module")
def _loaded_packages():
    for name in ("language:response_language", "words:start_verb"):
        IfBench().verify(row_of(name), "Rain falls here, and the sun shines.")


@pytest.mark.usefixtures("_loaded_packages")
@pytest.mark.parametrize("name", sorted({**TRAINING, **IFBENCH}))
def test_time_grows_with_the_length_not_with_its_square(name):
    """Checks in linear time need less than 50 ms of CPU; those in quadratic time have needed from 0.4 s to 8 s."""
    for text in (*(f"x {piece * (12_000 // len(piece))} x" for piece in PIECES), "(" * 6_000 + ")" * 6_000):
        started = time.process_time()
        IfBench().verify(row_of(name), text)
        if name in PUBLISHED:
            IfBench(published=True).verify(row_of(name), text)
        assert time.process_time() - started < 0.4, text[:20]


def test_fraction_all_and_components():
    names = ["punctuation:no_comma", "startend:quotation", "punctuation:no_comma"]
    row = {"prompt": "?", "instruction_id_list": names, "kwargs": [{}, {}, None]}
    verdict = IfEval().verify(row, "no marks")
    assert verdict.score == 0.0
    assert list(verdict.components) == ["punctuation:no_comma", "startend:quotation", "punctuation:no_comma #2"]
    assert [part.passed for part in verdict.components.values()] == [True, False, True]
    assert IfEval(aggregate="fraction").verify(row, "no marks").score == pytest.approx(2 / 3)
    assert verdict.reason == "startend:quotation: not wrapped in quotation marks"


def test_what_is_not_decided_is_not_scored_unless_another_instruction_fails():
    names = ["language:response_language", "punctuation:no_comma"]
    row = {"prompt": "?", "instruction_id_list": names, "kwargs": [{"language": "de"}, {}]}
    assert IfEval().verify(row, "OK").score is None
    assert IfEval(aggregate="fraction").verify(row, "OK, OK").score is None
    assert IfEval().verify(row, "OK, OK").score == 0.0


@pytest.mark.parametrize(
    ("name", "arguments", "text", "ours"),
    [
        ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "- one\n---", False),
        ("detectable_format:title", {}, "1 << 3 >> 1", False),
        ("length_constraints:number_paragraphs", {"num_paragraphs": 3}, "A ***bold*** text", False),
        ("startend:quotation", {}, '""', False),
        ("count:conjunctions", {"small_n": 3}, "and And and,", False),
        ("count:numbers", {"N": 2}, "3-4", True),
        ("ratio:sentence_balance", {}, "no mark", False),
        ("format:parentheses", {}, "((((((a)", False),
        ("format:sub-bullets", {}, "no bullet", False),
        ("custom:date_format_list", {}, "1796-00-00", False),
        ("repeat:repeat_span", {"prompt_to_repeat": "a b c d", "n_start": 1, "n_end": 2}, "b c", True),
    ],
)
def test_published_judges_as_the_public_checker(name, arguments, text, ours):
    row = {"prompt": "?", "instruction_id_list": [name], "kwargs": [arguments]}
    assert IfBench().verify(row, text).passed is ours
    assert IfBench(published=True).verify(row, text).passed is not ours


def test_published_scores_no_unpublished_instruction_types():
    row = {"prompt": "?", "instruction_id_list": ["count:numbers"], "kwargs": [{"N": 1}]}
    assert IfEval(published=True).verify(row, "1").score is None


def test_settings_are_checked():
    with pytest.raises(InvalidSettings, match="all or fraction, got 'some'"):
        IfEval(aggregate="some")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Dr. Smith met Mr. Jones. They spoke.", 2),
        ("It costs 3.50 dollars at example.com today.", 1),
        ("We saw cats, dogs, etc. The end came.", 2),
        ("J. K. Rowling wrote it. I read it.", 2),
        ("\"Why?\" she asked. He knew.", 2),
        ("Wait... what? Yes!", 2),
        ("1. First item\n2. Second item", 2),
        ("# Heading\n\nText is here.", 1),
        ("今日は晴れです。明日は雨です。", 2),
        ("No. 5 is alive.", 1),
        ("It began at 5 p.m. We left.", 2),
        ("The U.S. Senate met.", 1),
        ("...", 0),
        ("(It is so.) It was.", 2),
        ("That was me. i am here.", 2),
    ],
)  # fmt: skip
def test_sentences(text, number):
    assert len(sentences_of(text)) == number, sentences_of(text)


def test_words_and_paragraphs():
    assert len(split_words("Don't stop")) == 3
    assert words_of("'Don’t', well-known (a) ... 3.5!") == ["Don’t", "well-known", "a", "3.5"]
    assert divided("a\n***\nb ***c*** d") == ["a", "b c d"]
    assert divided("a\n***\n***\nb") is None


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_sentences_keep_every_letter_in_order(text):
    letters = [character for character in text if character.isalnum()]
    assert [character for sentence in sentences_of(text) for character in sentence if character.isalnum()] == letters


@given(st.sampled_from(sorted(RELATIONS)), st.integers(0, 50))
def test_at_least_and_less_than_are_opposites(relation, number):
    assert RELATIONS["at least"](number, 10) is not RELATIONS["less than"](number, 10)
    assert RELATIONS[relation](10, 10) is (relation != "less than")
