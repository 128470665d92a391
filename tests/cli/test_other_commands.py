import json
import subprocess
import sys

import plaudit as package


def test_explain_shows_the_failed_the_lowest_and_the_highest_sample_in_full(plaudit, rollouts, tmp_path):
    (tmp_path / "picky.py").write_text(
        "from plaudit import reward, RewardOutput\n\n"
        "@reward\ndef picky(response, ground_truth):\n"
        "    return RewardOutput(1.0 / ('idea' not in response), reason='it has an idea')\n"
    )
    ran = plaudit("explain", "check_answer + 'picky.py'", rollouts, "-n", "3")
    assert ran.code == 0
    assert "sample 3 (id 'r3') · failed · error" in ran.out
    assert "sample 1 (id 'r1') · lowest · 1" in ran.out
    assert "sample 0 (id 'r0') · highest · 2" in ran.out
    for shown in (
        "2+2?",
        "The answer is 5.",
        "ground truth",
        "MathReward",
        "it has an idea",
        "ZeroDivisionError",
    ):
        assert shown in ran.out


def test_explain_picks_what_it_is_told(plaudit, rollouts):
    ran = plaudit("explain", "check_answer", rollouts, "--sample", "r2", "--sample", "1", "--json")
    assert [(one["index"], one["id"], one["reward_output"]["reward"]) for one in ran.json] == [
        (1, "r1", 0.0),
        (2, "r2", 1.0),
    ]
    ran = plaudit("explain", "check_answer", rollouts, "--pick", "first", "-n", "2", "--json")
    assert [one["index"] for one in ran.json] == [0, 1]
    ran = plaudit("explain", "check_answer", rollouts, "--pick", "lowest", "--pick", "highest", "-n", "4", "--json")
    assert [(one["picked"], one["index"]) for one in ran.json] == [
        ("lowest", 1), ("highest", 0), ("lowest", 3), ("highest", 2),
    ]  # fmt: skip


def test_explain_shows_token_rewards_beside_their_words(plaudit, rollouts):
    ran = plaudit("explain", "words(good_tokens=['answer'])", rollouts, "-n", "1", "--pick", "highest")
    assert "The answer[0.1] is" in ran.out


def test_test_shows_each_case_and_fails_when_one_does(plaudit, tmp_path):
    (tmp_path / "cases.yaml").write_text(
        '- {name: right, response: The answer is 4., ground_truth: "4", expected: 1.0}\n'
        '- {name: wrong, response: The answer is 5., ground_truth: "4", expected: "> right"}\n'
    )
    ran = plaudit("test", "check_answer", "cases.yaml")
    assert ran.code == 1
    assert "1 of 2 cases passed" in ran.out
    assert "FAILED" in ran.out
    results = plaudit("test", "check_answer", "cases.yaml", "--json").json
    assert [result["passed"] for result in results] == [True, False]


def test_check_finds_a_broken_contract_and_lets_an_honest_reward_pass(plaudit, tmp_path, rollouts):
    (tmp_path / "random_reward.py").write_text("import random\n\ndef luck(response):\n    return random.random()\n")
    ran = plaudit("check", "random_reward.py:luck", rollouts)
    assert ran.code == 1
    assert "deterministic" in ran.out
    assert "remedy" in ran.out
    ran = plaudit("check", "0.7 * check_answer + 0.3 * format", rollouts)
    assert (ran.code, "nothing found" in ran.out) == (0, True)
    assert plaudit("check", "random_reward.py:luck", "--json").json[0]["severity"] == "error"


def test_rewards_lists_every_built_in_with_a_line_of_doc(plaudit):
    ran = plaudit("rewards")
    listed = plaudit("rewards", "--json").json
    for name in ("length", "format", "keyword", "math", "check_answer", "structured", "repetition"):
        assert f"\n{name} " in ran.out
    assert all(listing["summary"] for listing in listed)
    shown = plaudit("rewards", "show", "length").out
    assert "target" in shown
    assert "tolerance" in shown


def test_version_is_the_packages(plaudit):
    assert plaudit("version").out.startswith(f"plaudit {package.__version__} ")


def test_no_arguments_show_the_help(plaudit):
    ran = plaudit("--help")
    assert ran.code == 0
    for command in ("score", "explain", "test", "check", "rewards", "version"):
        assert command in ran.out


def test_the_convention_a_file_was_taken_for_is_said(plaudit, rollouts, tmp_path):
    (tmp_path / "reward_func.py").write_text(
        "def reward_func(queries, prompts, labels):\n    return {'rewards': [1.0] * len(queries)}\n"
    )
    ran = plaudit("score", "reward_func.py", rollouts)
    assert "OpenRLHF" in ran.err
    assert ran.code == 0


def test_importing_is_quick_for_the_command_line():
    code = "import sys, plaudit.cli; print([m for m in ('torch', 'numpy', 'pyarrow', 'pytest') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.replace("'", '"')) == []
