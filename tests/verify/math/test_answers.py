"""Right and wrong responses by class, a line each: `truth ~~ response`, with ⏎ for a line break."""

from pathlib import Path

import pytest

from plaudit.verify import MathPolicy, verify_math


def classes(name):
    """The responses of each class with their truths, under its title."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            responses = found.setdefault(line[2:], [])
        elif line:
            truth, response = line.split(" ~~ ", 1)
            responses.append((truth, response.replace("⏎", "\n")))
    return [pytest.param(responses, id=title) for title, responses in found.items()]


@pytest.mark.parametrize("responses", classes("answers_right.txt"))
def test_right_responses_of_a_class_are_right(responses):
    assert responses
    assert [row for row in responses if not verify_math(*row).correct] == []


def test_right_responses_in_the_styles_of_language_models_are_paid():
    styles = [param.values[0] for param in classes("answers_right.txt") if "styles of language models" in param.id]
    responses = [row for rows in styles for row in rows]
    assert len(responses) > 200
    assert [row for row in responses if not verify_math(*row, MathPolicy(unevaluated=False)).correct] == []


@pytest.mark.parametrize("responses", classes("answers_wrong.txt"))
def test_wrong_responses_of_a_class_are_wrong(responses):
    assert responses
    assert [row for row in responses if verify_math(*row).correct] == []


@pytest.mark.parametrize("attacks", classes("attacks.txt"))
def test_attacks_have_the_outcome_that_their_title_states(attacks, request):
    is_paid = request.node.callspec.id.startswith("paid")
    assert [row for row in attacks if verify_math(*row, MathPolicy(unevaluated=False)).correct is not is_paid] == []
