"""Arguments in a spec, and things that are no rewards."""

import pytest

from plaudit.errors import InvalidSettings, RewardNotLoaded
from plaudit.loading import load

THINGS = """
    from plaudit import RewardFunction, reward

    class Needy(RewardFunction):
        def __init__(self, limit: int, unit: str = "word"):
            if limit < 0:
                raise ValueError("limit must not be negative")
            self.limit, self.unit = limit, unit
        def compute_reward(self, trajectory):
            return float(self.limit)

    class Bare(RewardFunction):
        def compute_reward(self, trajectory):
            return 1.0

    class Unrelated:
        pass

    class Open(RewardFunction):
        def __init__(self, **options):
            self.options = options
        def compute_reward(self, trajectory):
            return 1.0

    @reward
    def finished(response):
        return 1.0

    def broken_factory(value):
        return value

    def nothing():
        return 1.0

    number = 3
"""


@pytest.mark.parametrize(
    ("call", "told"),
    [
        pytest.param("Needy", ["(limit, unit='word')", "write things.py:Needy(limit=…)"], id="missing"),
        pytest.param("Needy()", ["missing a required argument: 'limit'"], id="missing in brackets"),
        pytest.param("Needy(limt=3)", ["no parameter 'limt'", "did you mean 'limit'?"], id="misspelt"),
        pytest.param("Needy(1, 'word', 3)", ["too many positional arguments"], id="too many"),
        pytest.param("Needy(limit=-1)", ["ValueError: limit must not be negative", "line 7"], id="refused"),
        pytest.param("Bare(limit=3)", ["no parameter 'limit'"], id="takes none"),
        pytest.param("Bare(3)", ["too many positional arguments"], id="takes none by place"),
        pytest.param("finished(limit=3)", ["a reward already", "leave out the brackets"], id="already a reward"),
        pytest.param("number(3)", ["int 3", "takes no arguments"], id="not callable"),
        pytest.param("broken_factory(value=3)", ["int 3, not a reward"], id="factory of something else"),
        pytest.param("Unrelated", ["the class Unrelated, not a reward", "compute_reward"], id="class"),
        pytest.param("number", ["int 3, not a reward", "def my_reward(response, ground_truth)"], id="number"),
        pytest.param("RewardFunction", ["RewardFunction defines no reward"], id="the base itself"),
        pytest.param("nothing", ["cannot be a reward", "takes no parameter"], id="function without parameters"),
        pytest.param("Open(*[1])", ["cannot be unpacked"], id="unpacked"),
    ],
)
def test_a_build_error_names_the_cause_and_the_spec_to_type(write, call, told):
    write("things.py", THINGS)
    with pytest.raises(RewardNotLoaded) as caught:
        load(f"things.py:{call}")
    assert all(part in str(caught.value) for part in told), caught.value


def test_a_class_with_open_options_takes_any_keyword(write):
    write("things.py", THINGS)
    assert load("things.py:Open(a=1, b=[2, {'c': None}])").options == {"a": 1, "b": [2, {"c": None}]}


def test_a_built_in_that_refuses_its_arguments_speaks_for_itself():
    with pytest.raises(RewardNotLoaded, match=r"length\(target=-3\)") as caught:
        load("length(target=-3)")
    assert isinstance(caught.value.__cause__, InvalidSettings)
    assert str(caught.value).endswith(str(caught.value.__cause__))
