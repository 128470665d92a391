"""Rows in the shape of popular data sets, written for these tests: each with a right and a wrong program.

The columns, their nesting and their types are those of the data sets; texts and numbers are our own.
"""

import base64
import json
import pickle
import zlib
from typing import Any, NamedTuple

__all__ = ["ROWS", "Row", "packed"]


class Row(NamedTuple):
    """One row, and programs that are right and wrong by its tests."""

    columns: dict[str, Any]
    right: str
    wrong: str


def packed(cases: Any) -> str:
    """Private tests as LiveCodeBench ships them."""
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(cases)))).decode()


HUMANEVAL_PROMPT = '''from typing import List


def helper_shift(word: str) -> str:
    """Move each letter on by one."""
    return "".join(chr(ord(letter) + 1) for letter in word)


def unshift(word: str) -> str:
    """Undo helper_shift."""
'''
PLUS_ASSERTION = """import numpy as np

def is_floats(x) -> bool:
    if isinstance(x, float):
        return True
    if isinstance(x, (list, tuple)):
        return all(isinstance(i, float) for i in x)
    if isinstance(x, np.ndarray):
        return x.dtype == np.float64 or x.dtype == np.float32
    return False

def assertion(out, exp, atol):
    exact_match = out == exp
    if atol == 0 and is_floats(exp):
        atol = 1e-6
    if not exact_match and atol != 0:
        assert type(out) == type(exp)
        if isinstance(exp, (list, tuple)):
            assert len(out) == len(exp)
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert exact_match
"""
SUM_SCRIPT, WRONG_SCRIPT = (
    "a, b = map(int, input().split())\nprint(a + b)\n",
    "a, b = map(int, input().split())\nprint(a * b)\n",
)
PAIR_SUM = (
    "class Solution:\n    def pairSum(self, nums: List[int], target: int) -> List[int]:\n"
    "        seen = defaultdict(int)\n        for place, number in enumerate(nums):\n"
    "            if target - number in seen:\n                return [seen[target - number], place]\n"
    "            seen[number] = place\n        return []\n"
)
STARTER = "class Solution:\n    def pairSum(self, nums: List[int], target: int) -> List[int]:\n        "
WRONG_PAIR_SUM = f"{STARTER}return [0, 1]\n"

