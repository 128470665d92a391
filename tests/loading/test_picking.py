"""Which reward a file without a name stands for."""

from pathlib import Path

import pytest

from plaudit import Trajectory
from plaudit.errors import RewardNotLoaded
from plaudit.loading import load, resolve

CLASS = """
from plaudit import RewardFunction
class Mine(RewardFunction):
    def compute_reward(self, trajectory):
        return 1.0
"""


@pytest.mark.parametrize(
    ("source", "picked"),
    [
        pytest.param(CLASS, "Mine", id="class"),
        pytest.param(CLASS + "\nreward = Mine()\nother = Mine()\n", "reward", id="called reward"),
        pytest.param(
            "def reward_func(response): return 1.0\ndef other(response): return 0.0", "reward_func", id="named"
        ),
        pytest.param("from plaudit import reward\n@reward\ndef mine(response): return 1.0", "mine", id="decorated"),
        pytest.param(
            "def reward(text): return 1.0\n"
            "def reward_func(queries, prompts, labels): return [reward(query) for query in queries]",
            "reward_func",
            id="helper called reward",
        ),
        pytest.param(
            "def reward(text): return 1.0\ndef reward_func(response): return reward(response)",
            "reward_func",
            id="helper called reward beside a plain function",
        ),
        pytest.param(
            "def extract(text): return text\ndef grade(response): return float(bool(extract(response)))",
            "grade",
            id="function that uses the other",
        ),
        pytest.param(
            CLASS + "\nfrom plaudit import reward\nreward = 2 * Mine()\n", "reward", id="reward rebound after import"
        ),
        pytest.param(CLASS + "\ndef helper(text): return text\n", "Mine", id="class beside a function"),
        pytest.param(
            "def custom(response, metadata): return 1.0\ndef helper(text): return text\n", "custom", id="foreign first"
        ),
        pytest.param("def _private(x): return x\ndef mine(response): return 1.0", "mine", id="lone public function"),
        pytest.param("async def mine(response): return 1.0", "mine", id="async function"),
        pytest.param("import math\nfrom os.path import join\ndef mine(response): return 1.0", "mine", id="imports"),
        pytest.param("def mine(response): return 1.0\nalias = mine", "mine", id="two names for one"),
        pytest.param(
            CLASS
            + "class Other(RewardFunction):\n    def __init__(self, n): ...\n    def compute_reward(self, t): ...\n",
            "Mine",
            id="the one that needs no arguments",
        ),
        pytest.param(
            "from plaudit import RewardFunction\nclass Base(RewardFunction): pass\n"
            "class Mine(Base):\n    def compute_reward(self, trajectory): return 1.0\n",
            "Mine",
            id="base without a reward",
        ),
        pytest.param("from plaudit.rewards import LengthReward\nmine = LengthReward(target=3)", "mine", id="instance"),
        pytest.param(
            "try:\n    from plaudit.rewards import LengthReward as mine\nexcept ImportError: pass\n" + CLASS,
            "Mine",
            id="import inside try",
        ),
    ],
)
def test_the_only_reward_of_a_file_is_taken(write, source, picked):
    write("picked.py", source)
    assert resolve("picked.py").origin == f"{picked} in picked.py"


def test_rewards_imported_from_a_sibling_do_not_count(write):
    write("mixed/origin_c.py", "from plaudit import reward\n@reward\ndef theirs(response): return 0.0\n")
    write("mixed/mine.py", "from origin_c import theirs\nfrom plaudit import reward\nmine = theirs + 1.0\n")
    assert load("mixed/mine.py")([Trajectory("Hi", "Ho")]) == [1.0]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        pytest.param(
            CLASS + "other = Mine()\n", ["2 rewards", "ambiguous.py:Mine", "ambiguous.py:other"], id="class and object"
        ),
        pytest.param(
            "def a(response, metadata): ...\ndef b(response, metadata): ...\n",
            ["2 rewards", "ambiguous.py:a", "ambiguous.py:b"],
            id="foreign functions",
        ),
        pytest.param(
            "def a(response): ...\ndef b(response): ...\n",
            ["2 functions, none plainly the reward", "ambiguous.py:a, ambiguous.py:b"],
            id="functions",
        ),
        pytest.param(
            "def reward(response): ...\ndef reward_func(response): ...\n",
            ["ambiguous.py:reward, ambiguous.py:reward_func"],
            id="both favoured names",
        ),
        pytest.param(
            "x = 3\ndef nothing(): ...\n", ["holds no reward (it has x, nothing)", "define one"], id="nothing"
        ),
        pytest.param("", ["holds no reward (it has no names)"], id="empty"),
        pytest.param("from plaudit import reward\n", ["holds no reward"], id="only imports"),
        pytest.param(
            "from plaudit import RewardFunction\nclass Needy(RewardFunction):\n"
            "    def __init__(self, limit, unit='word'): ...\n    def compute_reward(self, t): ...\n",
            ["limit", "(limit, unit='word')", "write ambiguous.py:Needy(limit=…)"],
            id="needs arguments",
        ),
    ],
)
def test_no_single_reward_is_an_error_that_lists_the_specs_to_type(write, source, told):
    write("ambiguous.py", source)
    with pytest.raises(RewardNotLoaded) as caught:
        load("ambiguous.py")
    assert all(part in str(caught.value) for part in told), caught.value


def test_a_missing_name_is_answered_with_what_is_there(write):
    write("listed.py", CLASS + "def plain(response): return 1.0\n")
    with pytest.raises(RewardNotLoaded, match=r"no 'absent' in listed\.py \(it has Mine, plain\)"):
        load("listed.py:absent")


def test_a_module_that_makes_names_on_demand_is_asked(write):
    write("lazy_names.py", "def __getattr__(name):\n    return lambda response: float(name == 'asked')\n")
    assert load("lazy_names.py:asked")([Trajectory("Hi", "Ho")]) == [1.0]


def test_tables_of_a_file_are_not_printed_while_its_reward_is_looked_for(write):
    write(
        "tables.py",
        """
        class Table(list):
            def __repr__(self):
                print("printed", file=open("printed.txt", "w"))
                return "[]"

        TABLE = Table([1, 2])

        def right(response):
            return float(len(TABLE))
        """,
    )
    assert load("tables.py").name == "right"
    assert not Path("printed.txt").exists()


@pytest.mark.parametrize(
    ("source", "told"),
    [
        pytest.param(
            "from flux.rewards import RewardFunctoin\nclass R(RewardFunctoin):\n    def compute_reward(self, t): pass",
            ["'RewardFunctoin' of flux.rewards is needed", "did you mean 'RewardFunction'"],
            id="import of a package that is not installed",
        ),
        pytest.param(
            "from flux.rewards import RewardFunction\nclass R(RewardFunction):\n    def compute_rewards_(self, t): 1",
            ["the class R has no method compute_reward", "compute_rewards_; did you mean 'compute_rewards'"],
            id="method of a foreign class",
        ),
        pytest.param(
            "from plaudit import RewardFunction\nclass R(RewardFunction):\n    def compute_rewad(self, t): pass",
            ["the class R has no method compute_reward", "compute_rewad; did you mean 'compute_reward'"],
            id="method",
        ),
    ],
)
def test_a_file_without_a_reward_says_what_is_misspelt(write, source, told):
    write("mine.py", source)
    with pytest.raises(RewardNotLoaded) as raised:
        load("mine.py")
    assert all(each in str(raised.value) for each in told)
