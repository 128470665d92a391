"""Right and wrong responses by class, a line each: `truth ~~ response`, with ⏎ for a line break."""

from pathlib import Path

import pytest

from plaudit.verify import verify_math


def rows(name):
    title, found = "", []
    for line in (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            title = line[2:]
        elif line:
            truth, response = line.split(" ~~ ", 1)
            found.append(pytest.param(truth, response.replace("⏎", "\n"), id=f"{title}: {truth} | {response}"))
    return found


@pytest.mark.parametrize(("truth", "response"), rows("answers_right.txt"))
def test_a_right_response_is_right(truth, response):
    assert verify_math(truth, response).correct


@pytest.mark.parametrize(("truth", "response"), rows("answers_wrong.txt"))
def test_a_wrong_response_is_wrong(truth, response):
    assert not verify_math(truth, response).correct