ROWS: dict[str, Row] = {
    "HumanEval": Row(
        {
            "task_id": "Own/0",
            "prompt": HUMANEVAL_PROMPT,
            "entry_point": "unshift",
            "canonical_solution": '    return "".join(chr(ord(letter) - 1) for letter in word)\n',
            "test": "\n\nMETADATA = {'author': 'us'}\n\n\ndef check(candidate):\n    from random import choice\n"
            "    for word in ['abc', 'hush', '']:\n        assert candidate(helper_shift(word)) == word\n",
        },
        '    return "".join(chr(ord(letter) - 1) for letter in word)\n',
        "    return word\n",
    ),
    "HumanEval+": Row(
        {
            "task_id": "Own/1",
            "prompt": 'def mean(numbers):\n    """The mean of numbers."""\n',
            "entry_point": "mean",
            "canonical_solution": "    return sum(numbers) / len(numbers)\n",
            "test": PLUS_ASSERTION
            + "\ndef check(candidate):\n    inputs = [[[1.0, 2.0]], [[0.1, 0.2, 0.3]]]\n    results = [1.5, 0.2]\n"
            "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n        assertion(candidate(*inp), exp, 0)\n",
        },
        "    return sum(numbers) / len(numbers)\n",
        "    return sum(numbers)\n",
    ),
    "MBPP": Row(
        {
            "task_id": 1,
            "text": "Write a function to find the largest number.",
            "code": "def largest(numbers):\r\n  return max(numbers)",
            "test_list": ["assert largest([1, 3, 2]) == 3", "assert largest([-1]) == -1"],
            "test_setup_code": "",
            "challenge_test_list": [],
        },
        "def largest(numbers):\r\n  return max(numbers)",
        "def largest(numbers):\n  return numbers[1]",
    ),
    "MBPP with set-up code": Row(
        {
            "task_id": 2,
            "text": "Write a function to double a number.",
            "code": "def twice(number): return 2 * number",
            "test_list": ["assert twice(EXAMPLE) == root.sqrt(196)"],
            "test_setup_code": "import math as root\nEXAMPLE = 7",
            "challenge_test_list": [],
        },
        "def twice(number): return 2 * number",
        "def twice(number): return number",
    ),
    "MBPP, sanitized": Row(
        {
            "source_file": "own.ipynb",
            "task_id": 3,
            "prompt": "Write a function to find the area of a circle: use its radius",
            "code": "import math\ndef area(r): return math.pi * r * r",
            "test_imports": ["import math"],
            "test_list": ["assert math.isclose(area(1), 3.14159, rel_tol=0.001)"],
        },
        "import math\ndef area(r): return math.pi * r * r",
        "def area(r): return r",
    ),
    "MBPP+": Row(
        {
            "task_id": 4,
            "code": "def common(a, b): return tuple(sorted(set(a) & set(b)))",
            "prompt": "Write a function to find the shared elements from the given two lists.",
            "source_file": "own.ipynb",
            "test_imports": [],
            "test_list": ["assert common((3, 4), (4, 5)) == (4,)"],
            "test": PLUS_ASSERTION + "\ninputs = [[(3, 4, 5), (5, 4)], [(1,), (2,)]]\nresults = [(4, 5), ()]\n"
            "for i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion(common(*inp), exp, 0)\n",
        },
        "def common(a, b):\n    return tuple(sorted(set(a) & set(b)))\n",
        "def common(a, b):\n    return tuple(a)\n",
    ),
    "APPS, standard input": Row(
        {
            "problem_id": 0,
            "question": "Add two numbers.",
            "solutions": json.dumps([SUM_SCRIPT]),
            "input_output": json.dumps({"inputs": ["1 2\n", "10 -3\n"], "outputs": ["3\n", "7\n"]}),
            "difficulty": "introductory",
            "url": "",
            "starter_code": "",
        },
        SUM_SCRIPT,
        WRONG_SCRIPT,
    ),
    "APPS, function": Row(
        {
            "problem_id": 1,
            "question": "Count vowels.",
            "solutions": "[]",
            "input_output": json.dumps({"fn_name": "vowels", "inputs": [["banana"], ["sky"]], "outputs": [[3], [0]]}),
            "difficulty": "introductory",
            "starter_code": "def vowels(s):\n\t",
        },
        "def vowels(s):\n\treturn sum(letter in 'aeiou' for letter in s)\n",
        "def vowels(s):\n\treturn len(s)\n",
    ),
    "TACO": Row(
        {
            "question": "Add two numbers on two lines.",
            "solutions": "[]",
            "starter_code": "",
            "input_output": json.dumps({"inputs": [["1", "2"], ["5", "5"]], "outputs": [["3"], ["10"]]}),
            "difficulty": "EASY",
            "source": "own",
            "tags": "['math']",
        },
        "print(int(input()) + int(input()))\n",
        "print(int(input()) - int(input()))\n",
    ),
    "TACO, function": Row(
        {
            "question": "Find a pair.",
            "input_output": json.dumps(
                {"fn_name": "pairSum", "inputs": [[[1, 2, 5], 7], [[1, 2], 3]], "outputs": [[1, 2], [0, 1]]}
            ),
            "starter_code": "# Template\n\nclass Solution:\n    def pairSum(self, nums, target):",
        },
        PAIR_SUM.replace("List[int]", "list").replace("defaultdict(int)", "{}"),
        WRONG_PAIR_SUM.replace("List[int]", "list"),
    ),
    "CodeContests": Row(
        {
            "name": "0_A. Sum",
            "description": "Add two numbers.",
            "public_tests": {"input": ["1 2\n"], "output": ["3\n"]},
            "private_tests": {"input": ["4 4\n", "0 0\n"], "output": ["8\n", "0\n"]},
            "generated_tests": {"input": ["100 -1\n"], "output": ["99\n"]},
            "source": 2,
            "difficulty": 7,
            "solutions": {"language": [3], "solution": [SUM_SCRIPT]},
            "input_file": "",
            "output_file": "",
            "time_limit": {"seconds": 2, "nanos": 0},
            "memory_limit_bytes": 256000000,
        },
        SUM_SCRIPT.replace("print(a + b)", "print('', a + b, '')"),
        "print({'1 2': 3, '4 4': 8, '0 0': 0}[input()])\n",
    ),
    "LiveCodeBench, standard input": Row(
        {
            "question_title": "Sum",
            "question_content": "Add.",
            "platform": "atcoder",
            "question_id": "own_a",
            "starter_code": "",
            "difficulty": "easy",
            "public_test_cases": json.dumps([{"input": "1 2\n", "output": "3", "testtype": "stdin"}]),
            "private_test_cases": packed(
                [
                    {"input": "2 2", "output": "4", "testtype": "stdin"},
                    {"input": "7 8\n", "output": "15\n", "testtype": "stdin"},
                ]
            ),
            "metadata": "{}",
        },
        SUM_SCRIPT,
        "print({'1 2': 3, '2 2': 4}[input()])\n",
    ),
    "LiveCodeBench, function": Row(
        {
            "question_title": "pair-sum",
            "question_content": "Find a pair.",
            "platform": "leetcode",
            "starter_code": STARTER,
            "public_test_cases": json.dumps([{"input": "[1, 2, 5]\n7", "output": "[1, 2]", "testtype": "functional"}]),
            "private_test_cases": packed([{"input": "[3, 3]\n6", "output": "[0, 1]", "testtype": "functional"}]),
            "metadata": json.dumps({"func_name": "pairSum"}),
        },
        PAIR_SUM,
        WRONG_PAIR_SUM,
    ),
    "LeetCode": Row(
        {
            "task_id": "pair-sum",
            "question_id": 1,
            "prompt": "import random\nimport collections\nfrom typing import *\nfrom collections import *\n\n"
            "inf = float('inf')\n",
            "completion": PAIR_SUM,
            "entry_point": "Solution().pairSum",
            "test": "def check(candidate):\n    assert candidate(nums = [1, 2, 5], target = 7) == [1, 2]\n"
            "    assert candidate(nums = [3, 3], target = 6) == [0, 1]\n",
            "input_output": [{"input": "nums = [3,3], target = 6", "output": "[0, 1]"}],
            "starter_code": STARTER,
        },
        PAIR_SUM,
        WRONG_PAIR_SUM,
    ),
    "KodCode": Row(
        {
            "style": "instruct",
            "question_id": "Own_1_I",
            "question": "Write a function that reverses words.",
            "solution": "def turn(text):\n    return ' '.join(reversed(text.split()))\n",
            "test": "from solution import turn\n\ndef test_two():\n    assert turn('a b') == 'b a'\n\n"
            "def test_none():\n    assert turn('') == ''\n",
            "test_info": [{"function_declaration": "def turn(text):", "function_name": "turn"}],
            "gpt_difficulty": "easy",
        },
        "def turn(text):\n    return ' '.join(reversed(text.split()))\n",
        "def turn(text):\n    return text[::-1] + '!'\n",
    ),
    "AceCode": Row(
        {
            "id": "own_1",
            "source": "own",
            "question": "Square a number.",
            "test_cases": ["assert square(2) == 4", "assert square(-3) == 9"],
            "inferences": [{"model_name": "own", "pass_rate": 0.5}],
            "context_messages": [[{"role": "user", "content": "Square a number."}]],
        },
        "def square(x):\n    return x * x\n",
        "def square(x):\n    return 2 * x\n",
    ),
    "cases with a type": Row(
        {
            "prompt": "Add two numbers.",
            "verification_info": json.dumps(
                {
                    "language": "python",
                    "test_cases": [
                        {"type": "stdin_stdout", "input": "1 2\n", "output": "3\n"},
                        {"type": "stdin_stdout", "input": "2 5\n", "output": "7\n"},
                    ],
                }
            ),
        },
        SUM_SCRIPT,
        WRONG_SCRIPT,
    ),
    "tests as a JSON text of cases": Row(
        {
            "question": "Find a pair.",
            "tests": json.dumps(
                [{"input": "[1, 2, 5]\n7", "output": "[1, 2]", "type": "function_call", "fn_name": "pairSum"}]
            ),
        },
        PAIR_SUM,
        WRONG_PAIR_SUM,
    ),
}
