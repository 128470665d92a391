"""The plug-in as users meet it: pytest run on a folder with case tables."""

import subprocess
import sys

import pytest

PLUGIN = ("-p", "plaudit.testing.pytest_plugin", "-p", "no:cacheprovider")

REWARDS = """
def number(response):
    return float(response)

def constant(response):
    return 1.0
"""
TABLE = """
reward: my_rewards.py:number
cases:
  - {name: one is one, response: "1", expected: 1}
  - {name: two is one, response: "2", ground_truth: "1", expected: 1}
  - {response: "3", expected: "> one is one"}
"""


@pytest.fixture
def project(pytester, monkeypatch):
    # Without the plug-ins of entry points: where plaudit is installed, its own would be registered a second time.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(my_rewards=REWARDS)
    return pytester


def test_every_case_is_a_test_under_its_own_name(project):
    project.path.joinpath("sums.cases.yaml").write_text(TABLE)
    result = project.runpytest(*PLUGIN, "-v")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "sums.cases.yaml::one is one PASSED*",
            "sums.cases.yaml::two is one FAILED*",
            "sums.cases.yaml::case 3 PASSED*",
        ]
    )


def test_a_failed_case_shows_its_explanation_and_no_traceback(project):
    project.path.joinpath("sums.cases.yaml").write_text(TABLE)
    result = project.runpytest(*PLUGIN)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*two is one*", "expected 1, got 2", "reward:*my_rewards.py:number*", "response: *'2'", "ground truth: '1'"]
    )
    result.stdout.no_fnmatch_line("*running.py*")
    result.stdout.no_fnmatch_line("*pytest_plugin.py:*")


def test_the_components_of_a_failed_case_are_shown(project):
    project.makepyfile(
        sum_rewards="""
        from plaudit import reward

        @reward
        def half(response):
            return 0.5

        total = 0.5 * half + half
        """
    )
    project.path.joinpath("a.cases.yaml").write_text(
        "reward: sum_rewards.py:total\ncases:\n- {response: x, expected: 1}\n"
    )
    result = project.runpytest(*PLUGIN)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["expected 1, got 0.75*", "component: *half = 0.5"])


def test_one_case_can_be_chosen_by_its_node_id(project):
    project.path.joinpath("sums.cases.yaml").write_text(TABLE)
    project.runpytest(*PLUGIN, "sums.cases.yaml::case 3").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.cases.yml", "- {response: x, expected: 1}"),
        ("a.cases.json", '[{"response": "x", "expected": 1}]'),
        ("a.cases.jsonl", '{"response": "x", "expected": 1}'),
        ("a.cases.csv", "response,expected\nx,1\n"),
    ],
)
def test_tables_of_every_format_are_collected(name, text, project):
    project.path.joinpath(name).write_text(text)
    project.runpytest(*PLUGIN, "--plaudit-reward=my_rewards.py:constant").assert_outcomes(passed=1)


def test_other_files_are_left_alone(project):
    project.path.joinpath("cases.yaml").write_text("not: a table")
    project.path.joinpath("data.csv").write_text("a,b\n")
    project.runpytest(*PLUGIN).assert_outcomes()


def test_the_reward_may_stand_in_the_ini_file(project):
    project.makeini("[pytest]\nplaudit_reward = my_rewards.py:constant\n")
    project.path.joinpath("a.cases.jsonl").write_text('{"response": "x", "expected": 1}')
    project.runpytest(*PLUGIN).assert_outcomes(passed=1)


def test_the_option_goes_before_the_ini_file_and_the_table_before_both(project):
    project.makeini("[pytest]\nplaudit_reward = nowhere.py:nothing\n")
    project.path.joinpath("bare.cases.jsonl").write_text('{"response": "x", "expected": 1}')
    project.path.joinpath("own.cases.yaml").write_text(
        "reward: my_rewards.py:number\ncases:\n- {response: '5', expected: 5}\n"
    )
    project.runpytest(*PLUGIN, "--plaudit-reward=my_rewards.py:constant").assert_outcomes(passed=2)


def test_a_reward_file_beside_the_table_goes_before_one_in_the_root(project):
    folder = project.mkdir("deep")
    folder.joinpath("my_rewards.py").write_text("def constant(response):\n    return 7.0\n")
    folder.joinpath("a.cases.jsonl").write_text('{"response": "x", "expected": 7}')
    project.path.joinpath("b.cases.jsonl").write_text('{"response": "x", "expected": 1}')
    project.runpytest(*PLUGIN, "--plaudit-reward=my_rewards.py:constant").assert_outcomes(passed=2)


def test_a_table_without_a_reward_is_a_collection_error_with_the_remedy(project):
    project.path.joinpath("a.cases.csv").write_text("response,expected\nx,1\n")
    result = project.runpytest(*PLUGIN)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*a.cases.csv: no reward to test; add 'reward: rewards.py:name'*--plaudit-reward*"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {response: x}", "*a.cases.yaml:1: expects nothing*"),
        ("reward: my_rewards.py:numbr\ncases:\n- {response: x, expected: 1}", "*numbr*"),
    ],
    ids=["broken table", "reward not found"],
)
def test_an_invalid_case_file_is_a_collection_error_without_a_traceback(text, message, project):
    project.path.joinpath("a.cases.yaml").write_text(text)
    result = project.runpytest(*PLUGIN)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*pytest_plugin.py:*")


def test_a_reward_that_raises_fails_the_case_with_its_reason(project):
    project.path.joinpath("a.cases.jsonl").write_text('{"response": "many", "expected": 1}')
    result = project.runpytest(*PLUGIN, "--plaudit-reward=my_rewards.py:number")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["expected 1, got status error (reason: number raised ValueError:*my_rewards.py*"])


def test_the_plug_in_reads_no_yaml_before_a_table_is_met():
    modules = "{'yaml', 'plaudit.testing.cases', 'plaudit.testing.checking.check'}"
    code = f"import sys, plaudit.testing.pytest_plugin; sys.exit({modules} & set(sys.modules) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
