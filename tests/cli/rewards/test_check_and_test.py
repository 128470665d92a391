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


TABLE = """
reward: my_rewards.py:number
cases:
  - {name: one, response: "1", expected: 1}
"""


def test_a_table_that_names_its_reward_needs_no_other(plaudit, tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "my_rewards.py").write_text("def number(response):\n    return float(response)\n")
    (tmp_path / "tables" / "sums.yaml").write_text(TABLE)
    ran = plaudit("test", "tables/sums.yaml")
    assert (ran.code, "1 of 1 cases passed" in ran.out) == (0, True)


def test_a_table_without_a_reward_explains_how_to_give_one(plaudit, tmp_path):
    (tmp_path / "cases.yaml").write_text("- {response: a, expected: 1}\n")
    ran = plaudit("test", "cases.yaml")
    assert ran.code == 2
    assert "names no reward" in ran.err


HANGING = "import time\n\ndef hangs(response):\n    time.sleep(1000 if response == '' else 0)\n    return 1.0\n"


def test_a_reward_that_hangs_holds_up_neither_check_nor_test(plaudit, tmp_path):
    (tmp_path / "hanging.py").write_text(HANGING)
    (tmp_path / "cases.yaml").write_text('- {response: a, expected: 1}\n- {response: "", expected: 1}\n')
    ran = plaudit("test", "hanging.py", "cases.yaml", "--deadline", "2")
    assert ran.code == 1
    assert "1 of 2 cases passed" in ran.out
    assert "timeout" in ran.out
    ran = plaudit("check", "hanging.py", "--deadline", "2")
    assert ran.code == 1
    assert "error: deadline" in ran.out


def test_test_takes_the_options_of_foreign_rewards(plaudit, tmp_path):
    (tmp_path / "r.py").write_text(
        "def reward_func(queries, prompts, labels):\n"
        "    return [float('<|im_start|>user' in query and len(queries) == 2) for query in queries]\n"
    )
    prompt = "[{role: user, content: hello}]"
    cases = f"- {{prompt: {prompt}, response: a, expected: 1}}\n- {{prompt: {prompt}, response: b, expected: 1}}\n"
    (tmp_path / "cases.yaml").write_text(cases)
    options = ["--dialect", "openrlhf", "--scope", "group", "--chat-template", "chatml"]
    assert plaudit("test", "r.py", "cases.yaml").code == 1
    assert plaudit("test", "r.py", "cases.yaml", *options).code == 0
