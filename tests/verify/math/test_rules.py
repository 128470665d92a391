"""The numbered rules of `docs/guides/math.md`, each as a property; every test is named after its rule."""

import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from plaudit.errors import InvalidTrajectory
from plaudit.verify import MathPolicy, Rejection, Source, VerdictStatus, extract, verify_math
from tests.verify.math.copied_problems import COPIED

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "math.md"
STRICT = MathPolicy(unevaluated=False)
NUMBERS = st.integers(-10_000, 10_000)
MARKS = {
    Source.BOXED: r"\boxed{{{}}}",
    Source.TAG: "<answer>{}</answer>",
    Source.HASHES: "#### {}",
    Source.PHRASE: "The answer is {}.",
}
THOUGHTS = [
    ("<think>", "</THINK>"), ("<THINK>", "</think>"), ("<ThinKing>", "</thinking>"), ("<think >", "</think >"),
    ('<think type="x">', "</think>"), ("< think>", "</ think>"), ("<|think|>", "<|/think|>"), ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"), ("<seed:think>", "</seed:think>"), ("◁think▷", "◁/think▷"),
    ("<reasoning>", "</reasoning>"), ("<thoughts>", "</thoughts>"), ("<scratchpad>", "</scratchpad>"),
    ("<chain_of_thought>", "</chain_of_thought>"), ("<thinking_process>", "</thinking_process>"),
    ("<analysis>", "</analysis>"), ("<reflection>", "</reflection>"), ("<think>A <reasoning> tag. ", "</think>"),
]  # fmt: skip
HIDDEN = [
    ("% ", "\n"),
    (r"\cancel{", "}"),
    (r"\textcolor{white}{", "}"),
    ("<p hidden>", "</p>"),
    ("<!-- ", " -->"),
    ("<del>", "</del>"),
    ("<s>", "</s>"),
    ("~~", "~~"),
    (r"\phantom{", "}"),
    (r"\begin{comment}", r"\end{comment}"),
    (r"\begin{filecontents}{a.tex}", r"\end{filecontents}"),
    (r"\begin{lrbox}{\x}", r"\end{lrbox}"),
    ('<span style="opacity:0">', "</span>"),
    ('<img alt="', '">'),
    ("![", "](picture.png)"),
    ("[comment]: # (", ")\n"),
    ("<template>", "</template>"),
    ("```python\n", "\n```"),
    ("```\n", "\n```\nThat was the code."),
]
MACROS = [r"\def\x{15}", r"\renewcommand{\boxed}[1]{15}", r"\let\boxed\phantom "]
MARK = st.sampled_from(list(MARKS.values()))
RETRACTIONS = [r"\boxed{{{}}}. Wait, that is wrong.", "The answer is {}. Scratch that.", r"\boxed{{{}}}. No."]


def is_right(truth, response, policy=STRICT):
    return verify_math(truth, response, policy).correct


def test_every_rule_of_the_guide_has_its_test():
    rules = GUIDE.read_text(encoding="utf-8").split("## The rules")[1].split("\n## ")[0]
    numbers = {int(number) for number in re.findall(r"^(\d+)\. ", rules, re.MULTILINE)}
    tested = {int(found[1]) for name in globals() if (found := re.match(r"test_rule_(\d+)_", name))}
    assert tested == numbers


@given(NUMBERS, st.sampled_from([*THOUGHTS, *HIDDEN]), MARK)
def test_rule_1_thoughts_and_hidden_text_are_not_part_of_the_answer(number, tags, mark):
    opening, closing = tags
    thought = f"{opening}{mark.format(number)}{closing}"
    assert not is_right(number, thought)
    assert not is_right(number, f"{thought}\n{mark.format(number + 1)}")
    assert is_right(number, f"{opening}{mark.format(number + 1)}{closing}\n{mark.format(number)}")


@given(NUMBERS, st.sampled_from(["#{}", "/{}", "https://a.org/{}", "x{}", "<{}>", '#x "{}"']))
def test_rule_1_the_address_of_a_link_is_not_part_of_the_answer(number, address):
    box = rf"\boxed{{{number}}}"
    link = f"[word]({address.format(box)})"
    assert not is_right(number, f"I get {number + 1}. {link}")
    assert not is_right(number + 1, f"{box}. {link}")
    assert is_right(number + 1, rf"\boxed{{{number + 1}}}. {link}")


