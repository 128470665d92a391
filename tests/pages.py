"""The pages of the documentation and the code blocks in them."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')


class Block(NamedTuple):
    """A fenced block: its language, the file it is to become if it has a title, and its text."""

    language: str
    title: str | None
    text: str


def blocks(page: Path) -> list[Block]:
    return [
        Block(language, title[1] if (title := TITLE.search(rest)) else None, text)
        for language, rest, text in BLOCK.findall(page.read_text())
    ]


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()
