r"""Find `\boxed{…}` with balanced braces, for the helpers of several systems."""


def last_boxed(text: str) -> str | None:
    r"""The content of the last `\boxed{…}`; None if there is none or it is not closed."""
    start = text.rfind("\\boxed{")
    end = find_closing_brace(text, start) if start >= 0 else None
    return None if end is None else text[start + len("\\boxed{") : end]


def find_closing_brace(text: str, start: int) -> int | None:
    """The index of the brace that closes the first one opened from `start` on; None if it is not closed."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if text[index] == "}" and not depth:
            return index
    return None
