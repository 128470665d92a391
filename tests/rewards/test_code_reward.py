"""CodeReward: from responses and tests to rewards, scores and what is said about them."""

import pytest

from plaudit import Status, Trajectory, load, score
from plaudit.engine import Scorer
from plaudit.errors import InvalidSettings, SandboxError
from plaudit.rewards import CodeReward
from plaudit.rewards import code as code_module
from tests.process_watch import descendants, gone

TESTS = ["assert f(1) == 2", "assert f(2) == 4", "assert f(3) == 6"]
RIGHT = "def f(x):\n    return 2 * x\n"
PARTLY = "def f(x):\n    return 2 * x if x < 3 else 0\n"
WRONG = "def f(x):\n    return -1\n"
LOOPS = "def f(x):\n    while True: pass\n"
CRASHES = "import os\ndef f(x):\n    os.abort()\n"
BROKEN = "def f(x:\n    return\n"


def fenced(source):
    return f"Here is my solution.\n\n```python\n{source}```\n"


def scored(source, truth=tuple(TESTS), *, prompt="Double it.", **options):
    truth = list(truth) if isinstance(truth, tuple) else truth
    sample = Trajectory(prompt=prompt, response=source, ground_truth=truth)
    return score(CodeReward(cpu_s=0.3, **options), [sample])[0]


CREDIT = {
    "right": (RIGHT, 1.0, 1.0, 1.0),
    "partly right": (PARTLY, 0.0, 2 / 3, 0.3),
    "wrong": (WRONG, 0.0, 0.0, 0.0),
    "endless": (LOOPS, 0.0, 0.0, -0.5),
    "crashing": (CRASHES, 0.0, 0.0, -1.0),
    "not Python": (BROKEN, 0.0, 0.0, -1.0),
}


@pytest.mark.parametrize(("source", "everything", "fraction", "openrlhf"), CREDIT.values(), ids=CREDIT.keys())
def test_credit_is_given_by_the_scale_that_was_chosen(source, everything, fraction, openrlhf):
    truth = tuple(TESTS[:1] if source == LOOPS else TESTS)  # each test that it fails takes a second
    assert scored(fenced(source), truth).reward == everything
    assert scored(fenced(source), truth, credit="fraction").reward == pytest.approx(fraction)
    assert scored(fenced(source), truth, credit="openrlhf").reward == openrlhf


def test_the_score_is_the_share_of_tests_where_all_of_them_ran():
    assert scored(fenced(PARTLY), credit="openrlhf").score == pytest.approx(2 / 3)
    assert scored(fenced(PARTLY)).score == 0.0


def test_metadata_tells_every_test_the_output_and_the_tier():
    output = scored(fenced("print('hello')\n" + PARTLY.replace("return", "print(x); return")), credit="fraction")
    told = output.metadata
    assert [test["passed"] for test in told["tests"]] == [True, True, False]
    assert "returned 0" in told["tests"][2]["reason"]
    assert (told["passed"], told["total"], told["conclusion"], told["judged"]) == (2, 3, "completed", "split")
    assert "seccomp" in told["tier"]
    assert "3" in told["stdout"]


UNSCORED = {
    "no ground truth": (None, Status.SKIPPED, "no ground truth"),
    "an empty list": ([], Status.SKIPPED, "no ground truth"),
    "tests that cannot be split": (["assert f(lambda: 1) == 2"], Status.UNPARSED, "function of their own"),
    "tests that never call the program": (["assert 1 + 1 == 2"], Status.UNPARSED, "never call the program"),
    "a ground truth of another kind": ({"answer": 42}, Status.UNPARSED, "no tests among"),
}


@pytest.mark.parametrize(("truth", "status", "why"), UNSCORED.values(), ids=UNSCORED.keys())
def test_a_sample_with_broken_tests_is_not_scored(truth, status, why):
    output = scored(fenced(RIGHT), truth)
    assert (output.status, output.reward) == (status, None)
    assert why in output.reason


def test_a_response_without_a_program_is_scored_and_not_left_out():
    output = scored("I do not know.")
    assert (output.status, output.reward, output.score) == (Status.OK, 0.0, 0.0)
    assert scored("I do not know.", credit="openrlhf").reward == -1.0


def test_a_failing_sandbox_is_an_error_and_never_a_zero(monkeypatch):
    class Failing:
        def judge_all(self, jobs):
            return [SandboxError("the server was lost")] * len(jobs)

    monkeypatch.setattr(code_module, "shared_pool", lambda *_, **__: Failing())
    output = scored(fenced(RIGHT))
    assert (output.status, output.reward) == (Status.ERROR, None)
    assert "server was lost" in output.reason


