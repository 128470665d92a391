"""Fenced blocks are found as markdown closes them."""

import pytest

from plaudit.verify.fences import find_fences


@pytest.mark.parametrize(
    ("text", "closed", "unclosed"),
    [
        pytest.param("```python\nx\n```", [("python", "\nx\n")], None, id="a block"),
        pytest.param("~~~\nx\n~~~\n```c\ny\n```", [("", "\nx\n"), ("c", "\ny\n")], None, id="two kinds of fence"),
        pytest.param(
            "````\n```\nx\n```\n````", [("", "\n```\nx\n```\n")], None, id="a longer fence holds shorter ones"
        ),
        pytest.param("```\nx\n~~~\n```", [("", "\nx\n~~~\n")], None, id="another kind closes nothing"),
        pytest.param("```\nx\n```\n```py\ny", [("", "\nx\n")], ("py", "\ny"), id="cut off in the second"),
        pytest.param("say `x` and ```y```", [], None, id="code within a line"),
    ],
)
def test_blocks_are_found_with_their_language(text, closed, unclosed):
    found = find_fences(text)
    assert [(block.language, block.text) for block in found.closed] == closed
    assert (found.unclosed and (found.unclosed.language, found.unclosed.text)) == unclosed


def test_the_place_of_a_block_takes_in_its_fences():
    text = "So:\n```\nx\n```\nDone."
    [block] = find_fences(text).closed
    assert text[block.start : block.end] == "```\nx\n```"
