"""The program in a response."""

import pytest

from plaudit.verify.code_blocks import find_program, python_of

F = "def f(x):\n    return x\n"
FOUND = {
    "a python block": f"Here:\n```python\n{F}```\nDone.",
    "a block without a language": f"```\n{F}```",
    "py and a title": f'```py title="f.py"\n{F}```',
    "tildes": f"~~~python\n{F}~~~",
    "capitals": f"```Python\n{F}```",
    "raw text": F,
    "prose around raw code": f"Sure, here it is:\n{F}\nThis returns x, as asked.",
    "an example of use after it": f"```python\n{F}```\nUse it:\n```python\nprint(f(3))\n```",
    "an older version before it": f"```python\ndef f(x):\n    return 0\n```\nBetter:\n```python\n{F}```",
    "a shell block after it": f"```python\n{F}```\n```bash\npython f.py\n```",
    "another one in a thought": f"<think>\n```python\ndef f(x):\n    return 0\n```\n</think>\n```python\n{F}```",
    "another one in a thought in capitals": f"<THINK>\n```python\ndef f(x): ...\n```\n</THINK>\n```python\n{F}```",
    "a thought that began in the prompt": f"```python\ndef f(x):\n    return 0\n```\n</think>\n```python\n{F}```",
    "a block that was never closed": f"```python\n{F}",
    "a list item": "1. Like so:\n   ```python\n   def f(x):\n       return x\n   ```\n",
}


@pytest.mark.parametrize("response", FOUND.values(), ids=FOUND.keys())
def test_the_program_is_found(response):
    assert (find_program(response, ["f"]) or "").strip() == F.strip()


NONE = {
    "nothing": "",
    "blanks": " \n\t ",
    "prose": "I am not sure how to do this. Sorry!",
    "only a thought in capitals": f"<Think>```python\n{F}```</THINK>",
    "only a thought": f"<think>```python\n{F}```</think>",
}


@pytest.mark.parametrize("response", NONE.values(), ids=NONE.keys())
def test_a_response_without_a_program_has_none(response):
    assert find_program(response, ["f"]) is None


@pytest.mark.parametrize(
    "response", ["```" * 5000, "def " * 5000, "(" * 20000, "```python\n\x00\n```", "\ud800", "def f(:\n" * 500],
    ids=["fences", "defs", "brackets", "NUL", "surrogate", "broken"],
)  # fmt: skip
def test_no_response_breaks_the_search(response):
    assert find_program(response, ["f"]) is None or isinstance(find_program(response, ["f"]), str)


def test_the_python_of_a_prompt_is_itself_or_its_blocks():
    assert python_of(F) == F
    assert python_of(f"Complete this:\n```python\n{F}```\nThank you.") == F
    assert python_of("Write a function that adds.") == ""
