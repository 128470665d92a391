"""The page on which a person decides on findings: one file that loads nothing and works without a mouse."""

import base64
import hashlib
import html
import json
from pathlib import Path

from plaudit.labels.findings import LabelReport
from plaudit.rollouts.atomic_file import write_atomically

__all__ = ["write_page"]

ASSETS = Path(__file__).parent / "assets"


def write_page(path: Path, report: LabelReport, title: str) -> None:
    """Write the page; texts of rollouts are data in it and never markup."""
    script, style = ((ASSETS / name).read_text(encoding="utf-8") for name in ("labels.js", "labels.css"))
    sources = f"script-src '{_hash(script)}'; style-src '{_hash(style)}'"
    policy = f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"
    data = json.dumps({"title": title, **report.to_dict()}).replace("<", "\\u003c")
    slots = {"policy": html.escape(policy), "title": html.escape(title), "style": style, "data": data, "script": script}
    page = (ASSETS / "labels.html").read_text(encoding="utf-8")
    parts = page.split("{{")
    written = parts[0] + "".join(slots[name] + rest for name, _, rest in (part.partition("}}") for part in parts[1:]))
    write_atomically(path, written.encode(errors="replace"))


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
