"""Find the program in a response: in a fenced block, or in the text itself.

Blocks in `<think>` do not count. Of several blocks the last one that defines the required names is the program, so
that an example of use after the solution is not taken for it; blocks are never joined or tried in turn.
"""

import ast
from collections.abc import Collection
from functools import lru_cache

from plaudit.verify.fences import Fenced, find_fences
from plaudit.verify.tags import without_thinking

PYTHON = frozenset({"", "python", "py", "python3", "python2", "ipython", "pycon"})
STARTS = ("def ", "class ", "import ", "from ", "@", "async def ")


def find_program(response: str, wanted: Collection[str] = ()) -> str | None:
    """The program in a response, or None if there is none; `wanted` are names it should define."""
    text = without_thinking(response)
    complete, unfinished = _blocks(text)
    if complete:
        return _chosen(complete, wanted)
    if unfinished is not None:
        return unfinished
    return _bare(text)


def find_block(response: str, names: Collection[str]) -> str | None:
    """The last block marked with one of `names`, else the last without a mark, else a response without fences."""
    text = without_thinking(response)
    closed, unclosed = find_fences(text)
    blocks = closed or ([unclosed] if unclosed else [])
    for marks in (frozenset(names), frozenset({""})):
        texts = [block.text for block in blocks if block.language.lower() in marks]
        if texts:
            return texts[-1]
    return text if not blocks and text.strip() else None


def fence_languages(response: str) -> list[str]:
    """The marked languages of the fenced blocks of a response, in order; thinking is skipped."""
    closed, unclosed = find_fences(without_thinking(response))
    return [block.language.lower() for block in (*closed, *([unclosed] if unclosed else []))]


@lru_cache(maxsize=1024)
def defined_names(source: str) -> frozenset[str] | None:
    """The functions, classes and variables that a program defines anywhere; None if it does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return frozenset(names)


def _blocks(text: str) -> tuple[list[str], str | None]:
    """The closed Python blocks of a text, and what follows a fence that is never closed."""
    closed, unclosed = find_fences(text)
    programs = [_dedent(block.text) for block in closed if _is_python(block)]
    return programs, _dedent(unclosed.text) if unclosed and _is_python(unclosed) else None


def _is_python(block: Fenced) -> bool:
    return block.language.lower() in PYTHON


def _dedent(block: str) -> str:
    """A block without the indent of its list item."""
    lines = block.strip("\n").split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    if indent and all(line.startswith(lines[0][:indent]) or not line.strip() for line in lines):
        lines = [line[indent:] for line in lines] if not _parses(block) and indent != 4 else lines
    return "\n".join(lines) + "\n"


def _parses(source: str) -> bool:
    return defined_names(source) is not None


def _chosen(blocks: list[str], wanted: Collection[str]) -> str:
    for block in reversed(blocks):
        if set(wanted) and set(wanted) <= (defined_names(block) or frozenset()):
            return block
    return next((block for block in reversed(blocks) if _parses(block)), blocks[-1])


def _bare(text: str) -> str | None:
    """A response without fences: all of it if it parses, else the part from its first line of code that parses."""
    if not text.strip():
        return None
    if _parses(text):
        return text
    lines = text.split("\n")
    first = next((index for index, line in enumerate(lines) if line.startswith(STARTS)), None)
    if first is None:
        return text if "\n" in text.strip() and text.startswith((" ", "\t")) else None
    for last in range(len(lines), max(first, len(lines) - MAX_PROSE), -1):
        if not lines[last - 1].strip() or len(text) > LONGEST:
            continue
        if _parses(part := "\n".join(lines[first:last]) + "\n"):
            return part
    return "\n".join(lines[first:]) + "\n"


MAX_PROSE = 60  # lines of prose after the code; each is one attempt at parsing
LONGEST = 100_000  # characters; longer texts are not searched for where their code ends


def python_of(prompt: str) -> str:
    """The Python in a prompt: all of it where it parses, else its fenced blocks that do, else nothing."""
    if _parses(prompt) or prompt.rstrip().endswith(":"):
        return prompt
    return "\n".join(block for block in _blocks(prompt)[0] if _parses(block))