HELPED = "import math\n\n\ndef helper(x):\n    return x + 1\n\n\ndef f(x):\n    '''Twice x.'''\n"
COMPLETIONS = {
    "the body alone": "    return int(math.fsum([x, x]))\n",
    "the body in a fence": "```python\n    return int(math.fsum([x, x]))\n```",
    "the whole function": fenced("def f(x):\n    return helper(2 * x) - 1\n"),
    "the function with the import": fenced("import math\ndef f(x):\n    return math.prod([2, x])\n"),
}


@pytest.mark.parametrize("response", COMPLETIONS.values(), ids=COMPLETIONS.keys())
def test_completions_of_a_prompt_get_what_the_prompt_defines(response):
    truth = {"tests": TESTS, "entry_point": "f"}
    assert scored(response, truth, prompt=HELPED).reward == 1.0
    chat = [{"role": "user", "content": f"Complete this:\n```python\n{HELPED}```"}]
    assert scored(response, truth, prompt=chat).reward == 1.0


def test_an_earlier_answer_in_the_conversation_does_not_help_the_tests():
    """Only the data set's words are trusted: a model's own `helper` must not decide."""
    truth = {"tests": "def check(c):\n    assert helper(c(1)) == 3\n", "entry_point": "f"}
    chat = [
        {"role": "user", "content": "Write helper and f."},
        {"role": "assistant", "content": "```python\ndef helper(x):\n    return 3\n```"},
    ]
    output = scored(fenced("def f(x):\n    return 0\ndef helper(x):\n    return x\n"), truth, prompt=chat)
    assert output.status is Status.UNPARSED
    assert "helper" in output.reason


def test_hidden_tests_count_too():
    table = "def f(x):\n    return {1: 2, 2: 4, 3: 6}[x]\n"
    truth = {"tests": TESTS, "hidden_tests": ["assert f(10) == 20"]}
    assert scored(fenced(table), {"tests": TESTS}).reward == 1.0
    assert scored(fenced(table), truth).reward == 0.0
    assert scored(fenced(table), truth, credit="fraction").reward == 0.75
    assert scored(fenced(RIGHT), truth).reward == 1.0


@pytest.mark.parametrize("options", [{"credit": "al"}, {"cpu_s": 0}, {"objects": "ask"}])
def test_options_that_make_no_sense_are_refused_when_the_reward_is_built(options):
    with pytest.raises(InvalidSettings):
        CodeReward(**options)


def test_it_loads_by_name_and_prints_as_the_call_that_made_it():
    assert repr(load("code(credit='fraction', cpu_s=1.0)")) == "CodeReward(credit='fraction', cpu_s=1.0)"


def test_a_program_may_write_files_only_where_scratch_space_was_asked_for():
    writes = "def f(x):\n    open('n', 'w').write(str(x))\n    return 2 * int(open('n').read())\n"
    assert [scored(fenced(writes), scratch_mb=size).reward for size in (0, 1, 0)] == [0.0, 1.0, 0.0]


def test_the_engine_scores_it_on_workers_which_leave_nothing_behind():
    samples = [
        Trajectory(prompt="?", response=fenced(source), ground_truth=TESTS) for source in (RIGHT, WRONG, LOOPS, RIGHT)
    ]
    before = descendants()
    with Scorer("code(cpu_s=0.3)", workers=2, deadline_s=60.0) as scorer:
        outputs = scorer.score(samples)
        started = descendants() - before
    assert [output.reward for output in outputs] == [1.0, 0.0, 0.0, 1.0]
    assert len(started) > 2
    assert gone(started)


NASTY = {
    "empty": "",
    "one word": "a" * 200_000,
    "brackets": "{[(" * 100_000,
    "thoughts": "<think>" * 100_000,
    "fences": "```\n" * 100_000,
    "a surrogate": fenced("x = '\ud800'\n"),
    "NUL": fenced("x = '\x00'\n"),
    "attributes without end": "x = a" + ".b" * 100_000,
    "prose after code": RIGHT.replace("2", "3") + "This is prose.\n" * 10_000,
    "many blocks": fenced(WRONG) * 2_000,
    "right to left": "\u202eשלום " * 10_000,
}


def test_any_response_is_scored_within_bounds():
    samples = [Trajectory(prompt="?", response=response, ground_truth=TESTS) for response in NASTY.values()]
    outputs = score(CodeReward(credit="openrlhf", cpu_s=0.3), samples)
    found = {name: output.reward for name, output in zip(NASTY, outputs, strict=True)}
    assert all(reward is not None and -1.0 <= reward <= 0.0 for reward in found.values()), found


def test_tests_that_are_no_text_are_not_scored():
    assert scored(fenced(RIGHT), ["assert f('\ud800') == 1", "assert f(1) == 2"]).status is Status.UNPARSED


