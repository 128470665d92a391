"""The page as one text: its modules and its style put into it, with a policy that lets nothing else run or load.

The scripts are plain ES modules that import names from each other; here they are joined in the order of their imports,
since a page from disk may not load files beside it. The policy names the hash of the one script and of the one style.
"""

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ASSETS = Path(__file__).parent / "assets"
_IMPORT = re.compile(r'^import \{ ([^}]*) \} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)
_EXPORT_WORD = re.compile(r"^export (?=async |function |class |const )", re.MULTILINE)
_SLOT = re.compile(r"\{(policy|title|style|data|blocks|script)\}")


def build_page(title: str, data: bytes, blocks: Iterable[tuple[str, bytes]] = (), *, served: bool = False) -> bytes:
    """The page with its data (JSON) and further blocks of gzip data by name."""
    slots = {
        "policy": html.escape(content_policy(served=served)),
        "title": html.escape(title),
        "style": _style(),
        "script": _script(),
    }
    embedded = b"".join(
        b'<script type="application/gzip" id="%s">' % html.escape(name).encode()
        + base64.b64encode(packed)
        + b"</script>\n"
        for name, packed in blocks
    )
    return fill_page((ASSETS / "page.html").read_text(encoding="utf-8"), slots, data, embedded)


def fill_page(template: str, slots: Mapping[str, str], data: bytes, blocks: bytes = b"") -> bytes:
    """A page with texts, its data (JSON) and its blocks in the slots of a template."""
    filled = {name: text.encode(errors="replace") for name, text in slots.items()}
    filled |= {"data": data.replace(b"<", b"\\u003c"), "blocks": blocks}  # no text in it can end the element around it
    parts = _SLOT.split(template)
    return b"".join(filled[part] if index % 2 else part.encode() for index, part in enumerate(parts))


@cache
def content_policy(*, served: bool) -> str:
    """The content security policy: the page may run its own script, use its own style and, where it is served, ask its
    server.
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{source_hash(_script())}'",
            f"style-src '{source_hash(_style())}'",
            "img-src data:",  # images that are part of a sample; none is fetched
            "connect-src 'self'" if served else "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


@cache
def _script() -> str:
    """The modules in the order of their imports, each in a separate function that returns its exports."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(ASSETS.glob("*.js"))}
    order = TopologicalSorter({name: [match[1] for match in _IMPORT.findall(text)] for name, text in texts.items()})
    return "\n".join(['"use strict";', *(_wrap(name, texts[name]) for name in order.static_order())])


def _wrap(name: str, text: str) -> str:
    exported = ", ".join(_EXPORT.findall(text))
    body = _EXPORT_WORD.sub("", _IMPORT.sub(r"const { \1 } = \2Module;\n", text))
    return f"const {name}Module = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"


@cache
def _style() -> str:
    return (ASSETS / "style.css").read_text(encoding="utf-8")


def source_hash(text: str) -> str:
    """The hash by which a content policy names a script or a style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
