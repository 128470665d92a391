"""Every example in the README and the guides runs.

Python blocks of one page share a namespace; a block with `title="name"` becomes that file; `plaudit …` lines of sh
blocks are run. `rollouts.jsonl` is the excerpt that plaudit carries.
"""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from plaudit.cli import main
from plaudit.examples import gsm8k_rollouts

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')


def blocks(page: Path) -> list[tuple[str, str | None, str]]:
    return [
        (language, title[1] if (title := TITLE.search(rest)) else None, code)
        for language, rest, code in BLOCK.findall(page.read_text())
    ]


def failed_commands(lines: str, capture: pytest.CaptureFixture[bytes]) -> list[str]:
    """The `plaudit …` lines that did not end well, each with what it printed."""
    failed = []
    for line in lines.replace("\\\n", " ").splitlines():
        if not line.startswith("plaudit "):
            continue
        with pytest.raises(SystemExit) as exited:
            main(shlex.split(line, comments=True)[1:])
        captured = capture.readouterr()
        if exited.value.code != 0:
            failed.append(f"{line}\n{captured.out.decode()}\n{captured.err.decode()}")
    return failed


@pytest.mark.parametrize("page", list(filter(blocks, PAGES)), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_example_of_the_page_runs(page, tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    shutil.copy(gsm8k_rollouts(), tmp_path / "rollouts.jsonl")
    namespace: dict[str, object] = {"__name__": "docs"}
    for language, title, code in blocks(page):
        if title:
            (tmp_path / title).write_text(code)
        elif language == "python":
            exec(compile(code, f"{page.name}", "exec"), namespace)
        elif language == "sh":
            failed = failed_commands(code, capfdbinary)
            assert not failed, "\n".join(failed)


def test_the_pages_have_examples_at_all():
    counts = {page.name: len(blocks(page)) for page in PAGES if page.parent.name == "guides"}
    assert counts
    assert all(counts.values()), counts


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_the_page_leads_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text())
    assert not [target for target in targets if "://" not in target and not (page.parent / target).exists()]
