def test_rewards_lists_every_built_in_with_a_line_of_doc(plaudit):
    ran = plaudit("rewards")
    listed = plaudit("rewards", "--json").json
    for name in ("length", "format", "keyword", "math", "check_answer", "structured", "repetition"):
        assert f"\n{name} " in ran.out
    assert all(listing["summary"] for listing in listed)
    shown = plaudit("rewards", "show", "length").out
    assert "target" in shown
    assert "tolerance" in shown
