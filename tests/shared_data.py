"""Where the data for tests is: the folder beside the project, or the excerpt that the package carries."""

import gzip
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXCERPT = ROOT / "src" / "plaudit" / "examples" / "gsm8k.jsonl"


def shared(path: str) -> Path | None:
    """A file of `shared/data` beside the project (or one level up, for worktrees); None in a user's clone."""
    candidates = (folder / "shared" / "data" / path for folder in (ROOT.parent, ROOT.parent.parent))
    return next((candidate for candidate in candidates if candidate.exists()), None)


def rows(path: Path) -> list[dict[str, Any]]:
    """The lines of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def gsm8k_rollouts() -> list[dict[str, Any]]:
    """All labelled rollouts where the shared folder is there, else the excerpt of 200."""
    return rows(shared("rollouts/gsm8k.jsonl") or EXCERPT)


def math_answers(part: str) -> list[tuple[str, Any, bool]]:
    """(response, ground truth, correct) of the rows of a part that nobody disputes, else of the excerpt."""
    path = shared(f"math/{part}.jsonl")
    if path is None:
        return [(row["response"], row["ground_truth"], row["metadata"]["labelled_correct"]) for row in rows(EXCERPT)]
    return [(row["response"], row["ground_truth"], row["correct"]) for row in rows(path) if not row.get("disputed")]


CODE_EXCERPT = [
    {
        "task_id": "excerpt/2",
        "prompt": 'def total(xs):\n    """The sum of the numbers of xs that are above 1."""\n',
        "entry_point": "total",
        "canonical_solution": "    return sum(x for x in xs if x > 1)\n",
        "test": "def check(f):\n    assert f([]) == 0\n    assert f([1, 2]) == 2\n    assert f([-1, 3, 4]) == 7\n",
    },
    {
        "task_id": "excerpt/0",
        "prompt": 'def clamp(x, low, high):\n    """x, kept within [low, high]."""\n',
        "entry_point": "clamp",
        "canonical_solution": "    return max(low, min(x, high))\n",
        "test": "def check(f):\n    assert f(5, 0, 3) == 3\n    assert f(-5, 0, 3) == 0\n    assert f(1, 0, 3) == 1\n",
    },
    {
        "task_id": "excerpt/1",
        "prompt": 'def mask(s):\n    return s[::-1]\n\n\ndef unmask(s):\n    """Undo mask."""\n',
        "entry_point": "unmask",
        "canonical_solution": "    return s[::-1]\n",
        "test": "def check(candidate):\n    assert candidate(mask('abc')) == 'abc'\n    assert candidate('') == ''\n",
    },
]  # fmt: skip
MBPP_EXCERPT = [
    {
        "task_id": 0,
        "code": "def twice(n):\n    return n * 2",
        "test_imports": [],
        "test_list": ["assert twice(2) == 4"],
    },
    {
        "task_id": 1,
        "code": "def area(r):\n    return math.pi * r * r",
        "test_imports": ["import math"],
        "test_list": ["assert math.isclose(area(1), 3.14159, rel_tol=0.001)"],
    },
]


def humaneval() -> list[dict[str, Any]]:
    """The problems of HumanEval with their solutions, else two of our own in the same shape."""
    path = shared("code/HumanEval.jsonl.gz")
    if path is None:
        return CODE_EXCERPT
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def mbpp() -> list[dict[str, Any]]:
    """The sanitized problems of MBPP with their solutions, else two of our own in the same shape."""
    path = shared("code/sanitized-mbpp.json")
    return MBPP_EXCERPT if path is None else json.loads(path.read_text(encoding="utf-8"))
