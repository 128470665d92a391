def test_rewards_lists_every_built_in_with_a_line_of_doc(plaudit):
    ran = plaudit("rewards")
    listed = plaudit("rewards", "--json").json
    for name in ("length", "format", "keyword", "math", "check_answer", "structured", "repetition"):
        assert f"\n{name} " in ran.out
    assert all(listing["summary"] for listing in listed)
    shown = plaudit("rewards", "length").out
    assert "target" in shown
    assert "tolerance" in shown


def test_a_reward_is_shown_with_a_line_for_each_parameter(plaudit):
    rows = [line.split() for line in plaudit("rewards", "length").out.splitlines() if line.startswith("  ")]
    assert ["target", "=", "None"] in [row[:3] for row in rows]
    shown = {one["name"]: one for one in plaudit("rewards", "length", "--json").json["parameters"]}
    assert shown["shape"]["declaration"] == "shape = 'linear'"
    assert "band that earns full marks" in shown["max_length"]["doc"]


def test_rewards_of_files_and_yaml_are_shown_too(plaudit, tmp_path):
    (tmp_path / "mine.py").write_text('def brief(response, limit_words=5):\n    """Short is good."""\n    return 1.0\n')
    (tmp_path / "mix.yaml").write_text("sum:\n  - {reward: mine.py, weight: 0.25, name: short}\n  - format\n")
    of_file = plaudit("rewards", "mine.py:brief").out
    assert "Short is good." in of_file
    assert "limit_words = 5" in of_file
    of_yaml = plaudit("rewards", "mix.yaml").out
    assert "short" in of_yaml
    assert "0.25 * " in of_yaml


def test_an_export_with_reward_and_trainer_swapped_is_reported(plaudit):
    ran = plaudit("export", "trl", "math", "-o", "out.py")
    assert (ran.code, "the reward comes first: plaudit export 'math' trl -o out.py" in ran.err) == (2, True)


def test_rewards_are_listed_by_group_and_a_verifier_is_shown_with_its_card(plaudit):
    shown = plaudit("rewards").out
    assert shown.index("verifiers: is it right?") < shown.index("\nregex ") < shown.index("\nshaping")
    card = plaudit("rewards", "regex").out
    for part in ("inputs", "accepts", "1. The answer is the response", "withstands", "false passes 0 of", "µs per"):
        assert part in card
    assert plaudit("rewards", "regex", "--json").json["card"]["rules"]
