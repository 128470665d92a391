"""Every example in the README, the tutorial and the guides runs, and prints what the page shows.

Python blocks of one page share a namespace; a block with `title="name"` becomes that file; `plaudit …` lines of sh
blocks are run and must succeed, or end with the code that a comment `# exit code 1` states. A text block with
`title="Output"` is what the block above it prints; "…" stands for anything. `rollouts.jsonl` is the one of the package.
"""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from plaudit.cli import main
from plaudit.cli.app import COMMANDS
from plaudit.examples import gsm8k_rollouts
from tests.pages import PAGES, ROOT, Block, blocks, page_name

OUTPUT = "Output"
EXIT_CODE = re.compile(r" # exit code (\d+)")


class PageRunner:
    """Runs the blocks of a page in a folder, and keeps what the last one printed."""

    def __init__(self, page: Path, folder: Path, capture: pytest.CaptureFixture[bytes]) -> None:
        self.page, self.folder, self.capture = page, folder, capture
        self.namespace: dict[str, object] = {"__name__": "docs"}
        self.printed = ""

    def run(self, block: Block) -> None:
        if block.title == OUTPUT:
            assert matches(block.text, self.printed), f"{self.page.name} shows\n{block.text}\nbut it is\n{self.printed}"
        elif block.title:
            (self.folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / block.title).write_text(block.text)
        elif block.language == "python":
            exec(compile(block.text, self.page.name, "exec"), self.namespace)
            self.printed = self._read()
        elif block.language == "sh":
            commands = block.text.replace("\\\n", " ").splitlines()
            self.printed = "".join(self._run_command(line) for line in commands if line.startswith("plaudit "))

    def _run_command(self, line: str) -> str:
        stated = EXIT_CODE.search(line)
        with pytest.raises(SystemExit) as exited:
            main(shlex.split(line, comments=True)[1:])
        printed = self._read()
        assert (exited.value.code or 0) == (int(stated[1]) if stated else 0), f"{line}\n{printed}"
        return printed

    def _read(self) -> str:
        captured = self.capture.readouterr()
        return captured.out.decode() + captured.err.decode()


def matches(shown: str, printed: str) -> bool:
    """Whether a page shows what is printed, apart from spaces at the ends of lines and from what "…" stands for."""
    shown, printed = ("\n".join(map(str.rstrip, text.strip().splitlines())) for text in (shown, printed))
    return re.fullmatch(".*?".join(map(re.escape, shown.split("…"))), printed, re.DOTALL) is not None


@pytest.mark.parametrize("page", list(filter(blocks, PAGES)), ids=page_name)
def test_every_example_of_the_page_runs(page, tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)  # one worker a command: each takes time to start
    shutil.copy(gsm8k_rollouts(), tmp_path / "rollouts.jsonl")
    runner = PageRunner(page, tmp_path, capfdbinary)
    try:
        for block in blocks(page):
            runner.run(block)
    finally:
        forget_modules_in(tmp_path)


def forget_modules_in(folder):
    """Later tests may have files of the same names."""
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(f"{folder}/"):
            del sys.modules[name]


@pytest.mark.parametrize(("shown", "same"), [("3 of 4", True), ("… of 4", True), ("3 of", False), ("4 of 4", False)])
def test_an_output_that_differs_would_be_noticed(shown, same):
    assert matches(shown, "3 of 4 \n") is same


def test_the_pages_have_examples_at_all():
    counts = {page.name: len(blocks(page)) for page in PAGES if page.parent.name == "guides"}
    assert counts
    assert all(counts.values()), counts


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_link_of_the_page_leads_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text())
    assert not [target for target in targets if "://" not in target and not (page.parent / target).exists()]


def test_the_guide_to_the_command_line_names_every_command():
    text = (ROOT / "docs" / "guides" / "command-line.md").read_text()
    assert not [name for name in COMMANDS if f"`plaudit {name}`" not in text]


def test_every_file_that_the_architecture_names_exists():
    _, ways = (ROOT / "docs" / "architecture.md").read_text().split("## The way of a sample")
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:\.py|/))`", ways)
    assert len(named) > 50
    assert not [path for path in named if not (ROOT / "src" / "plaudit" / path).exists()]
