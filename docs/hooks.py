"""What the site has beyond `docs/`: the API reference, and the pages that lie in the project's root.

mkdocs reads this file (`hooks` in `mkdocs.yml`). A reference page lists what its module lists in `__all__`, so that the
reference and the public names cannot differ. Links are written as they work in the repository, and changed here.
"""

import posixpath
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import plaudit

ROOT = Path(__file__).parent.parent
ROOT_PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/RESULTS.md": "benchmarks.md",
    "benchmarks/FOREIGN.md": "foreign.md",
    "benchmarks/HACKS.md": "hacks.md",
}
WIDE_TABLES = {"benchmarks.md", "foreign.md", "hacks.md"}
LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?!\w+:|#)(?P<path>[^)#\s]+)(?P<anchor>#[^)]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the reference to the navigation, before the pages about the project."""
    config.nav.insert(-1, {"Reference": [{name: f"reference/{name}.md"} for name in public_modules()]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference and the pages of the root to those of `docs/`."""
    pages = {f"reference/{name}.md": reference_page(name, names) for name, names in public_modules().items()}
    pages |= {page: (ROOT / source).read_text(encoding="utf-8") for source, page in ROOT_PAGES.items()}
    for page, content in pages.items():
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Change links so that they lead to pages of the site; files that it does not have are named, not linked.

    Pages with wide tables are shown without navigation at their sides.
    """
    uri = page.file.src_uri
    if uri in WIDE_TABLES:
        page.meta["hide"] = ["navigation", "toc"]
    source = next((source for source, target in ROOT_PAGES.items() if target == uri), f"docs/{uri}")

    def change(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link["path"]))
        if target in ROOT_PAGES:
            target = ROOT_PAGES[target]
        elif target.startswith("docs/"):
            target = target.removeprefix("docs/")
        elif (ROOT / target).is_file():
            return link["text"]
        return f"[{link['text']}]({posixpath.relpath(target, posixpath.dirname(uri) or '.')}{link['anchor'] or ''})"

    return LINK.sub(change, markdown)


def public_modules() -> dict[str, list[str]]:
    """`plaudit` and every module that it lists, each with its public names."""
    modules = [plaudit, *(value for name in plaudit.__all__ if isinstance(value := getattr(plaudit, name), ModuleType))]
    return {
        module.__name__: [name for name in module.__all__ if not isinstance(getattr(module, name), ModuleType)]
        for module in modules
        if getattr(module, "__all__", None)
    }


def reference_page(module: str, names: list[str]) -> str:
    """The page of a module: its docstring, then every public name."""
    members = "".join(f"\n        - {name}" for name in names)
    return f"# {module}\n\n::: {module}\n    options:\n      members:{members}\n"
