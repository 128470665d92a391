"""Where the data for tests is: the folder beside the project, or the excerpt that the package carries."""

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