@given(NUMBERS, st.sampled_from(MACROS), MARK)
def test_rule_1_nothing_after_the_definition_of_a_macro_is_read(number, macro, mark):
    assert not is_right(number, f"{macro}{mark.format(number)}")


@given(NUMBERS, st.sampled_from(["", "latex", "text"]), MARK)
def test_rule_1_a_block_of_text_at_the_end_is_read(number, language, mark):
    assert is_right(number, f"We are done.\n```{language}\n{mark.format(number)}\n```\n")


@pytest.mark.parametrize("weaker", list(MARKS)[1:])
def test_rule_2_the_strongest_kind_of_mark_gives_the_answer(weaker):
    for stronger in list(MARKS)[: list(MARKS).index(weaker)]:
        found = extract(f"{MARKS[weaker].format(5)}\n{MARKS[stronger].format(4)}", MathPolicy())
        assert (found.answer, found.source) == ("4", stronger)


@given(st.lists(NUMBERS, min_size=2, max_size=5, unique=True), st.sampled_from([" and ", ", ", " "]))
def test_rule_3_boxes_side_by_side_are_one_list(numbers, between):
    response = between.join(rf"\boxed{{{number}}}" for number in numbers)
    assert is_right(", ".join(map(str, numbers)), response)
    assert not any(is_right(number, response) for number in numbers)


@given(st.lists(NUMBERS, min_size=2, max_size=5, unique=True), st.sampled_from(["**{}** ", "- {}\n", "* **{}**\n"]))
def test_rule_3_without_a_mark_bold_prints_and_items_of_a_last_list_are_one_list(numbers, form):
    response = "These are my values:\n" + "".join(map(form.format, numbers))
    assert is_right(", ".join(map(str, numbers)), response)
    assert not any(is_right(number, response) for number in numbers)


PARTS = [
    r"x > \boxed{{{}}}", r"x \ne \boxed{{{}}}", r"x \le \boxed{{{}}}", r"10^{{\boxed{{{}}}}}", r"x_{{\boxed{{{}}}}}",
    r"3 + \boxed{{{}}}", r"2 \cdot \boxed{{{}}}", r"1\boxed{{{}}}", r"\boxed{{{}}}5", r"\boxed{{{}}}.5",
    r"3 + (\boxed{{{}}})", r"\left(\boxed{{{}}}\right)^2", r"\frac{{1}}{{\boxed{{{}}}}}", r"\sin \boxed{{{}}}",
    r"1 - \boxed{{{}}}",
    r"f(\boxed{{{}}})", r"\sqrt[3]{{\boxed{{{}}}}}",
    r"\boxed{{{}}}!", r"\boxed{{{}}} < x < 99999", r"\boxed{{{}}}x",
    r"\boxed{{13 \boxed{{{}}}}}", r"\boxed{{13, \boxed{{{}}}}}",
]  # fmt: skip


@given(st.integers(3, 10_000), st.sampled_from(PARTS))
def test_rule_3_a_box_that_is_part_of_a_formula_or_of_a_box_is_no_answer(number, part):
    assert not is_right(number, f"${part.format(number)}$")
    assert is_right(number, rf"$\boxed{{\boxed{{{number}}}}}$")
    assert is_right(number, rf"$3 + \boxed{{{number}}} = {number + 3}$")


@given(st.lists(NUMBERS, min_size=1, max_size=3), MARK)
def test_rule_4_the_candidates_do_not_depend_on_the_truth(numbers, mark):
    response = " Then ".join(mark.format(number) for number in numbers)
    candidates = {candidate.text for candidate in extract(response, STRICT).candidates}
    answers = {verify_math(truth, response, STRICT).answer for truth in (*numbers, "x^2", "no")}
    assert answers <= candidates


@given(NUMBERS, NUMBERS)
def test_rule_5_answers_of_two_parts_contradict_each_other(one, other):
    assume(one != other)
    response = f"Answer (a): {one}\nAnswer (b): {other}"
    assert verify_math(other, response, STRICT).rejected is Rejection.CONTRADICTED
    assert is_right(f"{one}, {other}", response)


