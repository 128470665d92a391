import io

from rich.console import Console

from plaudit import RewardOutput
from plaudit.cli import console as output


def test_the_progress_bar_of_a_resumed_run_starts_where_the_run_stopped(monkeypatch):
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr(output, "stderr_console", lambda: console)
    with output.show_progress("scoring", 200, done=64, quiet=False) as advance:
        advance(RewardOutput(1.0))
    shown = console.file.getvalue()
    assert " 65/200" in shown
    assert "0/200" not in shown.replace("200/200", "")
