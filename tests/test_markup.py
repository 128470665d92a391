"""What notebooks show: tables, in which foreign text is text."""

import pytest

from plaudit import RewardOutput, Status, Trajectory
from plaudit.report import collect_figures, remarks, summarize
from plaudit.rollouts import Rollout
from plaudit.testing import Finding, Rule

NASTY = "<script>alert(1)</script>\ud800"
PARTS = {NASTY: RewardOutput(0.25, score=1.0, reason=NASTY), "b": RewardOutput.unscored(Status.ERROR, NASTY)}
SCORED = RewardOutput(0.5, reason=NASTY, components=PARTS)
UNSCORED = RewardOutput.unscored(Status.TIMEOUT, NASTY)
RUN = [Rollout(Trajectory(NASTY, NASTY, group=NASTY), output) for output in (SCORED, UNSCORED)]


@pytest.mark.parametrize(
    "shown",
    [SCORED, UNSCORED, summarize(RUN), Finding.of(Rule.TOTAL, NASTY, NASTY), *remarks(collect_figures(RUN))],
    ids=lambda shown: type(shown).__name__,
)
def test_a_notebook_shows_a_table_without_markup_of_others(shown):
    html = shown._repr_html_()
    assert html.startswith("<table>")
    assert "<script" not in html
    html.encode()


def test_an_output_shows_its_components():
    html = SCORED._repr_html_()
    assert html.count("<tr>") == 4
    assert "<td>0.25</td><td>1</td>" in html
    assert "<td>error</td>" in html