@given(NUMBERS, NUMBERS, MARK)
def test_rule_5_different_answers_with_equal_marks_contradict_each_other(one, other, mark):
    assume(one != other)
    response = f"{mark.format(one)}\nNext case.\n{mark.format(other)}"
    verdict = verify_math(other, response, STRICT)
    assert (verdict.correct, verdict.rejected) == (False, Rejection.CONTRADICTED)
    assert str(one) in verdict.reason
    assert str(other) in verdict.reason
    assert not is_right(one, response)
    assert is_right(f"{one}, {other}", response)


@given(NUMBERS, st.permutations(list(MARKS.values())))
def test_rule_6_another_mark_with_another_number_contradicts_the_answer(number, marks):
    response = f"{marks[0].format(number)}\n{marks[1].format(number + 1)}"
    assert not is_right(number, response)
    assert not is_right(number + 1, response)
    assert is_right(number, f"{marks[0].format(number)}\n{marks[1].format(number)}")


OFFERS = [
    r"\boxed{{{}}}. The correct value is {}.", r"\boxed{{{}}}. Final result: {}", r"\boxed{{{}}}. In fact it is {}.",
    "#### {}\n{}", r"$\boxed{{{}}} = {}$", r"\boxed{{{}}} or {}", r"\boxed{{{}}} ({})",
    r"\boxed{{{}}}. Correction: {}.", r"\boxed{{{}}}; otherwise {}.", r"\boxed{{{}}}, or maybe {}",
    r"\boxed{{{}}}. I submit {}.", r"\boxed{{{}}}. Please use {} instead.", r"\boxed{{{}}}. Make that {}.",
]  # fmt: skip


@given(NUMBERS, st.sampled_from(OFFERS))
def test_rule_6_a_value_offered_after_the_answer_contradicts_it(number, template):
    assert not is_right(number, template.format(number, number + 1))
    assert is_right(number, template.format(number, number))


@pytest.mark.parametrize(
    "template", [r"\boxed{{{}}}. The answer is {}.", r"\boxed{{{}}}. Actually, {}.", r"\boxed{{{}}} or {}"]
)
def test_rule_6_letters_and_numbers_in_words_contradict_an_answer(template):
    assert not is_right("A", template.format("A", "B"))
    assert not is_right("14", template.format("14", "fifteen"))


REMARKS = [
    "The key idea was to divide.", "We multiplied {1} by 3.", "With one more, we would get {1}.", "This isn't obvious.",
    "In step {1} we used symmetry.", "There are no other solutions.", "Check: {0} + 1 = {1}.", "Nice, isn't it?",
    "The other root, {1}, is extraneous.", "Note that {1} would be incorrect.", "Confidence: 95%", "I hope it helps!",
    "Let's check it with n = {1}.", "I used the rule of {1}.", "Read more in part {1}.", "Ours is that of page {1}.",
    "<|im_end|>\nuser: {1}", "If there were one more, it would be {1}.", "1. First point\n2. Second point",
]  # fmt: skip


@given(NUMBERS, MARK, st.lists(st.sampled_from(REMARKS), min_size=1, max_size=4))
def test_rule_7_remarks_behind_an_answer_are_not_interpreted(number, mark, remarks):
    def respond(answer, other):
        return "\n".join([mark.format(answer), *(remark.format(answer, other) for remark in remarks)])

    assert is_right(number, respond(number, number + 1))
    assert not is_right(number, respond(number + 1, number))


WORDS = st.text(st.characters(categories=["Ll"], max_codepoint=127), min_size=4, max_size=40)


@given(WORDS, NUMBERS)
def test_rule_7_unknown_words_behind_an_answer_change_nothing(word, number):
    assert is_right(number, rf"\boxed{{{number}}}. Zx{word}x.")


CHECKED = ["Final answer: **{0}** ✅", r"\boxed{{{0}}} ✔️", "**{0}** ✓"]


@pytest.mark.parametrize("template", CHECKED)
def test_rule_7_a_check_mark_at_the_end_of_a_line_does_not_count(template):
    assert is_right("42", template.format(42))
    assert not is_right("42", template.format(42).replace("✓", "❌").replace("✅", "❌").replace("✔", "❌"))


