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


def test_an_audit_without_a_basis_has_an_exit_code_of_its_own(tmp_path, capfd):
    (tmp_path / "const.py").write_text("def zero(response):\n    return 0.0\n")
    code, captured = run(capfd, f"{tmp_path}/const.py:zero", "--workers", "1", "-q")
    assert code == 4
    assert "no exploit" not in captured.out
    shown = " ".join(captured.out.split())
    assert "zero: not attacked: no honest answer was paid more than another" in shown
    assert "tried: contract not tried: all attacks:" in shown


def test_prompts_and_case_tables_are_what_an_audit_starts_from(tmp_path, capfd):
    (tmp_path / "own.py").write_text(
        "def tagged(response, key):\n    return float(response.startswith('>>') and key in response)\n"
    )
    (tmp_path / "prompts.jsonl").write_text('{"prompt": "first?", "key": "abc"}\n{"prompt": "second?", "key": "xyz"}\n')
    (tmp_path / "cases.yaml").write_text(
        "- {prompt: 'first?', key: abc, response: '>> abc', expected: 1}\n"
        "- {prompt: 'second?', key: xyz, response: '>> xyz', expected: 1}\n"
    )
    reward, quick = f"{tmp_path}/own.py:tagged", ("--workers", "1", "--json")
    code, captured = run(capfd, reward, str(tmp_path / "prompts.jsonl"), *quick)
    assert code == 4
    assert json.loads(captured.out)["untried"]
    _, captured = run(capfd, reward, "--cases", str(tmp_path / "cases.yaml"), *quick)
    assert "answers" in json.loads(captured.out)["searched"]


def test_one_finding_is_singular_and_causes_are_headlines(tmp_path, capfd):
    path = tmp_path / "own.py"
    path.write_text(BUGGY)
    _, captured = run(capfd, f"{path}:anywhere", "--workers", "1", "--calls", "900")
    _, every = run(capfd, f"{path}:anywhere", "--workers", "1", "--calls", "900", "--all")
    assert "more with this cause: " in captured.out
    assert len(captured.out) < len(every.out)
    assert "1 causes" not in captured.out
