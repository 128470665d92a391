"""`plaudit audit` as a user calls it."""

import json

import pytest

from plaudit.cli import main

BUGGY = "def anywhere(response, ground_truth):\n    return float(str(ground_truth) in response)\n"
FIELDS = {"family", "operator", "attacker", "severity", "component", "rate", "interval", "witness"}


def run(capfd, *arguments):
    with pytest.raises(SystemExit) as exited:
        main(["audit", *arguments])
    return exited.value.code, capfd.readouterr()


def test_json_has_the_documented_shape_and_the_exit_code_says_found(tmp_path, capfd):
    path = tmp_path / "own.py"
    path.write_text(BUGGY)
    code, captured = run(capfd, f"{path}:anywhere", "--json", "--workers", "1", "--calls", "600")
    plain = json.loads(captured.out)
    assert code == 1
    assert {"findings", "calls", "seconds"} <= plain.keys()
    for finding in plain["findings"]:
        assert finding.keys() >= FIELDS
        assert finding["attacker"] in ("answer-free", "oracle", "invariant")
        assert finding["witness"].keys() >= {"prompt", "response", "reward", "honest_reward"}


def test_accept_without_a_baseline_is_an_error_of_usage(capfd):
    code, captured = run(capfd, "format", "--accept")
    assert code == 2
    assert "--baseline" in captured.err


def test_an_unknown_reward_is_an_error_of_usage(capfd):
    code, captured = run(capfd, "lenght")
    assert code == 2
    assert "did you mean" in captured.err