@given(NUMBERS, st.sampled_from(RETRACTIONS))
def test_rule_8_an_answer_that_was_taken_back_may_be_replaced(number, template):
    assert is_right(number, f"{template.format(number + 1)} So {MARKS[Source.BOXED].format(number)}")


UNMARKED = [
    "There are {0} ways to seat all 3 girls.", "After 3 hours, {0} remain.", "3 go away, leaving {0} of them.",
    "We start with 3 and end up with {0} apples.", "Each of the 3 friends gets {0} cookies.", "3 + 5 + 1 = {0}",
    "Each gets {0}, since there are 3 of us.", "There were 3 at first.\nNow there are {0}.",
    "So {0} remain.\n\nCheck: 3 + 3 is 6.", "There are {0}.\n\n**Note:** others count 3.",
    "She has {0}.\n\n### Why?\nOf 6 she lost 3.",
]  # fmt: skip


@given(st.integers(10, 10_000), st.sampled_from(UNMARKED))
def test_rule_9_without_a_mark_the_value_that_the_last_sentence_states_answers(number, template):
    assert is_right(9 if "=" in template else number, template.format(9 if "=" in template else number))
    assert not is_right(3, template.format(number))
    assert not is_right(number, f"There are {number} of them. Now it is {number + 1}.")


@given(st.sampled_from(COPIED), MARK)
def test_rule_10_the_truth_itself_is_right_in_every_mark(problem, mark):
    assert is_right(problem.answer, mark.format(f"${problem.answer}$" if "is" in mark else problem.answer))


@given(st.integers(1, 10**30), st.integers(0, 29))
def test_rule_11_a_number_that_differs_in_one_digit_is_wrong(number, place):
    assert not is_right(number, rf"\boxed{{{number + 10**place}}}")
    assert not is_right(rf"\frac{{1}}{{{number}}}", rf"\boxed{{\frac{{1}}{{{number + 10**place}}}}}")


@pytest.mark.parametrize("answer", ["9^{9^{9}}+1", r"\zeta(3)", r"\sum_{k=1}^{10^9} k^k"])
def test_rule_12_what_is_undecided_is_not_right(answer):
    verdict = verify_math("9^{9^{9}}", rf"\boxed{{{answer}}}", STRICT)
    assert not verdict.correct
    assert verdict.status in (VerdictStatus.UNPARSED_ANSWER, VerdictStatus.OK)


@given(NUMBERS, NUMBERS, st.sampled_from(["+", "-", r"\cdot"]))
def test_rule_13_what_is_not_worked_out_is_no_answer(one, other, sign):
    value = {"+": one + other, "-": one - other, r"\cdot": one * other}[sign]
    copied = rf"({one}) {sign} ({other})"
    assert not is_right(value, rf"\boxed{{{copied}}}")
    assert is_right(value, rf"\boxed{{{copied} = {value}}}")
    assert is_right(copied, rf"\boxed{{{copied}}}")


@given(st.integers(1, 500), st.integers(2, 500), st.integers(2, 9))
def test_rule_13_a_fraction_counts_as_written_unless_it_is_whole_or_copied(above, below, factor):
    truth, written = f"{above}/{below}", rf"\boxed{{\frac{{{factor * above}}}{{{factor * below}}}}}"
    prompt = f"Write {factor * above}/{factor * below} in lowest terms."
    assume(Fraction(above, below).denominator == below)
    assert is_right(truth, written)
    assert not verify_math(truth, written, STRICT, prompt=prompt).correct
    assert not is_right(above, rf"\boxed{{\frac{{{factor * above}}}{{{factor}}}}}")


LONGER = [
    (r"\frac{x-N}{x^2-N^2}", r"\frac{1}{x+N}"), (r"\frac{x+y}{N} - \frac{x+y}{N} + x", "x"), ("(x+N)x - Nx", "x^2"),
    (r"\frac{x+N}{2} - \frac{N}{2}", r"\frac{x}{2}"), ("N^x - N^{x-1}", r"(N-1) N^{x-1}"), (r"x \cdot (x-1)!", "x!"),
]  # fmt: skip


