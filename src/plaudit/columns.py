"""What other systems call our columns.

The one place besides `dialects/` where foreign words live: reading a data file and binding a function's parameters
both need it, and both must agree.
"""

from collections.abc import Iterable

__all__ = ["FOREIGN_NAMES", "foreign_names_of", "our_name"]

FOREIGN_NAMES: dict[str, tuple[str, ...]] = {
    "prompt": ("question", "problem", "query", "instruction", "input"),
    "response": ("completion", "generation", "solution_str", "generated_text", "output", "action_text"),
    "ground_truth": (
        "answer", "solution", "label", "target", "reference", "gold", "expected_answer", "reward_model.ground_truth",
    ),
    "group": ("group_id", "prompt_id"),
    "task": ("data_source",),
    "metadata": ("extra_info", "info"),
}  # fmt: skip

_OURS = {foreign: ours for ours, names in FOREIGN_NAMES.items() for foreign in names}


def our_name(foreign: str) -> str | None:
    """The field that `foreign` stands for, or None: `our_name("completion") == "response"`."""
    return _OURS.get(foreign)


def foreign_names_of(field: str, present: Iterable[str]) -> list[str]:
    """The foreign names of `field` that are `present`, most usual first."""
    names = set(present)
    return [name for name in FOREIGN_NAMES.get(field, ()) if name in names]
