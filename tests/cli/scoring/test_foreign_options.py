"""Options for reward files of other systems."""

import json

BEST = """
def reward_func(queries, prompts, labels):
    return [float(len(query) == max(map(len, queries))) for query in queries]
"""


def test_scope_dialect_and_chat_template_reach_the_reward(plaudit, tmp_path):
    (tmp_path / "best.py").write_text(BEST)
    rows = [{"prompt": p, "response": r, "group": p} for p, r in (("a", "long"), ("a", "x"), ("b", "y"))]
    (tmp_path / "groups.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    options = ("--scope", "group", "--dialect", "openrlhf", "--chat-template", "chatml")
    ran = plaudit("score", "best.py", "groups.jsonl", *options, "-o", "out.jsonl", "--backend", "inline")
    assert ran.code == 0, ran.err
    assert "loaded reward_func in best.py as OpenRLHF reward file" in ran.err
    scored = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["reward_output"]["reward"] for row in scored] == [1.0, 0.0, 1.0]


def test_a_dialect_that_does_not_exist_is_named_with_its_neighbour(plaudit, tmp_path, rollouts):
    (tmp_path / "best.py").write_text(BEST)
    for command in ("score", "explain", "check"):
        ran = plaudit(command, "best.py", rollouts, "--dialect", "openrhlf")
        assert ran.code == 2
        assert "did you mean 'openrlhf'?" in ran.err
