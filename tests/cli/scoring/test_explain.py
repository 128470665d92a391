import json


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


def test_explain_picks_the_given_samples(plaudit, rollouts):
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


def test_explain_says_why_a_single_reward_is_what_it_is(plaudit, rollouts):
    assert "'5' is not '4'" in plaudit("explain", "check_answer", rollouts, "--sample", "1").out


def test_explain_shows_weights_and_what_each_part_adds(plaudit, rollouts, tmp_path):
    (tmp_path / "reward.yaml").write_text(
        "sum:\n  - {reward: check_answer, weight: 0.7, name: answer}\n"
        "  - {reward: length(target=4), weight: 0.3, name: brief}\nclip: [0, 1]\n"
    )
    out = plaudit("explain", "reward.yaml", rollouts, "--sample", "0").out
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}
    assert rows["answer"][:4] == ["1", "1", "0.7", "0.7"]
    assert rows["brief"][:3] == ["1", "0.3", "0.3"]
    assert "MathReward" not in out


def test_explain_shows_all_messages_of_a_response_with_roles_tool_calls_and_images(plaudit, tmp_path):
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 500}}
    call = {"function": {"name": "map", "arguments": {"x": 1}}}
    row = {
        "prompt": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": [image]}],
        "completion": [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "content": "Rome"},
                       {"role": "assistant", "content": "It is Rome."}],
    }  # fmt: skip
    (tmp_path / "chats.jsonl").write_text(json.dumps(row) + "\n")
    shown = [line.strip() for line in plaudit("explain", "length", "chats.jsonl", "-n", 1).out.splitlines()]
    assert "user: [image: data:image/png;base64,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA…]" in shown
    at = shown.index("response")
    assert shown[at + 1 : at + 4] == ['assistant: [calls map: {"x": 1}]', "tool: Rome", "assistant: It is Rome."]


def test_explain_shows_the_reason_of_a_total_with_components(plaudit, rollouts, tmp_path):
    (tmp_path / "own.py").write_text(
        "from plaudit import reward, RewardOutput\n\n"
        "@reward\ndef own(response):\n"
        "    parts = {'part': RewardOutput(1.0, reason='of the part')}\n"
        "    return RewardOutput(1.0, reason='my overall reason', components=parts)\n"
    )
    assert "my overall reason" in plaudit("explain", "own.py", rollouts, "-n", "1").out
    combined = plaudit("explain", "check_answer + length", rollouts, "-n", "1", "--pick", "first").out
    total = next(line for line in combined.splitlines() if line.startswith("total"))
    assert "MathReward" not in total  # the reasons of the parts stand beside the parts
