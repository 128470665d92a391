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