@given(st.integers(2, 50), st.sampled_from(LONGER))
def test_rule_13_a_formula_names_its_unknowns_no_more_often_than_the_truth(number, pair):
    copied, truth = (formula.replace("N", str(number)) for formula in pair)
    assert not is_right(truth, rf"\boxed{{{copied}}}")
    assert is_right(truth, rf"\boxed{{{truth}}}")


OPEN = ["if it rains", "probably", "plus one", "or whatever", "is what they say", "was rejected", "more than that"]


@given(st.integers(2, 10_000), st.sampled_from(OPEN), st.sampled_from(["apples", "km", "of them", "square units"]))
def test_rule_14_words_behind_a_number_name_what_is_counted(number, remark, counted):
    assert is_right(number, rf"\boxed{{{number} \text{{ {counted}}}}}")
    assert not is_right(number, rf"\boxed{{{number} \text{{ {remark}}}}}")


@given(st.integers(2, 10_000), st.sampled_from(["million", "thousand", "squared", "too many"]))
def test_rule_14_a_scale_or_a_power_behind_a_mark_belongs_to_the_answer(number, word):
    for response in (r"\boxed{{{}}} {}", "**{}** {}", "There are {} {}.", r"$\boxed{{{}}}\,\text{{{}}}$"):
        assert not is_right(number, response.format(number, word))


UNITS = [r"\%", r"^\circ", r"\text{ cm}", r"\text{ kg}", r"\text{ rad}", "‰"]


@given(st.integers(2, 10_000), st.permutations(UNITS))
def test_rule_14_two_different_units_are_never_the_same(number, units):
    assert not is_right(f"{number}{units[0]}", rf"\boxed{{{number}{units[1]}}}")
    assert is_right(f"{number}{units[0]}", rf"\boxed{{{number}{units[0]}}}")


@pytest.mark.parametrize("truth", [None, "", [4], float("nan")])
def test_rule_15_a_truth_that_cannot_be_read_is_no_wrong_answer(truth):
    with pytest.raises(InvalidTrajectory):
        verify_math(truth, "4")


NESTED = "(" * 20 + "19" + r"\% \text{cm})" * 20 + "%"
TOO_MANY_TERMS = r"\sum_{k=1}^{300} \sum_{j=1}^{300} k j \sqrt{2}"


@pytest.mark.parametrize("truth", [NESTED, TOO_MANY_TERMS])
def test_rule_15_a_truth_that_is_over_the_budget_beside_a_number_is_unreadable(truth):
    assert verify_math(truth, r"\boxed{20}").status is VerdictStatus.UNPARSED_TRUTH


@pytest.mark.parametrize("answer", [TOO_MANY_TERMS, f"{TOO_MANY_TERMS} + 1"])
def test_rule_15_an_answer_that_is_over_the_budget_does_not_make_the_truth_unreadable(answer):
    assert verify_math(r"\sqrt{20}", rf"\boxed{{{answer}}}").status is VerdictStatus.UNPARSED_ANSWER


@given(
    st.text()
    | st.lists(st.sampled_from(["\\boxed{", "}", "$", "4", "or", "not", "<think>", "answer is"])).map(" ".join)
)
def test_rule_16_every_response_gets_a_verdict(response):
    assert verify_math("4", response, STRICT).status in VerdictStatus


DENIALS_BEFORE = ["The answer is not", "It is false that it is", "Nobody gets", "Suppose that it is", "You might say"]
LEADS = ["So the total is", "We get", "The number of those who did not vote is", "It was not easy, but the answer is"]
BOXED_OR_TAG = st.sampled_from([r"\boxed{{{}}}", "<answer>{}</answer>"])


@given(NUMBERS, st.sampled_from(DENIALS_BEFORE), st.sampled_from(LEADS), BOXED_OR_TAG)
def test_rule_17_a_clause_that_denies_or_supposes_states_nothing(number, denial, lead, mark):
    assert verify_math(number, f"{denial} {mark.format(number)}.", STRICT).rejected is Rejection.DENIED
    assert is_right(number, f"{lead} {mark.format(number)}.")


