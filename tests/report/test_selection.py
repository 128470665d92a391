import pytest

from plaudit import Trajectory
from plaudit.errors import RolloutsError
from plaudit.report import Condition, Selection
from plaudit.rollouts import Rollout
from tests.report.filter_cases import FILTERS

SAMPLE = Trajectory(
    prompt="p",
    response="r",
    task="math",
    metadata={"level": 3, "source": {"name": "aime"}, "hard": True},
    columns={"model": "small", "year": "2024"},
)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("level>=3", True), ("level > 3", False), ("level != 4", True), ("level=3.0", True), ("task=math", True),
        ("model==large", False), ("source.name=aime", True), ("metadata.level<10", True), ("year>1999", True),
        ("hard=true", True), ("model<t", True), ("absent=1", False), ("absent!=1", True), ("source.name.x=1", False),
    ],
)  # fmt: skip
def test_a_condition_compares_a_column_with_a_value(text, holds):
    assert Condition.parse(text).holds(SAMPLE) is holds


@pytest.mark.parametrize(("value", "condition", "holds"), FILTERS)
def test_where_agrees_with_the_page(value, condition, holds):
    metadata = {} if value is None else {"n": value}
    assert Condition.parse(f"n{condition}").holds(Trajectory("p", "r", metadata=metadata)) is holds


@pytest.mark.parametrize("text", ["level", "", "=3", ">= 3"])
def test_a_condition_that_cannot_be_read_explains_how_to_write_one(text):
    with pytest.raises(RolloutsError, match="level>=3"):
        Condition.parse(text)


def test_the_limit_counts_what_is_selected():
    rollouts = [Rollout(Trajectory(prompt="p", response=str(n), metadata={"n": n})) for n in range(10)]
    selection = Selection([Condition.parse("n>=4")], limit=2)
    assert [rollout.trajectory.response for rollout in selection.select(rollouts)] == ["4", "5"]


def test_a_column_that_no_sample_has_is_an_error_with_a_hint():
    with pytest.raises(RolloutsError, match="no sample has the column 'levle'; did you mean 'level'"):
        list(Selection([Condition.parse("levle=3")]).select([Rollout(SAMPLE)]))