@pytest.mark.parametrize(
    ("source", "reward"),
    [
        ("import numpy as np\ndef f(x):\n    return int(np.sum([x, x]))\n", "numpy"),
        ("def f(x):\n    import pandas as pd\n    return int(pd.Series([x, x]).sum())\n", "pandas"),
        ("import numpy as np\nimport pandas, math\ndef f(x):\n    from scipy import stats\n    return 2 * x\n", 1.0),
        ("import numpy as np\ndef f(x):\n    return 3 * x\n", 0.0),
        ("import numpy as np\ndef f(x):\n    return np and 3 * x\n", "numpy"),
        ("import no_such_package_at_all\ndef f(x):\n    return 2 * x\n", "no_such_package_at_all"),
        ("import ssl\ndef f(x):\n    return ssl and 2 * x\n", "_ssl"),
        ("def f(x):\n    from turtle import Turtle\n    return Turtle and 2 * x\n", "tkinter"),
        ("import tkinter as tk\ndef f(x):\n    return 2 * x\n", 1.0),
        ("import _no_such_part\nimport ssl\ndef f(x):\n    return ssl and 2 * x\n", "_no_such_part"),
        ("try:\n    import numpy\nexcept ImportError:\n    numpy = None\ndef f(x):\n    return 2 * x\n", 1.0),
        ("def f(x):\n    raise ModuleNotFoundError('numpy', name='numpy')\n", 0.0),
    ],
    ids=[
        "at the top",
        "in a function",
        "unused",
        "unused and wrong",
        "used and wrong",
        "made up",
        "of the standard library",
        "of the standard library by way of another",
        "of the standard library and unused",
        "made up beside one of the standard library",
        "with a way round",
        "only claimed",
    ],
)
def test_a_program_that_needs_a_module_that_is_not_there_has_failed_and_the_reason_names_it(source, reward):
    output = scored(fenced(source))
    assert output.reward == (reward if isinstance(reward, float) else 0.0)
    assert isinstance(reward, float) or f"No module named '{reward}'" in output.reason


@pytest.mark.parametrize("source", [RIGHT, "import numpy as np\ndef f(x):\n    return int(np.sum([x, x]))\n"])
@pytest.mark.parametrize(
    "truth",
    [
        {"tests": ["assert f(1) == 2"], "test_imports": ["import numpy as np"]},
        {"tests": ["assert f(1) == 2"], "prompt": "import numpy as np\ndef f(x):\n    pass\n", "entry_point": "f"},
    ],
    ids=["imports before the program", "prompt"],
)
def test_a_data_set_whose_code_imports_a_module_that_programs_lack_is_not_scored_whatever_they_do(source, truth):
    output = scored(fenced(source), truth)
    assert output.status is Status.UNPARSED
    assert "CodeReward(flavour='numpy') has it" in output.reason
    assert scored(fenced(source), truth, flavour="numpy").reward == 1.0


ATTRIBUTED = {
    "tests that open a file": ("d = open('/etc/passwd').read()\nassert f(1) == 2", None),
    "tests that import what is missing": ("import no_such_package\nassert f(1) == 2", None),
    "arguments that are nested too deeply": ("x = 1\nfor _ in range(300): x = [x]\nassert f(x) == 2", None),
    "an argument that holds itself": ("x = []\nx.append(x)\nassert len(f(x)) == 2", 1.0),
}


@pytest.mark.parametrize(("tests", "reward"), ATTRIBUTED.values(), ids=ATTRIBUTED)
def test_tests_with_unmet_requirements_are_no_fault_of_the_program(tests, reward):
    assert scored(fenced(RIGHT), {"tests": tests}).reward == reward


@pytest.mark.parametrize(
    "source", ["import numpy; import pandas\ndef f(x):\n    return x\n", "def countError(x):\n    return x\n"]
)
def test_unused_imports_on_one_line_and_functions_named_as_errors_are_ordinary(source):
    name = "countError" if "Error" in source else "f"
    assert scored(fenced(source), {"tests": [f"assert {name}(3) == 3"]}).reward == 1.0


@pytest.mark.parametrize("returned", ["None", "1"])
def test_a_file_in_which_the_program_decides_what_is_skipped_is_not_scored(returned):
    skipped = "@pytest.mark.skipif(f(1) is None, reason='')\ndef test_f():\n    assert f(1) == 1\n"
    tests = f"import pytest\nfrom solution import f\n{skipped}"
    output = scored(fenced(f"def f(x):\n    return {returned}\n"), tests)
    assert output.status is Status.UNPARSED
    assert "skipif with a condition on the program" in output.reason


