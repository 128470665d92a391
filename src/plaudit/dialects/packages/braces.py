"""Braces that belong together, as helpers of several systems look for them."""

__all__ = ["find_closing_brace"]


def find_closing_brace(text: str, start: int) -> int | None:
    """The place of the brace that closes the first one opened from `start` on; None where it is left open."""
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if text[place] == "}" and not depth:
            return place
    return None
