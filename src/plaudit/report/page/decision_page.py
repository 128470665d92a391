"""A page on which a person decides on one item after the other: one file that loads nothing and works without a mouse.

Decisions are kept by the browser and downloaded as a JSON file, which `read_decision_file` reads.
"""

import hashlib
import html
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from plaudit.errors import InvalidSettings
from plaudit.report.page.bundle import fill_page, source_hash
from plaudit.rollouts.writing import write_atomically

ASSETS = Path(__file__).parent / "decision_assets"
D = TypeVar("D", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class DecisionItem:
    """The subject of one decision; `key` names it in the file of decisions."""

    key: str
    heading: str
    prompt: str
    responses: Sequence[tuple[str, str]]
    """Headings and texts."""
    evidence: str = ""
    facts: Sequence[tuple[str, str]] = ()
    suggestion: str = ""
    """The initial value of the field for a corrected label."""


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """The items of a page, and the decision of each keyboard key."""

    title: str
    summary: str
    noun: str
    choices: Sequence[tuple[str, StrEnum]]
    items: Sequence[DecisionItem]
    edited_by: StrEnum | None = None
    """The decision that comes with a corrected label; None: there is no field for one."""

    def write(self, path: Path) -> None:
        """Write the page; texts of rollouts are data in it and never markup."""
        files = {name: (ASSETS / f"decisions.{name}").read_text(encoding="utf-8") for name in ("html", "css", "js")}
        sources = f"script-src '{source_hash(files['js'])}'; style-src '{source_hash(files['css'])}'"
        policy = f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"
        digest = hashlib.sha256("\0".join(item.key for item in self.items).encode(errors="replace")).hexdigest()
        slots = {
            "policy": html.escape(policy),
            "title": html.escape(self.title),
            "style": files["css"],
            "script": files["js"],
        }
        data = json.dumps({**asdict(self), "digest": digest}).encode()
        write_atomically(path, fill_page(files["html"], slots, data))


def read_decision_file(path: Path, kind: type[D], source: str) -> dict[str, tuple[D, str]]:
    """Decisions and corrected labels by the key of an item; raises InvalidSettings for a file of something else."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        return {each["key"]: (kind(each["decision"]), str(each.get("label", ""))) for each in plain["decisions"]}
    except FileNotFoundError:
        raise InvalidSettings(f"no file of decisions {path}; {source} downloads one") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidSettings(f"{path} is not a file of decisions ({error}); download it from {source}") from None
