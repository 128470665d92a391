"""Text from outside cannot break the comment, become Markdown or HTML, or mention anyone."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from plaudit.ci import CiReport, StepResult, write_comment
from plaudit.ci.comment import MARKER, MAX_COMMENT, code
from plaudit.ci.project import Release

ATTACKS = [
    "a | b | c", "``` x", "`@octocat`", "@octocat", "<img src=x onerror=alert(1)>", "</code></td><h1>x</h1>",
    "a\n\n# b",
    "| --- |\n| x |", "[x](http://evil.example)", "https://evil.example www.evil.example", "<!-- plaudit-ci -->", "-->",
    "&lt;b&gt; &#64;octocat", "a\r\nb", "\u202eevil", "#1 GH-1 octocat/repo#2", "\\", "**x** _y_ ~~z~~", "\x00\ud800",
]  # fmt: skip
GFM = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def disagreement(text: str) -> dict:
    return {
        "index": 0, "id": text, "prompt": text, "response": text, "old": 1.0, "new": None, "old_status": "ok",
        "new_status": "error", "old_reason": text, "new_reason": text,
    }  # fmt: skip


def report_of(text: str, rows: int = 1) -> CiReport:
    """A report in which every text from outside is the same."""
    witness = {"prompt": text, "response": text, "reward": 1.0, "honest_reward": None}
    exploit = {"severity": "high", "family": text, "operator": text, "witness": witness}
    finding = {"severity": "error", "rule": text, "message": text, "sample": text}
    steps = {
        "test": StepResult("failed", text, [{"case": text, "explanation": text}] * rows),
        "check": StepResult("failed", text, [finding] * rows),
        "audit": StepResult("failed", text, [exploit] * rows),
        "diff": StepResult("failed", text, {"flips": [disagreement(text)] * rows, "worst": []}),
        "mutation": StepResult("passed", text, {"survived": [{"line": 1, "kind": "constant", "diff": text}] * rows}),
        "lock": StepResult("left out", text, [text] * rows),
    }
    return CiReport({text: steps}, Release(text, "0" * 40, is_dirty=True), text)


def shape(comment: str) -> list[str]:
    """The comment without its code: tags of the HTML, and words outside of code."""
    html = GFM.render(comment)
    return re.findall(r"<[^>]*>|\w+", re.sub(r"<code>[^<]*</code>", "<code></code>", html))


@pytest.mark.parametrize("text", ATTACKS, ids=range(len(ATTACKS)))
def test_an_attack_leaves_the_comment_as_it_is_for_a_word(text):
    comment = write_comment(report_of(text))
    one_line = {"a\n\n# b", "| --- |\n| x |", "a\r\nb"}  # a diff has lines, each in a code of its own
    assert shape(comment) == shape(write_comment(report_of("word"))) or text in one_line
    assert comment.count(MARKER) == 1
    assert comment.startswith(MARKER)


@given(st.text(max_size=200))
def test_a_text_is_shown_whole_with_letters_digits_and_entities_only(text):
    shown = code(text, limit=1000).removeprefix("<code>").removesuffix("</code>")
    assert all(each.isalnum() or each in " ,;+=-()" for each in re.sub(r"&#\d+;", "", shown))
    decoded = re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), shown)
    assert decoded == "".join(ascii(each)[1:-1] if unicodedata.category(each)[0] == "C" else each for each in text)


def test_a_long_comment_is_cut_at_the_end_of_a_line_and_reports_it():
    report = report_of("word | " * 10, rows=30)
    many = CiReport({f"reward {n}": report.rewards[next(iter(report.rewards))] for n in range(30)}, None, "no tag")
    comment = write_comment(many)
    assert MAX_COMMENT - 5000 < len(comment) < 65_536
    assert comment.endswith("The comment is cut here; `plaudit ci --json` has everything.\n")
    assert "10 more; `plaudit ci --json` has them all." in comment