DENIALS_BEHIND = [
    "{} is wrong.", "{} is not the answer.", "{} does not work.", "{}, which is false.", "{} (this is not correct)",
    "{}. That is wrong.", "{}. Scratch that.", "{}. I made a mistake.", "{}. No.", "{}. I was wrong.", "{}?", "{} ❌",
]  # fmt: skip


@given(NUMBERS, st.sampled_from(DENIALS_BEHIND), BOXED_OR_TAG)
def test_rule_18_words_that_deny_an_answer_behind_it_reject_it(number, denial, mark):
    assert verify_math(number, denial.format(mark.format(number)), STRICT).rejected is Rejection.DENIED


NOT_DENIED = ["{}, not 5.", "{} people who did not vote.", "{}, since it is not negative.", "{}. It is not 20001."]


@given(NUMBERS, st.sampled_from(NOT_DENIED), BOXED_OR_TAG)
def test_rule_18_a_denial_of_something_else_does_not_count(number, remark, mark):
    assert is_right(number, remark.format(mark.format(number)))


OPERATIONS = [
    "Half of {}",
    "Twice {}",
    "More than {}",
    "The square root of {}",
    "{} and a half",
    "{} plus one",
    "{} ± 1",
]


@given(st.integers(3, 10_000), st.sampled_from(OPERATIONS), BOXED_OR_TAG)
def test_rule_19_an_operation_in_words_beside_an_answer_makes_another_value_of_it(number, operation, mark):
    assert not is_right(number, operation.format(mark.format(number)))
    assert is_right(number, f"We add half of 8, which gives {mark.format(number)}.")


@given(
    NUMBERS, st.sampled_from(["maybe {}", "{} or so", "{} \\text{{ if it rains}}", "{} \\text{{ hopefully}}", "{}?"])
)
def test_rule_20_a_mark_holds_nothing_that_leaves_its_answer_open(number, inside):
    assert not is_right(number, rf"\boxed{{{inside.format(number)}}}")


@given(NUMBERS, st.sampled_from([r"\smash{{{}}}", r"\color{{white}}{}", r"\raisebox{{1cm}}{{{}}}"]))
def test_rule_21_an_answer_beside_an_unknown_command_is_none(number, command):
    assert not is_right(number, command.format(rf"\boxed{{{number}}}"))


@given(NUMBERS, NUMBERS)
def test_rule_22_all_numbers_of_a_chain_are_equal(one, other):
    assume(one != other)
    chain = rf"\boxed{{x = {one} = y = {other}}}"
    assert not is_right(one, chain)
    assert not is_right(other, chain)


@given(st.integers(100, 999), st.integers(100, 999))
def test_rule_22_a_comma_is_read_in_one_way(one, other):
    response = rf"\boxed{{{one},{other}}}"
    assert is_right(one * 1000 + other, response)
    assert not is_right(f"{one}, {other}", response)


PIECES = [
    *MARKS.values(), "{}", "**{}**", "${}$", r"\({}\)", "x = {}", "- {}\n", "({})", "[{}]", "\\{{{}\\}}", "a) {}",
    "{},", "or", "and", "not", "wait", "no", "actually", "either", "between", "to", "|", "/", "=", "\\ne", "<", "\n",
    "\n\n", ".", ";", "?", "<think>", "</think>", "```\n", "I get {}", "it is {}", "option (A) {}",
    r"\text{{ or {}}}", r"\pm {}", "{}.5", "$", "{{", "}}", "Case 1: {}", "Final answer:", "Answer (b): {}",
    r"\fbox{{{}}}", "Correction: {}", "in words: {}",
]  # fmt: skip


@settings(max_examples=150)
@given(
    st.lists(st.sampled_from(PIECES), min_size=2, max_size=9), st.lists(NUMBERS, min_size=9, max_size=9, unique=True)
)
def test_rule_22_no_response_is_paid_for_two_different_values(pieces, numbers):
    response = " ".join(piece.format(number) for piece, number in zip(pieces, numbers, strict=False))
    values = numbers[: len(pieces)]
    truths = [*values, *(f"{one}, {other}" for one, other in combinations(values, 2))]
    assert sum(is_right(truth, response) for truth in truths) <= 1, response
