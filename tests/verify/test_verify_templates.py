import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.verify.templates import TemplateMatch, match_template

TEMPLATE = "The answer is [NUM]."


@pytest.mark.parametrize(
    "response",
    [
        "The answer is 4.",
        "2 + 2 = 4. The answer is 4.",
        "the  ANSWER is\n-1,234.5.",
        "**The answer is 4.**\n",
        "<think>so</think>The answer is 4.",
    ],
)
def test_a_closing_statement_of_the_template_is_perfect(response):
    assert match_template(response, TEMPLATE) is TemplateMatch.PERFECT


@pytest.mark.parametrize(
    "response",
    [
        "The answer is 4",
        "Answer is 4.",
        "I think the answer is 4.",
        "The answer is 4. Any more questions?",
        "the answer 4 is",
    ],
)
def test_filled_placeholders_and_half_the_words_in_order_are_partial(response):
    assert match_template(response, TEMPLATE) is TemplateMatch.PARTIAL


@pytest.mark.parametrize(
    "response",
    [
        "2 plus 2 equals 4.",
        "The answer is four.",
        "The answer is [NUM].",
        "The answer is .",
        "4",
        "",
        "4 is answer the",
        "\u200b",
    ],
)
def test_other_texts_do_not_match(response):
    assert match_template(response, TEMPLATE) is TemplateMatch.NONE


def test_thinking_does_not_fill_a_template():
    assert match_template("<think>The answer is 4.", TEMPLATE) is TemplateMatch.NONE


@pytest.mark.parametrize(
    ("response", "template", "match"),
    [
        ("Name: Bob, age 5, likes tea and cake.", "Name: [WORD], age [NUM], likes [TEXT].", TemplateMatch.PERFECT),
        ("Reason: it adds up. Answer: 4", "Reason: [TEXT] Answer: [NUM]", TemplateMatch.PERFECT),
        ("Reason: Answer: 4", "Reason: [TEXT] Answer: [NUM]", TemplateMatch.PARTIAL),
        ("Any text at all", "[TEXT]", TemplateMatch.PERFECT),
        ("...", "[TEXT]", TemplateMatch.NONE),
        ("a+b (c)", "a+b (c)", TemplateMatch.PERFECT),
        ("anything", "", TemplateMatch.NONE),
    ],
)
def test_every_kind_of_placeholder_is_filled(response, template, match):
    assert match_template(response, template) is match


@given(st.text(st.characters(codec=None)), st.text(st.sampled_from("[NUM] [WORD][TEXT]a.(\\*")))
def test_any_response_and_template_can_be_matched(response, template):
    assert match_template(response, template) in TemplateMatch