WEAK = {
    "a method that plain values lack": (
        "class R:\n    equals = lambda s, o: True\ndef f(x): return R()",
        "assert f(1).equals(2)",
    ),
    "a condition on an argument": ("def f(x): x.clear()", "x = [1]\nassert f(x) is None\nif x:\n    assert x == [2]"),
    "a method that a custom object may have, too": (
        "class R:\n    find = lambda s, o: 0\ndef f(x): return R()",
        "assert f(1).find('a') != -1",
    ),
    "a class of the tests that compares with an argument": (
        "def f(x):\n    x.clear()\n    return 0",
        "class Sum:\n    def __init__(self, x): self.x = x\n    def __eq__(self, other): return other == sum(self.x)\n"
        "x = [1]\nwanted = Sum(x)\nassert wanted == f(x)",
    ),
    "an object whose items and iteration differ": (
        "class R:\n    __iter__ = lambda s: iter([3, 1, 2])\n    __len__ = lambda s: 3\n"
        "    __getitem__ = lambda s, i: i\ndef f(x): return R()",
        "r = f([3, 1, 2])\nassert sorted(r) == [1, 2, 3]\nassert all(r[i] <= r[i + 1] for i in range(len(r) - 1))",
    ),
    "an object of a class that the tests name, for a text": (
        "class R:\n    startswith = lambda s, o: True\ndef f(x): return R()",
        "assert isinstance(R(), R)\nassert f(1).startswith('a')",
    ),
    "an argument as the expected value": ("def f(x):\n    x.clear()\n    return x", "x = [1]\nassert f(x) == x"),
}


@pytest.mark.parametrize(("source", "tests"), WEAK.values(), ids=WEAK)
def test_weak_tests_mean_what_they_mean_in_one_process(source, tests):
    """Listed as not covered."""
    assert scored(fenced(source + "\n"), {"tests": tests}).reward == 1.0


def test_a_right_program_that_changes_an_argument_which_the_tests_do_not_check_may_fail():
    """Listed as not covered."""
    source, tests = "def f(x):\n    x.sort()\n    return x[0]\n", "x = [3, 1]\nm = f(x)\nassert x[0] == m\n"
    assert scored(fenced(source), {"tests": tests}).reward == 0.0
    assert scored(fenced(source), {"tests": f"{tests}assert x == [1, 3]\n"}).reward == 1.0


def test_a_right_program_whose_empty_answer_a_test_loops_over_may_fail():
    """Listed as not covered."""
    source = "def f(n):\n    return [p for p in range(2, n) if all(p % d for d in range(2, p))]\n"
    tests = "for p in f(2):\n    assert p < 2\nassert f(6) == [2, 3, 5]\n"
    assert scored(fenced(source), {"tests": tests}).reward == 0.0


def test_two_objects_that_are_equal_only_by_their_own_word_are_not_equal():
    """Listed as not covered: the guide says that such a program fails."""
    made = "class P:\n    def __eq__(self, other): return True\ndef f(x):\n    return P()\n"
    assert scored(fenced(made), {"tests": ["assert f(1) == f(1)"]}).reward == 0.0


@pytest.mark.parametrize(("named", "reward"), [("", 0.0), ("assert Backwards\n", 1.0)])
def test_a_replaced_method_of_a_plain_type_is_called_only_where_the_tests_name_the_class(named, reward):
    """Listed as not covered: a right program may fail."""
    source = "class Backwards(list):\n    def __getitem__(self, i): return 7\ndef f(x):\n    return Backwards([x])\n"
    assert scored(fenced(source), {"tests": f"{named}assert f(1)[0] == 7\n"}).reward == reward


@pytest.mark.parametrize("value", ["5", "object()", "__import__('ipaddress').ip_address('::1')"])
def test_a_test_that_compares_with_an_object_of_the_standard_library_is_not_scored_whatever_is_returned(value):
    tests = "import ipaddress\nassert f(1) == [ipaddress.ip_address('::1')]\n"
    output = scored(fenced(f"def f(x):\n    return {value}\n"), {"tests": tests})
    assert output.status is Status.UNPARSED
    assert "of type IPv6Address of the standard library" in output.reason


def test_a_program_whose_objects_are_trusted_can_forge_comparisons():
    """Listed as not covered, and marked in the output."""
    liar = (
        "class P1(int):\n    def __eq__(self, other): return True\n    __hash__ = None\ndef f(x):\n    return [P1()]\n"
    )
    truth = {"tests": ["assert isinstance(f(1)[0], P1) and f(1)[0] == 9"]}
    output = scored(fenced(liar), truth, objects="trust")
    assert (output.reward, output.metadata["judged"]) == (1.0, "objects trusted")
    assert scored(fenced(liar), truth).reward == 0.0
