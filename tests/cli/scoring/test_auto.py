"""`plaudit score auto` says which verifier scored how many samples."""

import json

from tests.rewards.test_auto import RESPONSES, ROWS


def test_score_prints_how_many_rows_each_verifier_scored(plaudit, tmp_path):
    rows = [{**row, "response": RESPONSES.get(name, "The answer is 2.")} for name, row in ROWS.items()]
    rows.append({"prompt": "?", "response": "x", "colour": "red"})
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = plaudit("score", "auto", "rows.jsonl", "--backend", "inline", "--max-unscored", "0.5")
    assert ran.code == 0
    assert "3 samples: scored by math" in ran.err
    assert "1 sample: scored by regex" in ran.err
    assert "1 sample: not scored: no verifier is known for a row with these columns: prompt, colour" in ran.err
